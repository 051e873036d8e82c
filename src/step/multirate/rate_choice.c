// Nodes above twice the middle speed of their body are candidates. They are smoothed, so that the interface is short:
// a node joins when most of its neighbours are in, and leaves when few are. What hangs together is a part, which
// cannot touch another one; specks are left out. A part takes as many steps as sound in it is faster than in the rest.
#include "step/multirate/rate_choice.h"

#include "math/vec3.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double ABOVE = 2;       // times the middle frequency: a candidate
static const double RESOLVED = 0.2;  // lengths of the body that sound may go in a step: the long step will do for all
static const double MAX_SHARE = 0.6;  // of a body's nodes: more than that is no part of it
enum { ROUNDS = 4, MIN_NODES = 10, MAX_STEPS = 20, MAX_PARTS = 100 };

typedef struct chooser {
    const rbt_model *model;
    const rbt_block_matrix *K;
    double *speed;            // (node_count) of sound [m/s]
    double *sorted;           // (node_count)
    unsigned char *in;        // (node_count)
    int32_t *part;            // (node_count) -1: none
    int32_t *inside, *count;  // (node_count) neighbours that are in, neighbours
} chooser;

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Of the nodes of a body in a part (-2: all of it)
static double middle(chooser *c, const rbt_body *body, int part) {
    size_t count = 0;
    for (size_t n = body->node_begin; n < body->node_end; n++)
        if (part == -2 || c->part[n] == part) c->sorted[count++] = c->speed[n];
    qsort(c->sorted, count, sizeof *c->sorted, ascending);
    return count ? c->sorted[count / 2] : 0;
}

// The size of what belongs to a node: of its tets a quarter each, of a shell's triangles a third
static double length_of(const rbt_model *m, size_t n) {
    double volume = 0;
    for (size_t k = m->tet_start[n]; k < m->tet_start[n + 1]; k++) {
        const int32_t *t = m->tets + 4 * (size_t)m->node_tets[k];
        const double *X[4];
        for (int a = 0; a < 4; a++) X[a] = m->X + 3 * (size_t)t[a];
        volume += rbt_tet_volume(X[0], X[1], X[2], X[3]) / 4;
    }
    return volume > 0 ? cbrt(volume) : m->node_area[n] > 0 ? sqrt(m->node_area[n]) : 1;
}

static void find_candidates(chooser *c) {
    const rbt_model *m = c->model;
    for (size_t n = 0; n < m->node_count; n++) {
        const double *D = c->K->value + 9 * (c->K->start[n + 1] - 1);
        c->speed[n] = m->mass[n] > 0 ? sqrt(fmax(0, D[0] + D[4] + D[8]) / (3 * m->mass[n])) : 0;
        c->speed[n] *= length_of(m, n);
    }
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body *body = &m->bodies[b];
        double size = 0;
        for (int k = 0; k < 3; k++) size = fmax(size, body->box_max[k] - body->box_min[k]);
        // a wave that takes many steps through the whole body is resolved by the long step
        double limit = fmax(ABOVE * middle(c, body, -2), RESOLVED * size / m->step);
        for (size_t n = body->node_begin; n < body->node_end; n++) c->in[n] = c->speed[n] > limit;
    }
}

static void count_neighbours(chooser *c) {
    const rbt_block_matrix *K = c->K;
    memset(c->inside, 0, K->row_count * sizeof *c->inside);
    memset(c->count, 0, K->row_count * sizeof *c->count);
    for (size_t i = 0; i < K->row_count; i++)
        for (size_t k = K->start[i]; k + 1 < K->start[i + 1]; k++) {
            size_t j = (size_t)K->column[k];
            c->count[i]++, c->count[j]++;
            c->inside[i] += c->in[j], c->inside[j] += c->in[i];
        }
}

static void smooth(chooser *c) {
    for (int round = 0; round < ROUNDS; round++) {
        count_neighbours(c);
        for (size_t n = 0; n < c->K->row_count; n++)
            c->in[n] = 2 * c->inside[n] > c->count[n] || (c->in[n] && 4 * c->inside[n] >= c->count[n]);
    }
}

// What hangs together with `first`, by sweeps over the lower triangle until nothing is added
static size_t spread(chooser *c, size_t first, int32_t part) {
    const rbt_block_matrix *K = c->K;
    size_t count = 1;
    c->part[first] = part;
    for (bool grew = true; grew;) {
        grew = false;
        for (size_t i = 0; i < K->row_count; i++)
            for (size_t k = K->start[i]; c->in[i] && k + 1 < K->start[i + 1]; k++) {
                size_t j = (size_t)K->column[k];
                if (!c->in[j] || (c->part[i] == part) == (c->part[j] == part)) continue;
                c->part[c->part[i] == part ? j : i] = part;
                count++;
                grew = true;
            }
    }
    return count;
}

static void leave_out(chooser *c, int32_t part) {
    for (size_t n = 0; n < c->K->row_count; n++)
        if (c->part[n] == part) c->part[n] = -1, c->in[n] = 0;
}

static bool build(chooser *c, rbt_arena *arena, rbt_tempo_choice *choice) {
    const rbt_model *m = c->model;
    rbt_tempo *items = rbt_arena_take(arena, MAX_PARTS, sizeof *items);
    int32_t *node = rbt_arena_take(arena, m->node_count, sizeof *node);
    char text[512];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "where sound is more than %g times as fast as in the middle of the body: ", ABOVE);
    if (!items || !node) return false;
    size_t parts = 0;
    for (size_t n = 0; n < m->node_count && parts < MAX_PARTS; n++) {
        if (!c->in[n] || c->part[n] >= 0) continue;
        const rbt_body *body = &m->bodies[m->node_body[n]];
        size_t nodes = spread(c, n, (int32_t)parts);
        double inner = middle(c, body, (int)parts), outer = middle(c, body, -1);
        double steps = outer > 0 ? fmin(round(inner / outer), MAX_STEPS) : 1;
        if (nodes < MIN_NODES || (double)nodes > MAX_SHARE * (double)(body->node_end - body->node_begin) ||
            steps < 2) {
            leave_out(c, (int32_t)parts);
            continue;
        }
        char name[64];
        snprintf(name, sizeof name, "%.40s %zu", body->name, parts + 1);
        items[parts] = (rbt_tempo){rbt_arena_text(arena, name), m->node_body[n], -1, (int)steps};
        if (!items[parts].name) return false;
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     "%s%zu nodes of %.40s take %d steps (%.3g m/s against %.3g)", parts ? ", " : "",
                                     nodes, body->name, (int)steps, inner, outer);
        parts++;
    }
    memcpy(node, c->part, m->node_count * sizeof *node);
    choice->tempos = (rbt_tempos){parts, items, node};
    choice->reason = rbt_arena_text(
        arena, parts ? text : "sound is nowhere much faster than in the rest of a body, so all takes one step");
    return choice->reason;
}

bool rbt_tempo_choose(rbt_tempo_choice *choice, rbt_arena *arena, const rbt_model *m, const rbt_block_matrix *K,
                      rbt_error *error) {
    size_t n = m->node_count;
    rbt_arena *work = rbt_arena_new();
    chooser c = {.model = m, .K = K};
    bool good = work && (c.speed = rbt_arena_take(work, n, sizeof(double))) &&
                (c.sorted = rbt_arena_take(work, n, sizeof(double))) && (c.in = rbt_arena_take(work, n, 1)) &&
                (c.part = rbt_arena_take(work, n, sizeof(int32_t))) &&
                (c.inside = rbt_arena_take(work, n, sizeof(int32_t))) &&
                (c.count = rbt_arena_take(work, n, sizeof(int32_t)));
    if (good) {
        memset(c.part, -1, n * sizeof *c.part);
        find_candidates(&c);
        smooth(&c);
        good = build(&c, arena, choice);
    }
    rbt_arena_free(work);
    return good || rbt_fail_memory(error, 30 * n, "a choice of tempi");
}
