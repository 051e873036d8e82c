#include "model/cutting.h"

#include "base/text.h"
#include "math/vec3.h"
#include "mesh/cut/cut_width.h"
#include "model/cut_judge.h"
#include "model/cut_shape.h"
#include "model/fingerprint.h"
#include "model/momentum.h"

#include <stdio.h>
#include <string.h>

// Of the thickness of contact: how wide a cut is. Above 1, so that its sides do not push each other, whatever angles
// neighbouring lips make; no more than that needs, since it takes material away.
static const double WIDTH = 1.125;
// Of its width: how near to their ends edges are parted at least. What is shorter cannot give way by half of it.
static const double SHORTEST = 2;
// Shares of an edge that contact takes for the least tolerance, one after the other until the sides can be parted:
// rough sides with slivers behind them leave no room.
static const double TOLERANCES[] = {0.05, 0.12, RBT_WIDEST_TOLERANCE};
// Steps that a stroke waits for room: elements that are inside out, or folded, come back.
static const double PATIENCE = 20;
enum { OPENINGS = 8 };  // attempts to part the sides of a cut, each with half the way for what met something

struct rbt_cutting {
    const rbt_scene *scene;
    rbt_sources *sources;
    double rounding;              // [s] by which times may differ
    size_t count;                 // of cuts: those of the scene, then those of its events
    rbt_cut_def *defs;            // (count) with times of their own
    rbt_mesh **files;             // (count) NULL where a cut has none
    int32_t *done;                // (count) strokes
    double thickness;             // of contact [m]; 0: there is none
    double *waits;                // (count) time at which a stroke found no room [s]; NaN: none
    rbt_cutting_accepts accepts;  // NULL: nobody asks
    void *context;                // of accepts
};

// ---- Plans

static const rbt_side_kind *kind_of(const rbt_body *body) {
    return body->kind == RBT_SOLID ? &RBT_FACES_OF_TETS : &RBT_EDGES_OF_TRIANGLES;
}

static bool concerns(const rbt_cut_def *def, const rbt_body *body) {
    return def->body ? strcmp(def->body, body->name) == 0 : body->kind != RBT_NET;
}

size_t rbt_scene_cut_count(const rbt_scene *scene) {
    size_t count = scene->cuts.count;
    for (size_t i = 0; i < scene->events.count; i++) count += scene->events.items[i].cut != NULL;
    return count;
}

// Cut i of the scene and where it stands; times of events' cuts count from the event's.
static rbt_cut_def cut_at(const rbt_scene *scene, size_t i, char path[64]) {
    snprintf(path, 64, "cuts[%zu]", i);
    if (i < scene->cuts.count) return scene->cuts.items[i];
    size_t e = 0;
    for (size_t left = i - scene->cuts.count; !scene->events.items[e].cut || left--;) e++;
    const rbt_event_def *event = &scene->events.items[e];
    rbt_cut_def def = *event->cut;
    def.time += event->time;
    def.until += event->time;
    snprintf(path, 64, "events[%zu].cut", e);
    return def;
}

rbt_cutting *rbt_cutting_new(const rbt_scene *scene, rbt_sources *sources, const rbt_model *model, rbt_error *error) {
    rbt_cutting *c = rbt_array_new(1, sizeof *c, "cuts", error);
    if (!c) return NULL;
    size_t count = rbt_scene_cut_count(scene);
    *c = (rbt_cutting){.scene = scene,
                       .count = count,
                       .defs = rbt_array_new(count, sizeof *c->defs, "cuts", error),
                       .sources = sources,
                       .rounding = 1e-9 * model->frame_interval,
                       .files = rbt_array_new(count, sizeof *c->files, "cuts", error),
                       .done = rbt_array_new(count, sizeof *c->done, "cuts", error),
                       .waits = rbt_array_new(count, sizeof *c->waits, "cuts", error)};
    bool good = c->defs && c->files && c->done && c->waits;
    for (size_t i = 0; good && i < count; i++) c->waits[i] = NAN;
    for (size_t i = 0; good && i < count; i++) {
        char path[64];
        const rbt_cut_def *def = &c->defs[i];
        c->defs[i] = cut_at(scene, i, path);
        for (size_t b = 0; good && b < model->body_count; b++)
            if (concerns(def, &model->bodies[b]) && model->bodies[b].kind == RBT_NET)
                good = rbt_fail_path(error, scene->file, path,
                                     "body \"%s\" is made of springs; bodies of tets or triangles can be cut",
                                     model->bodies[b].name);
        if (good && def->surface.which == RBT_CUT_FILE)
            good = (c->files[i] = rbt_cut_shape_read(def->surface.value, scene->folder, scene->file, path, error)) !=
                   NULL;
    }
    if (good) return c;
    rbt_cutting_free(c);
    return NULL;
}

void rbt_cutting_free(rbt_cutting *cutting) {
    if (!cutting) return;
    for (size_t i = 0; cutting->files && i < cutting->count; i++) rbt_mesh_free(cutting->files[i]);
    free(cutting->defs);
    free(cutting->files);
    free(cutting->done);
    free(cutting->waits);
    free(cutting);
}

static int32_t strokes_of(const rbt_cut_def *def) {
    return isnan(def->until) || def->until <= def->time ? 1 : def->strokes;
}

// Strokes of a cut that are due by t: the k-th of n at time + k / n (until - time), a single one at `time`.
static int32_t due_by(const rbt_cutting *c, const rbt_cut_def *def, double t) {
    int32_t n = strokes_of(def);
    double duration = isnan(def->until) ? 0 : def->until - def->time, since = t + c->rounding - def->time;
    if (!(duration > 0)) return since >= 0;
    if (since >= duration) return n;
    return since > 0 ? (int32_t)(n * since / duration) : 0;
}

// The first cut with a stroke to make at time t, of which it has not been found out that it must wait; `count`: none
static size_t first_due(const rbt_cutting *c, double t) {
    size_t i = 0;
    while (i < c->count && (c->waits[i] == t || due_by(c, &c->defs[i], t) <= c->done[i])) i++;
    return i;
}

bool rbt_cutting_due(const rbt_cutting *cutting, double t) { return first_due(cutting, t) < cutting->count; }

double rbt_cutting_next(const rbt_cutting *cutting, double t) {
    double next = INFINITY;
    for (size_t i = 0; i < cutting->count; i++) {
        const rbt_cut_def *def = &cutting->defs[i];
        int32_t n = strokes_of(def), due = due_by(cutting, def, t);
        double duration = isnan(def->until) ? 0 : def->until - def->time;
        if (duration > 0 && due < n) next = fmin(next, def->time + duration * (due + 1) / n);
        else if (!(duration > 0) && !due) next = fmin(next, def->time);
    }
    return next;
}

void rbt_cutting_set_thickness(rbt_cutting *cutting, double thickness) { cutting->thickness = thickness; }

void rbt_cutting_set_accepts(rbt_cutting *cutting, rbt_cutting_accepts accepts, void *context) {
    cutting->accepts = accepts;
    cutting->context = context;
}

// ---- Carrying out

static double width_of(const rbt_cutting *c, const rbt_model *model, size_t b) {
    return model->contact.on ? WIDTH * c->thickness + rbt_contact_settings_gap(&model->contact, (int)b) : 0;
}

static bool cut_body(rbt_cutting *c, size_t cut, const rbt_cut_range *range, bool complete, const rbt_model *model,
                     size_t b, const rbt_state *state, rbt_cut_result *result, rbt_error *error) {
    const rbt_cut_def *def = &c->defs[cut];
    const rbt_body *body = &model->bodies[b];
    const rbt_mesh *uncut = c->sources->meshes[b];
    rbt_dissection *dissection = &c->sources->dissections[b];
    const double *positions = (def->deformed ? state->x : model->X) + 3 * body->node_begin;
    rbt_box box = rbt_box_empty();
    for (size_t n = 0; n < body->node_end - body->node_begin; n++) rbt_box_include(&box, positions + 3 * n, 0);
    rbt_cut_surface surface;
    if (!rbt_cut_shape(def, c->files[cut], body->box_min, body->box_max, box.min, box.max, &surface, error))
        return false;
    bool solid = body->kind == RBT_SOLID;
    bool good = dissection->elements || rbt_dissection_begin(dissection, kind_of(body), uncut->node_count,
                                                             solid ? uncut->tets : uncut->triangles,
                                                             solid ? uncut->tet_count : uncut->triangle_count, error);
    good = good && rbt_dissection_cut(dissection, uncut->nodes, positions, &surface, range, (int)cut, complete,
                                      result, error);
    rbt_cut_surface_free(&surface);
    return good;
}

static bool make_change(const rbt_model *before, rbt_model *after, const rbt_cut_result *results, rbt_change *change,
                        rbt_error *error) {
    *change = (rbt_change){
        .before = before,
        .after = after,
        .parents = rbt_array_new(after->node_count, 2 * sizeof *change->parents, "a cut", error),
        .share = rbt_array_new(after->node_count, sizeof *change->share, "a cut", error),
        .origin = rbt_array_new(after->tet_count, sizeof *change->origin, "a cut", error),
        .touched = rbt_array_new(after->node_count, 1, "a cut", error),
    };
    if (!change->parents || !change->share || !change->origin || !change->touched) return false;
    for (size_t b = 0; b < after->body_count; b++) {
        const rbt_body *old = &before->bodies[b], *new = &after->bodies[b];
        const rbt_cut_result *r = results[b].elements ? &results[b] : NULL;
        for (size_t n = new->node_begin, i = 0; n < new->node_end; n++, i++) {
            for (size_t k = 0; k < 2; k++)
                change->parents[2 * n + k] = (int32_t)old->node_begin + (r ? r->parents[2 * i + k] : (int32_t)i);
            if (!r) continue;
            change->share[n] = r->share[i];
            change->touched[n] = r->touched[i];
        }
        for (size_t t = new->tet_begin, i = 0; t < new->tet_end; t++, i++)
            change->origin[t] = (int32_t)old->tet_begin + (r ? r->origin[i] : (int32_t)i);
    }
    return true;
}

void rbt_change_free(rbt_change *change) {
    free(change->parents);
    free(change->share);
    free(change->origin);
    free(change->touched);
    *change = (rbt_change){0};
}

void rbt_change_carry(const rbt_change *change, const double *before, int components, double *after) {
    size_t k = (size_t)components;
    for (size_t n = 0; n < change->after->node_count; n++) {
        const double *a = before + k * (size_t)change->parents[2 * n];
        const double *b = before + k * (size_t)change->parents[2 * n + 1];
        double s = change->share[n];
        for (size_t i = 0; i < k; i++) after[k * n + i] = s == 0 ? a[i] : (1 - s) * a[i] + s * b[i];
    }
}

// by (nodes of the new model x 3): how far the width of the cut moves them; NULL: it has none
static bool carry_state(const rbt_change *change, const double *by, rbt_state *state, rbt_error *error) {
    size_t nodes = change->after->node_count;
    double *x = rbt_array_new(nodes, 3 * sizeof *x, "positions", error);
    double *v = rbt_array_new(nodes, 3 * sizeof *v, "velocities", error);
    unsigned char *chosen = rbt_array_new(nodes, 1, "nodes", error);
    bool good = x && v && chosen;
    if (good) {
        rbt_change_carry(change, state->x, 3, x);
        rbt_change_carry(change, state->v, 3, v);
        for (size_t i = 0; by && i < 3 * nodes; i++) x[i] += by[i];
        rbt_momentum_keep(change, state, x, v, chosen);
        double *old_x = state->x, *old_v = state->v;
        state->x = x;
        state->v = v;
        state->node_count = nodes;
        x = old_x;
        v = old_v;
    }
    free(x);
    free(v);
    free(chosen);
    return good;
}

// ---- Bytes: numbers of cuts and bodies, strokes made, then for every body whether it is dissected (2: with offsets),
// and how; with contact its thickness

static bool remember(const rbt_cutting *c, rbt_state *state, rbt_error *error) {
    const uint32_t head[2] = {(uint32_t)c->count, (uint32_t)c->sources->body_count};
    rbt_text bytes = {0};
    rbt_text_add_bytes(&bytes, head, sizeof head);
    rbt_text_add_bytes(&bytes, c->done, head[0] * sizeof *c->done);
    for (size_t b = 0; b < c->sources->body_count; b++) {
        const rbt_dissection *d = &c->sources->dissections[b];
        uint64_t dissected = d->elements ? d->offset ? 2 : 1 : 0;
        rbt_text_add_bytes(&bytes, &dissected, sizeof dissected);
        if (dissected) rbt_dissection_write(d, &bytes);
    }
    if (c->thickness > 0) rbt_text_add_bytes(&bytes, &c->thickness, sizeof c->thickness);
    if (bytes.failed) {
        rbt_text_free(&bytes);
        return rbt_fail_memory(error, bytes.size, "cuts");
    }
    free(state->cuts);
    state->cuts = bytes.text;
    state->cuts_size = bytes.size;
    return true;
}

static bool recall(rbt_cutting *c, const rbt_model *model, const char *at, const char *end, rbt_error *error) {
    uint32_t head[2];
    if ((size_t)(end - at) < sizeof head) return rbt_fail(error, "what is known about cuts is incomplete");
    memcpy(head, at, sizeof head);
    at += sizeof head;
    if (head[0] != c->count || head[1] != c->sources->body_count)
        return rbt_fail(error, "there were %u cuts of %u bodies, but the scene has %zu and %zu", head[0], head[1],
                        c->count, c->sources->body_count);
    if ((size_t)(end - at) < head[0] * sizeof *c->done)
        return rbt_fail(error, "what is known about cuts is incomplete");
    memcpy(c->done, at, head[0] * sizeof *c->done);
    for (size_t i = 0; i < c->count; i++) c->waits[i] = NAN;
    at += head[0] * sizeof *c->done;
    for (size_t b = 0; b < c->sources->body_count; b++) {
        const rbt_mesh *uncut = c->sources->meshes[b];
        uint64_t dissected;
        rbt_dissection_free(&c->sources->dissections[b]);
        if ((size_t)(end - at) < sizeof dissected) return rbt_fail(error, "what is known about cuts is incomplete");
        memcpy(&dissected, at, sizeof dissected);
        at += sizeof dissected;
        bool solid = model->bodies[b].kind == RBT_SOLID;
        if (dissected && model->bodies[b].kind == RBT_NET)
            return rbt_fail(error, "body \"%s\" was cut, but is made of springs", model->bodies[b].name);
        if (dissected &&
            !rbt_dissection_read(&c->sources->dissections[b], kind_of(&model->bodies[b]), uncut->node_count,
                                 solid ? uncut->tets : uncut->triangles,
                                 solid ? uncut->tet_count : uncut->triangle_count, dissected == 2, &at, end, error))
            return false;
    }
    if (model->contact.on) {
        if ((size_t)(end - at) < sizeof c->thickness)
            return rbt_fail(error, "what is known about cuts is incomplete");
        memcpy(&c->thickness, at, sizeof c->thickness);
        at += sizeof c->thickness;
        if (!(c->thickness > 0 && c->thickness < INFINITY))
            return rbt_fail(error, "a cut under contact of thickness %g m cannot be", c->thickness);
    }
    return at == end || rbt_fail(error, "%zu bytes about cuts are too many", (size_t)(end - at));
}

bool rbt_cutting_extend(const rbt_cutting *c, rbt_state *state, rbt_error *error) {
    uint32_t head[2];
    if (!state->cuts_size) return true;
    memcpy(head, state->cuts, sizeof head);
    if (head[0] > c->count) return rbt_fail(error, "the scene has fewer cuts than before");
    size_t kept = sizeof head + head[0] * sizeof *c->done, more = (c->count - head[0]) * sizeof *c->done;
    char *bytes = rbt_array_new(1, state->cuts_size + more, "cuts", error);
    if (!bytes) return false;
    memcpy(bytes, state->cuts, kept);
    memcpy(bytes + kept + more, (const char *)state->cuts + kept, state->cuts_size - kept);
    head[0] = (uint32_t)c->count;
    memcpy(bytes, head, sizeof head);
    free(state->cuts);
    state->cuts = bytes;
    state->cuts_size += more;
    return true;
}

static rbt_model *compile_next(rbt_cutting *c, const rbt_model *before, rbt_error *error) {
    rbt_model *after = rbt_model_compile_sources(c->scene, c->sources, error);
    if (!after) return NULL;
    after->generation = before->generation + 1;
    after->is_cut = true;
    if (c->thickness > 0) after->contact.thickness = c->thickness;
    after->uncut_fingerprint = before->uncut_fingerprint ? before->uncut_fingerprint : rbt_model_fingerprint(before);
    return after;
}

rbt_model *rbt_cutting_restore(rbt_cutting *cutting, const rbt_model *uncut, const rbt_state *state,
                               rbt_error *error) {
    const char *bytes = state->cuts;
    if (!recall(cutting, uncut, bytes, bytes + state->cuts_size, error)) return NULL;
    rbt_model *model = compile_next(cutting, uncut, error);
    if (!model || model->node_count == state->node_count) return model;
    rbt_fail(error, "the cut bodies have %zu nodes, but there are positions of %zu", model->node_count,
             state->node_count);
    rbt_model_free(model);
    return NULL;
}

// ---- Width

typedef struct opening {   // of a cut with a width
    size_t node_count;     // of the new model
    double *rest_by, *by;  // (node_count x 3) how far nodes move, at rest and now
    double *back;          // (node_count x 3) by which rest positions go back
    unsigned char *moved;  // (node_count) 1: it moves, 2: and meets something
} opening;

static void opening_free(opening *o) {
    free(o->rest_by);
    free(o->by);
    free(o->back);
    free(o->moved);
}

// Nodes of a body before the cut and after it
static size_t nodes_before(const rbt_body *body) { return body->node_end - body->node_begin; }
static size_t nodes_after(const rbt_body *body, const rbt_cut_result *r) {
    return r->elements ? r->node_count : nodes_before(body);
}

// The ways of one body's nodes, where its sides were opened
static bool widen_body(const rbt_cutting *c, const rbt_model *model, size_t b, const rbt_state *state,
                       const rbt_cut_result *r, double *rest_by, double *by, rbt_error *error) {
    const rbt_body *body = &model->bodies[b];
    double *rest = rbt_array_new(r->node_count, 6 * sizeof *rest, "the width of a cut", error);
    if (!rest) return false;
    double *now = rest + 3 * r->node_count;
    rbt_dissection_place(&c->sources->dissections[b], c->sources->meshes[b]->nodes, rest);
    rbt_cut_carry(r, state->x + 3 * body->node_begin, 3, now);
    bool good = rbt_cut_widen(r, kind_of(body), rest, now, width_of(c, model, b), rest_by, by, error);
    free(rest);
    return good;
}

// Moves the rest positions of bodies: by (nodes of the new model x 3).
static bool move_rest(const rbt_cutting *c, const rbt_model *model, const rbt_cut_result *results, const double *by,
                      rbt_error *error) {
    for (size_t b = 0, at = 0; b < model->body_count; at += nodes_after(&model->bodies[b], &results[b]), b++)
        if (results[b].lip_count && !rbt_dissection_move(&c->sources->dissections[b], by + 3 * at, error))
            return false;
    return true;
}

static bool open_sides(const rbt_cutting *c, const rbt_model *model, const rbt_state *state,
                       const rbt_cut_result *results, opening *o, rbt_error *error) {
    for (size_t b = 0; b < model->body_count; b++) o->node_count += nodes_after(&model->bodies[b], &results[b]);
    o->rest_by = rbt_array_new(o->node_count, 3 * sizeof *o->rest_by, "the width of a cut", error);
    o->by = rbt_array_new(o->node_count, 3 * sizeof *o->by, "the width of a cut", error);
    o->back = rbt_array_new(o->node_count, 3 * sizeof *o->back, "the width of a cut", error);
    o->moved = rbt_array_new(o->node_count, 1, "the width of a cut", error);
    if (!o->rest_by || !o->by || !o->back || !o->moved) return false;
    for (size_t b = 0, at = 0; b < model->body_count; at += nodes_after(&model->bodies[b], &results[b]), b++) {
        const rbt_cut_result *r = &results[b];
        if (!r->lip_count) continue;
        if (!widen_body(c, model, b, state, r, o->rest_by + 3 * at, o->by + 3 * at, error)) return false;
        memcpy(o->moved + at, r->doubled, r->node_count);
    }
    return move_rest(c, model, results, o->rest_by, error);
}

// Looks at where the nodes of the new model come to.
static bool judge(const rbt_cutting *c, const rbt_change *change, const rbt_model *before, const rbt_state *state,
                  opening *o, rbt_cut_verdict *verdict, rbt_error *error) {
    double *x = rbt_array_new(o->node_count, 3 * sizeof *x, "positions", error);
    if (!x) return false;
    rbt_change_carry(change, state->x, 3, x);
    for (size_t i = 0; i < 3 * o->node_count; i++) x[i] += o->by[i];
    bool good = rbt_cut_judge(change->after, before->obstacle_motions, x, state->t, o->moved, verdict, error);
    if (good && !verdict->count && c->accepts)
        good = c->accepts(c->context, change->after, state->t, x, verdict->close, error);
    free(x);
    return good;
}

// Half the way for what met something
static void halve(opening *o) {
    for (size_t i = 0; i < 3 * o->node_count; i++) {
        double share = o->moved[i / 3] & 2 ? 0.5 : 1;
        o->back[i] = (share - 1) * o->rest_by[i];
        o->by[i] *= share;
        o->rest_by[i] *= share;
    }
    for (size_t n = 0; n < o->node_count; n++) o->moved[n] &= 1;
}

static bool cannot_part(const rbt_cutting *c, size_t cut, const rbt_model *model, const rbt_cut_verdict *verdict,
                        rbt_error *error) {
    char path[64];
    cut_at(c->scene, cut, path);
    if (!verdict->count)
        return rbt_fail_path(error, c->scene->file, path,
                             "contact could not tell %s apart after it; move the cut a little, or take a larger "
                             "\"tolerance\" for it, a larger contact.thickness or a smaller gap",
                             verdict->close);
    return rbt_fail_path(error, c->scene->file, path,
                         "the two sides of the cut cannot be parted by %.3g m in body \"%s\": %zu places meet "
                         "something, the first near (%.4g, %.4g, %.4g); move the cut a little, or take a larger "
                         "\"tolerance\" for it or a smaller contact.thickness",
                         width_of(c, model, (size_t)verdict->body), model->bodies[verdict->body].name, verdict->count,
                         verdict->place[0], verdict->place[1], verdict->place[2]);
}

// ---- A stroke

// tolerance: the least one
static bool cut_bodies(rbt_cutting *c, size_t cut, double tolerance, const rbt_model *model, const rbt_state *state,
                       rbt_cut_result *results, size_t *changed, rbt_error *error) {
    const rbt_cut_def *def = &c->defs[cut];
    int32_t strokes = strokes_of(def), due = due_by(c, def, state->t);
    *changed = 0;
    for (size_t b = 0; b < model->body_count; b++) {
        rbt_cut_range range = {.from = c->done[cut] ? (double)c->done[cut] / strokes : -INFINITY,
                               .until = due == strokes ? INFINITY : (double)due / strokes,
                               .tolerance = fmax(def->tolerance, tolerance),
                               .length = SHORTEST * width_of(c, model, b)};
        if (!concerns(def, &model->bodies[b])) continue;
        if (!cut_body(c, cut, &range, due == strokes, model, b, state, &results[b], error)) return false;
        *changed += results[b].split_count + results[b].opened_count;
    }
    c->done[cut] = due;
    return true;
}

// A model of what the cut has left, with positions for it. Sides that were opened are parted, if there is contact, and
// judged; nodes that meet something try it with half the way. *apart: none does in the end; else there is no model.
static bool make_model(rbt_cutting *c, const rbt_model *model, rbt_state *state, const rbt_cut_result *results,
                       rbt_change *change, bool *apart, rbt_cut_verdict *verdict, rbt_error *error) {
    opening o = {0};
    bool wide = model->contact.on, good = !wide || open_sides(c, model, state, results, &o, error);
    *apart = !wide;
    for (int i = 0; good && i < OPENINGS; i++) {
        rbt_model *after = compile_next(c, model, error);
        good = after && make_change(model, after, results, change, error) &&
               (!wide || judge(c, change, model, state, &o, verdict, error));
        if (good && wide) *apart = !verdict->count && !verdict->close[0];
        if (good && *apart) good = carry_state(change, o.by, state, error);
        if (good && *apart) break;
        rbt_change_free(change);
        rbt_model_free(after);
        if (!good || verdict->close[0]) break;  // less way makes no wider gaps
        halve(&o);
        good = move_rest(c, model, results, o.back, error);
    }
    opening_free(&o);
    return good;
}

static void free_results(rbt_cut_result *results, size_t count) {
    for (size_t b = 0; results && b < count; b++) rbt_cut_result_free(&results[b]);
}

// The sources as they were before the stroke, which the state remembers
static bool go_back(rbt_cutting *c, const rbt_model *model, const rbt_state *state, rbt_error *error) {
    const char *bytes = state->cuts;
    if (state->cuts_size) return recall(c, model, bytes, bytes + state->cuts_size, error);
    for (size_t b = 0; b < c->sources->body_count; b++) rbt_dissection_free(&c->sources->dissections[b]);
    memset(c->done, 0, c->count * sizeof *c->done);
    return true;
}

// When the next stroke to make was due
static double first_time(const rbt_cutting *c, size_t cut) {
    const rbt_cut_def *def = &c->defs[cut];
    double duration = isnan(def->until) ? 0 : def->until - def->time;
    return duration > 0 ? def->time + duration * (c->done[cut] + 1) / strokes_of(def) : def->time;
}

static bool advance_cut(rbt_cutting *c, size_t cut, const rbt_model *model, rbt_state *state, rbt_cut_result *results,
                        rbt_change *change, rbt_error *error) {
    size_t changed, tries = model->contact.on ? sizeof TOLERANCES / sizeof *TOLERANCES : 1;
    bool apart = false;
    double due = first_time(c, cut);
    rbt_cut_verdict verdict = {0};
    for (size_t i = 0; !apart && i < tries; i++) {
        if (i && !go_back(c, model, state, error)) return false;
        free_results(results, model->body_count);
        if (!cut_bodies(c, cut, model->contact.on ? TOLERANCES[i] : 0, model, state, results, &changed, error))
            return false;
        if (!changed) return remember(c, state, error);
        if (!make_model(c, model, state, results, change, &apart, &verdict, error)) return false;
    }
    if (!apart) {
        if (state->t > due + PATIENCE * model->step) return cannot_part(c, cut, model, &verdict, error);
        if (!go_back(c, model, state, error)) return false;
        c->waits[cut] = state->t;
        return true;
    }
    if (remember(c, state, error)) return true;
    rbt_model *after = change->after;
    rbt_change_free(change);
    rbt_model_free(after);
    return false;
}

bool rbt_cutting_stroke(rbt_cutting *cutting, const rbt_model *model, rbt_state *state, rbt_change *change,
                        rbt_error *error) {
    *change = (rbt_change){0};
    size_t cut = first_due(cutting, state->t);
    if (cut == cutting->count) return true;
    rbt_cut_result *results = rbt_array_new(model->body_count, sizeof *results, "a cut", error);
    bool good = results && advance_cut(cutting, cut, model, state, results, change, error);
    free_results(results, model->body_count);
    free(results);
    return good;
}
