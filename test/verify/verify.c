#include "verify.h"

#include "base/threads.h"
#include "random.h"

#include <stdarg.h>
#include <stdint.h>

// ---- The page

static void add_formatted(verify *v, const char *format, va_list arguments) {
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0) verify_stop("no memory for a page");
    rbt_text_add(&v->page, "%s", text);
    free(text);
}

void verify_say(verify *v, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_formatted(v, format, arguments);
    va_end(arguments);
}

void verify_table(verify *v, const char *columns) {
    rbt_text_add(&v->page, "\n| ");
    for (const char *c = columns; *c; c++) rbt_text_add(&v->page, *c == '|' ? " | " : "%c", *c);
    rbt_text_add(&v->page, " | verdict |\n|---");
    for (const char *c = columns; *c; c++)
        if (*c == '|') rbt_text_add(&v->page, "|---");
    rbt_text_add(&v->page, "|---|\n");
}

void verify_row(verify *v, bool holds, const char *format, ...) {
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) verify_stop("no memory for a page");
    va_end(arguments);
    rbt_text_add(&v->page, "| ");
    for (const char *c = text; *c; c++) rbt_text_add(&v->page, *c == '|' ? " | " : "%c", *c);
    rbt_text_add(&v->page, " | %s |\n", holds ? "holds" : "**fails**");
    v->checks++;
    v->failed += !holds;
    free(text);
}

static uint64_t stream;

void verify_random_again(uint64_t number) { stream = random_stream("verify", number); }

void verify_run(verify *v, verify_section section) {
    verify_random_again(0);
    rbt_threads_set(1);  // small bodies: waking threads costs more than they save
    section(v);
}

bool verify_holds(verify_section section) {
    verify v = {0};
    verify_run(&v, section);
    if (v.failed || !v.checks) fprintf(stderr, "%s\n", v.page.text);
    rbt_text_free(&v.page);
    return v.checks > 0 && !v.failed;
}

void verify_stop(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("verification: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

// ---- Scenes

rbt_sim *verify_sim(const char *format, ...) {
    char *text = NULL, message[2048];
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) verify_stop("no memory for a scene");
    for (char *c = text; *c; c++)
        if (*c == '\'') *c = '"';
    rbt_error error;
    const char *plain = "integrator.method=semi-implicit";  // of scenes that are not about methods
    rbt_scene_file *file =
        rbt_scene_parse(text, strlen(text), "scene", &plain, strstr(text, "\"method\"") ? 0 : 1, &error);
    rbt_sim *sim = file ? rbt_sim_create(rbt_scene_of(file), &error) : NULL;
    if (!sim) verify_stop("%s in %s", rbt_error_text(&error, message, sizeof message), text);
    rbt_scene_free(file);
    free(text);
    return sim;
}

bool verify_steps(rbt_sim *sim, int64_t steps, rbt_step_report *report) {
    *report = (rbt_step_report){.body = -1, .element = -1, .stage = ""};
    for (int64_t i = 0; i < steps; i++)
        if (rbt_sim_take_step(sim, report) != RBT_DONE) return false;
    return true;
}

void verify_must_step(rbt_sim *sim, int64_t steps) {
    rbt_step_report report;
    if (!verify_steps(sim, steps, &report) || report.halvings)
        verify_stop("%s: %s in stage \"%s\" (%d cuts, %s)", sim->stepper.method->name,
                    rbt_outcome_name(report.outcome), report.stage, report.halvings, report.hint);
}

// ---- Vectors

double *verify_vector(const rbt_model *m) {
    double *x = calloc(3 * m->node_count + 1, sizeof *x);
    if (!x) verify_stop("no memory for a vector");
    return x;
}

double *verify_copy(const double *x, size_t count) {
    double *y = malloc(count * sizeof *y + 1);
    if (!y) verify_stop("no memory for a vector");
    memcpy(y, x, count * sizeof *y);
    return y;
}

void verify_elastic_force(const rbt_model *m, const double *x, double *f) {
    double *partial = calloc(3 * m->plan.slot_count + 1, sizeof *partial);
    if (!partial) verify_stop("no memory for forces");
    memset(f, 0, 3 * m->node_count * sizeof *f);
    rbt_force_elastic(m, x, NULL, partial, f);
    free(partial);
}

double verify_elastic_energy(const rbt_model *m, const double *x) {
    rbt_sum *energies = calloc(m->plan.chunk_count + 1, sizeof *energies);
    if (!energies) verify_stop("no memory for energies");
    double W = rbt_energy_elastic(m, x, energies);
    free(energies);
    return W;
}

double verify_norm(const double *x, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

double verify_larger(double a, double b) { return isnan(a) || isnan(b) ? NAN : fmax(a, b); }

double verify_largest(const double *x, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++) most = verify_larger(most, fabs(x[i]));
    return most;
}

double verify_distance(const double *x, const double *y, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++) most = verify_larger(most, fabs(x[i] - y[i]));
    return most;
}

double verify_random(double low, double high) { return low + (high - low) * random_unit(&stream); }
