#include "sim/overlap.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

enum { LOOKS = 20 };  // in a run

void rbt_overlap_free(rbt_overlap *o) {
    rbt_intersect_mesh_free(&o->mesh);
    o->mesh = (rbt_intersect_mesh){0};
}

// Surfaces, springs against surfaces, and particles
static bool learn(rbt_overlap *o, const rbt_model *m, rbt_error *error) {
    size_t count = 0;
    rbt_overlap_free(o);
    o->generation = m->generation;
    rbt_round *rounds = rbt_array_new(m->node_count, sizeof *rounds, "particles", error);
    if (!rounds) return false;
    for (size_t i = 0; i < m->node_count; i++) {
        const rbt_body *body = &m->bodies[m->node_body[i]];
        if (body->kind == RBT_PARTICLES) rounds[count++] = (rbt_round){{(int32_t)i, -1}, body->particles.radius};
    }
    o->looks = m->triangle_count || count;
    bool good = !o->looks || (rbt_intersect_mesh_build(&o->mesh, m->triangles, m->triangle_count, m->edges,
                                                       m->edge_count, m->node_count, error) &&
                              rbt_intersect_mesh_add(&o->mesh, rounds, count, NULL, 0, m->node_count, error));
    free(rounds);
    return good;
}

static void note_first(rbt_overlap *o, const rbt_sim *sim, const rbt_intersection *item, size_t count) {
    for (int side = 0; side < 2; side++) {
        int32_t node = item->nodes[side ? item->counts[0] : 0];
        snprintf(o->first_bodies[side], sizeof o->first_bodies[side], "%s",
                 sim->model->bodies[sim->model->node_body[node]].name);
    }
    o->first_frame = sim->state.frame;
    o->first_count = count;
    o->first_time = sim->state.t;
}

bool rbt_overlap_look(rbt_overlap *o, const rbt_sim *sim, bool last, rbt_error *error) {
    double start = rbt_now();
    const rbt_model *m = sim->model;
    o->now = false;
    o->every = m->frame_count > LOOKS ? (m->frame_count + LOOKS - 1) / LOOKS : 1;
    if (rbt_method_has_contact(sim->stepper.method, m) || (sim->state.frame % o->every && !last)) return true;
    if ((!o->frames || o->generation != m->generation) && !learn(o, m, error)) return false;
    if (!o->looks) return true;
    rbt_intersections found;
    // All are kept until something has been found: those that only touch come in between.
    if (!rbt_intersect_state(&o->mesh, sim->state.x, o->crossing ? 0 : SIZE_MAX, &found, error)) return false;
    o->frames++;
    o->now = found.count > found.touching;
    for (size_t i = 0; o->now && !o->crossing && i < found.kept; i++)
        if (!found.kept_items[i].touching) {
            note_first(o, sim, &found.kept_items[i], found.count - found.touching);
            break;
        }
    o->crossing += o->now;
    rbt_intersections_free(&found);
    o->seconds += rbt_now() - start;
    return true;
}

bool rbt_overlap_text(const rbt_overlap *o, const rbt_sim *sim, char text[320]) {
    if (!o->crossing) return false;
    char who[288];
    if (strcmp(o->first_bodies[0], o->first_bodies[1]) == 0)
        snprintf(who, sizeof who, "\"%.100s\" passes through itself", o->first_bodies[0]);
    else
        snprintf(who, sizeof who, "\"%.60s\" and \"%.60s\" pass through each other", o->first_bodies[0],
                 o->first_bodies[1]);
    snprintf(text, 320,
             "%.160s in frame %lld (%g s, %zu place%s): %s does not keep bodies apart%s; async-contact does", who,
             (long long)o->first_frame, o->first_time, o->first_count, o->first_count == 1 ? "" : "s",
             sim->stepper.method->name, sim->stepper.method->contact ? " without \"contact\" in the scene" : "");
    return true;
}
