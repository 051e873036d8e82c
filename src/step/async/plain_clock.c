#include "step/async/plain_clock.h"

#include "math/vec3.h"

// Measured up to here: springs are 1.5 times, triangles and hinges 1.03 to 1.15 times as fast as with slots, of which
// there are too few for several threads.
enum { FEW_CORNERS = 512 };

static size_t corner_count(const rbt_model *m, const rbt_chunk *chunk) {
    return chunk->count * (size_t)m->groups[chunk->group].type->corners;
}

static size_t all_corners(const rbt_model *m, const rbt_plan *plan) {
    size_t corners = 0;
    for (size_t c = 0; c < plan->chunk_count; c++) corners += corner_count(m, &plan->chunks[c]);
    return corners;
}

// Types with a sum of their own have no corners to be added up.
bool rbt_plain_clock_can(const rbt_model *m, const rbt_plan *plan) {
    for (size_t c = 0; c < plan->chunk_count; c++)
        if (m->groups[plan->chunks[c].group].type->sum) return false;
    return all_corners(m, plan) <= FEW_CORNERS;
}

static bool list_runs(rbt_plain_clock *s, const rbt_model *m, rbt_arena *arena, const rbt_plan *plan) {
    s->run_count = plan->chunk_count;
    s->runs = rbt_arena_take(arena, s->run_count, sizeof *s->runs);
    for (size_t c = 0; s->runs && c < s->run_count; c++) {
        const rbt_chunk *chunk = &plan->chunks[c];
        double *pulls = rbt_arena_take(arena, 3 * corner_count(m, chunk), sizeof *pulls);
        if (!pulls) return false;
        s->runs[c] = (rbt_plain_run){&m->groups[chunk->group], chunk->first, chunk->count, pulls};
    }
    return s->runs;
}

// The corners that a slot adds up
static size_t list_terms(const rbt_plain_clock *s, const rbt_model *m, const rbt_plan *plan, size_t slot, size_t at) {
    size_t c = 0;
    while (slot >= plan->chunks[c].slot_begin + plan->chunks[c].slot_count) c++;
    const rbt_chunk *chunk = &plan->chunks[c];
    for (size_t k = 0; k < corner_count(m, chunk); k++)
        if (plan->local[chunk->corner_begin + k] == slot - chunk->slot_begin)
            s->terms[at++] = (rbt_plain_term){.pull = s->runs[c].pulls + 3 * k};
    s->terms[at - 1].last = true;
    return at;
}

rbt_plain_clock *rbt_plain_clock_new(const rbt_model *m, rbt_arena *arena, const rbt_plan *plan, double h,
                                     const int32_t *nodes, size_t count) {
    rbt_plain_clock *s = rbt_arena_take(arena, 1, sizeof *s);
    if (!s) return NULL;
    *s = (rbt_plain_clock){.move_count = count, .moved = nodes};
    s->nodes = rbt_arena_take(arena, count, sizeof *s->nodes);
    s->terms = rbt_arena_take(arena, all_corners(m, plan), sizeof *s->terms);
    if (!s->nodes || !s->terms || !list_runs(s, m, arena, plan)) return NULL;
    size_t term_count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t n = nodes ? (size_t)nodes[i] : i;
        if (m->role[n] != RBT_FREE) continue;
        size_t first = term_count;
        for (size_t k = plan->node_start[n]; k < plan->node_start[n + 1]; k++)
            term_count = list_terms(s, m, plan, (size_t)plan->node_slots[k], term_count);
        rbt_plain_node *node = &s->nodes[s->node_count++];
        *node = (rbt_plain_node){.node = n, .term_count = term_count - first, .gain = h / m->mass[n]};
        for (size_t k = 0; !nodes && k < 3; k++) node->outside[k] = m->mass[n] * m->gravity[k];
    }
    return s;
}

void rbt_plain_clock_tick(const rbt_plain_clock *s, rbt_tracks *tracks, int64_t tick) {
    for (size_t i = 0; i < s->move_count; i++) rbt_track_move(tracks, s->moved ? (size_t)s->moved[i] : i, tick);
    for (const rbt_plain_run *run = s->runs, *end = run + s->run_count; run < end; run++)
        run->group->type->gradient(run->group, run->first, run->count, tracks->x, NULL, run->pulls);
    const rbt_plain_term *term = s->terms;
    for (const rbt_plain_node *node = s->nodes, *end = node + s->node_count; node < end; node++) {
        double f[3] = {node->outside[0], node->outside[1], node->outside[2]};
        for (const rbt_plain_term *next = term + node->term_count; term < next;) {
            double sum[3] = {0};
            do rbt_add_scaled(sum, 1, term->pull);
            while (!term++->last);
            rbt_add_scaled(f, -1, sum);
        }
        rbt_track_kick(tracks, node->node, node->gain, f);
    }
}
