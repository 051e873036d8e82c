// The parts of contact, each alone against brute force: distances, layers, queue, tree, slabs, cones, windows.
#include "math/vec3.h"
#include "step/async/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

static void point(double x[3], double size) {
    for (int k = 0; k < 3; k++) x[k] = uniform(-size, size);
}

// ---- Distances

// The least distance over a fine grid of both bodies' points can only be larger, and hardly so.
static double sampled(rbt_touch_kind kind, const double *x) {
    enum { N = 40 };
    double least = INFINITY;
    for (int i = 0; i <= N; i++)
        for (int j = 0; j <= N; j++) {
            double s = (double)i / N, t = (double)j / N, d[3];
            if (kind == RBT_TOUCH_FACE && i + j > N) continue;
            for (int k = 0; k < 3; k++) {
                if (kind == RBT_TOUCH_FACE) d[k] = (1 - s - t) * x[3 + k] + s * x[6 + k] + t * x[9 + k] - x[k];
                else if (kind == RBT_TOUCH_EDGES)
                    d[k] = (1 - t) * x[6 + k] + t * x[9 + k] - (1 - s) * x[k] - s * x[3 + k];
                else if (kind == RBT_TOUCH_EDGE) d[k] = (1 - t) * x[3 + k] + t * x[6 + k] - x[k];
                else d[k] = x[3 + k] - x[k];
            }
            least = fmin(least, rbt_length(d));
        }
    return least;
}

static void distances_are_least(void **state) {
    (void)state;
    for (int i = 0; i < 2000; i++) {
        rbt_touch_kind kind = (rbt_touch_kind)(i % 4);
        double x[12], sum = 0, across[3] = {0};
        for (int c = 0; c < 4; c++) point(x + 3 * c, 1);
        if (i % 16 == 1)  // parallel edges
            for (int k = 0; k < 3; k++) x[9 + k] = x[6 + k] + uniform(0.5, 0.50001) * (x[3 + k] - x[k]);
        rbt_gap gap;
        rbt_gap_measure(kind, x, &gap);
        double least = sampled(kind, x);
        assert_true(gap.distance <= least + (i % 16 == 1 ? 1e-9 : 1e-14) && gap.distance > least - 0.1);
        for (int c = 0; c < rbt_pair_corners(kind); c++) {
            sum += gap.weight[c];
            rbt_add_scaled(across, gap.weight[c], x + 3 * c);
        }
        assert_true(fabs(sum) < 1e-14 && fabs(rbt_length(across) - gap.distance) < 1e-14);
        // d' = n . sum w v, by a difference
        double v[12], moved[12], s = 1e-7, rate = 0;
        for (int c = 0; c < 4; c++) point(v + 3 * c, 1);
        for (int c = 0; c < 12; c++) moved[c] = x[c] + s * v[c];
        for (int c = 0; c < rbt_pair_corners(kind); c++) rate += gap.weight[c] * rbt_dot(gap.normal, v + 3 * c);
        rbt_gap later;
        rbt_gap_measure(kind, moved, &later);
        if (gap.distance > 0.05 && i % 16 != 1) assert_true(fabs((later.distance - gap.distance) / s - rate) < 1e-4);
    }
}

// ---- Layers

static void layers_follow_their_law(void **state) {
    (void)state;
    rbt_layers layers;
    assert_true(rbt_layers_init(&layers, NULL));
    const double eta = 0.3;
    for (int i = 0; i < 300; i++) {
        double d = eta * pow(10, uniform(-0.9, 0.05)), energy = 0, impulse = 0;
        int from = (int)uniform(0, 5), to = from + (int)uniform(0, 15);
        for (int l = 1; l <= layers.last[layers.depth_count - 1]; l++) {
            double own = eta * pow(l, -0.25), r = pow(l, 3);
            int depth = (int)ceil(log2(0.5 * l * (l + 1.0)) - 1e-9);
            if (own <= d) break;
            energy += 0.5 * r * (own - d) * (own - d);
            if (depth >= from && depth <= to) impulse += r * (own - d) * pow(2, -depth);
        }
        assert_true(fabs(rbt_layers_energy(&layers, eta, d) - energy) <= 1e-9 * energy);
        assert_true(fabs(rbt_layers_impulse(&layers, eta, d, from, to) - impulse) <= 1e-9 * impulse + 1e-12);
    }
    // Steps shrink with the frequency of all layers down to l together, sqrt(1 + 2^3 + … + l^3) times that of layer
    // 1, and no faster than powers of two demand.
    for (int j = 0; j < layers.depth_count; j++) {
        double l = layers.last[j], next = l + 1;
        assert_true(sqrt(layers.cubes_to[layers.last[j]]) <= pow(2, j) * (1 + 1e-9));
        assert_true(0.5 * next * (next + 1) > pow(2, j));
    }
    assert_true(layers.last[layers.depth_count - 1] == 92681);
    rbt_layers_free(&layers);
}

// ---- Queue

static void queue_is_ordered(void **state) {
    (void)state;
    rbt_queue queue = {0};
    for (int round = 0; round < 20; round++) {  // a heap, then bins; full, then while others are added behind
        int64_t end = round ? (int64_t)uniform(1, 5000) : 0, begin = round ? 100 : 0;
        bool ok = true;
        rbt_queue_clear(&queue, begin, begin + end);
        for (int i = 0; i < 1000; i++)
            assert_true(rbt_queue_push(
                &queue, (rbt_event){begin + (int64_t)uniform(0, 1.2 * (double)end + 50), (int32_t)uniform(0, 1e6), 0},
                NULL));
        rbt_event last = {-1, 0, 0};
        for (int i = 0; i < 1000 + 200; i++) {
            assert_non_null(rbt_queue_first(&queue, &ok));
            rbt_event next = rbt_queue_pop(&queue);
            assert_true(next.time > last.time || (next.time == last.time && next.id >= last.id));
            last = next;
            rbt_event more = {next.time + 1 + (int64_t)uniform(0, 0.3 * (double)end), (int32_t)uniform(0, 1e6), 0};
            if (i < 1000 && i % 5 == 0) assert_true(rbt_queue_push(&queue, more, NULL));
        }
        assert_true(ok);
    }
    rbt_queue_free(&queue);
}

// ---- Tree

// Leaves that move about: searches that continue from the last separation list find all that overlap.
static void tree_finds_all_pairs(void **state) {
    (void)state;
    enum { N = 120 };
    double centre[3 * N], radius[N];
    rbt_tree tree;
    assert_true(rbt_tree_init(&tree, N, NULL));
    for (int i = 0; i < N; i++) point(centre + 3 * i, 1), radius[i] = uniform(0, 0.1);
    rbt_tree_build(&tree, centre);
    for (int round = 0; round < 30; round++) {
        unsigned char found[N][N] = {0};
        for (int i = 0; i < N; i++) {
            rbt_dop *dop = &tree.nodes[tree.leaf_node[i]].dop;
            double step[3];
            point(step, 0.1);
            rbt_add_scaled(centre + 3 * i, 1, step);
            rbt_dop_empty(dop);
            rbt_dop_add_ball(dop, centre + 3 * i, radius[i]);
        }
        rbt_tree_refit(&tree);
        assert_true(rbt_tree_collide(&tree, NULL));
        for (size_t k = 0; k < tree.pair_count; k++) {
            int a = tree.pairs[2 * k], b = tree.pairs[2 * k + 1];
            assert_false(found[a][b] || found[b][a]);
            found[a][b] = found[b][a] = 1;
        }
        for (int i = 0; i < N; i++)
            for (int j = 0; j < i; j++) {
                double across[3];
                rbt_subtract(centre + 3 * i, centre + 3 * j, across);
                if (rbt_length(across) <= radius[i] + radius[j]) assert_true(found[i][j]);
            }
    }
    rbt_tree_free(&tree);
}

typedef struct flock {  // points with radii that move together, and a little on their own
    double start[3], last[3], renewed[3], radius;
} flock;

static const double FLOCK_REACH = 0.01;

static void flock_fit(rbt_tree *tree, const flock *f, int count, bool known) {
    for (int i = 0; i < count; i++) {
        rbt_dop *dop = &tree->nodes[tree->leaf_node[i]].dop;
        rbt_dop_empty(dop);
        rbt_dop_add_ball(dop, f[i].start, f[i].radius + FLOCK_REACH);
        rbt_dop_add_ball(dop, f[i].last, f[i].radius + FLOCK_REACH);
        rbt_drift *drift = &tree->drifts[tree->leaf_node[i]];
        if (!known) continue;
        for (int k = 0; k < 3; k++) {
            drift->first.centre[k] = (float)(f[i].start[k] - f[i].renewed[k]);
            drift->last.centre[k] = (float)(f[i].last[k] - f[i].renewed[k]);
        }
        drift->first.radius = drift->last.radius = 1e-6f;
        drift->reach = (float)FLOCK_REACH;
    }
    rbt_tree_refit(tree);
}

// What was told about pairs spares looks and never hides a pair that touches at some time of a span, also when the
// drifts are counted again.
static void drifts_hide_no_pair(void **state) {
    (void)state;
    enum { N = 120 };
    flock f[N];
    rbt_tree tree, blind;
    size_t looks = 0, blind_looks = 0, partly = 0;
    double centres[3 * N];
    assert_true(rbt_tree_init(&tree, N, NULL) && rbt_tree_init(&blind, N, NULL));
    for (int i = 0; i < N; i++) {
        point(f[i].last, 1);
        memcpy(f[i].renewed, f[i].last, sizeof f[i].renewed);
        memcpy(centres + 3 * i, f[i].last, sizeof f[i].last);
        f[i].radius = uniform(0.05, 0.15);
    }
    rbt_tree_build(&tree, centres);
    rbt_tree_build(&blind, centres);
    for (int round = 0; round < 200; round++) {
        unsigned char found[N][N] = {0};
        double common[3];
        point(common, 0.5);
        for (int i = 0; i < N; i++) {
            double own[3];
            point(own, 0.005);
            for (int k = 0; k < 3; k++) f[i].start[k] = f[i].last[k], f[i].last[k] += common[k] + own[k];
        }
        flock_fit(&tree, f, N, true);
        flock_fit(&blind, f, N, false);
        if (round % 7 == 6) {
            rbt_tree_renew(&tree);
            for (int i = 0; i < N; i++) memcpy(f[i].renewed, f[i].start, sizeof f[i].start);
            flock_fit(&tree, f, N, true);
        }
        assert_true(rbt_tree_collide(&tree, NULL) && rbt_tree_collide(&blind, NULL));
        looks += tree.pair_count;
        blind_looks += blind.pair_count;
        for (size_t k = 0; k < tree.pair_count; k++) {
            int a = tree.pairs[2 * k], b = tree.pairs[2 * k + 1];
            double across[3];
            rbt_subtract(f[a].start, f[b].start, across);
            // Parts: the balls, and balls of half the radius, which are told to be the ones further apart
            double both = f[a].radius + f[b].radius, gap = rbt_length(across) - both;
            int32_t some = rbt_tree_some(&tree, k);
            found[a][b] = found[b][a] = some ? 1 : 2;
            partly += some != 0;
            if (some) rbt_tree_tell_some(&tree, k, gap);
            else rbt_tree_tell(&tree, k, gap, 1, gap + 0.5 * both);
        }
        for (int i = 0; i < N; i++)
            for (int j = 0; j < i; j++)
                for (int part = 0; part <= 4; part++) {
                    double across[3];
                    for (int k = 0; k < 3; k++)
                        across[k] = (1 - part / 4.0) * (f[i].start[k] - f[j].start[k]) +
                                    part / 4.0 * (f[i].last[k] - f[j].last[k]);
                    double gap = rbt_length(across) - f[i].radius - f[j].radius;
                    if (gap <= 1.99 * FLOCK_REACH) assert_true(found[i][j]);
                    if (gap + 0.5 * (f[i].radius + f[j].radius) <= 1.99 * FLOCK_REACH) assert_true(found[i][j] == 2);
                }
    }
    assert_true(2 * looks < blind_looks && 4 * partly > looks);
    rbt_tree_free(&tree);
    rbt_tree_free(&blind);
}

// ---- Certificates

enum { NODES = 24, TRIANGLES = 8 };  // loose triangles

typedef struct world {
    double x[3 * NODES], v[3 * NODES], mass[NODES], radius[NODES], light[NODES];
    int64_t t[NODES];
    int32_t triangles[3 * TRIANGLES], body[NODES];
    rbt_tracks tracks;
    rbt_contact contact;
} world;

static void world_init(world *w, double eta) {
    memset(w, 0, sizeof *w);
    for (int i = 0; i < NODES; i++) {
        if (i % 3 == 0) point(w->x + 3 * i, 1);
        else {
            double step[3];
            point(step, 0.4);
            for (int k = 0; k < 3; k++) w->x[3 * i + k] = w->x[3 * (i - i % 3) + k] + step[k];
        }
        point(w->v + 3 * i, 1);
        w->light[i] = w->mass[i] = 1;
        w->triangles[i] = i;
        w->body[i] = i / 3;
    }
    w->tracks = (rbt_tracks){NODES, w->x, w->v, w->t, w->mass, ldexp(0.01, -RBT_TICK_BITS)};
    rbt_contact_law law = {
        .stiffness = 10, .thickness = eta, .restitution = 1, .safety = 0.2, .step = 0.01, .deepest = 30};
    rbt_contact_surface_def def = {.node_count = NODES,
                                   .triangle_count = TRIANGLES,
                                   .triangles = w->triangles,
                                   .radius = w->radius,
                                   .body = w->body,
                                   .X = w->x,
                                   .inverse_mass = w->light};
    assert_true(rbt_contact_init(&w->contact, &law, &def, &w->tracks, NULL));
}

// Velocities anywhere within the cones, changed again and again: until its certificate expires a pair stays apart.
static void slabs_never_expire_late(void **state) {
    (void)state;
    size_t sleeping = 0;
    for (int round = 0; round < 20; round++) {
        world w;
        world_init(&w, 0.01);
        w.contact.window.length = (int64_t)64 << RBT_TICK_BITS;
        for (int i = 0; i < NODES; i++) w.contact.certificates.cones[i].eps = uniform(0.01, 0.3);
        rbt_contact_window(&w.contact, 0);  // triangles that cross at the start may stall it
        bool ok = true;
        while (rbt_queue_first(&w.contact.certificates.queue, &ok)) {
            rbt_event event = rbt_queue_pop(&w.contact.certificates.queue);
            const rbt_pair *pair = &w.contact.pairs.items[event.id];
            if (w.contact.pairs.stamps[event.id] != event.stamp) continue;
            sleeping++;
            world free = w;  // what else happens to the nodes does not matter here
            free.tracks.x = free.x, free.tracks.v = free.v, free.tracks.t = free.t;
            free.contact.tracks = &free.tracks;
            for (int k = 0; k <= 20; k++) {
                int64_t t = event.time / 20 * k;
                rbt_gap gap;
                double support;
                rbt_pair_measure(&free.contact, pair, t, &gap, &support);
                assert_true(gap.distance >= pair->eta && support <= gap.distance + 1e-12);
                for (int i = 0; i < rbt_pair_corners(rbt_pair_key_kind(pair->key)); i++) {
                    size_t n = (size_t)pair->node[i];
                    double u[3];
                    point(u, 1);
                    double scale = w.contact.certificates.cones[n].eps * (k % 2 ? 1 : uniform(0, 1)) / rbt_length(u);
                    rbt_track_move(&free.tracks, n, t);
                    for (size_t c = 0; c < 3; c++)
                        free.v[3 * n + c] = w.contact.certificates.cones[n].v[c] + scale * u[c];
                }
            }
        }
        rbt_contact_free(&w.contact);
    }
    assert_true(sleeping > 100);
}

// Pairs that are not listed stay further apart than their layers from time `from` to the end of the window while
// nodes keep their promises.
static size_t check_pairs_left_out(const world *w, double from) {
    double length = (double)(w->contact.window.end - w->contact.window.begin) * w->tracks.tick;
    size_t left_out = 0;
    for (int32_t a = 0; a < TRIANGLES; a++)
        for (int32_t b = 0; b < a; b++) {
            rbt_pair_key keys[15];
            for (int k = 0, n = rbt_leaf_pairs(&w->contact.surface, a, b, keys); k < n; k++) {
                bool listed = false;
                for (size_t p = 0; p < w->contact.pairs.count; p++)
                    listed |= w->contact.pairs.items[p].key == keys[k];
                left_out += !listed;
                for (int sample = 0; !listed && sample < 20; sample++) {
                    int32_t node[4];
                    double x[12], s = uniform(from, length);
                    rbt_pair_nodes(&w->contact.surface, keys[k], node);
                    for (int i = 0; i < 4; i++) {
                        const rbt_line *line = &w->contact.trajectories.lines[node[i]];
                        double u[3];
                        point(u, 1);
                        for (int c = 0; c < 3; c++)
                            x[3 * i + c] = line->start[c] + s * line->path[c] + line->reach / rbt_length(u) * u[c];
                    }
                    rbt_gap gap;
                    rbt_gap_measure(rbt_pair_key_kind(keys[k]), x, &gap);
                    assert_true(gap.distance > w->contact.law.thickness);
                }
            }
        }
    return left_out;
}

static void windows_leave_out_nothing(void **state) {
    (void)state;
    size_t listed = 0, left_out = 0;
    for (int round = 0; round < 30 || (round < 1000 && listed <= 30); round++) {  // until enough are judged
        world w;
        world_init(&w, 0.05);
        for (int i = 0; i < NODES; i++) w.contact.certificates.cones[i].eps = uniform(0.01, 0.5);
        rbt_contact_window(&w.contact, 0);
        left_out += check_pairs_left_out(&w, 0);
        listed += w.contact.pairs.count;
        rbt_contact_free(&w.contact);
    }
    assert_true(listed > 30 && left_out > 1000);
}

// Nodes turn aside within a window: their new lines go through where they are, and what they may meet now is listed,
// each pair once and in the order of names.
static void repairs_leave_out_nothing(void **state) {
    (void)state;
    size_t added = 0, left_out = 0;
    for (int round = 0; round < 60 || (round < 1000 && added <= 100); round++) {  // until enough are judged
        world w;
        world_init(&w, 0.05);
        rbt_contact_window(&w.contact, 0);
        size_t before = w.contact.pairs.count;
        for (int turn = 1; turn <= 2; turn++) {
            int64_t t = w.contact.window.end / 3 * turn;
            double now = (double)t * w.tracks.tick;
            w.contact.window.search_work = INFINITY;
            for (size_t n = (size_t)turn; n < NODES; n += 5) {
                rbt_track_move(&w.tracks, n, t);
                point(w.v + 3 * n, 10);
            }
            rbt_contact_check(&w.contact, NULL, 0, NODES, t);
            rbt_contact_settle(&w.contact, t);  // triangles that cross may stall it
            assert_true(!w.contact.window.cut && w.contact.moment.line_violator_count == 0);
            for (size_t n = (size_t)turn; n < NODES; n += 5)
                for (size_t k = 0; k < 3; k++) {
                    const rbt_line *line = &w.contact.trajectories.lines[n];
                    assert_true(fabs(line->start[k] + now * line->path[k] - w.x[3 * n + k]) <= line->reach);
                }
            left_out += check_pairs_left_out(&w, now);
        }
        added += w.contact.pairs.count - before;
        rbt_pair_walk walk = rbt_pair_walk_all(&w.contact);
        const rbt_pair *last = NULL;
        size_t walked = 0;
        for (const rbt_pair *pair; (pair = rbt_pair_next(&w.contact, &walk)); last = pair, walked++)
            assert_true(!last || last->key < pair->key);
        assert_int_equal(walked, w.contact.pairs.count);
        for (size_t n = 0; n < NODES; n++) {  // every pair is one of its nodes'
            size_t own = 0, listed = w.contact.pairs.node_start[n + 1] - w.contact.pairs.node_start[n];
            for (size_t p = 0; p < w.contact.pairs.count; p++)
                for (int k = 0; k < 4; k++) own += w.contact.pairs.items[p].node[k] == (int32_t)n;
            for (int32_t p = w.contact.pairs.later_first[n]; p >= 0; p = rbt_later_next(&w.contact, p, n)) listed++;
            assert_int_equal(own, listed);
        }
        rbt_contact_free(&w.contact);
    }
    assert_true(added > 100 && left_out > 1000);
}

// Windows that begin at any time, with nodes that tremble: until nodes are looked at again they are where their lines
// promise, whether these follow a velocity or a mean one.
static void lines_hold_until_the_first_look(void **state) {
    (void)state;
    size_t means = 0, wild = 0;
    for (int round = 0; round < 20; round++) {
        world w;
        world_init(&w, 0.05);
        double tremble = round % 2 ? 30 : 0.05;
        for (int64_t t = 0, turn = 0; turn < 12;
             turn++, t += ((int64_t)1 << RBT_TICK_BITS) / 64 * (int64_t)uniform(65, 200)) {
            for (size_t n = 0; n < NODES; n++) {
                w.t[n] = t;  // it is where it was, whatever its velocity says
                point(w.v + 3 * n, tremble);
            }
            rbt_contact_window(&w.contact, t);  // triangles that cross may stall it
            w.contact.stall.found = false;
            double left = rbt_contact_left(&w.contact, t);
            for (size_t n = 0; n < NODES; n++) {
                const rbt_line *line = &w.contact.trajectories.lines[n];
                double off[3];
                rbt_subtract(w.v + 3 * n, line->path, off);
                assert_true(left * rbt_length(off) <= line->reach);
                means += rbt_length(off) > 0;
                wild += w.contact.trajectories.predictors[n].by_mean && rbt_length(off) == 0;
            }
        }
        rbt_contact_free(&w.contact);
    }
    assert_true(means > 100 && wild > 100);
}

// Everything the window found is awake deep enough: until the next tick of its deepest layers no deeper one is reached.
static void awake_layers_are_enough(void **state) {
    (void)state;
    size_t awake = 0;
    for (int round = 0; round < 40; round++) {
        world w;
        world_init(&w, 0.3);
        for (int i = 0; i < NODES; i++) w.contact.certificates.cones[i].eps = uniform(0.01, 2);
        if (!rbt_contact_window(&w.contact, 0)) {  // triangles that cross at the start have nearly no gap
            rbt_contact_free(&w.contact);
            continue;
        }
        for (size_t p = 0; p < w.contact.pairs.count; p++) {
            const rbt_pair *pair = &w.contact.pairs.items[p];
            if (pair->level < 0) continue;
            awake++;
            double h = ldexp(0.01, -pair->level), x[12];
            for (int sample = 0; sample < 10; sample++) {
                double s = sample % 2 ? h : uniform(0, h);  // one moment for all corners
                for (int i = 0; i < 4; i++) {
                    size_t n = (size_t)pair->node[i];
                    const rbt_cone *cone = &w.contact.certificates.cones[n];
                    double u[3];
                    point(u, 1);
                    for (size_t c = 0; c < 3; c++)
                        x[3 * (size_t)i + c] = w.x[3 * n + c] + s * (cone->v[c] + cone->eps / rbt_length(u) * u[c]);
                }
                rbt_gap gap;
                rbt_gap_measure(rbt_pair_key_kind(pair->key), x, &gap);
                assert_true(gap.distance > pair->eta * w.contact.layers.next_ratio[pair->level - pair->base]);
            }
        }
        rbt_contact_free(&w.contact);
    }
    assert_true(awake > 100);
}

// Pairs that tick at one moment, taken from their lists in any order: the same bits.
static void simultaneous_kicks_commute(void **state) {
    (void)state;
    int kicked = 0;
    for (int round = 0; round < 40; round++) {
        double first[3 * NODES] = {0};
        uint64_t start = random_test_stream;
        bool legal = true;
        for (int order = 0; legal && order < 4; order++) {
            world w;
            random_test_stream = start;
            world_init(&w, 0.3);
            w.contact.law.friction = 0.4, w.contact.law.restitution = 0.3;
            legal = rbt_contact_window(&w.contact, 0);
            for (int level = 0; level <= RBT_TICK_BITS; level++) {
                rbt_level_list *list = &w.contact.awake.levels[level];
                for (size_t i = 0; order && i < list->count; i++) {  // turned about, or mixed up
                    size_t j = order == 1 ? list->count - 1 - i : (i * 7919 + (size_t)order) % list->count;
                    int32_t swap = list->items[i];
                    if (order == 1 && i >= j) break;
                    list->items[i] = list->items[j];
                    list->items[j] = swap;
                    list->sorted = false;
                }
            }
            double before[3 * NODES];
            memcpy(before, w.v, sizeof before);
            rbt_contact_measure(&w.contact, 0);
            rbt_contact_kick(&w.contact, 0);
            kicked += memcmp(before, w.v, sizeof before) != 0;
            if (order == 0) memcpy(first, w.v, sizeof first);
            assert_memory_equal(first, w.v, sizeof first);
            rbt_contact_free(&w.contact);
        }
    }
    assert_true(kicked > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_least),
        cmocka_unit_test(layers_follow_their_law),
        cmocka_unit_test(queue_is_ordered),
        cmocka_unit_test(tree_finds_all_pairs),
        cmocka_unit_test(drifts_hide_no_pair),
        cmocka_unit_test(slabs_never_expire_late),
        cmocka_unit_test(windows_leave_out_nothing),
        cmocka_unit_test(repairs_leave_out_nothing),
        cmocka_unit_test(lines_hold_until_the_first_look),
        cmocka_unit_test(awake_layers_are_enough),
        cmocka_unit_test(simultaneous_kicks_commute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
