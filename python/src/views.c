// Arrays that follow a simulation. Each is memory of its own, which shows the state between two calls:
//
//   handing out   sim.x is an array of that memory: no copy if the state is in it already
//   flush         before a call, memory that somebody could have written to is compared with the state, bit by bit.
//                 What differs is set as rbt_sim_set_positions does: with its checks, and the method's memory starts
//                 afresh. What does not differ was only read, and changes nothing.
//   sync          after a call the state is copied to memory that somebody can see
//
// So a library that moves its arrays, or makes a cut in the middle of a step, takes nothing away from an array that is
// in use; and another thread that looks at one during a step sees the last state, whole. Arrays that nobody holds and
// nobody has asked for since the last call cost nothing.
#include "rubato_python.h"

#include <stdlib.h>
#include <string.h>

static const void *data_of(const rbt_sim *sim, rbp_view_kind kind) {
    switch (kind) {
    case RBP_POSITIONS: return rbt_sim_positions(sim);
    case RBP_VELOCITIES: return rbt_sim_velocities(sim);
    case RBP_FORCES: return rbt_sim_forces(sim);  // NULL: zero
    case RBP_REST: return rbt_sim_rest_positions(sim);
    case RBP_MASSES: return rbt_sim_masses(sim);
    case RBP_TETS: return rbt_sim_tets(sim);
    case RBP_TRIANGLES: return rbt_sim_triangles(sim);
    case RBP_EDGES: return rbt_sim_edges(sim);
    case RBP_VIEWS: break;
    }
    return NULL;
}

static rbp_layout layout_of(const rbt_sim *sim, rbp_view_kind kind) {
    Py_ssize_t nodes = (Py_ssize_t)rbt_sim_node_count(sim);
    switch (kind) {
    case RBP_MASSES: return (rbp_layout){'d', 1, {nodes}, false};
    case RBP_TETS: return (rbp_layout){'i', 2, {(Py_ssize_t)rbt_sim_tet_count(sim), 4}, false};
    case RBP_TRIANGLES: return (rbp_layout){'i', 2, {(Py_ssize_t)rbt_sim_triangle_count(sim), 3}, false};
    case RBP_EDGES: return (rbp_layout){'i', 2, {(Py_ssize_t)rbt_sim_edge_count(sim), 2}, false};
    default: return (rbp_layout){'d', 2, {nodes, 3}, kind < RBP_WRITABLE};
    }
}

static size_t bytes_of(const rbt_sim *sim, rbp_view_kind kind) {
    rbp_layout l = layout_of(sim, kind);
    size_t count = (size_t)l.shape[0] * (size_t)(l.dimensions > 1 ? l.shape[1] : 1);
    return count * (l.format == 'd' ? sizeof(double) : sizeof(int32_t));
}

static void show(const rbp_sim *s, rbp_view_kind kind) {
    void *memory = s->views[kind].memory->data;
    const void *data = data_of(s->sim, kind);
    size_t bytes = bytes_of(s->sim, kind);
    if (data) memcpy(memory, data, bytes);
    else memset(memory, 0, bytes);
}

static bool is_zero(const void *memory, size_t bytes) {
    const unsigned char *at = memory;
    return !bytes || (at[0] == 0 && memcmp(at, at + 1, bytes - 1) == 0);
}

static bool differs(const rbp_sim *s, rbp_view_kind kind) {
    const void *data = data_of(s->sim, kind), *memory = s->views[kind].memory->data;
    size_t bytes = bytes_of(s->sim, kind);
    return data ? memcmp(memory, data, bytes) != 0 : !is_zero(memory, bytes);
}

// Somebody holds an array of it
static bool is_held(const rbp_view *view) { return view->memory && view->memory->users > 1; }

PyObject *rbp_sim_view(rbp_sim *s, rbp_view_kind kind) {
    rbp_view *view = &s->views[kind];
    bool last = s->sim && s->busy && view->fresh;  // another thread steps, but the last state is here to be looked at
    if (!last) {
        if (!rbp_sim_enter(s)) return NULL;
        if (!view->memory && !(view->memory = rbp_memory_new(bytes_of(s->sim, kind)))) return NULL;
        if (!view->fresh) show(s, kind);
        view->fresh = true;
        view->layout = layout_of(s->sim, kind);
    }
    view->touched = true;
    view->memory->users++;
    return rbp_array(rbp_block_new(view->memory, (PyObject *)s, view->layout));
}

// ---- Taking over what was written

static bool set_one(rbp_sim *s, int kind, rbt_error *error) {
    const double *values = s->views[kind].memory->data;
    size_t nodes = rbt_sim_node_count(s->sim);
    return kind == RBP_POSITIONS    ? rbt_sim_set_positions(s->sim, 0, nodes, values, error)
           : kind == RBP_VELOCITIES ? rbt_sim_set_velocities(s->sim, 0, nodes, values, error)
                                    : rbt_sim_set_forces(s->sim, 0, nodes, values, error);
}

// All of it or nothing
static bool set_all(rbp_sim *s, const bool changed[RBP_WRITABLE], rbt_error *error) {
    int count = changed[RBP_POSITIONS] + changed[RBP_VELOCITIES] + changed[RBP_FORCES];
    rbt_state *undo = count > 1 ? rbt_sim_save(s->sim, error) : NULL;
    bool good = undo || count < 2;
    for (int kind = RBP_WRITABLE; good && kind-- > 0;) good = !changed[kind] || set_one(s, kind, error);
    if (!good && undo) rbt_sim_restore(s->sim, undo, NULL);
    rbt_state_free(undo);
    return good;
}

bool rbp_views_flush(rbp_sim *s) {
    static const char *const refused =
        "what was written to the arrays of the simulation is refused, and they show its "
        "state again";
    bool changed[RBP_WRITABLE] = {false}, any = false;
    for (int kind = 0; kind < RBP_WRITABLE; kind++) {
        rbp_view *view = &s->views[kind];
        if (view->fresh && (view->touched || is_held(view))) any |= changed[kind] = differs(s, (rbp_view_kind)kind);
        view->recent = view->touched;
        view->touched = false;
    }
    if (!any) return true;
    rbt_error error = {0};
    bool good = set_all(s, changed, &error);
    for (int kind = 0; kind < RBP_WRITABLE; kind++)
        if (changed[kind]) show(s, (rbp_view_kind)kind);  // constrained nodes keep to their prescribed values
    if (!good) rbp_raise_about(&error, refused);
    return good;
}

void rbp_views_sync(rbp_sim *s) {
    if (s->topology != rbt_sim_topology(s->sim)) rbp_views_clear(s);
    s->topology = rbt_sim_topology(s->sim);
    for (int kind = 0; kind < RBP_WRITABLE; kind++) {
        rbp_view *view = &s->views[kind];
        if (!view->memory) continue;
        view->fresh = view->recent || view->touched || is_held(view);
        if (view->fresh) show(s, (rbp_view_kind)kind);
    }
}

void rbp_views_clear(rbp_sim *s) {
    for (int kind = 0; kind < RBP_VIEWS; kind++) {
        rbp_memory_release(s->views[kind].memory);
        s->views[kind] = (rbp_view){0};
    }
}
