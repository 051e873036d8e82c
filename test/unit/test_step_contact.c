// Contact of implicit steps from inside: candidates, energies, forces, matrices and motions, each against the plain
// way. The file of the implicit methods is part of this program, to look inside.
#include "step/implicit/implicit.c"

#include "model/obstacle_parts.h"
#include "scene.h"
#include "sim/sim.h"
#include "step/contact/contact_constraints.h"
#include "step/contact/contact_parts.h"
#include "step/implicit/newton.h"
#include "verify/exact/intersect.h"

#include "random.h"
#include "sampled.h"

// Two blocks and a sheet over all kinds of simple obstacles, closer to each other than the thickness here and there
#define SCENE(method)                                                                                                \
    "{'rubato': 1, 'bodies': ["                                                                                      \
    "{'name': 'low', 'mesh': {'shape': {'cuboid': {'size': [1, 0.4, 1], 'cells': [2, 1, 2]}}}, 'transform': "        \
    "{'translate': [0, 0.21, 0]}, 'material': {'model': 'neo-hookean', 'young': 1e5}},"                              \
    "{'name': 'high', 'mesh': {'shape': {'cuboid': {'size': [0.6, 0.3, 0.6], 'cells': [2, 1, 2]}}}, 'transform': "   \
    "{'axis': [0, 1, 0], 'degrees': 30, 'translate': [0.1, 0.58, 0]}, 'material': {'model': 'neo-hookean', "         \
    "'young': 1e5}},"                                                                                                \
    "{'name': 'sheet', 'mesh': {'shape': {'cloth': {'length': 0.7, 'width': 0.7, 'cells_along': 3, 'cells_across': " \
    "3}}}, 'shell': {'thickness': "                                                                                  \
    "1e-3}, 'transform': {'translate': [0.1, 0.76, 0]}, 'material': {'young': "                                      \
    "1e6, 'density': 800}}],"                                                                                        \
    "'obstacles': [{'plane': {}}, {'sphere': {'centre': [-0.72, 0.2, 0], 'radius': 0.2}}, {'capsule': {'a': [0.62, " \
    "0.1, -0.3], 'b': [0.62, 0.1, 0.3], 'radius': 0.1}}, {'box': {'min': [-0.3, 0.1, 0.52], 'max': [0.3, 0.3, "      \
    "0.7]}}],"                                                                                                       \
    "'contact': {'thickness': 0.05, 'friction': 0.4}, 'forces': [{'gravity': {}}], 'time': {'step': 0.01, 'frame': " \
    "0.01, 'end': 1}, 'integrator': {'method': '" method "', 'solver': 'newton'}}"

typedef struct bench {
    rbt_sim *sim;
    rbt_step_contact *c;
    size_t values;  // of z
    double *z, *p, *other;
    unsigned char *constrained;
} bench;

static bench open_bench(const char *json, double rate) {
    bench b = {.sim = sim_from(json)};
    rbt_implicit *s = b.sim->stepper.self;
    b.c = s->objective.pairs;
    assert_non_null(b.c);
    b.values = 3 * b.sim->model->node_count;
    b.z = malloc(b.values * sizeof *b.z);
    b.p = malloc(b.values * sizeof *b.p);
    b.other = malloc(b.values * sizeof *b.other);
    b.constrained = calloc(b.sim->model->node_count, 1);
    memcpy(b.z, b.sim->state.x, b.values * sizeof *b.z);
    rbt_step_contact_begin(b.c, 0, 0.01, rate > 1 ? 0.005 : 0.01, rate, b.sim->state.x, b.constrained);
    return b;
}

static void close_bench(bench *b) {
    free(b->z), free(b->p), free(b->other), free(b->constrained);
    rbt_sim_free(b->sim);
}

static double random_between(double low, double high) {
    return low + (high - low) * random_unit(&random_test_stream);
}

static void shake(bench *b, double size) {
    for (size_t i = 0; i < b->values; i++) b->p[i] = random_between(-size, size);
}

// ---- Candidates

static bool is_listed(const rbt_candidates *c, rbt_pair_key key) {
    for (size_t i = 0; i < c->count; i++)
        if (c->keys[i] == key) return true;
    return false;
}

static double plain_gap(const rbt_step_contact *c, rbt_pair_key key, const double *x) {
    rbt_touch_kind kind = rbt_pair_key_kind(key);
    int32_t node[4];
    double corners[12] = {0};
    rbt_gap gap;
    rbt_pair_nodes(&c->primitives, key, node);
    for (int k = 0; k < rbt_pair_corners(kind); k++) memcpy(corners + 3 * k, x + 3 * (size_t)node[k], 3 * sizeof *x);
    rbt_gap_measure_any(kind, corners,
                        kind == RBT_TOUCH_WALL ? c->primitives.def.walls[key & 0x3fffffff].normal : NULL, &gap);
    return gap.distance - rbt_pair_inside(&c->primitives, key, node);
}

// Every pair within reach at positions inside the boxes is in the list; returns how many there are.
static size_t check_list(const rbt_step_contact *c, const double *x) {
    const rbt_contact_surface *s = &c->primitives;
    size_t near = 0;
    for (size_t a = 0; a < s->leaf_count; a++) {
        for (size_t b = a + 1; b < s->leaf_count; b++) {
            rbt_pair_key keys[15];
            int count = rbt_leaf_pairs(s, (int32_t)a, (int32_t)b, keys);
            for (int i = 0; i < count; i++) {
                if (!(plain_gap(c, keys[i], x) <= c->thickness)) continue;
                assert_true(is_listed(&c->candidates, keys[i]));
                near++;
            }
        }
        for (int k = 0; k < s->leaves[a].corners; k++)
            for (size_t w = 0; w < s->def.wall_count; w++) {
                rbt_pair_key key = rbt_pair_key_of(RBT_TOUCH_WALL, s->leaves[a].node[k], (int32_t)w);
                if (!rbt_pair_exists(s, key) || !(plain_gap(c, key, x) <= c->thickness)) continue;
                assert_true(is_listed(&c->candidates, key));
                near++;
            }
    }
    return near;
}

// Positions near a motion that was prepared, within the slack, need no new list; wherever one is made or not, it is
// complete.
static size_t check_around(bench *b, const double *x, size_t *kept) {
    rbt_step_contact *c = b->c;
    size_t lists = c->candidates.lists;
    double slack = c->candidates.narrow.slack;
    for (size_t i = 0; i < 3 * c->node_count; i++) c->motion[i] = x[i] + random_between(-slack, slack);
    assert_true(rbt_contact_prepare(c, c->motion, c->motion));
    *kept += c->candidates.lists == lists;
    return check_list(c, c->motion);
}

static void candidates_are_complete(void **state) {
    (void)state;
    bench b = open_bench(SCENE("backward-euler"), 1);
    size_t near = 0, searches = 0, lists = 0, kept = 0;
    double *middle = calloc(3 * b.c->node_count, sizeof *middle);
    for (int round = 0; round < 20; round++) {
        shake(&b, round % 4 ? 0.04 : 0.2);
        for (size_t i = 0; i < b.values; i++) b.other[i] = b.z[i] + b.p[i];
        rbt_step_contact_limit(b.c, b.z, b.p, 0, 1);
        for (double t = 0; t <= 1; t += 0.25) {
            for (size_t i = 0; i < b.values; i++) b.other[i] = b.z[i] + t * b.p[i];
            memcpy(b.c->motion, b.other, b.values * sizeof(double));
            memcpy(b.c->motion + b.values, b.c->x0 + b.values, (3 * b.c->node_count - b.values) * sizeof(double));
            near += check_list(b.c, b.c->motion);
            if (t == 0.5) memcpy(middle, b.c->motion, 3 * b.c->node_count * sizeof *middle);
        }
        near += check_around(&b, middle, &kept);
        searches = b.c->candidates.searches, lists = b.c->candidates.lists;
    }
    assert_true(near > 1000);
    assert_true(searches > 1 && lists > searches && kept > 0);
    free(middle);
    close_bench(&b);
}

static bool boxes_meet(const rbt_candidates *c, rbt_pair_key key) {
    size_t a = key >> 30 & 0x3fffffff, b = key & 0x3fffffff;
    const int32_t *place = c->order.place;
    switch (rbt_pair_key_kind(key)) {
    case RBT_TOUCH_FACE: return rbt_moving_boxes_meet(&c->nodes[a], &c->leaves[b]);
    case RBT_TOUCH_EDGES: return rbt_moving_boxes_meet(&c->edges[place[a]], &c->edges[place[b]]);
    case RBT_TOUCH_EDGE: return rbt_moving_boxes_meet(&c->nodes[a], &c->edges[place[b]]);
    default: return rbt_moving_boxes_meet(&c->nodes[a], &c->nodes[b]);
    }
}

// The wide list has the pairs whose boxes overlap, each once, and no others; returns how many.
static size_t check_found(const rbt_candidates *c) {
    const rbt_contact_surface *s = c->surface;
    size_t count = 0, found = 0;
    for (size_t a = 0; a < s->leaf_count; a++)
        for (size_t b = a + 1; b < s->leaf_count; b++) {
            rbt_pair_key keys[15];
            int names = rbt_leaf_pairs(s, (int32_t)a, (int32_t)b, keys);
            for (int i = 0; i < names; i++) {
                size_t at = 0;
                if (!boxes_meet(c, keys[i])) continue;
                while (at < c->found_count && c->found[at] != keys[i]) at++;
                assert_true(at < c->found_count);
                count++;
            }
        }
    for (size_t i = 0; i < c->found_count; i++) {
        if (i) assert_true(c->found[i] > c->found[i - 1]);
        found += rbt_pair_key_kind(c->found[i]) != RBT_TOUCH_WALL;
    }
    assert_int_equal(found, count);
    return count;
}

// The kernels of each instruction set: the same pairs, and the same directions to the last bit
static void every_instruction_set_lists_the_same(void **state) {
    (void)state;
    bench b = open_bench(SCENE("backward-euler"), 1);
    rbt_candidates *c = &b.c->candidates;
    size_t counts[2] = {0}, apart = 0, found = 0;
    rbt_listed *listed = NULL;
    rbt_pair_key *keys = NULL;
    const char *before = getenv("RUBATO_ISA");
    char *forced = before ? strdup(before) : NULL;
    for (int set = RBT_PLAIN; set < RBT_INSTRUCTION_SETS; set++) {
        if (!rbt_processor_has((rbt_instruction_set)set)) continue;
        setenv("RUBATO_ISA", rbt_instruction_set_name((rbt_instruction_set)set), 1);
        rbt_candidates_forget(c);
        random_again(0);
        shake(&b, 0.1);
        rbt_step_contact_limit(b.c, b.z, b.p, 0, 1);
        found += check_found(c);
        if (!listed) {
            counts[0] = c->found_count, counts[1] = c->count;
            listed = calloc(counts[0] + 1, sizeof *listed), keys = calloc(counts[1] + 1, sizeof *keys);
            memcpy(listed, c->listed, counts[0] * sizeof *listed);
            memcpy(keys, c->keys, counts[1] * sizeof *keys);
        }
        assert_true(c->found_count == counts[0] && c->count == counts[1]);
        assert_memory_equal(listed, c->listed, counts[0] * sizeof *listed);
        assert_memory_equal(keys, c->keys, counts[1] * sizeof *keys);
        apart = counts[0] - counts[1];
    }
    assert_true(found > 1000 && counts[1] > 100 && apart > 100);
    forced ? setenv("RUBATO_ISA", forced, 1) : unsetenv("RUBATO_ISA");
    free(forced), free(listed), free(keys);
    close_bench(&b);
}

// Everything moves by many times the slack, obstacles included, and bodies that were further from each other come
// together, each node with a little of its own: lists last as long as no two sides come nearer than they allow for, and
// are complete.
static void lists_last_where_things_move_together(void **state) {
    (void)state;
    bench b = open_bench(SCENE("backward-euler"), 1);
    rbt_step_contact *c = b.c;
    size_t near = 0, kept = 0, renewed = 0;
    double *from = calloc(3 * c->node_count, sizeof *from), *to = calloc(3 * c->node_count, sizeof *to);
    for (int round = 0; round < 60; round++) {
        double all[3], own[4][3] = {{0}}, slack = c->candidates.narrow.slack;
        double spread = 4 * (round % 6) * (round % 6) * slack;
        for (int k = 0; k < 3; k++) all[k] = random_between(-1, 1);
        for (int k = 0; k < 9; k++) own[k / 3][k % 3] = random_between(-spread, spread);
        for (int k = 0; k < 9 && round % 4 == 1; k++) own[k / 3][k % 3] = 0;
        for (size_t i = 0; i < 3 * c->node_count; i++) {
            int body = i < b.values ? b.sim->model->node_body[i / 3] : 3;
            from[i] = c->x0[i] + own[body][i % 3];
            to[i] = c->x0[i] + all[i % 3] + random_between(-0.4 * slack, 0.4 * slack);
        }
        if (round % 4 == 1) from[3 * c->primitives.def.walls[0].node + 1] -= spread;  // the plane alone
        rbt_candidates_forget(&c->candidates);
        rbt_box_tree_free(&c->candidates.tree);
        c->candidates.built = false;  // groups are of one body each where these are far from each other
        assert_true(rbt_contact_prepare(c, from, from));
        size_t searches = c->candidates.searches, lists = c->candidates.lists;
        assert_true(rbt_contact_prepare(c, to, to));
        near += check_list(c, to);
        kept += c->candidates.lists == lists;
        renewed += c->candidates.searches > searches;
        if (spread == 0) assert_true(c->candidates.lists == lists);
    }
    assert_true(near > 1000 && kept >= 10 && renewed > 0);
    free(from), free(to);
    close_bench(&b);
}

// Two halves of a tree whose boxes are far from each other: their lists last until they meet, and no longer.
static void far_bodies_keep_their_lists(void **state) {
    (void)state;
    bench b =
        open_bench("{'rubato': 1, 'bodies': ["
                   "{'name': 'low', 'mesh': {'shape': {'cuboid': {'size': [1, 1, 1], 'cells': [3, 3, 3]}}}, "
                   "'material': {'model': 'neo-hookean', 'young': 1e5}},"
                   "{'name': 'high', 'mesh': {'shape': {'cuboid': {'size': [1, 1, 1], 'cells': [3, 3, 3]}}}, "
                   "'material': {'model': 'neo-hookean', 'young': 1e5}, 'transform': {'translate': [0, 9, 0]}}],"
                   "'contact': {'thickness': 0.05}, 'time': {'step': 0.01, 'frame': 0.01, 'end': 1}, "
                   "'integrator': {'method': 'backward-euler', 'solver': 'newton'}}",
                   1);
    rbt_step_contact *c = b.c;
    assert_true(rbt_contact_prepare(c, c->x0, c->x0));
    size_t searches = c->candidates.searches, near = 0;
    for (double down = 0.1; down < 8; down += SAMPLED(0.0984, 0.3936)) {  // the last time, 0.03 are left
        memcpy(c->motion, c->x0, 3 * c->node_count * sizeof(double));
        for (size_t n = 0; n < c->node_count; n++)
            if (b.sim->model->node_body[n] == 1) c->motion[3 * n + 1] -= down;
        assert_true(rbt_contact_prepare(c, c->motion, c->motion));
        near += check_list(c, c->motion);
        if (down < 7) assert_true(c->candidates.searches == searches);
    }
    assert_true(near > 0);
    close_bench(&b);
}

// ---- Energy, forces, matrix

// Somewhere between the start and a shaken state, as far as the continuous test allows
static void go_somewhere(bench *b, double size) {
    shake(b, size);
    double length = 0.9 * rbt_step_contact_limit(b->c, b->z, b->p, b->c->share, 0);
    for (size_t i = 0; i < b->values; i++) b->z[i] += length * b->p[i];
}

// Differences of fourth order: the error is h^4 f'''''/30 and eps f / h. Steps are a small share of the least gap, in
// which the barrier is analytic.
static double difference(bench *b, double share, double h) {
    double value[4];
    static const double AT[4] = {-2, -1, 1, 2};
    for (int k = 0; k < 4; k++) {
        for (size_t i = 0; i < b->values; i++) b->other[i] = b->z[i] + AT[k] * h * b->p[i];
        value[k] = rbt_step_contact_value(b->c, b->other, share);
    }
    return (8 * (value[2] - value[1]) - (value[3] - value[0])) / (12 * h);
}

static void forces_are_the_gradient(void **state) {
    (void)state;
    for (int middle = 0; middle < 2; middle++) {
        bench b = open_bench(middle ? SCENE("implicit-midpoint") : SCENE("backward-euler"), middle ? 2 : 1);
        size_t judged = 0;
        for (int round = 0; round < 10; round++) {
            go_somewhere(&b, 0.02);
            rbt_step_contact_gradient(b.c, b.z, 0);
            rbt_step_contact_lag(b.c, b.z);
            go_somewhere(&b, 1e-3);
            double value = rbt_step_contact_gradient(b.c, b.z, 0), least = b.c->thickness;
            assert_true(isfinite(value) && b.c->active_count > 20 && b.c->rubbing_count > 20);
            for (size_t i = 0; i < b.c->active_count; i++)
                least = fmin(least, rbt_contact_gap_of(&b.c->active[i].pair, b.c->y));
            shake(&b, 1);
            double along = 0, size = 0, tau2 = b.c->tau * b.c->tau;
            for (size_t i = 0; i < b.values; i++) {
                along -= tau2 * b.c->force[i] * b.p[i];
                size += tau2 * fabs(b.c->force[i] * b.p[i]);
            }
            double h = 1e-3 * fmin(least, 1e-4) / b.c->rate, found = difference(&b, 0, h);
            double bound = 1e-6 * size + 1e-14 * value / h;
            if (!(fabs(found - along) <= bound)) fail_msg("%.12g, not %.12g +- %.3g", along, found, bound);
            judged++;
        }
        assert_int_equal(judged, 10);
        close_bench(&b);
    }
}

// The matrix times p is the change of the gradient along p.
static void matrix_is_the_change_of_forces(void **state) {
    (void)state;
    for (int middle = 0; middle < 2; middle++) {
        bench b = open_bench(middle ? SCENE("implicit-midpoint") : SCENE("backward-euler"), middle ? 2 : 1);
        rbt_implicit *s = b.sim->stepper.self;
        rbt_block_matrix none = s->objective.H;
        size_t blocks = none.start[none.row_count];
        none.value = calloc(9 * blocks, sizeof(double));
        double *product = malloc(b.values * sizeof *product), *change = malloc(b.values * sizeof *change);
        for (int round = 0; round < 5; round++) {
            go_somewhere(&b, 0.02);
            rbt_step_contact_gradient(b.c, b.z, 0);
            rbt_step_contact_lag(b.c, b.z);
            go_somewhere(&b, 1e-3);
            rbt_step_contact_gradient(b.c, b.z, 0);
            assert_true(rbt_step_contact_hessian(b.c, &none, true));
            shake(&b, 1);
            rbt_block_matrix_product(&b.c->matrix.A, b.p, product);
            double least = b.c->thickness, size = 0, off = 0, tau2 = b.c->tau * b.c->tau;
            for (size_t i = 0; i < b.c->active_count; i++)
                least = fmin(least, rbt_contact_gap_of(&b.c->active[i].pair, b.c->y));
            double h = 1e-4 * fmin(least, 1e-4) / b.c->rate;
            memset(change, 0, b.values * sizeof *change);
            static const double AT[4] = {-2, -1, 1, 2}, WEIGHT[4] = {1, -8, 8, -1};
            for (int k = 0; k < 4; k++) {
                for (size_t i = 0; i < b.values; i++) b.other[i] = b.z[i] + AT[k] * h * b.p[i];
                rbt_step_contact_gradient(b.c, b.other, 0);
                for (size_t i = 0; i < b.values; i++) change[i] -= tau2 * WEIGHT[k] * b.c->force[i] / (12 * h);
            }
            for (size_t i = 0; i < b.values; i++) {
                size = fmax(size, fabs(product[i]));
                off = fmax(off, fabs(product[i] - change[i]));
            }
            if (!(off <= 1e-4 * size) || !(size > 0)) fail_msg("off by %.3g of %.3g", off, size);
        }
        free(none.value), free(product), free(change);
        close_bench(&b);
    }
}

// What lists were made before changes no bit.
static void lists_change_no_bit(void **state) {
    (void)state;
    bench a = open_bench(SCENE("backward-euler"), 1), b = open_bench(SCENE("backward-euler"), 1);
    for (int round = 0; round < 10; round++) {
        go_somewhere(&a, 0.02);
        rbt_step_contact_limit(a.c, a.z, a.p, 0, 1);
        memcpy(b.z, a.z, a.values * sizeof *a.z);
        memcpy(b.p, a.p, a.values * sizeof *a.p);
        b.c->candidates.built = false;  // it searches again, from here
        rbt_box_tree_free(&b.c->candidates.tree);
        b.c->candidates.tree = (rbt_box_tree){0};
        double first = rbt_step_contact_gradient(a.c, a.z, 0), second = rbt_step_contact_gradient(b.c, b.z, 0);
        assert_memory_equal(&first, &second, sizeof first);
        assert_memory_equal(a.c->force, b.c->force, 3 * a.c->node_count * sizeof(double));
        shake(&a, 0.05);
        memcpy(b.p, a.p, a.values * sizeof *a.p);
        first = rbt_step_contact_limit(a.c, a.z, a.p, 0, 1), second = rbt_step_contact_limit(b.c, b.z, b.p, 0, 1);
        assert_memory_equal(&first, &second, sizeof first);
    }
    close_bench(&a);
    close_bench(&b);
}

// The judge finds nothing on the way as far as the continuous test allows it, and at least once something beyond. Of
// long motions it looks at few pairs.
static void motions_are_free(void **state) {
    (void)state;
    bench b = open_bench(SCENE("backward-euler"), 1);
    const rbt_model *m = b.sim->model;
    rbt_intersect_mesh mesh = {0};
    assert_true(rbt_intersect_mesh_build(&mesh, m->triangles, m->triangle_count, NULL, 0, m->node_count, NULL));
    size_t limited = 0, beyond = 0, few = 0, many = 0;
    for (int round = 0; round < SAMPLED(60, 30); round++) {
        rbt_intersections found;
        bool far = round % 10 == 9;  // by a thousand edges
        shake(&b, far ? 300 : round % 2 ? 0.3 : 0.03);
        double length = rbt_step_contact_first_stop(b.c, b.z, b.p, 0, 0);
        if (far) few += b.c->candidates.count;
        // of one pair that stops both, each keeps a tenth of its gap; of several, one may stop the one and not the
        // other
        double whole = rbt_step_contact_limit(b.c, b.z, b.p, 0, 0);
        if (far) many += b.c->candidates.count;
        if (!(length <= 2 * whole && whole <= 2 * length)) fail_msg("%.3g, but %.3g in parts", whole, length);
        limited += length < 1;
        for (int way = 0; way < (far ? 1 : 2); way++) {  // whole motions that are far meet nearly everything
            for (size_t i = 0; i < b.values; i++) b.other[i] = b.z[i] + (way ? 1 : length) * b.p[i];
            assert_true(rbt_intersect_motion(&mesh, b.z, b.other, 0, &found, NULL));
            if (way) beyond += found.count > 0;
            else assert_int_equal(found.count, 0);
            rbt_intersections_free(&found);
        }
        for (size_t i = 0; i < b.values; i++) b.z[i] += 0.3 * length * b.p[i];
    }
    assert_true(limited > 10 && beyond > 5);
    if (!(few < many)) fail_msg("%zu pairs, and %zu of all of the motion", few, many);
    rbt_intersect_mesh_free(&mesh);
    close_bench(&b);
}

// A gap of a few roundings is told from one that is merely small, and a residual that is no more than rounding there is
// no solution.
static void closed_gaps_are_told(void **state) {
    (void)state;
    bench b = open_bench("{'rubato': 1, 'bodies': [{'name': 'block', 'mesh': {'shape': {'cuboid': {'size': [1, 1, "
                         "1], 'cells': [1, 1, 1]}}}, "
                         "'transform': {'translate': [0, 0.52, 0]}, 'material': {'young': 1e5}}],"
                         "'obstacles': [{'plane': {}}], 'contact': {'thickness': 0.05}, 'time': {'step': 0.01, "
                         "'frame': 0.01, 'end': 1}, 'integrator': {'method': 'backward-euler'}}",
                         1);
    rbt_implicit *s = b.sim->stepper.self;
    rbt_objective *o = &s->objective;
    rbt_newton *newton = s->work;
    rbt_step_report report = {0};
    bool solved;
    static const double GAPS[] = {0.02, 1e-6, 1e-9, 1e-14};
    for (size_t i = 0; i < 4; i++) {
        for (size_t n = 0; n < b.values / 3; n++) b.z[3 * n + 1] = b.sim->state.x[3 * n + 1] < 0.5 ? GAPS[i] : 1;
        assert_true(isfinite(rbt_step_contact_gradient(b.c, b.z, 0)) && b.c->active_count > 0);
        assert_int_equal(rbt_step_contact_is_shut(b.c), GAPS[i] < 1e-12);  // at coordinates of 1/2
        o->acting[0] = (rbt_acting){.residual = 1, .inertia = 1, .rounding = 1};
        rbt_stop stop = rbt_stop_begin(o, RBT_STOP_FORCE, NAN, 1);
        stop.idle = 10;
        stop.least = 1;
        assert_int_equal(
            rbt_contact_drive_judge(&newton->drive, &stop, b.z, 1, 10, &solved, &b.sim->stepper.stages, &report),
            RBT_DONE);
        assert_int_equal(solved, GAPS[i] > 1e-12);
        // and the last iteration is the last one there, too
        stop.idle = 10;
        report.at_cap = false;
        rbt_outcome last =
            rbt_contact_drive_judge(&newton->drive, &stop, b.z, 10, 10, &solved, &b.sim->stepper.stages, &report);
        assert_int_equal(last, GAPS[i] < 1e-12 ? RBT_NOT_CONVERGED : RBT_DONE);
        assert_int_equal(report.at_cap, GAPS[i] < 1e-12);
    }
    close_bench(&b);
}

// ---- Constraints and the chase

// Constraints of what a wild motion would meet and of what is near, with multipliers of some size
static void make_constraints(bench *b) {
    shake(b, 0.3);
    rbt_step_contact_limit(b->c, b->z, b->p, 0, 0);
    assert_true(rbt_constraints_add_stops(b->c) && rbt_constraints_relinearise(b->c, b->z, 0));
    for (size_t i = 0; i < b->c->constraint_count; i++)
        b->c->constraints[i].multiplier = random_between(0, 1) * b->c->constraints[i].penalty * b->c->thickness;
    b->c->linearised = true;
}

// Forces of constraints are the gradient of their energy, and the matrix is the change of the forces. The energy is
// quadratic but for the pairs that begin or cease to push: differences of first order, along directions in which no
// pair does within the step.
static void constraints_have_an_energy(void **state) {
    (void)state;
    for (int middle = 0; middle < 2; middle++) {
        bench b = open_bench(middle ? SCENE("implicit-midpoint") : SCENE("backward-euler"), middle ? 2 : 1);
        rbt_implicit *s = b.sim->stepper.self;
        for (size_t n = 0; n < b.sim->model->node_count; n++) b.c->firmness[n] = s->objective.stiff[n];
        rbt_block_matrix none = s->objective.H;
        none.value = calloc(9 * none.start[none.row_count], sizeof(double));
        double *product = malloc(b.values * sizeof *product), *force = malloc(b.values * sizeof *force);
        make_constraints(&b);
        double tau2 = b.c->tau * b.c->tau, h = 1e-7, along = 0, off = 0, size = 0;
        shake(&b, 1);
        double value = rbt_step_contact_gradient(b.c, b.z, 0);
        size_t pushing = b.c->active_count;
        assert_true(pushing > 50 && value > 0);
        assert_true(rbt_step_contact_hessian(b.c, &none, false));
        rbt_block_matrix_product(&b.c->matrix.A, b.p, product);
        memcpy(force, b.c->force, b.values * sizeof *force);
        for (size_t i = 0; i < b.values; i++) along -= tau2 * b.c->force[i] * b.p[i];
        double found = difference(&b, 0, h);
        if (!(fabs(found - along) <= 1e-6 * fabs(along) + 1e-14 * value / h))
            fail_msg("%.12g, not %.12g", along, found);
        for (size_t i = 0; i < b.values; i++) b.other[i] = b.z[i] + h * b.p[i];
        rbt_step_contact_gradient(b.c, b.other, 0);
        assert_int_equal(b.c->active_count, pushing);
        for (size_t i = 0; i < b.values; i++) {
            size = fmax(size, fabs(product[i]));
            off = fmax(off, fabs(product[i] + tau2 * (b.c->force[i] - force[i]) / h));
        }
        if (!(off <= 1e-5 * size)) fail_msg("off by %.3g of %.3g", off, size);
        b.c->linearised = false;
        free(none.value), free(product), free(force);
        close_bench(&b);
    }
}

// Gaps that are a tenth of the wanted ones come back without touching anything.
static void gaps_are_restored(void **state) {
    (void)state;
    bench b = open_bench(SCENE("backward-euler"), 1);
    rbt_implicit *s = b.sim->stepper.self;
    for (size_t n = 0; n < b.sim->model->node_count; n++) b.c->firmness[n] = s->objective.stiff[n];
    shake(&b, 0.3);
    double length = rbt_step_contact_limit(b.c, b.z, b.p, 0, 0), before = INFINITY, after = INFINITY;
    assert_true(length < 1 && rbt_constraints_add_stops(b.c));
    for (size_t i = 0; i < b.values; i++) b.z[i] += length * b.p[i];
    assert_true(rbt_constraints_relinearise(b.c, b.z, 0));
    for (size_t i = 0; i < b.c->constraint_count; i++)
        before = fmin(before, rbt_contact_gap_of(&b.c->constraints[i].pair, b.c->y));
    for (int round = 0; round < 5 && rbt_constraints_restore(b.c, b.p); round++) {
        length = rbt_step_contact_limit(b.c, b.z, b.p, 0, 0);
        for (size_t i = 0; i < b.values; i++) b.z[i] += length * b.p[i];
        assert_true(rbt_constraints_relinearise(b.c, b.z, 0));
    }
    for (size_t i = 0; i < b.c->constraint_count; i++)
        after = fmin(after, rbt_contact_gap_of(&b.c->constraints[i].pair, b.c->y));
    if (!(before < 0.2 * b.c->thickness && after > 2 * before)) fail_msg("%.3g, then %.3g", before, after);
    close_bench(&b);
}

// A chase towards positions that intersect shows safe ones only, and ends without crossings.
static void chases_are_safe(void **state) {
    (void)state;
    bench b = open_bench(SCENE("backward-euler"), 1);
    rbt_implicit *s = b.sim->stepper.self;
    rbt_newton *newton = s->work;
    const rbt_model *m = b.sim->model;
    rbt_step_report report = {0};
    rbt_intersect_mesh mesh = {0};
    rbt_intersections found;
    size_t crossed = 0;
    assert_true(rbt_intersect_mesh_build(&mesh, m->triangles, m->triangle_count, NULL, 0, m->node_count, NULL));
    advance(b.sim, 1);  // makes everything that a step needs
    memcpy(b.z, b.sim->state.x, b.values * sizeof *b.z);
    for (int round = 0; round < 5; round++) {
        predict(s, &b.sim->state, 0.01);
        rbt_step_contact_begin(b.c, b.sim->state.t, 0.01, 0.01, 1, b.sim->state.x, s->objective.constrained);
        memcpy(b.z, b.sim->state.x, b.values * sizeof *b.z);
        shake(&b, 0.3);
        for (size_t i = 0; i < b.values; i++) newton->drive.wanted[i] = b.z[i] + b.p[i];
        assert_true(rbt_intersect_state(&mesh, newton->drive.wanted, 0, &found, NULL));
        crossed += found.count > 0;
        rbt_intersections_free(&found);
        assert_int_equal(rbt_contact_drive_chase(&newton->drive, b.z, &b.sim->stepper.stages, &report), RBT_DONE);
        assert_true(rbt_intersect_state(&mesh, b.z, 0, &found, NULL));
        assert_int_equal(found.count, 0);
        rbt_intersections_free(&found);
        for (size_t i = 0; i < b.values; i++) assert_true(isfinite(b.z[i]));
    }
    assert_true(crossed > 2);
    rbt_intersect_mesh_free(&mesh);
    close_bench(&b);
}

// ---- Friction and normal forces

// On planes, whose normals do not turn, forces with lags of their own change by the matrix and by B.
static void friction_follows_normal_forces(void **state) {
    (void)state;
    bench b =
        open_bench("{'rubato': 1, 'bodies': [{'name': 'block', 'mesh': {'shape': {'cuboid': {'size': [1, 1, 1], "
                   "'cells': [2, 2, 2]}}}, 'transform': {'translate': [0, 0.52, 0]}, 'material': {'young': 1e5}}],"
                   "'obstacles': [{'plane': {}}], 'contact': {'thickness': 0.05, 'friction': 0.7}, 'time': "
                   "{'step': 0.01, 'frame': 0.01, 'end': 1}, 'integrator': {'method': 'backward-euler'}}",
                   1);
    rbt_implicit *s = b.sim->stepper.self;
    rbt_block_matrix none = s->objective.H;
    none.value = calloc(9 * none.start[none.row_count], sizeof(double));
    double *product = malloc(b.values * sizeof *product), *force = malloc(b.values * sizeof *force);
    double tau2 = b.c->tau * b.c->tau, h = 1e-9, size = 0, off = 0, coupled = 0;
    shake(&b, 2e-3);
    for (size_t i = 0; i < b.values; i++) b.z[i] += b.p[i];
    for (int k = 0; k < 2; k++) {
        rbt_step_contact_gradient(b.c, b.z, 0);
        rbt_step_contact_lag(b.c, b.z);
    }
    rbt_step_contact_gradient(b.c, b.z, 0);
    assert_true(b.c->rubbing_count == 9);
    memcpy(force, b.c->force, b.values * sizeof *force);
    assert_true(rbt_step_contact_hessian(b.c, &none, true));
    shake(&b, 1);
    rbt_block_matrix_product(&b.c->matrix.A, b.p, product);
    for (size_t i = 0; i < b.values; i++) b.other[i] = product[i];
    rbt_step_contact_couple_friction(b.c, b.p, product);
    for (size_t i = 0; i < b.values; i++) coupled = fmax(coupled, fabs(product[i] - b.other[i]));
    for (size_t i = 0; i < b.values; i++) b.other[i] = b.z[i] + h * b.p[i];
    rbt_step_contact_gradient(b.c, b.other, 0);
    rbt_step_contact_lag(b.c, b.other);
    rbt_step_contact_gradient(b.c, b.other, 0);
    for (size_t i = 0; i < b.values; i++) {
        size = fmax(size, fabs(product[i]));
        off = fmax(off, fabs(product[i] + tau2 * (b.c->force[i] - force[i]) / h));
    }
    if (!(off <= 1e-4 * size) || !(coupled > 0.01 * size)) fail_msg("off by %.3g of %.3g, %.3g", off, size, coupled);
    free(none.value), free(product), free(force);
    close_bench(&b);
}

// [J] of the barrier at z
static double stored(bench *b) {
    return rbt_step_contact_value(b->c, b->z, 0) * b->c->rate / (b->c->tau * b->c->tau);
}

static void begin_piece(bench *b, double h) {
    rbt_step_contact_begin(b->c, 0, h, h, 1, b->sim->state.x, b->constrained);
}

// Pairs that are close where a step is halved have no more energy in its pieces, but for what it takes to stop nodes.
static void pieces_store_no_more(void **state) {
    (void)state;
    bench b = open_bench(SCENE("backward-euler"), 1);
    const rbt_model *m = b.sim->model;
    double whole = stored(&b), u = 2, d = b.c->thickness, *v = calloc(b.values, sizeof *v);
    double *least = malloc(m->node_count * sizeof *least);
    memcpy(least, b.c->stiffness, m->node_count * sizeof *least);
    memset(b.other, 0, b.values * sizeof *b.other);
    assert_true(whole > 0);
    begin_piece(&b, ldexp(0.01, -14));
    assert_true(stored(&b) == whole);
    v[0] = u;
    rbt_step_contact_note_speed(b.c, 0, 0.01, v, b.other);
    assert_true(b.c->step_speed == u);
    for (int k = 0; k <= 14; k++) {
        double h = ldexp(0.01, -k), inertia = k ? u / fmax(h, d / u) : 0;
        begin_piece(&b, h);
        for (size_t n = 0; n < m->node_count; n++) {
            double expected = fmax(least[n], m->mass[n] * inertia);
            assert_true(fabs(b.c->stiffness[n] - expected) <= 1e-14 * expected);
        }
    }
    for (size_t n = 0; n < m->node_count; n++) b.other[3 * n + 2] = 300 * m->mass[n];  // 3 m/s within the step
    rbt_step_contact_note_speed(b.c, 0, 0.01, v, b.other);
    assert_true(fabs(b.c->step_speed - hypot(2, 3)) < 1e-12);
    free(v), free(least);
    close_bench(&b);
}

// Where gaps are small S is raised for the pieces of this step, and neither elsewhere, nor between steps, nor in the
// next.
static void small_gaps_raise_the_barrier(void **state) {
    (void)state;
    bench b = open_bench(SCENE("backward-euler"), 1);
    const rbt_model *m = b.sim->model;
    rbt_step_contact_gradient(b.c, b.z, 0);
    rbt_step_contact_raise(b.c);
    assert_false(b.c->is_raised);
    double whole = stored(&b), lowest = INFINITY;
    for (size_t n = 0; n < m->bodies[0].node_end; n++) lowest = fmin(lowest, b.z[3 * n + 1]);
    for (size_t n = 0; n < m->bodies[0].node_end; n++) b.z[3 * n + 1] += 1e-3 * b.c->thickness - lowest;
    double pressed = stored(&b);
    assert_true(pressed > whole);
    for (int k = 1; k <= 2; k++) {
        rbt_step_contact_gradient(b.c, b.z, 0);
        rbt_step_contact_raise(b.c);
        assert_true(b.c->is_raised);
        for (size_t n = 0; n < m->node_count; n++) {
            bool low = n < m->bodies[0].node_end && b.z[3 * n + 1] < 0.01 * b.c->thickness;
            assert_true(b.c->raise[n] == (low ? pow(10, k) : 1));
        }
        begin_piece(&b, 0.005);
        assert_true(stored(&b) > 5 * pow(10, k - 1) * pressed);
    }
    assert_true(rbt_step_contact_look(b.c, 0, b.z));
    assert_true(fabs(stored(&b) - pressed) <= 1e-14 * pressed);
    memset(b.other, 0, b.values * sizeof *b.other);
    rbt_step_contact_note_speed(b.c, 0, 0.01, b.other, b.other);
    begin_piece(&b, 0.01);
    assert_true(fabs(stored(&b) - pressed) <= 1e-14 * pressed);
    close_bench(&b);
}

static void iterations_leave_elements_room(void **state) {
    (void)state;
    bench b = open_bench(SCENE("backward-euler"), 1);
    const rbt_model *m = b.sim->model;
    rbt_newton *newton = ((rbt_implicit *)b.sim->stepper.self)->work;
    rbt_contact_drive *drive = &newton->drive;
    for (int k = 0; k < 3; k++) {  // presses the low block, 0.4 m high, flat by so much
        const double by[] = {0.85, 0.95, 3}, left[] = {1, 0.5, 0.25};
        memset(drive->direction, 0, b.values * sizeof *drive->direction);
        for (size_t n = 0; n < m->bodies[0].node_end; n++)
            drive->direction[3 * n + 1] = -by[k] * (b.z[3 * n + 1] - 0.01);
        assert_true(rbt_contact_drive_room(drive, b.z, 1) == left[k]);
    }
    close_bench(&b);
}

#define DAMPED(beta)                                                                                                 \
    "{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'shape': {'cuboid': {'size': [1, 1, 1], 'cells': [1, 1, "       \
    "1]}}}, 'damping': "                                                                                             \
    "{'stiffness': " beta "}, 'material': {'young': 1e9, 'density': 1}}], 'contact': {'thickness': 0.01}, 'time': "  \
    "{'step': 0.01, 'frame': 0.01, 'end': 1}, 'integrator': {'method': 'backward-euler', 'solver': 'newton'}}"

static double rounding_of(const char *json) {
    bench b = open_bench(json, 1);
    rbt_implicit *s = b.sim->stepper.self;
    assert_int_equal(predict(s, &b.sim->state, 0.01), RBT_DONE);
    rbt_objective_gradient(&s->objective, b.z, b.other);
    double rounding = s->objective.acting[0].rounding;
    close_bench(&b);
    return rounding;
}

// The residual's rounding is that of the stiffness with its damping, K (1 + beta/tau).
static void damping_has_rounding(void **state) {
    (void)state;
    double ratio = rounding_of(DAMPED("1")) / rounding_of(DAMPED("0"));
    if (!(fabs(ratio - 101) < 1)) fail_msg("%g", ratio);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(candidates_are_complete),
        cmocka_unit_test(every_instruction_set_lists_the_same),
        cmocka_unit_test(lists_last_where_things_move_together),
        cmocka_unit_test(far_bodies_keep_their_lists),
        cmocka_unit_test(forces_are_the_gradient),
        cmocka_unit_test(matrix_is_the_change_of_forces),
        cmocka_unit_test(lists_change_no_bit),
        cmocka_unit_test(motions_are_free),
        cmocka_unit_test(closed_gaps_are_told),
        cmocka_unit_test(constraints_have_an_energy),
        cmocka_unit_test(gaps_are_restored),
        cmocka_unit_test(chases_are_safe),
        cmocka_unit_test(friction_follows_normal_forces),
        cmocka_unit_test(pieces_store_no_more),
        cmocka_unit_test(small_gaps_raise_the_barrier),
        cmocka_unit_test(iterations_leave_elements_room),
        cmocka_unit_test(damping_has_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
