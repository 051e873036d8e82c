// What async-contact has beyond contact of elastic bodies: hinges that yield, obstacles that move and their work,
// springs that stretch only so far, friction on slopes, and what cannot be.
#include "contact/distance/gap.h"
#include "energy/hinge.h"
#include "math/vec3.h"
#include "sampled.h"
#include "scene.h"
#include "sim/sim.h"

// As a checkpoint does
static void carry(const rbt_sim *from, rbt_sim *to) {
    size_t bytes = 3 * from->model->node_count * sizeof(double);
    memcpy(to->state.x, from->state.x, bytes);
    memcpy(to->state.v, from->state.v, bytes);
    memcpy(to->state.memory, from->state.memory, from->state.memory_size);
    to->state.t = from->state.t, to->state.frame = from->state.frame, to->state.step = from->state.step;
}

static bool same_bits(const rbt_sim *a, const rbt_sim *b) {
    size_t bytes = 3 * a->model->node_count * sizeof(double);
    return memcmp(a->state.x, b->state.x, bytes) == 0 && memcmp(a->state.v, b->state.v, bytes) == 0 &&
           memcmp(a->state.memory, b->state.memory, a->state.memory_size) == 0;
}

// ---- Hinges that yield

// Two triangles: one is fixed, the apex of the other is turned about their edge by 1 rad within 0.4 s and released at
// 0.5 s.
static rbt_sim *fold(const char *yield, const char *method) {
    char json[2048];
    snprintf(json, sizeof json,
             "{'rubato': 1, 'bodies': [{'name': 'fold', 'mesh': {'shape': {'cloth': {'length': 1, 'width': 1, "
             "'cells_along': 1, 'cells_across': 1}}}, 'material': {'young': 1e4, 'density': 1000}, "
             "'shell': {'thickness': 0.01, 'bending': 0.5%s}, 'damping': {'mass': 2}, "
             "'fixed': [{'nodes': [0, 3, 2]}], 'driven': [{'where': {'nodes': [1]}, 'release': 0.5, 'motions': "
             "[{'rotation': {'axis': [1, 0, 1], 'rate': 2.5, 'until': 0.4}}]}]}], "
             "'time': {'step': 5e-4, 'frame': 0.05, 'end': 20}, 'integrator': {'method': '%s'}}",
             yield, method);
    return sim_from(json);
}

static double angle_of(const rbt_sim *sim) {
    for (size_t g = 0; g < sim->model->group_count; g++)
        if (sim->model->groups[g].type == &RBT_HINGES)
            return rbt_hinge_angle(sim->state.x, sim->model->groups[g].nodes);
    return NAN;
}

// Bent by 1 rad with a yield of 0.3 rad, a hinge springs back by 0.3 rad and stays bent by 0.7 rad. Until then the
// prescribed motion has done the elastic work w y^2 / 2 and the plastic work w y 0.7 instead of w / 2.
static void a_hinge_that_yields_stays_bent(void **state) {
    (void)state;
    rbt_sim *plastic = fold(", 'yield': 0.3", "async-contact"), *elastic = fold("", "async-contact");
    advance(plastic, 9);
    advance(elastic, 9);
    double weight = 0.5 * 2 / 1, y = 0.3;  // D |e|^2 / (A_1 + A_2)
    double sign = angle_of(elastic) > 0 ? 1 : -1;
    assert_true(fabs(sign * angle_of(plastic) - 1) < 1e-6);
    rbt_energies p = rbt_sim_energies(plastic), e = rbt_sim_energies(elastic);
    assert_true(fabs(p.elastic - 0.5 * weight * y * y) < 1e-6 && fabs(e.elastic - 0.5 * weight) < 1e-6);
    double more = (0.5 * weight * y * y + weight * y * 0.7) - 0.5 * weight;  // air drag is the same for both
    assert_true(fabs(p.work - e.work - more) < 0.01 * fabs(more));
    advance(plastic, 291);  // 15 s: exp(-15) of the swing is left
    advance(elastic, 291);
    assert_true(fabs(sign * angle_of(plastic) - 0.7) < 1e-5);
    assert_true(fabs(angle_of(elastic)) < 1e-5);
    rbt_sim_free(plastic);
    rbt_sim_free(elastic);
}

// What has flowed is part of the state: a workspace that knows nothing continues with the same bits.
static void flow_is_remembered(void **state) {
    (void)state;
    rbt_sim *a = fold(", 'yield': 0.3", "async-contact"), *b = fold(", 'yield': 0.3", "async-contact");
    advance(a, 6);
    carry(a, b);
    assert_true(rbt_sim_energies(a).elastic == rbt_sim_energies(b).elastic);
    advance(a, 10);
    advance(b, 10);
    assert_true(same_bits(a, b));
    rbt_sim_free(a);
    rbt_sim_free(b);
    refuses("{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'shape': {'cloth': {}}}, 'shell': {'thickness': 0.01, "
            "'yield': 1}}], 'integrator': {'method': 'backward-euler'}}",
            "does not know hinges that yield");
}

// ---- Obstacles that move

// The way distances change, which impulses and certificates rest on, against differences
static void gaps_change_as_their_weights_say(void **state) {
    (void)state;
    const double x[6] = {0.3, -0.2, 0.5, 1.1, 0.4, -0.3}, v[6] = {0.7, -1.3, 0.2, 0.5, 0.9, -0.6};
    const double normal[3] = {2.0 / 7, 3.0 / 7, 6.0 / 7}, h = 1e-6;
    static const rbt_touch_kind kinds[] = {RBT_TOUCH_WALL, RBT_TOUCH_STRETCH, RBT_TOUCH_SHRINK};
    for (int i = 0; i < 3; i++) {
        rbt_gap gap[3];
        for (int k = 0; k < 3; k++) {
            double moved[12] = {0};
            for (int j = 0; j < 6; j++) moved[j] = x[j] + (k - 1) * h * v[j];
            if (kinds[i] == RBT_TOUCH_WALL) rbt_gap_wall(moved + 3, normal, moved, &gap[k]);
            else rbt_gap_measure(kinds[i], moved, &gap[k]);
        }
        double rate = 0;
        for (int a = 0; a < 2; a++) rate += gap[1].weight[a] * rbt_dot(gap[1].normal, v + 3 * a);
        assert_true(fabs(rate - (gap[2].distance - gap[0].distance) / (2 * h)) < 1e-8);
        assert_true(fabs(rate) > 0.1);
    }
}

// A wall of infinite mass that moves at V throws a ball at rest away at 2 V, and has done all the work that this
// takes. The ball is the corner of a sheet of four that points to the wall; the others are far away.
static void a_wall_that_moves_does_work(void **state) {
    (void)state;
    static const char *const walls[] = {
        "{'plane': {'point': [0, 0, 0], 'normal': [1, 0, 0], 'motions': [{'velocity': {'velocity': [3, 0, 0]}}]}}",
        "{'sphere': {'centre': [-1, 0, 0], 'radius': 1, 'motions': [{'velocity': {'velocity': [3, 0, 0]}}]}}",
        "{'capsule': {'a': [-1, -2, 0], 'b': [-1, 3, 0], 'radius': 1, 'motions': [{'velocity': {'velocity': [3, 0, "
        "0]}}]}}",
        "{'box': {'min': [-2, -1, -1], 'max': [0, 2, 1], 'motions': [{'velocity': {'velocity': [3, 0, 0]}}]}}"};
    for (int i = 0; i < 4; i++) {
        char json[2048];
        snprintf(
            json, sizeof json,
            "{'rubato': 1, 'bodies': [{'name': 'ball', 'mesh': {'shape': {'cloth': {'length': 9, 'width': 20, "
            "'cells_along': 1, 'cells_across': 1}}}, 'transform': {'axis': [0, 1, 0], 'degrees': 45, 'translate': "
            "[10.7530483272, 0, 3.8890872965]}, 'particles': "
            "{'radius': 0.1, 'mass': 2}, 'fixed': [{'nodes': [1, 2, 3]}]}], 'obstacles': [%s], "
            "'time': {'step': 1e-3, 'frame': 0.01, 'end': 0.3}, 'integrator': {'method': 'async-contact', "
            "'options': {'stiffness': 1e4, 'thickness': 0.05, 'safety': 0.02}}}",
            walls[i]);
        rbt_sim *sim = sim_from(json), *again = sim_from(json);
        for (int k = 0; k < 30; k++) {
            advance(sim, 1);
            rbt_energies e = rbt_sim_energies(sim);
            assert_true(fabs(e.total - e.work) < 0.02 * 36);
            if (k == 14) carry(sim, again);
            if (k > 14) advance(again, 1);
        }
        assert_true(same_bits(sim, again));
        assert_true(fabs(sim->state.v[0] - 6) < 0.06);
        assert_true(fabs(rbt_sim_energies(sim).work - 36) < 0.02 * 36);
        rbt_sim_free(sim);
        rbt_sim_free(again);
    }
    refuses(
        "{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'shape': {'cloth': {}}}, 'shell': {'thickness': 0.01}}], "
        "'obstacles': [{'plane': {'point': [0, -1, 0], 'motions': [{'velocity': {'velocity': [0, 1, 0]}}]}}], "
        "'integrator': {'method': 'backward-euler'}}",
        "knows obstacles that move only in a scene with contact");
    refuses(
        "{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'shape': {'cloth': {}}}, 'shell': {'thickness': 0.01}}], "
        "'obstacles': [{'plane': {'point': [0, -1, 0], 'motions': [{'rotation': {'axis': [0, 0, 1], 'rate': 1}}]}}], "
        "'integrator': {'method': 'async-contact'}}",
        "cannot turn");
}

static double to_segment(const double p[3], const double a[3], const double b[3]) {
    double ab[3], ap[3];
    rbt_subtract(b, a, ab);
    rbt_subtract(p, a, ap);
    double s = fmin(1, fmax(0, rbt_dot(ab, ap) / rbt_dot(ab, ab)));
    for (int k = 0; k < 3; k++) ap[k] -= s * ab[k];
    return rbt_length(ap);
}

// A cloth falls on a rod that turns, and on a block that rises: no point of it gets into them.
static void rods_and_blocks_keep_cloth_out(void **state) {
    (void)state;
    rbt_sim *sim = sim_from(
        "{'rubato': 1, 'bodies': [{'name': 'cloth', 'mesh': {'shape': {'cloth': {'length': 1, 'width': 1, "
        "'cells_along': 6, 'cells_across': 6}}}, 'transform': {'translate': [0, 0.3, 0]}, 'material': {'young': "
        "1e4, 'density': 500}, 'shell': {'thickness': 0.002, 'bending': 1e-4}}], 'forces': [{'gravity': {}}], "
        "'obstacles': [{'capsule': {'a': [-0.7, 0, 0.2], 'b': [0.7, 0, 0.2], 'radius': 0.1, 'motions': [{'rotation': "
        "{'point': [0, 0, 0.2], 'axis': [0, 1, 0], 'rate': 5}}]}}, {'box': {'min': [-0.2, -0.6, -0.4], 'max': [0.2, "
        "-0.1, -0.2], 'motions': [{'velocity': {'velocity': [0, 1, 0], 'until': 0.2}}]}}], "
        "'time': {'step': 5e-4, 'frame': 0.01, 'end': 9}, 'integrator': {'method': 'async-contact', 'options': "
        "{'thickness': 0.01, 'friction': 0.2}}}");
    double nearest = INFINITY, lowest = INFINITY;
    for (int f = 0; f < 50; f++) {
        advance(sim, 1);
        double t = rbt_sim_time(sim), turn = 5 * t, top = -0.1 + fmin(t, 0.2);
        double a[3] = {-0.7 * cos(turn), 0, 0.2 + 0.7 * sin(turn)},
               b[3] = {0.7 * cos(turn), 0, 0.2 - 0.7 * sin(turn)};
        for (size_t i = 0; i < sim->model->triangle_count; i++)
            for (int k = 0; k < 66; k++) {  // points all over the triangle
                double p[3] = {0}, u = (double)(k % 11) / 10, w = (double)(k / 11) / 5;
                double weight[3] = {1 - u, u * (1 - w), u * w};
                for (int c = 0; c < 3; c++)
                    rbt_add_scaled(p, weight[c], sim->state.x + 3 * (size_t)sim->model->triangles[3 * i + (size_t)c]);
                nearest = fmin(nearest, to_segment(p, a, b));
                bool above = fabs(p[0]) < 0.2 && p[2] > -0.4 && p[2] < -0.2;
                if (above) lowest = fmin(lowest, p[1] - top);
            }
    }
    assert_true(nearest > 0.1 && nearest < 0.11);
    assert_true(lowest > 0 && lowest < 0.01);
    rbt_sim_free(sim);
}

// ---- Springs that stretch only so far

// A chain between two fixed ends is hit by a ball.
static rbt_sim *chain(double speed, double limit, const char *method) {
    char json[2048];
    FILE *file = fopen("features-chain.obj", "w");
    assert_non_null(file);
    for (int i = 0; i <= 10; i++) fprintf(file, "v 0 %g 0\n", 0.1 * i);
    for (int i = 1; i <= 10; i++) fprintf(file, "l %d %d\n", i, i + 1);
    fclose(file);
    file = fopen("features-ball.obj", "w");
    assert_non_null(file);
    fputs("v 0 0 0\nv 9 0 0\nl 1 2\n", file);
    fclose(file);
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'chain', 'mesh': {'file': 'features-chain.obj'}, 'springs': "
        "{'stiffness': 50, 'node_mass': 0.1, 'limit': %g}, 'fixed': [{'nodes': [0]}]}, "
        "{'name': 'ball', 'mesh': {'file': 'features-ball.obj'}, 'transform': {'translate': [-0.3, 0.53, 0]}, "
        "'particles': {'radius': 0.05, 'mass': 1}, 'fixed': [{'nodes': [1]}], 'velocity': {'linear': [%g, 0, 0]}}], "
        "'time': {'step': %g, 'frame': %g, 'end': 1000}, 'integrator': {'method': '%s'%s}}",
        limit, speed, 1e-3 / speed, 1e-2 / speed, method,
        method[0] == 'a' ? ", 'options': {'stiffness': 1000, 'thickness': 0.02}" : "");
    rbt_scene_file *scene = scene_from(json);
    rbt_error error;
    rbt_sim *sim = rbt_sim_create(rbt_scene_of(scene), &error);
    rbt_scene_free(scene);
    remove("features-chain.obj");
    remove("features-ball.obj");
    if (!sim) assert_non_null(strstr(error.message, "does not know limits of springs"));
    return sim;
}

static void strain_of(const rbt_sim *sim, double *least, double *most) {
    for (size_t e = 0; e < 10; e++) {
        double along[3];
        rbt_subtract(sim->state.x + 3 * (e + 1), sim->state.x + 3 * e, along);
        *least = fmin(*least, rbt_length(along) / 0.1 - 1);
        *most = fmax(*most, rbt_length(along) / 0.1 - 1);
    }
}

// At any speed springs with a limit keep it, and energy; those without do not.
static void limits_hold_at_any_speed(void **state) {
    (void)state;
    static const double speeds[] = {1, 30, 1000};
    for (int i = SAMPLED(0, 1); i < SAMPLED(3, 2); i++) {
        double least = 0, most = 0, free_min = 0, free_max = 0;
        rbt_sim *sim = chain(speeds[i], 0.1, "async-contact"), *elastic = chain(speeds[i], 0, "async-contact");
        double first = rbt_sim_energies(sim).total;
        for (int f = 0; f < 100; f++) {
            advance(sim, 1);
            advance(elastic, 1);
            strain_of(sim, &least, &most);
            strain_of(elastic, &free_min, &free_max);
            assert_true(fabs(rbt_sim_energies(sim).total / first - 1) < 0.05);
        }
        assert_true(least > -0.1 && most < 0.1 && most > 0.04);
        assert_true(speeds[i] < 2 || free_max > 0.5);
        rbt_sim_free(sim);
        rbt_sim_free(elastic);
    }
    assert_null(chain(1, 0.1, "semi-implicit"));
}

// ---- Friction

// Discs on a slope that a wall constrained back: what they lose of their height while they flow, by friction.
static void friction_slows_the_flow(void **state) {
    (void)state;
    static const double friction[] = {0, 0.2, 0.6};
    double lost[3];
    FILE *file = fopen("features-slope.obj", "w");
    assert_non_null(file);
    fputs("v -1 0 0\nv 0.5 0 0\nv 9 0 -3.1\nl 1 2\nl 2 3\n", file);
    fclose(file);
    for (int i = 0; i < 3; i++) {
        char json[2048];
        snprintf(
            json, sizeof json,
            "{'rubato': 1, 'bodies': [{'name': 'discs', 'mesh': {'shape': {'cloth': {'length': 0.6, 'width': "
            "0.6, 'cells_along': 5, 'cells_across': 5}}}, 'transform': {'translate': [0, 0, 0.4]}, 'particles': "
            "{'radius': 0.045, 'mass': 0.1, 'speed': 0.3}}, {'name': 'slope', 'mesh': {'file': "
            "'features-slope.obj'}, 'springs': {'stiffness': 1, 'node_mass': 1}, 'fixed': ['everything']}], "
            "'forces': [{'gravity': {'acceleration': [0, 0, -9.8]}}], 'obstacles': [{'plane': {'point': [-0.4, 0, "
            "0], 'normal': [1, 0, 0]}}, {'capsule': {'a': [0.5, 0, 0.12], 'b': [0.5, 0, 3], 'radius': 0.1, "
            "'motions': [{'velocity': {'velocity': [20, 0, 0], 'from': 0.4}}]}}], 'time': {'step': 1e-3, 'frame': "
            "0.1, 'end': 9}, 'integrator': {'method': 'async-contact', 'options': {'stiffness': 1000, "
            "'thickness': 0.01, 'restitution': 0, 'friction': %g}}}",
            friction[i]);
        rbt_sim *sim = sim_from(json);
        advance(sim, 4);
        double before = rbt_sim_energies(sim).gravity;
        advance(sim, 12);
        lost[i] = before - rbt_sim_energies(sim).gravity;
        for (size_t n = 0; n < 36; n++) {  // all above the ground, which a disc does not fall through
            const double *x = sim->state.x + 3 * n;
            double ground = x[0] < 0.5 ? 0 : -(x[0] - 0.5) * 3.1 / 8.5;
            assert_true(x[1] == 0 && x[2] > ground);
        }
        rbt_sim_free(sim);
    }
    remove("features-slope.obj");
    assert_true(lost[0] > 0);
    assert_true(lost[1] < 0.9 * lost[0] && lost[2] < 0.9 * lost[1]);
}

// On a slope of 20 degrees a particle with friction 0.2 slides as Coulomb says, a = g (sin - mu cos). With friction 1
// it stays where it is, to the last digit, if the layers that hold it tick as often as gravity (a safety of 0.2
// here). Without restitution layers push and let go in turns, and where they let go nothing holds: it creeps, slower
// than what gravity does in a step.
static void a_slope_holds(void **state) {
    (void)state;
    static const double friction[] = {0.2, 1, 0.6}, restitution[] = {0, 1, 0};
    for (int i = 0; i < 3; i++) {
        double mu = friction[i], c = cos(M_PI / 9), s = sin(M_PI / 9), h = 1e-3;
        char json[2048];
        snprintf(json, sizeof json,
                 "{'rubato': 1, 'bodies': [{'name': 'dust', 'mesh': {'shape': {'cloth': {'length': 1, 'width': 1, "
                 "'cells_along': 1, 'cells_across': 1}}}, 'transform': {'translate': [0, 0.0095, 0]}, 'particles': "
                 "{'radius': 0, 'mass': 0.1}}], 'forces': [{'gravity': {'acceleration': [%.17g, %.17g, 0]}}], "
                 "'obstacles': [{'plane': {}}], 'time': {'step': %g, 'frame': 0.1, 'end': 9}, 'integrator': "
                 "{'method': 'async-contact', 'options': {'stiffness': 1000, 'thickness': 0.01, 'restitution': %g, "
                 "'friction': %g, 'safety': 0.2}}}",
                 9.8 * s, -9.8 * c, h, restitution[i], mu);
        rbt_sim *sim = sim_from(json);
        advance(sim, 5);
        double x = sim->state.x[0], v = sim->state.v[0];
        advance(sim, 5);
        double way = sim->state.x[0] - x, slide = 0.5 * 9.8 * (s - mu * c) * 0.25;
        if (i == 0) assert_true(fabs(way - v * 0.5 - slide) < 0.1 * slide);
        if (i == 1) assert_true(way == 0);
        if (i == 2) assert_true(way >= 0 && way < 0.5 * 9.8 * s * h);
        rbt_sim_free(sim);
    }
}

// A sheet lies on a block that begins to move: hundreds of pairs drag at it at once. It takes the block's speed and
// not more.
static void friction_never_overshoots(void **state) {
    (void)state;
    rbt_sim *sim = sim_from(
        "{'rubato': 1, 'bodies': [{'name': 'plate', 'mesh': {'shape': {'cloth': {'length': 0.3, 'width': 0.3, "
        "'cells_along': "
        "6, 'cells_across': 6}}}, 'transform': {'translate': [0, 0.005, 0]}, 'material': {'young': 1e5, 'density': "
        "500}, 'shell': {'thickness': 0.002, 'bending': 1e-3}}], 'forces': [{'gravity': {}}], 'obstacles': [{'box': "
        "{'min': [-5, -1, -5], 'max': [5, 0, 5], 'motions': [{'velocity': {'velocity': [0.3, 0, 0]}}]}}], 'time': "
        "{'step': 2e-4, 'frame': 0.02, 'end': 9}, 'integrator': {'method': 'async-contact', 'options': {'stiffness': "
        "1000, 'thickness': 0.004, 'restitution': 0, 'friction': 0.8}}}");
    for (int f = 0; f < 40; f++) advance(sim, 1);
    rbt_energies e = rbt_sim_energies(sim);
    double mass = sim->model->bodies[0].mass;
    assert_true(fabs(e.momentum[0] / mass - 0.3) < 0.01);
    assert_true(e.kinetic < 1.05 * 0.5 * mass * 0.09);
    rbt_sim_free(sim);
}

// ---- What cannot be

static void impossible_starts_are_named(void **state) {
    (void)state;
    const char *head = "{'rubato': 1, 'bodies': [";
    const char *cloth = "{'name': '%s', 'mesh': {'shape': {'cloth': {'length': 1, 'width': 1, 'cells_along': 1, "
                        "'cells_across': 1}}}, "
                        "'transform': {'translate': [0.1, %s, 0.2]}, 'shell': {'thickness': 0.002}}";
    char json[4096], first[512], second[512];
    snprintf(first, sizeof first, cloth, "a", "0");
    snprintf(second, sizeof second, cloth, "b", "1e-14");  // closer than rounding can tell
    snprintf(json, sizeof json, "%s%s, %s], 'integrator': {'method': 'async-contact'}}", head, first, second);
    refuses(json, "node 0 and triangle 4-6-7 touch or cross at the start");
    snprintf(second, sizeof second, cloth, "b", "0.1");
    snprintf(json, sizeof json,
             "%s%s, %s], 'obstacles': [{'capsule': {'a': [-2, 0.05, 0], 'b': [2, 0.05, 0], 'radius': 0.1}}], "
             "'integrator': {'method': 'async-contact'}}",
             head, first, second);
    refuses(json, "touch or cross at the start");
    snprintf(json, sizeof json,
             "%s{'name': 'balls', 'mesh': {'shape': {'cloth': {'length': 1, 'width': 1, 'cells_along': 1, "
             "'cells_across': 1}}}, 'particles': {'radius': 0.5, 'mass': 1}}], 'integrator': {'method': "
             "'async-contact'}}",
             head);
    refuses(json, "nodes 0 and 2 touch or cross at the start");
    snprintf(json, sizeof json, "%s%s], 'integrator': {'method': 'async-contact', 'options': {'thickness': 0}}}",
             head, first);
    for (char *c = json; *c; c++)
        if (*c == '\'') *c = '"';
    rbt_error error;
    assert_null(rbt_scene_parse(json, strlen(json), "test.json", NULL, 0, &error));
    assert_non_null(strstr(error.message, "must be above 0"));
}

// A spring that starts longer than its limit lets it
static void broken_limits_are_named(void **state) {
    (void)state;
    FILE *file = fopen("features-spring.obj", "w");
    assert_non_null(file);
    fputs("v 0 0 0\nv 1 0 0\nl 1 2\n", file);
    fclose(file);
    refuses(
        "{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'file': 'features-spring.obj'}, 'springs': {'stiffness': 1, "
        "'node_mass': 1, 'limit': 0.1}, 'deform': [{'stretch': {'axis': [1, 0, 0], 'factor': 1.2}}]}], "
        "'integrator': {'method': 'async-contact'}}",
        "the spring between nodes 0 and 1 of \"a\" is 1.2 m long at the start");
    remove("features-spring.obj");
}

// Two planes that close on a ball for good
static void closing_walls_stall(void **state) {
    (void)state;
    rbt_sim *sim = sim_from(
        "{'rubato': 1, 'bodies': [{'name': 'balls', 'mesh': {'shape': {'cloth': {'length': 1, 'width': 1, "
        "'cells_along': 1, 'cells_across': 1}}}, 'particles': {'radius': 0.1, 'mass': 1}}], 'obstacles': [{'plane': "
        "{'point': [0, -0.3, 0]}}, {'plane': {'point': [0, 0.3, 0], 'normal': [0, -1, 0], 'motions': [{'velocity': "
        "{'velocity': [0, -1, 0]}}]}}], 'time': {'step': 1e-3, 'frame': 0.01, 'end': 1}, 'integrator': {'method': "
        "'async-contact', 'options': {'thickness': 0.01, 'floor': 1e-8}}}");
    rbt_step_report report;
    bool done = true;
    for (int i = 0; done && i < 60; i++) {
        done = rbt_sim_advance_frame(sim, &report);
        for (size_t n = 0; n < 4; n++)
            assert_true(sim->state.x[3 * n + 1] > -0.2 && sim->state.x[3 * n + 1] < 0.2 - rbt_sim_time(sim));
    }
    assert_false(done);
    assert_int_equal(report.outcome, RBT_STALLED);
    assert_non_null(strstr(report.hint, "obstacles["));
    assert_true(rbt_sim_time(sim) > 0.35);
    rbt_sim_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hinge_that_yields_stays_bent),   cmocka_unit_test(flow_is_remembered),
        cmocka_unit_test(gaps_change_as_their_weights_say), cmocka_unit_test(a_wall_that_moves_does_work),
        cmocka_unit_test(rods_and_blocks_keep_cloth_out),   cmocka_unit_test(limits_hold_at_any_speed),
        cmocka_unit_test(friction_slows_the_flow),          cmocka_unit_test(a_slope_holds),
        cmocka_unit_test(friction_never_overshoots),        cmocka_unit_test(impossible_starts_are_named),
        cmocka_unit_test(broken_limits_are_named),          cmocka_unit_test(closing_walls_stall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
