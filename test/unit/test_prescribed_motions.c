// Scripts by which prescribed things would meet are refused with their names and the time; those that miss each other
// are not.
#include "scene.h"
#include "sim/sim.h"

// A loose ball far away, so that there is something to simulate; a second of steps of 10 ms.
static void write_scene(char *json, size_t size, const char *bodies, const char *obstacles, const char *options) {
    snprintf(json, size,
             "{'rubato': 1, 'bodies': [%s {'name': 'ball', 'mesh': {'shape': {'cuboid': {'size': [0.1, 0.1, 0.1], "
             "'cells': [1, 1, 1]}}}, "
             "'transform': {'translate': [50, 50, 50]}}], 'obstacles': [%s], 'time': {'step': 1e-2, 'frame': 1e-2, "
             "'end': 1}, "
             "'integrator': {'method': 'async-contact', 'options': {'thickness': 0.005%s}}}",
             bodies, obstacles, options);
}

static void refused(const char *bodies, const char *obstacles, const char *first, const char *second,
                    const char *when) {
    char json[4096];
    write_scene(json, sizeof json, bodies, obstacles, "");
    refuses(json, first);
    refuses(json, second);
    refuses(json, when);
}

static void accepted(const char *bodies, const char *obstacles) {
    char json[4096];
    write_scene(json, sizeof json, bodies, obstacles, "");
    rbt_sim_free(sim_from(json));
}

#define ALL "{'box': {'min': [-99, -99, -99], 'max': [99, 99, 99]}}"
#define SHEET(length)                                                                                                \
    "'mesh': {'shape': {'cloth': {'length': " #length ", 'width': " #length                                          \
    ", 'cells_along': 2, 'cells_across': 2}}}, 'shell': {'thickness': 0.002}"
#define FLOOR "{'name': 'floor', " SHEET(1) ", 'fixed': [" ALL "]},"
#define LID(place, motion)                                                                                           \
    "{'name': 'lid', " SHEET(0.7) ", 'transform': {'translate': " place "}, 'driven': [{'where': " ALL               \
                                  ", 'motions': [" motion "]}]},"
#define GRAIN(place, motion)                                                                                         \
    "{'name': 'grains', 'mesh': {'shape': {'cloth': {'length': 0.2, 'width': 0.2, 'cells_along': 1, "                \
    "'cells_across': 1}}}, 'particles': {'radius': 0.05, 'mass': 1}, 'transform': {'translate': " place "}, "        \
    "'driven': [{'where': " ALL ", 'motions': [" motion "]}]},"

static void plates(void **state) {
    (void)state;
    refused(FLOOR LID("[0.03, 0.1, 0.05]", "{'velocity': {'velocity': [0.3, -1, 0], 'until': 0.2}}"), "",
            "of \"lid\", which is driven", "of \"floor\", which is fixed", "meet at 0.1 s");
    accepted(FLOOR LID("[0.03, 0.1, 0.05]", "{'velocity': {'velocity': [0.3, -1, 0], 'until': 0.0999}}"), "");
    // Past the edge, then on
    accepted(FLOOR LID("[0.86, 0.1, 0.05]", "{'velocity': {'velocity': [0, -1, 0]}}"), "");
    refused(FLOOR LID("[0.84, 0.1, 0.05]", "{'velocity': {'velocity': [0, -1, 0]}}"), "", "lid", "floor",
            "meet at 0.1 s");
    // Let go before
    char let_go[2048];
    snprintf(let_go, sizeof let_go, "%s", FLOOR LID("[0.03, 0.5, 0.05]", "{'velocity': {'velocity': [0, -1, 0]}}"));
    refused(let_go, "", "lid", "floor", "meet at 0.5 s");
    char *at = strstr(let_go, "'motions'");
    memmove(at + 16, at, strlen(at) + 1);
    memcpy(at, "'release': 0.3, ", 16);
    accepted(let_go, "");
    // Nothing keeps them from passing without contact.
    char json[4096];
    write_scene(json, sizeof json, FLOOR LID("[0.03, 0.1, 0.05]", "{'velocity': {'velocity': [0, -1, 0]}}"), "",
                ", 'contact': false");
    rbt_sim_free(sim_from(json));
}

// A blade that turns: its chords are not its way, and it comes by late.
static void curves(void **state) {
    (void)state;
    refused(FLOOR LID("[0, 3, 0]", "{'rotation': {'point': [0, 0, -9], 'axis': [1, 0, 0], 'rate': 3}}"), "", "lid",
            "floor", "meet at 0.");
    accepted(FLOOR LID("[0, 3, 0]", "{'rotation': {'point': [0, 0, -3], 'axis': [1, 0, 0], 'rate': 3}}"), "");
    refused(FLOOR LID("[0, 0.3, 0]", "{'oscillation': {'amplitude': [0, 0.301, 0], 'frequency': 8}}"), "", "lid",
            "floor", "meet at 0.219855 s");
    accepted(FLOOR LID("[0, 0.3, 0]", "{'oscillation': {'amplitude': [0, 0.299, 0], 'frequency': 8}}"), "");
    refused(FLOOR LID("[0, 0.3, 0]", "{'keyframes': {'times': [0, 0.31, 0.33, 0.35], 'offsets': [[0, 0, 0], [0, 0, "
                                     "0], [0, -0.5, 0], [0, 0, 0]]}}"),
            "", "lid", "floor", "meet at 0.322 s");
}

static void obstacles(void **state) {
    (void)state;
    const char *fixed = "which is fixed", *up = "'motions': [{'velocity': {'velocity': [0, 1, 0]}}]";
    char text[512];
    static const struct {
        const char *hit, *when, *miss;
    } kinds[] = {
        {"{'sphere': {'centre': [0, -0.5, 0], 'radius': 0.1, %s}}", "meet at 0.4 s",
         "{'sphere': {'centre': [0.61, -0.5, 0], 'radius': 0.1, %s}}"},
        {"{'capsule': {'a': [0, -0.7, 0], 'b': [9, -0.5, 0], 'radius': 0.1, %s}}", "meet at 0.5",
         "{'capsule': {'a': [0.61, -0.7, 0], 'b': [9, -0.5, 0], 'radius': 0.1, %s}}"},
        {"{'box': {'min': [-2, -0.5, -2], 'max': [2, -0.3, 2], %s}}", "meet at 0.3 s",
         "{'box': {'min': [0.51, -0.5, -2], 'max': [2, -0.3, 2], %s}}"},
        {"{'plane': {'point': [0, -0.2, 0], %s}}", "meet at 0.2 s", "{'plane': {'point': [0, -1.2, 0], %s}}"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        snprintf(text, sizeof text, kinds[i].hit, up);
        refused(FLOOR, text, "obstacles[0]", fixed, kinds[i].when);
        snprintf(text, sizeof text, kinds[i].miss, up);
        accepted(FLOOR, text);
    }
    // Built into it from the start, or among themselves
    accepted(FLOOR, "{'plane': {'point': [0, 0.1, 0]}}");
    accepted(FLOOR, "{'plane': {'point': [0, 0.1, 0], 'motions': [{'velocity': {'velocity': [0, 1, 0]}}]}}");
    accepted("", "{'plane': {'point': [0, -9, 0], 'motions': [{'velocity': {'velocity': [0, 9, 0]}}]}}, {'sphere': "
                 "{'radius': 1}}");
    refused(LID("[0, 0.5, 0]", "{'velocity': {'velocity': [0, -1, 0]}}"), "{'plane': {}}",
            "of \"lid\", which is driven", "obstacles[0]", "meet at 0.5 s");
    refused(LID("[0, 0.5, 0]", "{'rotation': {'axis': [1, 0, 0], 'point': [0, 0.5, 3], 'rate': -1}}"),
            "{'plane': {'point': [0, -0.5, 0]}}", "lid", "obstacles[0]", "meet at 0.");
}

static void parts(void **state) {
    (void)state;
    // A particle is as thick as it is.
    refused(FLOOR GRAIN("[0, 0.5, 0]", "{'velocity': {'velocity': [0, -1, 0]}}"), "", "node 9 of \"grains\"",
            "of \"floor\"", "meet at 0.45 s");
    accepted(FLOOR GRAIN("[0.66, 0.5, 0]", "{'velocity': {'velocity': [0, -1, 0]}}"), "");
    // Held rows of nodes: their edges meet, although no triangle is constrained.
    const char *rows = "{'name': 'a', " SHEET(1) ", 'fixed': ['left']},{'name': 'b', " SHEET(
        1) ", 'transform': {'axis': [0, 0, 1], 'degrees': 90, 'translate': [%s, 0.1, 0.6]}, "
           "'driven': [{'where': {'box': {'min': [-9, -9, -0.01], 'max': [9, 9, 0.11]}}, 'motions': [{'velocity': "
           "{'velocity': [-2, 0, 0]}}]}]},";
    char bodies[1024];
    snprintf(bodies, sizeof bodies, rows, "0.7");
    refused(bodies, "", "edge", "of \"b\", which is driven", "meet at 0.6 s");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plates),
        cmocka_unit_test(curves),
        cmocka_unit_test(obstacles),
        cmocka_unit_test(parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
