// A simulation that becomes another one between two steps: that of a checkpoint, of another model or method, or cut.
#include "base/clock.h"
#include "model/input.h"
#include "sim/sim.h"
#include "step/contact/step_contact.h"

#include <math.h>
#include <string.h>

// For another model or state
static bool renew_watch(rbt_sim *sim, rbt_error *error) {
    bool every_frame = sim->watch.every_frame;
    rbt_energy_watch_free(&sim->watch);
    if (!rbt_energy_watch_init(&sim->watch, &sim->stepper, error)) return false;
    sim->watch.every_frame = every_frame;
    return true;
}

// The model that cuts and materials of the state lead to, beside the present one, which the caller frees then
static bool model_of_state(rbt_sim *sim, rbt_error *error) {
    rbt_model *cut = NULL;
    const rbt_state *s = &sim->state;
    if (s->cuts_size) {
        if (!sim->cutting) return rbt_fail(error, "bodies were cut, but the scene has no cuts");
        if (!(cut = rbt_cutting_restore(sim->cutting, sim->model, s, error))) return false;
        sim->model = cut;
    }
    if (s->input_size && !rbt_input_is_sound(sim->model, s->input, s->input_size))
        return rbt_fail(error, "the forces and motions of the state do not fit the scene");
    rbt_material_values values = rbt_sim_materials(sim, s);
    if (rbt_materials_are(sim->model, &values)) return true;
    rbt_model *changed = rbt_model_with_materials(sim->model, &values, error);
    if (!changed) return false;
    rbt_model_free(cut);
    sim->model = changed;
    return true;
}

bool rbt_sim_resume(rbt_sim *sim, rbt_state *state, rbt_error *error) {
    const volatile int *stop = sim->stepper.stages.stop;
    const rbt_step_log log = sim->stepper.control.log;
    rbt_state_clear(&sim->state);
    sim->state = *state;
    *state = (rbt_state){0};
    rbt_model *before = sim->model;
    bool good = model_of_state(sim, error);
    if (sim->model != before) {
        rbt_stepper_free(&sim->stepper);
        rbt_model_free(before);
        good = good && rbt_sim_choose_step(sim, error) &&
               rbt_stepper_init(&sim->stepper, sim->model, &sim->scene->integrator, error);
        rbt_sim_set_stop(sim, stop);
        sim->stepper.control.log = log;
    }
    if (!good) return false;
    rbt_input_attach(sim->model, &sim->state);
    rbt_stepper_reset(&sim->stepper);
    free(sim->state.watch);  // it begins again
    sim->state.watch = NULL;
    sim->state.watch_size = 0;
    return rbt_stepper_prepare(&sim->stepper, &sim->state, error) && renew_watch(sim, error);
}

bool rbt_sim_fail_change(rbt_step_report *report, rbt_outcome outcome, const char *stage, const rbt_error *error) {
    report->outcome = error->out_of_memory ? RBT_OUT_OF_MEMORY : outcome;
    report->stage = stage;
    report->body = report->element = -1;
    rbt_error_text(error, report->hint, sizeof report->hint);
    return false;
}

// A stepper and its watch in the place of those that are there, whose counts continue
static void put_stepper(rbt_sim *sim, rbt_stepper *next, rbt_energy_watch *watch) {
    next->stages = sim->stepper.stages;
    next->control.log = sim->stepper.control.log;
    memcpy(next->statistics, sim->stepper.statistics, sizeof next->statistics);
    watch->every_frame = sim->watch.every_frame;
    rbt_energy_watch_free(&sim->watch);
    rbt_stepper_free(&sim->stepper);
    sim->stepper = *next;
    sim->watch = *watch;
    sim->watch.stepper = &sim->stepper;
    rbt_stepper_forget(&sim->stepper, &sim->state);
}

bool rbt_sim_exchange(rbt_sim *sim, rbt_model *model, rbt_error *error) {
    rbt_model *before = sim->model;
    rbt_stepper next = {0};
    rbt_energy_watch watch = {0};
    double step = sim->scene->time.step;
    sim->model = model;
    bool good = (!sim->chooses || sim->state.step || rbt_sim_choose_step(sim, error)) &&
                rbt_stepper_init(&next, model, &sim->scene->integrator, error) &&
                rbt_energy_watch_init(&watch, &next, error) && rbt_stepper_prepare(&next, &sim->state, error);
    if (!good) {
        rbt_energy_watch_free(&watch);
        rbt_stepper_free(&next);
        rbt_model_free(model);
        sim->model = before;
        sim->scene->time.step = step;
        return false;
    }
    put_stepper(sim, &next, &watch);
    rbt_model_free(before);
    sim->changed = sim->state.step != 0;
    return true;
}

bool rbt_sim_take_choice(rbt_sim *sim, const rbt_chosen *chosen, rbt_error *error) {
    rbt_scene *scene = sim->scene;
    rbt_model *m = sim->model;
    const rbt_scene before = *scene;
    const rbt_asked_error asked = m->asked;
    double step = m->step;
    double longest = sim->longest;
    bool chooses = sim->chooses;
    rbt_stepper next = {0};
    rbt_energy_watch watch = {0};
    bool same = scene->integrator.method == chosen->method && scene->integrator.solver == chosen->solver &&
                scene->goal.error == chosen->error && longest == chosen->longest;
    if (same) return true;  // a method's memory lasts
    if (scene->integrator.method != chosen->method) scene->integrator.options = NULL;
    scene->integrator.method = chosen->method;
    scene->integrator.solver = chosen->solver;
    scene->goal.error = chosen->error;
    sim->longest = chosen->longest;
    if (asked.error > 0) {
        scene->time.step = NAN;
        sim->chooses = false;
        rbt_model_ask(m, chosen->error);
        rbt_model_set_step(m, m->frame_interval / RBT_NOMINAL_STEPS);
    }
    if (rbt_sim_choose_step(sim, error) && rbt_stepper_init(&next, m, &scene->integrator, error) &&
        rbt_energy_watch_init(&watch, &next, error) && rbt_stepper_prepare(&next, &sim->state, error)) {
        put_stepper(sim, &next, &watch);
        return true;
    }
    rbt_energy_watch_free(&watch);
    rbt_stepper_free(&next);
    *scene = before;
    m->asked = asked;
    rbt_model_set_step(m, step);
    sim->chooses = chooses;
    sim->longest = longest;
    return false;
}

// ---- Cuts

static bool fail_cut(rbt_step_report *report, const rbt_error *error) {
    return rbt_sim_fail_change(report, RBT_CUT_FAILED, "cut", error);
}

bool rbt_sim_choose_again(rbt_sim *sim, rbt_step_report *report) {
    rbt_error error = {0};
    rbt_stepper next;
    if (!sim->chooses || !sim->changed || sim->state.step != 0) return true;
    sim->changed = false;
    if (!rbt_sim_choose_step(sim, &error) || !rbt_stepper_init(&next, sim->model, &sim->scene->integrator, &error))
        return fail_cut(report, &error);
    next.stages = sim->stepper.stages;
    next.control.log = sim->stepper.control.log;
    memcpy(next.statistics, sim->stepper.statistics, sizeof next.statistics);
    rbt_stepper_free(&sim->stepper);
    sim->stepper = next;
    if (!rbt_stepper_prepare(&sim->stepper, &sim->state, &error)) return fail_cut(report, &error);
    if (sim->state.memory_size) memset(sim->state.memory, 0, sim->state.memory_size);
    return true;
}

// A model that is compiled after a cut has the materials of the scene; events may have led to others.
static bool keep_materials(const rbt_sim *sim, rbt_change *change, rbt_error *error) {
    rbt_material_values values = rbt_sim_materials(sim, &sim->state);
    if (!change->after || rbt_materials_are(change->after, &values)) return true;
    rbt_model *model = rbt_model_with_materials(change->after, &values, error);
    rbt_model_free(change->after);
    change->after = model;
    return model != NULL;
}

// For rbt_cutting_set_accepts: obstacles move as they do now, by what was given to them, too.
static bool find_close(void *context, const rbt_model *after, double t, const double *x, char text[200],
                       rbt_error *error) {
    const rbt_sim *sim = context;
    rbt_model model = *after;
    model.obstacle_motions = sim->model->obstacle_motions;
    rbt_step_contact *contact = rbt_step_contact_new(&model, model.step, NULL, error);
    if (!contact) return false;
    text[0] = '\0';
    rbt_step_contact_is_apart(contact, t, x, text, 200);
    rbt_step_contact_free(contact);
    return true;
}

// All cuts that are due. Trouble with them ends the run as a failed step does.
static bool make_cuts(rbt_sim *sim, rbt_step_report *report) {
    double start = rbt_now();
    rbt_error error = {0};
    if (!sim->watch.begun) rbt_energy_watch_begin(&sim->watch, &sim->state);
    if (sim->watch.t != sim->state.t && rbt_energy_watch_look(&sim->watch, &sim->state, report) != RBT_DONE)
        return false;
    bool good = true;
    const rbt_method *method = sim->stepper.method;
    while (good && rbt_cutting_due(sim->cutting, sim->state.t)) {
        rbt_change change;
        if (method->thickness) rbt_cutting_set_thickness(sim->cutting, method->thickness(sim->stepper.self));
        if (method->accepts) rbt_cutting_set_accepts(sim->cutting, find_close, sim);
        good = rbt_cutting_stroke(sim->cutting, sim->model, &sim->state, &change, &error) &&
               keep_materials(sim, &change, &error);
        if (good && change.after) {
            good = rbt_stepper_follow(&sim->stepper, &change, &sim->scene->integrator, &sim->state, &error);
            if (good) rbt_model_free(sim->model);
            else sim->previous = sim->model;
            sim->model = change.after;
            sim->changed = true;
            sim->topology++;
            good = good && rbt_input_follow(sim->model, &sim->state, &error);
            if (good) rbt_sim_share_forces(sim);
            rbt_input_attach(sim->model, &sim->state);
        }
        rbt_change_free(&change);
    }
    good = good && renew_watch(sim, &error);
    if (good) rbt_energy_watch_begin(&sim->watch, &sim->state);
    sim->cut_seconds += rbt_now() - start;
    return good || fail_cut(report, &error);
}

bool rbt_sim_cut(rbt_sim *sim, rbt_step_report *report) {
    return !sim->cutting || !rbt_cutting_due(sim->cutting, sim->state.t) || make_cuts(sim, report);
}
