// Laws of async-contact that a motion shows late or never: how fast a spring can come to its limit, how much friction
// many pairs may have at one node, how short steps of damped elements are, and how far hinges flow.
#include "math/vec3.h"
#include "scene.h"
#include "sim/sim.h"
#include "step/async/clocks.h"
#include "step/async/friction.h"

#include "random.h"

static void direction(double u[3]) {
    do
        for (int k = 0; k < 3; k++) u[k] = uniform(-1, 1);
    while (!(rbt_length(u) > 0.1));
    rbt_normalize(u, u);
}

// ---- Certificates

// Ends of a spring that move anyhow within their cones, across it too: its length comes no faster to a limit than the
// certificate says.
static void springs_reach_no_limit_before_their_certificate(void **state) {
    (void)state;
    int turning = 0;
    for (int round = 0; round < 400; round++) {
        rbt_touch_kind kind = round % 2 ? RBT_TOUCH_STRETCH : RBT_TOUCH_SHRINK;
        double x[12] = {0}, u[3];
        rbt_cone cones[2];
        rbt_contact contact = {.certificates.cones = cones};
        rbt_pair pair = {.key = rbt_pair_key_of(kind, 0, 1), .node = {0, 1}};
        for (int i = 0; i < 2; i++) {
            cones[i].eps = uniform(0, 0.1);
            for (int k = 0; k < 3; k++) {
                x[3 * i + k] = uniform(-1, 1);
                cones[i].v[k] = uniform(-2, 2);
            }
        }
        rbt_gap now, later;
        rbt_gap_measure(kind, x, &now);
        double closing = rbt_pair_closing(&contact, &pair, now.normal);
        for (int sample = 0; sample < 40; sample++) {
            double y[12] = {0}, t = uniform(0, 2), along = 0;
            for (int i = 0; i < 2; i++) {
                direction(u);
                for (int k = 0; k < 3; k++) {
                    double v = cones[i].v[k] + cones[i].eps * u[k];
                    y[3 * i + k] = x[3 * i + k] + t * v;
                    along += (i ? -1 : 1) * now.normal[k] * v;
                }
            }
            rbt_gap_measure(kind, y, &later);
            assert_true(later.distance >= now.distance - t * closing - 1e-12);
            turning += later.distance < now.distance - t * along - 0.01;  // what the normal alone would not tell
        }
    }
    assert_true(turning > 100);
}

// Two balls on straight lines: at no moment of the window are they nearer than their spans say, wherever their points
// are.
static void spans_promise_no_more_than_there_is(void **state) {
    (void)state;
    int apart = 0;
    for (int round = 0; round < 400; round++) {
        double start[2][3], last[2][3], radius[2], u[3];
        rbt_span span[2];
        for (int b = 0; b < 2; b++) {
            radius[b] = uniform(0, 0.3);
            for (int k = 0; k < 3; k++) {
                start[b][k] = uniform(-1, 1) + (k == 0 ? 1.5 * b : 0);
                last[b][k] = start[b][k] + uniform(-0.5, 0.5);
            }
            rbt_span_of_ball(start[b], last[b], radius[b], 4 * 0x1p-22, &span[b]);
        }
        double promised = (double)rbt_span_apart(&span[0], &span[1]);
        apart += promised > 0;
        for (int sample = 0; sample < 40; sample++) {
            double t = sample < 2 ? sample : uniform(0, 1), x[2][3], along[3];
            for (int b = 0; b < 2; b++)
                for (int k = 0; k < 3; k++) x[b][k] = (1 - t) * start[b][k] + t * last[b][k];
            rbt_subtract(x[1], x[0], along);
            double distance = rbt_length(along) - radius[0] - radius[1];  // of their nearest points
            assert_true(distance >= promised);
            for (int b = 0; b < 2; b++) {
                direction(u);
                rbt_add_scaled(x[b], radius[b], u);
            }
            rbt_subtract(x[1], x[0], along);
            assert_true(rbt_length(along) >= promised);
        }
    }
    assert_true(apart > 50);
}

// ---- Friction

// One node that slides at many others, which are constrained or light: friction takes sliding away, never more,
// however many pairs drag at it and however hard they press. Pairs press along one normal here, so that all of them
// see the same sliding.
static void friction_of_many_pairs_stops_and_never_turns_back(void **state) {
    (void)state;
    enum { MOST = 6 };
    for (int round = 0; round < 200; round++) {
        int pairs = 1 + (int)below(MOST);
        bool constrained = round % 2;
        double x[3 * (MOST + 1)] = {0}, v[3 * (MOST + 1)] = {0}, inverse_mass[MOST + 1], n[3];
        int64_t t[MOST + 1] = {0};
        int32_t dragging[MOST + 1] = {0};
        rbt_tracks tracks = {(size_t)pairs + 1, x, v, t, inverse_mass, 1e-6};
        rbt_pair list[MOST];
        rbt_touch touches[MOST];
        rbt_contact contact = {.tracks = &tracks,
                               .pairs = {.items = list, .count = (size_t)pairs},
                               .moment = {.touches = touches, .touch_count = (size_t)pairs, .dragging = dragging},
                               .law = {.friction = uniform(0.1, 2)}};
        direction(n);
        for (int i = 0; i <= pairs; i++) {
            inverse_mass[i] = i && constrained ? 0 : uniform(0.5, 2);
            for (int k = 0; k < 3; k++) v[3 * i + k] = i && constrained ? 0 : uniform(-1, 1);
        }
        for (int i = 0; i < pairs; i++) {
            list[i] = (rbt_pair){.key = rbt_pair_key_of(RBT_TOUCH_POINT, 0, i + 1),
                                 .node = {0, i + 1},
                                 .friction = contact.law.friction};
            touches[i] = (rbt_touch){.pair = i, .gap = {.weight = {-1, 1}}, .push = uniform(1, 100)};
            memcpy(touches[i].gap.normal, n, sizeof n);
        }
        double before[3 * (MOST + 1)], energy[2] = {0};
        memcpy(before, v, sizeof v);
        for (int i = 0; i <= pairs; i++)
            if (inverse_mass[i] > 0) energy[0] += rbt_dot(v + 3 * i, v + 3 * i) / inverse_mass[i];
        rbt_contact_drag(&contact, 0);
        for (int i = 0; i <= pairs; i++) {
            double change[3];
            if (inverse_mass[i] > 0) energy[1] += rbt_dot(v + 3 * i, v + 3 * i) / inverse_mass[i];
            rbt_subtract(v + 3 * i, before + 3 * i, change);
            assert_true(fabs(rbt_dot(change, n)) < 1e-12);  // across the normal only
            assert_int_equal(dragging[i], 0);
        }
        assert_true(energy[1] <= energy[0] * (1 + 1e-12));
        if (!constrained) continue;
        // All pairs press enough to stop it: it stands, exactly.
        double sliding[3];
        memcpy(sliding, v, sizeof sliding);
        rbt_add_scaled(sliding, -rbt_dot(v, n), n);
        assert_true(rbt_dot(sliding, before) >= -1e-12);
        double enough = rbt_length(before) / inverse_mass[0], least = INFINITY;
        for (int i = 0; i < pairs; i++) least = fmin(least, contact.law.friction * touches[i].push * pairs);
        if (least >= enough) assert_true(rbt_length(sliding) < 1e-12);
    }
}

// ---- Damped elements

#define SHEET(more)                                                                                                  \
    "{'rubato': 1, 'bodies': [{'name': 'sheet', 'mesh': {'shape': {'cloth': {'length': 0.4, 'width': 0.4, "          \
    "'cells_along': 4, 'cells_across': 4}}}, 'material': {'young': 1e5, 'density': 500}, 'shell': {'thickness': "    \
    "0.002, 'bending': 1e-4}, 'velocity': {'angular': [0, 3, 0]}, 'deform': [{'stretch': {'axis': [1, 0, 0], "       \
    "'factor': 1.1}}]" more "}], 'time': {'step': 1e-2, 'frame': 1e-2, 'end': 10}, 'integrator': {'method': "        \
    "'async-contact'}}"

static int finest_clock(const char *json) {
    rbt_sim *sim = sim_from(json);
    rbt_clocks clocks;
    assert_true(rbt_clocks_init(&clocks, sim->model, 0.9, NULL));
    int finest = clocks.finest;
    rbt_clocks_free(&clocks);
    rbt_sim_free(sim);
    return finest;
}

// A force that is damped by beta K v, seen from differences of the last step, is stable up to h = h_0 / (1 + 4 beta /
// h_0) at most, h_0 = 2 / omega the step without damping: with beta = 2 h_0 elements tick 9 times as fast, at the
// next power of two, and energy falls.
static void damping_makes_clocks_faster(void **state) {
    (void)state;
    int plain = finest_clock(SHEET(""));
    double h = ldexp(1e-2, -plain);  // h_0 is between h / 0.9 and 2 h / 0.9
    char json[2048], damping[128];
    for (int strong = 0; strong < 3; strong++) {
        double beta = strong == 0 ? 0.5 * h : strong == 1 ? 2 * h : 8 * h;
        snprintf(damping, sizeof damping, ", 'damping': {'stiffness': %.17g}", beta);
        snprintf(json, sizeof json, SHEET("%s"), damping);
        int finest = finest_clock(json);
        // 1 + 4 beta / h_0 is at least 1 + 4 beta / (2 h / 0.9), at most 1 + 4 beta / (h / 0.9)
        assert_true(finest >= plain + (int)floor(log2(1 + 1.8 * beta / h)));
        assert_true(finest <= plain + 1 + (int)ceil(log2(1 + 3.6 * beta / h)));
        rbt_sim *sim = sim_from(json);
        double energy = rbt_sim_energies(sim).total;
        for (int k = 0; k < 6; k++) {
            advance(sim, 1);
            double next = rbt_sim_energies(sim).total;
            assert_true(next < energy * (1 + 1e-3));
            energy = next;
        }
        rbt_sim_free(sim);
    }
}

// ---- Hinges that yield

// Rest angles follow until the rest is the yield angle, no less and no more, and hinges below it do not flow.
static void hinges_flow_to_their_yield_angle(void **state) {
    (void)state;
    const double yield = 0.1;
    rbt_sim *sim =
        sim_from("{'rubato': 1, 'bodies': [{'name': 'sheet', 'mesh': {'shape': {'cloth': {'length': 1, 'width': 1, "
                 "'cells_along': "
                 "6, 'cells_across': 6}}}, 'material': {'young': 1e4, 'density': 500}, 'shell': {'thickness': 0.01, "
                 "'bending': "
                 "0.01, 'yield': 0.1}}], 'time': {'step': 1e-4, 'frame': 1e-2, 'end': 1}, 'integrator': {'method': "
                 "'async-contact'}}");
    const rbt_model *m = sim->model;
    size_t n = m->node_count, hinges = 0;
    rbt_clocks clocks;
    assert_true(rbt_clocks_init(&clocks, m, 0.9, NULL));
    while (m->groups[hinges].type != &RBT_HINGES) hinges++;
    const rbt_group *group = &m->groups[hinges];
    double *memory = calloc(rbt_clocks_memory(m) + 1, sizeof *memory), *flow = memory;
    rbt_tracks tracks = {n,
                         sim->state.x,
                         sim->state.v,
                         calloc(n, sizeof(int64_t)),
                         calloc(n, sizeof(double)),
                         ldexp(m->step, -RBT_TICK_BITS)};
    size_t flowed = 0, elastic = 0;
    double *before = calloc(group->count, sizeof *before), stored = 0;
    for (int64_t tick = 0; tick < 6; tick++) {
        for (size_t i = 0; i < n; i++) tracks.x[3 * i + 1] = 0.04 * uniform(-1, 1);
        memset(tracks.v, 0, 3 * n * sizeof(double));
        rbt_clocks_tick(&clocks, &tracks, tick << RBT_TICK_BITS, tick == 0, memory);
        stored = 0;
        for (size_t e = 0; e < group->count; e++) {
            const rbt_hinge *hinge = (const rbt_hinge *)group->data + e;
            double angle = rbt_hinge_angle(tracks.x, group->nodes + 4 * e),
                   was = angle - hinge->rest_angle - before[e];
            double rest = angle - hinge->rest_angle - flow[e];
            assert_true(fabs(rest) <= yield + 1e-12);
            if (fabs(was) > yield) assert_true(fabs(rest - copysign(yield, was)) < 1e-12);
            else assert_true(flow[e] == before[e]);
            flowed += fabs(was) > yield;
            elastic += fabs(was) <= yield;
            before[e] = flow[e];
            stored += 0.5 * hinge->weight * rest * rest;
        }
        // and what the elements store is that of the new rest
        double membranes = rbt_clocks_energy(&clocks, tracks.x) - stored;
        for (size_t e = 0; e < group->count; e++)
            clocks.flowing[hinges][e].rest_angle = rbt_hinge_angle(tracks.x, group->nodes + 4 * e);
        assert_true(fabs(rbt_clocks_energy(&clocks, tracks.x) - membranes) < 1e-12 * (membranes + stored));
        rbt_clocks_recall(&clocks, memory);
    }
    assert_true(flowed > 100 && elastic > 20);
    free(before), free(memory), free(tracks.t), free(tracks.inverse_mass);
    rbt_clocks_free(&clocks);
    rbt_sim_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(springs_reach_no_limit_before_their_certificate),
        cmocka_unit_test(spans_promise_no_more_than_there_is),
        cmocka_unit_test(friction_of_many_pairs_stops_and_never_turns_back),
        cmocka_unit_test(damping_makes_clocks_faster),
        cmocka_unit_test(hinges_flow_to_their_yield_angle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
