#include "sim/run_choice.h"

#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "frame,method,solver,error,longest,occasion\n"

enum { MAX_ROWS = 9, FRAMES_BETWEEN = 4 };
static const char BEGAN[] = "contact began";
static const double DEAR = 4;      // times what was promised
static const double BETTER = 0.7;  // of the present one's time, or it is not worth a change

void rbt_run_choices_free(rbt_run_choices *c) {
    free(c->rows);
    rbt_text_free(&c->json);
    *c = (rbt_run_choices){0};
}

static bool add_row(rbt_run_choices *c, const rbt_choice_row *row, rbt_error *error) {
    if (c->count == c->capacity) {
        size_t capacity = 2 * c->capacity + 4;
        rbt_choice_row *rows = rbt_array_new(capacity, sizeof *rows, "choices", error);
        if (!rows) return false;
        if (c->count) memcpy(rows, c->rows, c->count * sizeof *rows);
        free(c->rows);
        c->rows = rows;
        c->capacity = capacity;
    }
    c->rows[c->count++] = *row;
    return true;
}

static rbt_chosen chosen_of(const rbt_choice *choice) {
    const rbt_method_candidate *best = &choice->candidates[choice->best];
    return (rbt_chosen){
        .method = best->method, .solver = best->solver, .error = choice->error, .longest = best->longest};
}

// ---- The file

// One line; false: it is none
static bool read_row(const char *line, size_t length, rbt_choice_row *row) {
    char text[256], method[64], solver[64];
    long long frame;
    rbt_chosen *c = &row->chosen;
    if (length >= sizeof text) return false;
    memcpy(text, line, length);
    text[length] = '\0';
    if (sscanf(text, "%lld,%63[^,],%63[^,],%lf,%lf,%63[^\n]", &frame, method, solver, &c->error, &c->longest,
               row->occasion) != 6)
        return false;
    row->frame = frame;
    c->method = rbt_method_find(method);
    c->solver = strcmp(solver, "-") == 0 ? 0 : rbt_solver_find(c->method, solver);
    return frame >= 0 && c->method >= 0 && c->solver >= 0 && c->error > 0 && c->error <= 1 && c->longest >= 0;
}

bool rbt_run_choices_read(rbt_run_choices *c, const char *folder, int64_t last, rbt_error *error) {
    char *path = rbt_path_join(folder, "choice.csv");
    rbt_bytes bytes;
    rbt_error missing = {0};
    c->count = 0;
    if (!path) return rbt_fail_memory(error, strlen(folder), "a file name");
    if (!rbt_file_read(path, &bytes, &missing)) {
        free(path);
        return true;
    }
    bool good = bytes.size >= strlen(HEAD) && memcmp(bytes.data, HEAD, strlen(HEAD)) == 0;
    const char *at = good ? bytes.data + strlen(HEAD) : bytes.data, *end = bytes.data + bytes.size, *stop;
    int64_t before = -1;
    long number = 2;
    for (; good && at < end && (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1, number++) {
        rbt_choice_row row;
        good = read_row(at, (size_t)(stop - at), &row) && row.frame > before;
        if (!good) break;
        before = row.frame;
        if (row.frame <= last && !add_row(c, &row, error)) break;
    }
    if (!good)
        rbt_fail_at(
            error, path, number, 0,
            "is no choice of a method; a row is frame,method,solver,error,longest,occasion, frames ascending");
    free(bytes.data);
    free(path);
    return good;
}

bool rbt_run_choices_write(const rbt_run_choices *c, const char *folder, rbt_error *error) {
    rbt_text t = {0};
    char *path = rbt_path_join(folder, "choice.csv");
    rbt_text_add(&t, "%s", HEAD);
    for (size_t i = 0; i < c->count; i++) {
        const rbt_choice_row *row = &c->rows[i];
        const char *solver = rbt_solver_name(row->chosen.method, row->chosen.solver);
        rbt_text_add(&t, "%lld,%s,%s,%.17g,%.17g,%s\n", (long long)row->frame, rbt_method_name(row->chosen.method),
                     solver ? solver : "-", row->chosen.error, row->chosen.longest, row->occasion);
    }
    bool good = path && !t.failed ? rbt_file_write(path, t.text, t.size, error)
                                  : rbt_fail_memory(error, t.size, "choice.csv");
    free(path);
    rbt_text_free(&t);
    return good;
}

const rbt_choice_row *rbt_run_choices_at(const rbt_run_choices *c, int64_t frame) {
    const rbt_choice_row *found = NULL;
    for (size_t i = 0; i < c->count && c->rows[i].frame <= frame; i++) found = &c->rows[i];
    return found;
}

bool rbt_run_choices_add(rbt_run_choices *c, const rbt_choice *choice, rbt_error *error) {
    const rbt_method_candidate *best = &choice->candidates[choice->best];
    rbt_choice_row row = {.frame = choice->frame, .chosen = chosen_of(choice)};
    while (c->count && c->rows[c->count - 1].frame >= row.frame) c->count--;  // it did not get far
    snprintf(row.occasion, sizeof row.occasion, "%s", choice->occasion);
    c->promised = best->tried_cost;
    if (c->json.size) rbt_text_add(&c->json, ",\n    ");
    rbt_choice_json(choice, &c->json);
    return add_row(c, &row, error) && (!c->json.failed || rbt_fail_memory(error, c->json.size, "choices"));
}

// ---- While time runs

static bool has_row(const rbt_run_choices *c, const char *occasion) {
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->rows[i].occasion, occasion) == 0) return true;
    return false;
}

// What has happened that another method may be better at; NULL: nothing. But for times it depends on the rows and the
// state alone: a run that continues looks where the whole one does.
static const char *occasion(rbt_run_choices *c, const rbt_sim *sim, double seconds) {
    bool cut = sim->topology != c->topology;
    int64_t last = c->count ? c->rows[c->count - 1].frame : 0;
    c->topology = sim->topology;
    if (c->count >= MAX_ROWS || sim->state.frame - last < FRAMES_BETWEEN) return NULL;
    if (cut) return "bodies were cut";
    if (!has_row(c, BEGAN) && rbt_sim_contacts(sim, NULL, 0) > 0) return BEGAN;
    bool dear = c->promised > 0 && seconds / sim->model->frame_interval > DEAR * c->promised && seconds > 1;
    return dear ? "steps became dear" : NULL;
}

bool rbt_run_reconsider(rbt_run_choices *c, rbt_sim *sim, const rbt_scene *scene, double seconds, rbt_choice *choice,
                        bool *chosen, rbt_error *error) {
    const rbt_integrator_def *now = &sim->scene->integrator;
    int64_t frame = sim->state.frame;
    *chosen = false;
    for (size_t i = 0; i < c->count; i++)
        if (c->rows[i].frame == frame) return rbt_sim_take_choice(sim, &c->rows[i].chosen, error);
    if (c->repeats || (c->count && c->rows[c->count - 1].frame > frame)) return true;  // what comes is written down
    const char *why = occasion(c, sim, seconds);
    if (!why) return true;
    if (!rbt_choose(sim, &sim->state, scene->integrator.method, scene->integrator.solver, -1, why, choice, error))
        return false;
    const rbt_method_candidate *best = &choice->candidates[choice->best], *present = NULL;
    for (int i = 0; i < choice->count; i++)
        if (choice->candidates[i].method == now->method && choice->candidates[i].solver == now->solver)
            present = &choice->candidates[i];
    double cost =
        present && present->fate >= RBT_FATE_TRIED ? present->tried_cost : seconds / sim->model->frame_interval;
    c->promised = fmin(best->tried_cost, cost);
    if (best == present || best->tried_cost > BETTER * cost) {
        rbt_choice_row kept = {.frame = frame,
                               .chosen = {now->method, now->solver, sim->scene->goal.error, sim->longest}};
        snprintf(kept.occasion, sizeof kept.occasion, "%s", why);
        return add_row(c, &kept, error);
    }
    *chosen = true;
    const rbt_chosen taken = chosen_of(choice);
    return rbt_run_choices_add(c, choice, error) && rbt_sim_take_choice(sim, &taken, error);
}

bool rbt_run_choose_other(rbt_run_choices *c, rbt_sim *sim, const rbt_scene *scene, rbt_choice *choice,
                          rbt_error *error) {
    if (scene->integrator.method >= 0) return false;  // the scene names it
    if (!rbt_choose(sim, &sim->state, -1, -1, sim->scene->integrator.method, "a step failed", choice, error))
        return false;
    const rbt_chosen taken = chosen_of(choice);
    return rbt_run_choices_add(c, choice, error) && rbt_sim_take_choice(sim, &taken, error);
}
