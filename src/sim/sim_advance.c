// How a simulation advances: by a step, to the end of a frame, to a time, to the end. Before a step the cuts and events
// that are due, after it the energy watch.
#include "base/clock.h"
#include "base/threads.h"
#include "model/input.h"
#include "sim/sim.h"

#include <math.h>
#include <stdio.h>

enum { STEPS_AT_ONCE = 64 };

static const double ON_GRID = 1e-6;  // of a step: a time so near to the end of one is that

// Energy that nothing accounts for: the steps are undone, as if they had failed.
static rbt_outcome watch_energy(rbt_sim *sim, const rbt_state *before, bool due, rbt_step_report *report) {
    rbt_state *s = &sim->state;
    double start = due ? rbt_now() : 0;
    rbt_outcome outcome = rbt_energy_watch_step(&sim->watch, s, due, report);
    if (due) rbt_stage_add(&sim->stepper.stages, "energy", rbt_now() - start);
    if (outcome == RBT_DONE) return RBT_DONE;
    rbt_stepper_undo(&sim->stepper, s, before->t);
    s->tally = before->tally;
    s->frame = before->frame;
    s->step = before->step;
    return outcome;
}

double rbt_sim_grid_time(const rbt_sim *sim, int64_t steps) {
    const rbt_model *m = sim->model;
    const rbt_state *s = &sim->state;
    return steps == m->steps_per_frame ? (double)(s->frame + 1) * m->frame_interval
                                       : (double)s->frame * m->frame_interval + (double)steps * m->step;
}

static double frame_end(const rbt_sim *sim) { return (double)(sim->state.frame + 1) * sim->model->frame_interval; }

// Steps of the stepper, on as many threads as pay if nobody has said how many. Those that fail are not compared.
typedef struct timed {
    int before;  // threads
    double start, work;
} timed;

static timed begin_timed(rbt_sim *sim, const rbt_step_report *report) {
    int most = rbt_threads_count();
    bool open = sim->threads == 0 && most > 1 && !rbt_threads_are_given();
    int start = rbt_thread_choice_start(sim->model->node_count, most);
    return (timed){.before = rbt_threads_enter(open ? rbt_thread_choice_begin(&sim->shared, most, start) : 0),
                   .start = open ? rbt_now() : NAN,
                   .work = report->statistics[RBT_STAT_ITERATIONS]};
}

static rbt_outcome end_timed(rbt_sim *sim, const timed *t, const rbt_step_report *report) {
    rbt_threads_leave(t->before);
    if (report->outcome == RBT_DONE && !isnan(t->start))
        rbt_thread_choice_end(&sim->shared, rbt_now() - t->start, report->statistics[RBT_STAT_ITERATIONS] - t->work);
    return report->outcome;
}

// One step whose length its error decides, until `stop` at most; `stop` is the end of the frame or lies before it.
static rbt_outcome advance_by_error(rbt_sim *sim, double stop, rbt_step_report *report) {
    rbt_state *s = &sim->state;
    double longest = rbt_sim_longest_step(sim);
    if (!sim->watch.begun) rbt_energy_watch_begin(&sim->watch, s);
    const rbt_state before = *s;
    timed t = begin_timed(sim, report);
    rbt_stepper_advance_by_error(&sim->stepper, s, stop, longest, report);
    if (end_timed(sim, &t, report) != RBT_DONE) return report->outcome;
    bool last = s->t == frame_end(sim);
    bool due = rbt_energy_watch_due(&sim->watch, &before, 1, last);
    s->step = last ? 0 : s->step + 1;
    s->frame += last;
    return watch_energy(sim, &before, due, report);
}

// `count` steps of this frame in one attempt, the first of them perhaps begun. Times are multiples of the frame
// interval and of the step within it, never sums: a resumed run computes the same.
static rbt_outcome advance_steps(rbt_sim *sim, int64_t count, rbt_step_report *report) {
    const rbt_model *m = sim->model;
    rbt_state *s = &sim->state;
    bool last = s->step + count == m->steps_per_frame;
    double until = rbt_sim_grid_time(sim, s->step + count);
    if (!sim->watch.begun) rbt_energy_watch_begin(&sim->watch, s);
    const rbt_state before = *s;
    bool due = sim->stepper.undoable = rbt_energy_watch_due(&sim->watch, s, count, last);
    timed t = begin_timed(sim, report);
    rbt_stepper_advance(&sim->stepper, s, until, report);
    if (end_timed(sim, &t, report) != RBT_DONE) return report->outcome;
    report->steps += count - 1;
    s->tally.steps += count - 1;
    s->step = last ? 0 : s->step + count;
    s->frame += last;
    return watch_energy(sim, &before, due, report);
}

// Cuts, events and what drags, before a step until `until`
static bool begin_step(rbt_sim *sim, double until, rbt_step_report *report) {
    rbt_error error = {0};
    const rbt_state *s = &sim->state;
    if (!rbt_sim_cut(sim, report)) return false;
    bool whole = fabs(s->t - rbt_sim_grid_time(sim, s->step)) <= ON_GRID * sim->model->step;
    return rbt_sim_begin_step(sim, whole, until - s->t, &error) ||
           rbt_sim_fail_change(report, RBT_EVENT_FAILED, "event", &error);
}

// Cuts, events and what drags, before a step by error; the step ends where the next cut or event is due.
static rbt_outcome take_step_by_error(rbt_sim *sim, double stop, rbt_step_report *report) {
    rbt_error error = {0};
    if (!rbt_sim_cut(sim, report)) return report->outcome;
    const rbt_step_memory *memory = rbt_stepper_step_memory(&sim->stepper, &sim->state);
    double planned = rbt_step_control_plan(&sim->stepper.control, memory, stop - sim->state.t);
    if (!rbt_sim_begin_step(sim, true, fmin(planned, rbt_sim_longest_step(sim)), &error)) {
        rbt_sim_fail_change(report, RBT_EVENT_FAILED, "event", &error);
        return report->outcome;
    }
    double due =
        fmin(rbt_sim_next_event(sim), sim->cutting ? rbt_cutting_next(sim->cutting, sim->state.t) : INFINITY);
    return advance_by_error(sim, fmin(stop, due), report);
}

rbt_outcome rbt_sim_take_step(rbt_sim *sim, rbt_step_report *report) {
    if (sim->stepper.control.on) return take_step_by_error(sim, frame_end(sim), report);
    if (!begin_step(sim, rbt_sim_grid_time(sim, sim->state.step + 1), report)) return report->outcome;
    if (advance_steps(sim, 1, report) == RBT_DONE && !rbt_sim_choose_again(sim, report)) return report->outcome;
    return report->outcome;
}

// A part of a step: the grid of steps stays, and what is left of it comes next.
static rbt_outcome take_part(rbt_sim *sim, double until, rbt_step_report *report) {
    rbt_state *s = &sim->state;
    if (!begin_step(sim, until, report)) return report->outcome;
    if (!sim->watch.begun) rbt_energy_watch_begin(&sim->watch, s);
    const rbt_state before = *s;
    sim->stepper.undoable = false;
    if (rbt_stepper_advance(&sim->stepper, s, until, report) != RBT_DONE) return report->outcome;
    return watch_energy(sim, &before, false, report);
}

// The report of a call, empty; false: there is no simulation.
static bool begin_report(const rbt_sim *sim, rbt_step_report *report) {
    *report = (rbt_step_report){.body = -1, .element = -1, .stage = ""};
    if (sim) return true;
    report->outcome = RBT_REFUSED;
    snprintf(report->hint, sizeof report->hint, "there is no simulation: the pointer is NULL");
    return false;
}

bool rbt_sim_step(rbt_sim *sim, rbt_step_report *report) {
    rbt_step_report unused;
    if (!report) report = &unused;
    if (!begin_report(sim, report)) return false;
    int threads = rbt_threads_enter(sim->threads);
    bool done = rbt_sim_take_step(sim, report) == RBT_DONE;
    rbt_threads_leave(threads);
    return done;
}

static bool advance_frame(rbt_sim *sim, rbt_step_report *report) {
    const rbt_state *s = &sim->state;
    bool many = sim->stepper.method->own_steps && !sim->cutting && !sim->model->event_count && !rbt_input_drags(s) &&
                rbt_outside_is_idle(&sim->watch.outside);
    for (int64_t frame = s->frame; s->frame == frame;) {
        // A method with steps of its own needs no states in between, unless loads are to be followed. If it fails,
        // single steps find the last good one.
        int64_t left = sim->model->steps_per_frame - s->step, count = left < STEPS_AT_ONCE ? left : STEPS_AT_ONCE;
        if (many && (many = advance_steps(sim, count, report) == RBT_DONE)) continue;
        if (report->outcome == RBT_STOPPED || report->outcome == RBT_OUT_OF_MEMORY) return false;
        if (rbt_sim_take_step(sim, report) != RBT_DONE) return false;
    }
    return true;
}

bool rbt_sim_advance_frame(rbt_sim *sim, rbt_step_report *report) {
    rbt_step_report unused;
    if (!report) report = &unused;
    if (!begin_report(sim, report)) return false;
    int threads = rbt_threads_enter(sim->threads);
    bool done = advance_frame(sim, report);
    rbt_threads_leave(threads);
    return done;
}

static bool advance_to(rbt_sim *sim, double time, rbt_step_report *report) {
    const rbt_state *s = &sim->state;
    for (;;) {
        double near = ON_GRID * sim->model->step;
        if (time <= s->t + near) return true;
        if (sim->stepper.control.on) {
            double end = frame_end(sim), stop = end <= time + near ? end : time;
            if (take_step_by_error(sim, stop, report) != RBT_DONE) return false;
            continue;
        }
        bool whole = rbt_sim_grid_time(sim, s->step + 1) <= time + near;
        rbt_outcome outcome = whole ? rbt_sim_take_step(sim, report) : take_part(sim, time, report);
        if (outcome != RBT_DONE) return false;
        if (!whole) return true;
    }
}

bool rbt_sim_advance_to(rbt_sim *sim, double time, rbt_step_report *report) {
    rbt_step_report unused;
    if (!report) report = &unused;
    if (!begin_report(sim, report)) return false;
    if (!isfinite(time) || time < sim->state.t - ON_GRID * sim->model->step) {
        report->outcome = RBT_REFUSED;
        snprintf(report->hint, sizeof report->hint, "it is %.9g s now and cannot become %.9g s by stepping",
                 sim->state.t, time);
        return false;
    }
    int threads = rbt_threads_enter(sim->threads);
    bool done = advance_to(sim, time, report);
    rbt_threads_leave(threads);
    return done;
}

bool rbt_sim_run(rbt_sim *sim, rbt_frame_callback each, void *context, rbt_step_report *report) {
    rbt_step_report unused;
    if (!report) report = &unused;
    if (!begin_report(sim, report)) return false;
    if (each && !each(sim, sim->state.frame, context)) return true;
    while (sim->state.frame < sim->model->frame_count) {
        if (!rbt_sim_advance_frame(sim, report)) return false;
        if (each && !each(sim, sim->state.frame, context)) return true;
    }
    return true;
}

double rbt_sim_step_length(const rbt_sim *sim) {
    const rbt_step_memory *memory = sim ? rbt_stepper_step_memory(&sim->stepper, &sim->state) : NULL;
    if (memory) return rbt_step_control_plan(&sim->stepper.control, memory, frame_end(sim) - sim->state.t);
    return sim ? sim->model->step : 0;
}
