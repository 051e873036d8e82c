// States: set by hand, saved, restored, cloned, on disk and back, bit for bit with every method.
#include "every_method.h"

#include <math.h>
#include <unistd.h>

static void push(rbt_sim *sim, double strength) {
    rbt_error error;
    double forces[9] = {0, strength, 0, 0, 0, strength, strength, 0, 0};
    must(rbt_sim_set_forces(sim, 30, 3, forces, &error), &error);
}

static void grip(rbt_sim *sim, double speed) {
    rbt_error error;
    rbt_drive drive = rbt_drive_default();
    drive.velocity[1] = speed;
    drive.spin[0] = 0.5;
    drive.duration = 0.02;
    must(rbt_sim_drive(sim, 0, &drive, &error), &error);
}

// A state with all that a caller can set, saved inside a frame
static rbt_state *prepare(rbt_sim *sim) {
    rbt_error error;
    advance(sim, 1);
    push(sim, 0.5);
    grip(sim, 0.3);
    steps(sim, 3);
    rbt_state *saved = rbt_sim_save(sim, &error);
    must(saved, &error);
    return saved;
}

static void go_on(rbt_sim *sim) {
    steps(sim, 2);
    grip(sim, -0.2);
    steps(sim, 4);
    push(sim, 0.1);
    advance(sim, 3);
}

static void restored(const method_case *c) {
    rbt_error error;
    rbt_sim *one = method_sim(c), *other = method_sim(c);
    rbt_state *saved = prepare(one);
    go_on(one);
    advance(other, 2);  // it has been somewhere else
    must(rbt_sim_restore(other, saved, &error), &error);
    assert_true(rbt_sim_time(other) == rbt_state_time(saved));
    rbt_sim *clone = rbt_sim_clone(other, &error);
    must(clone, &error);
    go_on(other);
    assert_same_motion(one, other, c->name);
    go_on(clone);
    assert_same_motion(one, clone, c->name);
    must(rbt_sim_restore(one, saved, &error), &error);  // back in time
    go_on(one);
    assert_same_motion(one, other, c->name);
    rbt_energies a = rbt_sim_energies(one), b = rbt_sim_energies(other);
    assert_memory_equal(&a, &b, sizeof a);
    rbt_state_free(saved);
    rbt_sim_free(one);
    rbt_sim_free(other);
    rbt_sim_free(clone);
}

static void states_come_back(void **state) {
    (void)state;
    assert_true(for_every_method(restored) >= 15);
}

static void written(const method_case *c) {
    char path[] = "/tmp/rubato_state_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    rbt_error error;
    rbt_sim *one = method_sim(c), *other = method_sim(c);
    rbt_state *saved = prepare(one), *read;
    must(rbt_state_write(saved, path, &error), &error);
    must((read = rbt_state_read(path, &error)) != NULL, &error);
    must(rbt_sim_restore(other, read, &error), &error);
    go_on(one);
    go_on(other);
    assert_same_motion(one, other, c->name);
    unlink(path);
    rbt_state_free(saved);
    rbt_state_free(read);
    rbt_sim_free(one);
    rbt_sim_free(other);
}

static void states_come_back_from_disk(void **state) {
    (void)state;
    for_every_method(written);
}

static void packed(const method_case *c) {
    rbt_error error;
    void *bytes;
    size_t size;
    rbt_sim *one = method_sim(c), *other = method_sim(c);
    rbt_state *saved = prepare(one);
    must(rbt_state_pack(saved, &bytes, &size, &error), &error);
    rbt_state *read = rbt_state_unpack(bytes, size, &error);
    must(read, &error);
    size_t values = 3 * rbt_state_node_count(read) * sizeof(double);
    assert_int_equal(rbt_state_node_count(read), rbt_sim_node_count(one));
    assert_memory_equal(rbt_state_positions(read), rbt_sim_positions(one), values);
    assert_memory_equal(rbt_state_velocities(read), rbt_sim_velocities(one), values);
    must(rbt_sim_restore(other, read, &error), &error);
    go_on(one);
    go_on(other);
    assert_same_motion(one, other, c->name);
    for (size_t i = 0; i < size; i += 1 + size / 50) {  // any damage is found
        ((unsigned char *)bytes)[i] ^= 4;
        assert_null(rbt_state_unpack(bytes, size, &error));
        ((unsigned char *)bytes)[i] ^= 4;
    }
    assert_null(rbt_state_unpack(bytes, size - 1, &error));
    free(bytes);
    rbt_state_free(saved);
    rbt_state_free(read);
    rbt_sim_free(one);
    rbt_sim_free(other);
}

static void states_come_back_from_memory(void **state) {
    (void)state;
    for_every_method(packed);
}

// Whatever is looked at, and however often it is saved
static void looked_at(const method_case *c) {
    rbt_error error;
    rbt_sim *one = method_sim(c), *other = method_sim(c);
    rbt_state *saved = NULL;
    double *forces = calloc(rbt_sim_node_count(one), 3 * sizeof *forces);
    for (int i = 0; i < 10; i++) {
        steps(one, 1);
        steps(other, 1);
        if (!saved) must((saved = rbt_sim_save(one, &error)) != NULL, &error);
        else must(rbt_sim_save_to(one, saved, &error), &error);
        rbt_sim_energies(one);
        must(rbt_sim_reactions(one, forces, &error), &error);
        must(rbt_sim_contact_forces(one, forces, &error), &error);
        rbt_sim_contacts(one, NULL, 0);
    }
    assert_same_motion(one, other, c->name);
    free(forces);
    rbt_state_free(saved);
    rbt_sim_free(one);
    rbt_sim_free(other);
}

static void looking_changes_nothing(void **state) {
    (void)state;
    for_every_method(looked_at);
}

// Cheap methods are looked at every few steps only: what the watch has seen last belongs to the state.
static void the_watch_goes_on(void **state) {
    (void)state;
    rbt_error error;
    const char *const json = "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [1, "
                             "0.3, 0.3], 'cells': [8, 2, 2]}}}, "
                             "'material': {'young': 2e4}, 'driven': [{'where': 'left', 'motions': [{'oscillation': "
                             "{'amplitude': [0, 0.05, 0], "
                             "'frequency': 3}}]}]}], 'forces': [{'gravity': {}}, {'wind': {'velocity': [0, 0, 5]}}], "
                             "'time': {'step': 1e-3, "
                             "'frame': 6.4e-2, 'end': 1}, 'integrator': {'method': 'symplectic-euler'}}";
    rbt_sim *one = sim_from(json), *other = sim_from(json);
    assert_true(one->watch.outside.every > 1);
    steps(one, 21);
    assert_true(one->watch.outside.last.t < rbt_sim_time(one));
    rbt_state *saved = rbt_sim_save(one, &error);
    must(saved && rbt_sim_restore(other, saved, &error), &error);
    steps(one, 100);
    steps(other, 100);
    assert_same_motion(one, other, "the watch");
    rbt_state_free(saved);
    rbt_sim_free(one);
    rbt_sim_free(other);
}

static void other_scenes_are_refused(void **state) {
    (void)state;
    rbt_error error = {0};
    method_case siere = {.method = "siere"}, ere = {.method = "ere"};
    rbt_sim *one = method_sim(&siere), *other = method_sim(&ere), *bare = method_sim_with(&siere, "", "]");
    rbt_state *saved = rbt_sim_save(one, &error);
    assert_false(rbt_sim_restore(other, saved, &error));
    assert_non_null(strstr(error.message, "another method than ere"));
    assert_false(rbt_sim_restore(bare, saved, &error));
    assert_non_null(strstr(error.message, "another scene"));
    rbt_sim *same = method_sim(&ere);
    advance(other, 2);
    advance(same, 2);
    assert_same_motion(other, same, "refused");
    rbt_state_free(saved);
    rbt_sim_free(one);
    rbt_sim_free(other);
    rbt_sim_free(bare);
    rbt_sim_free(same);
}

// ---- Setting

static void set_and_go(const method_case *c) {
    rbt_error error;
    rbt_sim *one = method_sim(c), *other = method_sim(c);
    size_t nodes = rbt_sim_node_count(one);
    double *x = calloc(nodes, 3 * sizeof *x), *v = calloc(nodes, 3 * sizeof *v);
    advance(one, 2);
    memcpy(x, rbt_sim_positions(one), 3 * nodes * sizeof *x);
    memcpy(v, rbt_sim_velocities(one), 3 * nodes * sizeof *v);
    for (size_t i = 0; i < nodes; i++) x[3 * i + 1] += 0.01 * sin(3 * x[3 * i]), v[3 * i + 2] += 0.1;
    must(rbt_sim_set_positions(one, 0, nodes, x, &error), &error);
    must(rbt_sim_set_velocities(one, 0, nodes, v, &error), &error);
    unsigned char *constrained = calloc(nodes, 1);
    assert_int_equal(rbt_sim_constrained(one, constrained), 18);
    for (size_t i = 0; i < nodes; i++) {  // constrained nodes keep to what is prescribed
        bool same = memcmp(rbt_sim_positions(one) + 3 * i, x + 3 * i, 24) == 0;
        if (constrained[i] != !same && x[3 * i] != 0) fail_msg("%s: node %zu", c->name, i);
    }
    // The method starts afresh: two simulations with different pasts have the same future.
    push(other, 0.5);
    steps(other, 8);
    must(rbt_sim_set_forces(other, 0, nodes, NULL, &error), &error);
    rbt_state *saved = rbt_sim_save(one, &error);
    must(rbt_sim_set_positions(other, 0, nodes, rbt_sim_positions(one), &error), &error);
    must(rbt_sim_set_velocities(other, 0, nodes, rbt_sim_velocities(one), &error), &error);
    advance(one, 2);
    advance(other, 2);
    size_t bytes = 3 * nodes * sizeof *x;
    if (memcmp(rbt_sim_positions(one), rbt_sim_positions(other), bytes) != 0) fail_msg("%s: positions", c->name);
    // It is a jump of energy, not work and no instability.
    assert_true(one->state.tally.ledger.jumps != 0);
    must(rbt_sim_restore(other, saved, &error), &error);
    advance(other, 2);
    assert_same_motion(one, other, c->name);
    rbt_state_free(saved);
    free(x);
    free(v);
    free(constrained);
    rbt_sim_free(one);
    rbt_sim_free(other);
}

static void states_can_be_set(void **state) {
    (void)state;
    for_every_method(set_and_go);
}

static void a_range_of_nodes_can_be_set(void **state) {
    (void)state;
    rbt_error error = {0};
    method_case c = {.method = "siere"};
    rbt_sim *sim = method_sim(&c), *untouched = method_sim(&c);
    size_t nodes = rbt_sim_node_count(sim);
    double place[6], wrong[3] = {0, NAN, 0};
    memcpy(place, rbt_sim_positions(sim) + 3 * MIDDLE_NODE, sizeof place);
    place[1] += 0.01;
    must(rbt_sim_set_positions(sim, MIDDLE_NODE, 2, place, &error), &error);
    for (size_t i = 0; i < 3 * nodes; i++)
        assert_true(rbt_sim_positions(sim)[i] ==
                    (i == 3 * MIDDLE_NODE + 1 ? place[1] : rbt_sim_positions(untouched)[i]));
    assert_false(rbt_sim_set_positions(untouched, nodes - 1, 2, place, &error));
    assert_false(rbt_sim_set_positions(untouched, SIZE_MAX, 2, place, &error));
    assert_false(rbt_sim_set_velocities(untouched, 0, nodes + 1, place, &error));
    assert_false(rbt_sim_set_velocities(untouched, 3, 1, wrong, &error));
    assert_non_null(strstr(error.message, "velocities of node 3"));
    assert_false(rbt_sim_set_velocities(untouched, 3, 1, NULL, &error));
    rbt_sim *fresh = method_sim(&c);
    advance(untouched, 2);
    advance(fresh, 2);
    assert_same_motion(untouched, fresh, "refused");
    rbt_sim_free(sim);
    rbt_sim_free(fresh);
    rbt_sim_free(untouched);
}

// Where nothing may cross anything, nothing may be put into anything.
static void crossings_are_refused(void **state) {
    (void)state;
    rbt_error error = {0};
    const char *const json =
        "{'rubato': 1, 'bodies': [{'name': 'ball', 'mesh': {'shape': {'ball': {'radius': 0.1, 'layers': 2}}}, "
        "'transform': {'translate': [0, 0.3, 0]}}], 'obstacles': [{'plane': {}}], 'forces': [{'gravity': {}}], "
        "'time': "
        "{'step': 1e-3, 'frame': 1e-2, 'end': 1}, 'integrator': {'method': 'async-contact'}}";
    rbt_sim *one = sim_from(json), *other = sim_from(json);
    size_t nodes = rbt_sim_node_count(one);
    double *x = calloc(nodes, 3 * sizeof *x);
    advance(one, 2);
    advance(other, 2);
    memcpy(x, rbt_sim_positions(one), 3 * nodes * sizeof *x);
    for (size_t i = 0; i < nodes; i++) x[3 * i + 1] -= 0.35;
    assert_false(rbt_sim_set_positions(one, 0, nodes, x, &error));
    assert_non_null(strstr(error.message, "touch or cross"));
    advance(one, 1);
    advance(other, 1);
    assert_same_motion(one, other, "refused");
    for (size_t i = 0; i < nodes; i++) x[3 * i + 1] += 0.3;
    must(rbt_sim_set_positions(one, 0, nodes, x, &error), &error);
    advance(one, 30);
    for (size_t i = 0; i < nodes; i++) assert_true(rbt_sim_positions(one)[3 * i + 1] > 0);
    free(x);
    rbt_sim_free(one);
    rbt_sim_free(other);
}

static void inverted_elements_are_refused(void **state) {
    (void)state;
    rbt_error error = {0};
    rbt_sim *sim = sim_from("{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {}}}, 'material': "
                            "{'model': 'neo-hookean'}}]}");
    size_t nodes = rbt_sim_node_count(sim);
    double *x = calloc(nodes, 3 * sizeof *x);
    for (size_t i = 0; i < 3 * nodes; i++) x[i] = (i % 3 ? 1 : -1) * rbt_sim_positions(sim)[i];
    assert_false(rbt_sim_set_positions(sim, 0, nodes, x, &error));
    assert_non_null(strstr(error.message, "inside out"));
    free(x);
    rbt_sim_free(sim);
}

// ---- Cuts

static const char *const CUT =
    "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'bar': {'size': [1, 0.2, 0.2], 'cells': [8, 2, "
    "2]}}}, "
    "'fixed': ['left']}], 'forces': [{'gravity': {}}], 'cuts': [{'time': 0.02, 'surface': {'plane': {'point': [0.55, "
    "0.5, 0.5], 'normal': [1, 0, 0], 'relative': true}}}], 'time': {'step': 5e-3, 'frame': 1e-2, 'end': 1}, "
    "'integrator': "
    "{'method': 'siere'}}";

static void states_before_and_after_a_cut(void **state) {
    (void)state;
    rbt_error error;
    rbt_sim *one = sim_from(CUT), *other = sim_from(CUT);
    advance(one, 1);
    rbt_state *before = rbt_sim_save(one, &error);
    size_t nodes = rbt_sim_node_count(one);
    assert_int_equal(rbt_sim_topology(one), 0);
    advance(one, 3);
    assert_true(rbt_sim_node_count(one) > nodes);
    int64_t cut = rbt_sim_topology(one);
    assert_true(cut > 0);
    rbt_state *after = rbt_sim_save(one, &error);
    must(before && after, &error);
    must(rbt_sim_restore(other, after, &error), &error);
    assert_true(rbt_sim_topology(other) != 0);
    must(rbt_sim_restore(one, after, &error), &error);  // the same cuts: numbers stay
    assert_int_equal(rbt_sim_topology(one), cut);
    assert_same_motion(one, other, "after");
    rbt_sim *clone = rbt_sim_clone(one, &error);
    must(clone, &error);
    advance(one, 3);
    advance(other, 3);
    advance(clone, 3);
    assert_same_motion(one, other, "after");
    assert_same_motion(one, clone, "clone");
    must(rbt_sim_restore(one, before, &error), &error);  // the body becomes whole again
    assert_int_equal(rbt_sim_node_count(one), nodes);
    assert_true(rbt_sim_topology(one) != cut);
    advance(one, 6);
    assert_same_motion(one, other, "once more");
    rbt_state_free(before);
    rbt_state_free(after);
    rbt_sim_free(one);
    rbt_sim_free(other);
    rbt_sim_free(clone);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_come_back),
        cmocka_unit_test(states_come_back_from_disk),
        cmocka_unit_test(states_come_back_from_memory),
        cmocka_unit_test(looking_changes_nothing),
        cmocka_unit_test(the_watch_goes_on),
        cmocka_unit_test(other_scenes_are_refused),
        cmocka_unit_test(states_can_be_set),
        cmocka_unit_test(a_range_of_nodes_can_be_set),
        cmocka_unit_test(crossings_are_refused),
        cmocka_unit_test(inverted_elements_are_refused),
        cmocka_unit_test(states_before_and_after_a_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
