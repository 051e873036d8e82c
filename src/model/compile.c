// From a scene to a model: the list of stages, and what they share.
#include "model/compile.h"

#include "mesh/query/select.h"
#include "model/cutting.h"
#include "model/warp.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_WARNINGS = 64 };

bool rbt_compile_warn(rbt_compiler *c, const char *format, ...) {
    if (c->model->warning_count == MAX_WARNINGS) return true;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char **list = (const char **)(void *)c->model->warnings;
    if (!list && !RBT_TAKE(c, list, MAX_WARNINGS)) return false;
    c->model->warnings = list;
    list[c->model->warning_count++] = rbt_arena_text(c->arena, text);
    return true;
}

const char *rbt_compile_path(rbt_compiler *c, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *path = rbt_arena_text(c->arena, text);
    return path ? path : "";
}

bool rbt_compile_fail(rbt_compiler *c, size_t body, const char *member, const char *format, ...) {
    char text[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return rbt_fail_path(c->error, c->scene->file, rbt_compile_path(c, "bodies[%zu].%s", body, member), "%s", text);
}

bool rbt_compile_select(rbt_compiler *c, size_t body, const rbt_selection *where, const char *path,
                        unsigned char *chosen) {
    const rbt_body_def *def = &c->scene->bodies.items[body];
    const rbt_dissection *cut = rbt_compile_dissection(c, body);
    rbt_select_context context = {
        c->uncut[body], def->selections.items, def->selections.count, c->scene->file, path, true};
    if (!cut) return rbt_select_nodes(&context, where, chosen, c->error);
    unsigned char *before = rbt_array_new(cut->old_node_count, 1, "a selection", c->error);
    bool ok = before && rbt_select_nodes(&context, where, before, c->error);
    if (ok) rbt_dissection_carry_nodes(cut, before, chosen);
    free(before);
    return ok;
}

const rbt_dissection *rbt_compile_dissection(const rbt_compiler *c, size_t body) {
    const rbt_dissection *cut = &c->sources->dissections[body];
    return cut->elements ? cut : NULL;
}

// A selection that nobody needs may be one that cannot be made, as by a set that the mesh does not have: it is left
// out.
static bool add_selection(rbt_compiler *c, size_t b, const char *name, unsigned char *chosen,
                          rbt_node_selection *selections) {
    rbt_model *m = c->model;
    const rbt_body_def *def = &c->scene->bodies.items[b];
    const rbt_body *body = &c->bodies[b];
    const rbt_dissection *cut = rbt_compile_dissection(c, b);
    const rbt_selection where = {RBT_SELECT_SET, name};
    rbt_select_context context = {c->uncut[b], def->selections.items, def->selections.count, NULL, "", false};
    size_t nodes = body->node_end - body->node_begin, count = 0;
    unsigned char *before = cut ? rbt_array_new(cut->old_node_count, 1, "a selection", c->error) : chosen;
    rbt_error trouble = {0};
    if (!before) return false;
    bool found = rbt_select_nodes(&context, &where, before, &trouble);
    if (found && cut) rbt_dissection_carry_nodes(cut, before, chosen);
    if (cut) free(before);
    if (trouble.out_of_memory) return rbt_fail_memory(c->error, nodes, "a selection");
    if (!found) return true;
    for (size_t n = 0; n < nodes; n++) count += chosen[n] != 0;
    int32_t *list;
    char *text = rbt_arena_text(c->arena, name);
    if (!text || !RBT_TAKE(c, list, count)) return rbt_fail_memory(c->error, count, "a selection");
    selections[m->selection_count++] = (rbt_node_selection){text, (int)b, count, list};
    for (size_t n = 0; n < nodes; n++)
        if (chosen[n]) *list++ = (int32_t)(body->node_begin + n);
    return true;
}

bool rbt_compile_selections(rbt_compiler *c) {
    rbt_node_selection *selections;
    size_t most = 0;
    for (size_t b = 0; b < c->model->body_count; b++)
        most += c->scene->bodies.items[b].selections.count + c->uncut[b]->set_count;
    unsigned char *chosen = rbt_array_new(c->model->node_count, 1, "a selection", c->error);
    bool good = chosen && RBT_TAKE(c, selections, most);
    if (good) c->model->selections = selections;
    for (size_t b = 0; b < c->model->body_count; b++) {
        const rbt_body_def *def = &c->scene->bodies.items[b];
        for (size_t i = 0; good && i < def->selections.count; i++)
            good = add_selection(c, b, def->selections.items[i].name, chosen, selections);
        for (size_t i = 0; good && i < c->uncut[b]->set_count; i++)
            good = add_selection(c, b, c->uncut[b]->sets[i].name, chosen, selections);
    }
    free(chosen);
    return good;
}

// The least step is a frame over two to this power, unless the scene says otherwise.
enum { SHORTEST = 20 };

static bool can_meet(const rbt_scene *scene) { return scene->contact || scene->obstacles.count; }

double rbt_goal_error(const rbt_scene *scene) {
    static const double by_quality[2][RBT_QUALITIES] = {
        {[RBT_BALANCED] = 1e-2, [RBT_PREVIEW] = 5e-2, [RBT_ACCURATE] = 1e-3},
        {[RBT_BALANCED] = 5e-2, [RBT_PREVIEW] = 2e-1, [RBT_ACCURATE] = 1e-2}};
    const rbt_goal_def *goal = &scene->goal;
    return isnan(goal->error) ? by_quality[can_meet(scene)][goal->quality] : goal->error;
}

void rbt_model_ask(rbt_model *m, double error) {
    rbt_asked_error *asked = &m->asked;
    double frame = m->frame_interval, by_itself = asked->meets ? error * frame : ldexp(frame, -SHORTEST);
    asked->error = error;
    asked->shortest = fmin(asked->given == 0 ? by_itself : asked->given, frame);
}

// n steps of equal length in every frame: the frame interval is what people see, the step is shortened to divide it.
bool rbt_compile_time(rbt_compiler *c) {
    const rbt_time_def *time = &c->scene->time;
    rbt_model *m = c->model;
    double frames = floor(time->end / time->frame + 1e-9);
    double steps = isnan(time->step) ? RBT_NOMINAL_STEPS : ceil(time->frame / time->step - 1e-9);
    if (frames > 1e9 || steps > 1e9)
        return rbt_fail_path(c->error, c->scene->file, "time", "%g frames of %g steps: the limit is 1e9 of each",
                             frames, steps);
    m->frame_interval = time->frame;
    m->frame_count = (int64_t)frames;
    m->steps_per_frame = steps < 1 ? 1 : (int64_t)steps;
    m->step = time->frame / (double)m->steps_per_frame;
    if (isnan(time->step)) {
        m->asked = (rbt_asked_error){.given = time->min_step, .meets = can_meet(c->scene)};
        rbt_model_ask(m, rbt_goal_error(c->scene));
    }
    if (m->step < time->step * (1 - 1e-9))
        return rbt_compile_warn(c, "the step is %g s instead of %g s, so that %lld of them make a frame of %g s",
                                m->step, time->step, (long long)m->steps_per_frame, time->frame);
    return true;
}

rbt_sources *rbt_sources_new(size_t body_count, size_t obstacle_count, rbt_error *error) {
    rbt_sources *sources = rbt_array_new(1, sizeof *sources, "meshes", error);
    if (!sources) return NULL;
    *sources = (rbt_sources){.body_count = body_count,
                             .meshes = rbt_array_new(body_count, sizeof *sources->meshes, "meshes", error),
                             .fits = rbt_array_new(body_count, sizeof *sources->fits, "meshes", error),
                             .dissections = rbt_array_new(body_count, sizeof *sources->dissections, "meshes", error),
                             .obstacle_count = obstacle_count,
                             .obstacles = rbt_array_new(obstacle_count, sizeof *sources->obstacles, "meshes", error)};
    if (sources->meshes && sources->fits && sources->dissections && sources->obstacles) return sources;
    rbt_sources_free(sources);
    return NULL;
}

void rbt_sources_free(rbt_sources *sources) {
    if (!sources) return;
    for (size_t b = 0; sources->meshes && b < sources->body_count; b++) rbt_mesh_free(sources->meshes[b]);
    for (size_t b = 0; sources->dissections && b < sources->body_count; b++)
        rbt_dissection_free(&sources->dissections[b]);
    for (size_t o = 0; sources->obstacles && o < sources->obstacle_count; o++)
        rbt_obstacle_geometry_free(sources->obstacles[o]);
    free(sources->obstacles);
    free(sources->meshes);
    free(sources->fits);
    free(sources->dissections);
    free(sources);
}

void rbt_model_set_step(rbt_model *m, double step) {
    double steps = ceil(m->frame_interval / step - 1e-9);
    m->steps_per_frame = steps < 1 ? 1 : steps > 1e9 ? 1000000000 : (int64_t)steps;
    m->step = m->frame_interval / (double)m->steps_per_frame;
}

double rbt_model_grid_step(const rbt_model *m) { return m->asked.error > 0 ? 0 : m->step; }

static bool check_warp(rbt_compiler *c) {
    if (!c->scene->output.warp || rbt_model_can_warp(c->model)) return true;
    return rbt_fail_path(c->error, c->scene->file, "output.warp",
                         "only the material \"linear\" has turns that need to be made whole, and no body has tets of "
                         "it; leave it out");
}

rbt_model *rbt_model_compile(const rbt_scene *scene, rbt_error *error) {
    rbt_sources *sources = rbt_sources_new(scene->bodies.count, scene->obstacles.count, error);
    rbt_model *model = sources ? rbt_model_compile_sources(scene, sources, error) : NULL;
    rbt_sources_free(sources);
    return model;
}

rbt_model *rbt_model_compile_sources(const rbt_scene *scene, rbt_sources *sources, rbt_error *error) {
    rbt_compiler c = {
        .scene = scene, .arena = rbt_arena_new(), .sources = sources, .uncut = sources->meshes, .error = error};
    size_t bodies = scene->bodies.count;
    rbt_model *result = NULL;
    if (!c.arena || !(c.model = rbt_arena_take(c.arena, 1, sizeof *c.model))) {
        rbt_fail_memory(error, sizeof *c.model, "a model");
        rbt_arena_free(c.arena);
        return NULL;
    }
    c.model->arena = c.arena;
    bool ok = RBT_TAKE(&c, c.meshes, bodies) && RBT_TAKE(&c, c.bodies, bodies);
    c.model->cut_count = rbt_scene_cut_count(scene);
    c.model->body_count = ok ? bodies : 0;
    c.model->bodies = c.bodies;
    for (size_t b = 0; b < bodies; b++)
        if (scene->bodies.items[b].integrator) c.model->described = scene->bodies.items;
    if (ok && rbt_compile_time(&c) && rbt_compile_meshes(&c) && rbt_compile_geometry(&c) &&
        rbt_compile_materials(&c) && check_warp(&c) && rbt_compile_selections(&c) && rbt_compile_constraints(&c) &&
        rbt_compile_tempos(&c) && rbt_compile_start(&c) && rbt_compile_loads(&c) && rbt_compile_contact(&c) &&
        rbt_compile_probes(&c) && rbt_compile_events(&c) && rbt_compile_input(&c) && rbt_compile_embedded(&c))
        result = c.model;
    for (size_t b = 0; ok && b < bodies; b++)
        if (c.meshes[b] != c.uncut[b]) rbt_mesh_free(c.meshes[b]);
    if (!result) rbt_model_free(c.model);
    return result;
}

// Groups of their own, which know where their guides are
static const rbt_motion_group *guided(const rbt_motion_group *groups, size_t count, rbt_arena *arena,
                                      const rbt_guide **guides) {
    rbt_motion_group *copy = rbt_arena_take(arena, count, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = groups[i];
        copy[i].guide = &guides[i];
    }
    return copy;
}

static bool take_input(rbt_model *m, rbt_arena *arena, rbt_error *error) {
    size_t groups = m->motions.group_count, obstacles = m->obstacles.count;
    m->input = rbt_arena_take(arena, 1, sizeof *m->input);
    const rbt_guide **guides = rbt_arena_take(arena, groups + obstacles, sizeof *guides);
    if (m->input && guides && (m->motions.groups = guided(m->motions.groups, groups, arena, guides)) &&
        (m->obstacle_motions = guided(m->obstacle_motions, obstacles, arena, guides + groups))) {
        *m->input = (rbt_input){.group_count = groups, .obstacle_count = obstacles, .guides = guides};
        return true;
    }
    return rbt_fail_memory(error, (groups + obstacles) * sizeof *guides, "guides");
}

bool rbt_compile_input(rbt_compiler *c) {
    if (!RBT_TAKE(c, c->model->users, 1)) return false;
    atomic_init(c->model->users, 1);
    return take_input(c->model, c->arena, c->error);
}

rbt_model *rbt_model_share(rbt_model *model, rbt_error *error) {
    rbt_model *base = model->base ? model->base : model;
    rbt_arena *arena = rbt_arena_new();
    rbt_model *copy = arena ? rbt_arena_take(arena, 1, sizeof *copy) : NULL;
    if (!copy) rbt_fail_memory(error, sizeof *copy, "a model");
    if (copy) {
        *copy = *base;
        copy->described = model->described;
        copy->step = model->step;
        copy->steps_per_frame = model->steps_per_frame;
        copy->generation = model->generation;
        copy->uncut_fingerprint = model->uncut_fingerprint;
    }
    if (!copy || !take_input(copy, arena, error)) {
        rbt_arena_free(arena);
        return NULL;
    }
    copy->arena = arena;
    copy->base = base;
    copy->users = NULL;
    atomic_fetch_add(base->users, 1);
    return copy;
}

void rbt_model_free(rbt_model *model) {
    if (!model) return;
    rbt_model *shared = model;
    model = model->base ? model->base : model;
    if (shared != model) rbt_arena_free(shared->arena);
    if (model->users && atomic_fetch_sub(model->users, 1) > 1) return;
    for (size_t b = 0; b < model->body_count; b++) {
        rbt_embedding embedding = model->bodies[b].embedded.embedding;
        rbt_embedding_free(&embedding);
    }
    for (size_t o = 0; model->obstacles.geometry && o < model->obstacles.count; o++)
        rbt_obstacle_geometry_free(model->obstacles.geometry[o]);
    rbt_arena_free(model->arena);
}
