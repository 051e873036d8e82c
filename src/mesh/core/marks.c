#include "mesh/core/marks.h"

#include "base/memory.h"
#include "mesh/core/build.h"

#include <string.h>

// All marks with one source and number: marks begin .. end - 1 once they are sorted.
typedef struct label {
    char *name;
    rbt_set_kind kind;
    size_t begin, end, index;
    size_t leader;  // the first label with this kind and name, possibly itself
    size_t items;   // of the leader and all that join it
} label;

bool rbt_marks_add(rbt_marks *marks, int source, int64_t number, size_t first, size_t count, rbt_error *error) {
    rbt_mark *last = marks->count ? &marks->items[marks->count - 1] : NULL;
    if (last && last->source == source && last->number == number && last->first + last->count == first) {
        last->count += count;
        return true;
    }
    if (!rbt_array_reserve((void **)&marks->items, &marks->capacity, marks->count + 1, sizeof(rbt_mark),
                           "the groups of a mesh", error))
        return false;
    marks->items[marks->count++] = (rbt_mark){source, number, first, count};
    return true;
}

void rbt_marks_free(rbt_marks *marks) {
    free(marks->items);
    *marks = (rbt_marks){0};
}

static int compare_marks(const void *a, const void *b) {
    const rbt_mark *x = a, *y = b;
    if (x->source != y->source) return x->source > y->source ? -1 : 1;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static int compare_names(const void *a, const void *b) {
    const label *x = *(label *const *)a, *y = *(label *const *)b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static bool make_labels(const rbt_marks *marks, const rbt_mark_source *sources, rbt_mark_name *name,
                        const void *context, label *labels, size_t *count, rbt_error *error) {
    for (size_t i = 0, end; i < marks->count; i = end) {
        const rbt_mark *mark = &marks->items[i];
        const rbt_mark_source *source = &sources[mark->source];
        label *l = &labels[*count];
        *l = (label){NULL, source->kind, i, i, *count, *count, 0};
        for (end = i; end < marks->count; end++) {
            const rbt_mark *other = &marks->items[end];
            if (other->source != mark->source || other->number != mark->number) break;
            l->items += other->count * (source->items ? source->per_element : 1);
        }
        l->end = end;
        rbt_text text = {0};
        name(context, mark->source, mark->number, &text);
        if (text.failed || !text.text) {
            rbt_text_free(&text);
            return rbt_fail_memory(error, 64, "the name of a set");
        }
        l->name = text.text;
        ++*count;
    }
    return true;
}

// Labels of the same kind and name follow the first of them.
static bool join_labels(label *labels, size_t count, rbt_error *error) {
    label **order = rbt_array_new(count, sizeof(label *), "the names of sets", error);
    if (!order) return false;
    for (size_t i = 0; i < count; i++) order[i] = &labels[i];
    qsort(order, count, sizeof(label *), compare_names);
    for (size_t i = 1; i < count; i++) {
        label *before = &labels[order[i - 1]->leader];
        if (before->kind != order[i]->kind || strcmp(before->name, order[i]->name) != 0) continue;
        order[i]->leader = before->index;
        before->items += order[i]->items;
    }
    free(order);
    return true;
}

static void append_marks(rbt_mesh_set *set, const label *l, const rbt_marks *marks, const rbt_mark_source *sources) {
    for (size_t i = l->begin; i < l->end; i++) {
        const rbt_mark *mark = &marks->items[i];
        const rbt_mark_source *source = &sources[mark->source];
        size_t each = source->items ? source->per_element : 1;
        for (size_t k = mark->first * each; k < (mark->first + mark->count) * each; k++)
            set->items[set->count++] = source->items ? source->items[k] : (int32_t)k;
    }
}

static bool make_sets(label *labels, size_t count, const rbt_marks *marks, const rbt_mark_source *sources,
                      rbt_mesh *mesh, rbt_error *error) {
    mesh->sets = rbt_array_new(count, sizeof(rbt_mesh_set), "the sets of a mesh", error);
    if (!mesh->sets) return false;
    for (size_t i = 0; i < count; i++) {
        label *l = &labels[i];
        if (l->leader == i) {
            int32_t *items = rbt_array_new(l->items, sizeof(int32_t), "the items of a set", error);
            if (!items) return false;
            l->index = mesh->set_count;  // from here on: which set
            mesh->sets[mesh->set_count++] = (rbt_mesh_set){l->name, l->kind, 0, items};
            l->name = NULL;
        }
        append_marks(&mesh->sets[labels[l->leader].index], l, marks, sources);
    }
    return rbt_mesh_finish_sets(mesh, error);
}

bool rbt_marks_to_sets(rbt_marks *marks, const rbt_mark_source *sources, rbt_mark_name *name, const void *context,
                       rbt_mesh *mesh, rbt_error *error) {
    if (!marks->count) return true;
    qsort(marks->items, marks->count, sizeof(rbt_mark), compare_marks);
    size_t distinct = 1, count = 0;
    for (size_t i = 1; i < marks->count; i++)
        distinct += marks->items[i].source != marks->items[i - 1].source ||
                    marks->items[i].number != marks->items[i - 1].number;
    label *labels = rbt_array_new(distinct, sizeof(label), "the groups of a mesh", error);
    if (!labels) return false;
    bool made = make_labels(marks, sources, name, context, labels, &count, error) &&
                join_labels(labels, count, error) && make_sets(labels, count, marks, sources, mesh, error);
    for (size_t i = 0; i < count; i++) free(labels[i].name);
    free(labels);
    return made;
}
