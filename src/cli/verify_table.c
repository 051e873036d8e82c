#include "cli/verify_table.h"

#include <stdio.h>

static void print_items(const rbt_verification *v, const rbt_verified *s, const rbt_intersections *found,
                        const char *where) {
    for (size_t i = 0; i < found->kept; i++) {
        rbt_text text = {0};
        rbt_intersection_text(v, s, &found->kept_items[i], &text);
        if (!text.failed) printf("         %s\n", text.text);
        rbt_text_free(&text);
    }
    if (found->count > found->kept && found->kept)
        printf("         … %zu more %s\n", found->count - found->kept, where);
}

void rbt_verify_table_items(const rbt_verification *v, const rbt_verified *s) {
    print_items(v, s, &s->in, "in this state");
    print_items(v, s, &s->way, "on the way to it");
}

void rbt_verify_table_row(const rbt_verification *v, const rbt_verified *s) {
    if (s == v->states) {
        printf("%zu nodes, %zu triangles and %zu edges of surfaces", v->mesh.vertex_count, v->mesh.triangle_count,
               v->mesh.edge_count);
        if (v->particles) printf(", %zu particles", v->particles);
        if (v->obstacle_count) printf(", %zu obstacles", v->obstacle_count);
        if (v->particles_unknown) printf("; %zu particles of unknown radius are not judged", v->particles_unknown);
        if (v->unjudged) printf("; %zu obstacles are not judged, the method lets bodies sink in", v->unjudged);
        if (v->curved)
            printf(
                "; ways are not judged, the method continues events between frames (run --verify-events, or --ways)");
        if (v->scene_unknown) printf("; scene.json cannot be read, so obstacles are not judged");
        printf("\n");
        printf("%7s  %-12s %12s %12s %12s %14s\n", "frame", "time [s]", "crossing", "touching", "on the way",
               "pairs");
    }
    char frame[32], way[32] = "-";
    if (s->step || s->failed) snprintf(frame, sizeof frame, "%lld+%lld", (long long)s->frame, (long long)s->step);
    else snprintf(frame, sizeof frame, "%lld", (long long)s->frame);
    if (s->has_way) snprintf(way, sizeof way, "%zu", s->way.count);
    printf("%7s  %-12.6g %12zu %12zu %12s %14zu%s\n", frame, s->t, s->in.count - s->in.touching, s->in.touching, way,
           s->in.tested + s->way.tested, s->in.count + s->way.count ? "  <--" : "");
    rbt_verify_table_items(v, s);
    fflush(stdout);
}
