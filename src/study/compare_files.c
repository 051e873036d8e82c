// compare.csv and compare.json.
#include "study/compare.h"
#include "study/contender_files.h"

static bool write_csv(const rbt_comparison *all, rbt_error *error) {
    rbt_text t = {0};
    rbt_contender_add_head(&t);
    for (size_t i = 0; i < all->count; i++) rbt_contender_add_row(&t, &all->contenders[i]);
    return rbt_study_write(all->folder, "compare.csv", &t, error);
}

static void add_object(rbt_text *t, const rbt_contender *c, const char *end) {
    rbt_text_add(t, "{\n");
    rbt_contender_add_members(t, c);
    rbt_text_add(t, "  }%s", end);
}

static bool write_json(const rbt_comparison *all, rbt_error *error) {
    rbt_text t = {0};
    rbt_study_add_begin(&t, all->scene_path, all->repeat);
    rbt_text_add(&t, "  \"energy_scale\": ");
    rbt_text_add_json_number(&t, all->energy_scale);
    rbt_text_add(&t, ",\n  \"reference\": ");
    if (all->has_reference) add_object(&t, &all->reference, ",\n");
    else rbt_text_add(&t, "null,\n");
    rbt_text_add(&t, "  \"methods\": [");
    for (size_t i = 0; i < all->count; i++) add_object(&t, &all->contenders[i], i + 1 < all->count ? ", " : "");
    rbt_text_add(&t, "]\n}\n");
    return rbt_study_write(all->folder, "compare.json", &t, error);
}

bool rbt_comparison_write(const rbt_comparison *all, rbt_error *error) {
    return write_csv(all, error) && write_json(all, error);
}
