// Scenes with contact for tests of its laws: simulations from text, means over bodies, bounds that show what was found.
#ifndef TEST_SUPPORT_CONTACT_SCENE_H
#define TEST_SUPPORT_CONTACT_SCENE_H

#include "base/threads.h"
#include "math/vec3.h"
#include "rubato/rubato.h"
#include "scene.h"

#include <math.h>
#include <string.h>

// The methods that have contact
static const char *const CONTACT_METHODS[] = {"backward-euler", "implicit-midpoint", "bdf2"};
enum { CONTACT_METHOD_COUNT = 3 };

static const double GRAVITY = 9.80665;  // [m/s^2], the scene format's

#define assert_below(value, bound) check_below(value, bound, #value, __FILE__, __LINE__)
static inline void check_below(double value, double bound, const char *what, const char *file, int line) {
    if (value <= bound) return;
    print_error("%s is %.9g, its bound %.9g\n", what, value, bound);
    _fail(file, line);
}

// The contact solver of scenes from now on; NULL: what they say
static const char *contact_by = NULL;

// The text with `contact_by` in its "contact"; the caller's to free, as the text was
static inline char *contact_text(char *text) {
    static const char KEY[] = "'contact': {";
    char *at = contact_by ? strstr(text, KEY) : NULL, *result = NULL;
    if (!at) return text;
    at += sizeof KEY - 1;
    assert_true(asprintf(&result, "%.*s'solver': '%s'%s%s", (int)(at - text), text, contact_by,
                         *at == '}' ? "" : ", ", at) > 0);
    free(text);
    return result;
}

// JSON with single quotes for double ones, as printf makes it
__attribute__((format(printf, 1, 2))) static inline rbt_sim *contact_sim(const char *format, ...) {
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    assert_true(vasprintf(&text, format, arguments) > 0);
    va_end(arguments);
    text = contact_text(text);
    rbt_sim *sim = sim_from(text);
    free(text);
    rbt_error error;
    if (!rbt_sim_set_threads(sim, 1, &error)) fail_msg("%s", error.message);  // bodies are small
    return sim;
}

// One step, which must end with success; returns how often it was halved
static inline int contact_try(rbt_sim *sim) {
    rbt_step_report report;
    if (!rbt_sim_step(sim, &report) || report.unconverged)
        fail_msg("t = %g: %s in %s: %s", rbt_sim_time(sim), rbt_outcome_name(report.outcome), report.stage,
                 report.hint);
    return report.halvings;
}

// The same without halving
static inline void contact_step(rbt_sim *sim) {
    int halvings = contact_try(sim);
    if (halvings) fail_msg("t = %g: a step was halved %d times", rbt_sim_time(sim), halvings);
}

static inline void contact_steps(rbt_sim *sim, int count) {
    for (int i = 0; i < count; i++) contact_step(sim);
}

// Mean of values (nodes x 3) over a body, weighted by mass
static inline void contact_mean(const rbt_sim *sim, size_t body, const double *values, double mean[3]) {
    rbt_body_info info;
    assert_true(rbt_sim_body(sim, body, &info, NULL));
    const double *mass = rbt_sim_masses(sim);
    double whole = 0;
    mean[0] = mean[1] = mean[2] = 0;
    for (size_t n = info.node_begin; n < info.node_end; n++) {
        rbt_add_scaled(mean, mass[n], values + 3 * n);
        whole += mass[n];
    }
    for (int k = 0; k < 3; k++) mean[k] /= whole;
}

static inline void contact_centre(const rbt_sim *sim, size_t body, double x[3]) {
    contact_mean(sim, body, rbt_sim_positions(sim), x);
}

static inline void contact_velocity(const rbt_sim *sim, size_t body, double v[3]) {
    contact_mean(sim, body, rbt_sim_velocities(sim), v);
}

// Sum of the contact forces on a body [N]
static inline void contact_force(const rbt_sim *sim, size_t body, double sum[3]) {
    rbt_body_info info;
    rbt_error error;
    double *f = calloc(3 * rbt_sim_node_count(sim), sizeof *f);
    assert_non_null(f);
    assert_true(rbt_sim_body(sim, body, &info, NULL));
    if (!rbt_sim_contact_forces(sim, f, &error)) fail_msg("%s", error.message);
    sum[0] = sum[1] = sum[2] = 0;
    for (size_t n = info.node_begin; n < info.node_end; n++) rbt_add_scaled(sum, 1, f + 3 * n);
    free(f);
}

#endif
