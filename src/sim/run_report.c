#include "sim/run_report.h"

#include "base/file.h"
#include "base/processor.h"
#include "base/text.h"
#include "base/threads.h"
#include "sim/run.h"
#include "step/core/body_methods.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void add_number(rbt_text *t, const char *name, double value, const char *end) {
    rbt_text_add(t, "\"%s\": ", name);
    rbt_text_add_json_number(t, value);
    rbt_text_add(t, "%s", end);
}

static void add_string(rbt_text *t, const char *name, const char *value, const char *end) {
    rbt_text_add(t, "\"%s\": ", name);
    rbt_text_add_json(t, value);
    rbt_text_add(t, "%s", end);
}

static void add_energies(rbt_text *t, const char *name, const rbt_energies *e, const char *end) {
    rbt_text_add(t, "  \"%s\": {", name);
    add_number(t, "kinetic", e->kinetic, ", ");
    add_number(t, "elastic", e->elastic, ", ");
    add_number(t, "gravity", e->gravity, ", ");
    add_number(t, "contact", e->contact, ", ");
    add_number(t, "total", e->total, "");
    rbt_text_add(t, "}%s\n", end);
}

// Work since time 0, and energy that came from nowhere beside what is accounted for (step/core/energy_watch.h)
static void add_balance(rbt_text *t, const rbt_ledger *ledger) {
    rbt_text_add(t, "  \"energy_balance\": {");
    add_number(t, "work", ledger->work + ledger->own_work, ", ");
    add_number(t, "accounted_for", ledger->scale, ", ");
    add_number(t, "gain", ledger->gain, ", ");
    add_number(t, "gain_time", ledger->gain_time, "},\n");
}

static void processor_name(char *name, size_t size) {
    snprintf(name, size, "unknown");
    FILE *info = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (info && fgets(line, sizeof line, info)) {
        char *value = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (!value) continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(name, size, "%s", value + 2);
        break;
    }
    if (info) fclose(info);
}

static void add_machine(rbt_text *t) {
    char name[256];
    processor_name(name, sizeof name);
    rbt_text_add(t, "  \"machine\": {");
    add_string(t, "processor", name, ", ");
    rbt_text_add(t, "\"instructions\": {");
    for (int k = 0; k < RBT_KERNEL_KINDS; k++)
        add_string(t, rbt_kernel_kind_name((rbt_kernel_kind)k),
                   rbt_instruction_set_name(rbt_processor_set((rbt_kernel_kind)k)),
                   k + 1 < RBT_KERNEL_KINDS ? ", " : "}, ");
    rbt_text_add(t, "\"processors\": %ld, \"threads\": %d, ", sysconf(_SC_NPROCESSORS_ONLN), rbt_threads_count());
    add_number(t, "memory_gb", 1e-9 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE), "},\n");
}

static void add_bodies(rbt_text *t, const rbt_model *m, const rbt_body *bodies) {
    rbt_text_add(t, "  \"bodies\": [\n");
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body *body = &bodies[b];
        const rbt_body_integrator_def *own = rbt_body_integrator(m, b);
        size_t nodes = body->node_end - body->node_begin;
        rbt_text_add(t, "    {");
        add_string(t, "name", body->name, ", ");
        if (own) add_string(t, "method", rbt_method_name(own->method), ", ");
        rbt_text_add(t, "\"nodes\": %zu, \"%ss\": %zu, \"unknowns\": %zu, ", nodes, rbt_body_element(body),
                     rbt_body_element_count(body), 3 * (nodes - body->fixed_count - body->driven_count));
        add_number(t, "mass", body->mass, ", ");
        add_number(t, "volume", body->volume, ", ");
        add_number(t, "explicit_step", body->explicit_step, b + 1 < m->body_count ? "},\n" : "}\n");
    }
    rbt_text_add(t, "  ],\n");
}

static void add_seconds(rbt_text *t, const rbt_run_report *r) {
    const rbt_stages *stages = &r->sim->stepper.stages;
    rbt_text_add(t, "  \"seconds\": {");
    add_number(t, "total", r->total_seconds, ", ");
    add_number(t, "compile", r->compile_seconds, ", ");
    add_number(t, "step", r->step_seconds, ", ");
    add_number(t, "write", r->write_seconds, ", ");
    if (r->sim->cutting) add_number(t, "cut", r->sim->cut_seconds, ", ");
    rbt_text_add(t, "\"stages\": {");
    for (int i = 0; i < stages->count; i++)
        add_number(t, stages->name[i], stages->seconds[i], i + 1 < stages->count ? ", " : "");
    rbt_text_add(t, "}},\n");
}

static void add_failure(rbt_text *t, const rbt_run_report *r) {
    const rbt_step_report *f = r->failure;
    rbt_text_add(t, "  \"failure\": {");
    add_string(t, "outcome", rbt_outcome_name(f->outcome), ", ");
    add_string(t, "stage", f->stage, ", ");
    if (f->body >= 0) add_string(t, "body", r->sim->model->bodies[f->body].name, ", ");
    if (f->element >= 0) rbt_text_add(t, "\"%s\": %lld, ", f->element_kind, (long long)f->element);
    add_number(t, "value", f->value, ", ");
    rbt_text_add(t, "\"halvings\": %d, ", f->halvings);
    add_number(t, "time", r->sim->state.t, ", ");
    add_string(t, "hint", f->hint, "},\n");
}

// Steps since time 0, those of the run that this one continues from included
static void add_unconverged(rbt_text *t, const rbt_tally *tally) {
    char text[256];
    rbt_unconverged_text(tally, text);
    rbt_text_add(t, "  \"unconverged\": {\"steps\": %lld, \"of\": %lld, ", (long long)tally->unconverged,
                 (long long)tally->steps);
    add_number(t, "worst_residual", tally->worst_residual, ", ");
    add_number(t, "first_time", tally->first, ", ");
    add_string(t, "outcome", text, "},\n");
}

// Frames since the run began or was resumed
static void add_overlap(rbt_text *t, const rbt_overlap *o) {
    rbt_text_add(
        t, "  \"bodies_kept_apart\": false, \"passing_through\": {\"frames\": %lld, \"of\": %lld, \"every\": %lld, ",
        (long long)o->crossing, (long long)o->frames, (long long)o->every);
    if (o->crossing) {
        rbt_text_add(t, "\"first_frame\": %lld, ", (long long)o->first_frame);
        add_number(t, "first_time", o->first_time, ", ");
        rbt_text_add(t, "\"first_bodies\": [");
        rbt_text_add_json(t, o->first_bodies[0]);
        rbt_text_add(t, ", ");
        rbt_text_add_json(t, o->first_bodies[1]);
        rbt_text_add(t, "], ");
    }
    add_number(t, "seconds", o->seconds, "},\n");
}

static void add_warning(rbt_text *t, const char *warning, size_t count) {
    rbt_text_add(t, "%s\n    ", count ? "," : "");
    rbt_text_add_json(t, warning);
}

static void add_warnings(rbt_text *t, const rbt_run_report *r) {
    const rbt_sim *sim = r->sim;
    char foreseen[320], found[320];
    size_t count = 0;
    rbt_text_add(t, "  \"warnings\": [");
    for (size_t i = 0; i < sim->model->warning_count; i++) add_warning(t, sim->model->warnings[i], count++);
    if (rbt_run_foreseen(sim, foreseen)) add_warning(t, foreseen, count++);
    if (rbt_run_warning(sim, found)) add_warning(t, found, count++);
    if (rbt_run_floor_warning(sim, found)) add_warning(t, found, count++);
    if (rbt_run_damped_warning(sim, found)) add_warning(t, found, count++);
    if (r->overlap && rbt_overlap_text(r->overlap, sim, found)) add_warning(t, found, count++);
    rbt_text_add(t, "],\n");
}

// What the method has to say about itself
static void add_description(rbt_text *t, const rbt_sim *sim) {
    const rbt_method *method = sim->stepper.method;
    rbt_text about = {0};
    if (method->describe) method->describe(sim->stepper.self, &about);
    if (about.size) rbt_text_add(t, "  \"%s\": {%s},\n", method->name, about.text);
    t->failed = t->failed || about.failed;
    rbt_text_free(&about);
}

// Counts of the table beside the iterations, where they are not 0; those of one object side by side
static void add_statistics(rbt_text *t, const double *statistics) {
    for (int i = RBT_STAT_SUBSTEPS, end; i < RBT_STATISTIC_COUNT; i = end) {
        const char *object = rbt_statistic_object(i);
        bool any = statistics[i] != 0;
        for (end = i + 1; object && end < RBT_STATISTIC_COUNT && rbt_statistic_object(end) == object; end++)
            any |= statistics[end] != 0;
        if (!any) continue;
        if (object) rbt_text_add(t, "  \"%s\": {", object);
        for (int k = i; k < end; k++)
            rbt_text_add(t, "%s\"%s\": %lld",
                         k > i    ? ", "
                         : object ? ""
                                  : "  ",
                         rbt_statistic_at(k)->name, (long long)statistics[k]);
        rbt_text_add(t, "%s,\n", object ? "}" : "");
    }
}

// Steps that are chosen by their error, since time 0 where nothing else is said
static void add_steps_by_error(rbt_text *t, const rbt_run_report *r) {
    const rbt_stepper *s = &r->sim->stepper;
    const rbt_step_memory *memory = rbt_stepper_step_memory(s, &r->sim->state);
    if (!memory) return;
    rbt_text_add(t, "  \"steps_by_error\": {");
    add_number(t, "error", s->control.error, ", ");
    add_number(t, "min_step", s->control.shortest, ", ");
    add_number(t, "max_step", s->control.longest, ", ");
    add_number(t, "next_step", memory->next, ", ");
    rbt_text_add(t, "\"floor_steps\": %lld, ", (long long)memory->floor_steps);
    add_number(t, "floor_worst", memory->floor_worst, "},\n");
}

bool rbt_run_report_write(const rbt_run_report *r, const char *path, rbt_error *error) {
    const rbt_model *m = r->sim->model;
    const rbt_method *method = r->sim->stepper.method;
    rbt_text t = {0};
    rbt_text_add(&t, "{\n  ");
    add_string(&t, "rubato", RBT_VERSION, ",\n  ");
    add_string(&t, "status", r->status, ",\n  ");
    add_string(&t, "started", r->started, ",\n  ");
    add_string(&t, "method", method->name, ",\n  ");
    if (method->solvers) add_string(&t, "solver", method->solvers(r->sim->scene->integrator.solver), ",\n  ");
    rbt_text_add(&t, "\"resumed_from\": %lld,\n", (long long)r->resumed_from);
    add_machine(&t);
    add_bodies(&t, m, r->bodies ? r->bodies : m->bodies);
    rbt_text_add(&t, "  \"frame\": %lld, \"last_frame\": %lld, ", (long long)r->frames, (long long)m->frame_count);
    add_number(&t, "time", r->sim->state.t, ", ");
    if (r->sim->stepper.control.on) add_string(&t, "step", "auto", ",\n");
    else add_number(&t, "step", m->step, ",\n");
    rbt_text_add(&t, "  \"steps\": %lld, \"iterations\": %lld, \"halved_steps\": %lld, \"max_halvings\": %d, ",
                 (long long)r->steps, (long long)r->statistics[RBT_STAT_ITERATIONS], (long long)r->halved_steps,
                 r->max_halvings);
    rbt_text_add(&t, "\"on_fewer_threads\": %lld,\n", (long long)r->sim->shared.fewer);
    add_statistics(&t, r->statistics);
    add_steps_by_error(&t, r);
    if (r->choices && r->choices->size) rbt_text_add(&t, "  \"choices\": [\n    %s],\n", r->choices->text);
    add_description(&t, r->sim);
    add_seconds(&t, r);
    if (r->more) rbt_text_add(&t, "%s", r->more);
    add_energies(&t, "energy_first", &r->first, ",");
    add_energies(&t, "energy_last", &r->last, ",");
    add_balance(&t, &r->sim->state.tally.ledger);
    add_warnings(&t, r);
    if (r->overlap && r->overlap->frames) add_overlap(&t, r->overlap);
    if (r->sim->state.tally.unconverged) add_unconverged(&t, &r->sim->state.tally);
    if (r->failure) add_failure(&t, r);
    if (r->problem) {
        rbt_text_add(&t, "  ");
        add_string(&t, "problem", r->problem, ",\n");
    }
    if (r->verification) {
        rbt_text_add(&t, "  \"verify\": ");
        rbt_verification_json(r->verification, false, &t);
        rbt_text_add(&t, ",\n");
    }
    rbt_text_add(&t, "  \"scene\": %s\n}\n", r->scene_text ? r->scene_text : "null");
    bool ok = t.failed ? rbt_fail_memory(error, t.size, "run.json") : rbt_file_write(path, t.text, t.size, error);
    rbt_text_free(&t);
    return ok;
}
