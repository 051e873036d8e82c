// A simulation: making it, steps, callbacks, states. query.c asks it, input.c acts on it, views.c has its arrays.
#include "rubato_python.h"

#include <limits.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <string.h>

// Threads of OpenMP do not survive a fork, so a forked process uses one. Results do not depend on their number.
static int forks;

static void after_fork(void) {
    forks++;
    omp_set_num_threads(1);
}

// ---- Who may use it

bool rbp_sim_enter(rbp_sim *s) {
    // Without a scene it is garbage that is being collected.
    if (!s->sim || !s->scene) return PyErr_SetString(rbp.stale, "the simulation was closed"), false;
    if (s->busy)
        return PyErr_SetString(rbp.busy,
                               "the simulation is used by another thread at this moment; give each thread one of "
                               "its own: sim.clone()"),
               false;
    if (s->forks != forks) rbt_sim_set_threads(s->sim, 1, NULL);
    s->forks = forks;
    return true;
}

bool rbp_sim_enter_clean(rbp_sim *s) { return rbp_sim_enter(s) && rbp_views_flush(s); }

// ---- Life

static rbp_sim *begin(PyTypeObject *type, PyObject *scene) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    rbp_sim *s = (rbp_sim *)allocate(type, 0);
    if (!s) return NULL;
    s->scene = Py_NewRef(scene);
    s->forks = forks;
    s->before = PyList_New(0);
    s->after = PyList_New(0);
    if (!s->before || !s->after) Py_CLEAR(s);
    return s;
}

static PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {(char *)"scene", (char *)"threads", NULL};  // not const in Python
    PyObject *scene;
    int threads = 0;
    rbt_error error = {0};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!|i", names, rbp.scene, &scene, &threads)) return NULL;
    rbp_sim *s = begin(type, scene);
    if (!s) return NULL;
    const rbt_scene *description = &((rbp_scene_object *)scene)->scene;
    int before = omp_get_max_threads();
    if (threads > 0 && threads < before) omp_set_num_threads(threads);  // compiling a scene has parallel parts too
    PyThreadState *lock = PyEval_SaveThread();
    s->sim = rbt_sim_create(description, &error);
    PyEval_RestoreThread(lock);
    omp_set_num_threads(before);
    if (s->sim && rbt_sim_set_threads(s->sim, forks ? 1 : threads, &error)) {
        s->threads = threads;
        rbt_sim_set_stop(s->sim, &s->stop);
        return (PyObject *)s;
    }
    rbp_raise(&error);
    Py_DECREF(s);
    return NULL;
}

static PyObject *clone_sim(PyObject *self, PyObject *unused) {
    (void)unused;
    rbp_sim *s = (rbp_sim *)self;
    rbt_error error = {0};
    if (!rbp_sim_enter_clean(s)) return NULL;
    rbp_sim *other = begin(Py_TYPE(self), s->scene);
    if (!other) return NULL;
    other->threads = s->threads;
    other->sim = rbt_sim_clone(s->sim, &error);  // with the lock, so that several threads may clone one simulation
    if (other->sim) {
        rbt_sim_set_stop(other->sim, &other->stop);
        other->topology = rbt_sim_topology(other->sim);
        return (PyObject *)other;
    }
    Py_DECREF(other);
    return rbp_raise(&error);
}

static PyObject *close_sim(PyObject *self, PyObject *unused) {
    (void)unused;
    rbp_sim *s = (rbp_sim *)self;
    if (!s->sim) Py_RETURN_NONE;
    if (!rbp_sim_enter(s)) return NULL;
    rbp_views_clear(s);
    rbt_sim_free(s->sim);
    s->sim = NULL;
    Py_RETURN_NONE;
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
    rbp_sim *s = (rbp_sim *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(s->scene);
    Py_VISIT(s->before);
    Py_VISIT(s->after);
    return 0;
}

static int clear(PyObject *self) {
    rbp_sim *s = (rbp_sim *)self;
    Py_CLEAR(s->scene);
    Py_CLEAR(s->before);
    Py_CLEAR(s->after);
    return 0;
}

static void destroy(PyObject *self) {
    rbp_sim *s = (rbp_sim *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    clear(self);
    rbp_views_clear(s);
    rbt_sim_free(s->sim);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

// ---- Callbacks

static bool call_all(rbp_sim *s, PyObject *list) {
    bool good = true;
    s->calling = true;
    for (Py_ssize_t i = 0; good && i < PyList_Size(list); i++) {
        PyObject *function = Py_NewRef(PyList_GetItem(list, i));
        PyObject *result = PyObject_CallFunctionObjArgs(function, s, NULL);
        good = result != NULL;
        Py_XDECREF(result);
        Py_DECREF(function);
    }
    s->calling = false;
    return good;
}

static bool has_callbacks(const rbp_sim *s) { return PyList_Size(s->before) > 0 || PyList_Size(s->after) > 0; }

// ---- Advancing

typedef enum way { ONE_STEP, ONE_FRAME, TO_TIME } way;

static const char *body_name(const rbp_sim *s, int64_t body, rbt_body_info *info) {
    return body >= 0 && rbt_sim_body(s->sim, (size_t)body, info, NULL) ? info->name : NULL;
}

// Adds a call to those before it that belong to the same advance.
static void add_report(rbt_step_report *sum, const rbt_step_report *next) {
    rbt_step_report before = *sum;
    *sum = *next;
    sum->steps += before.steps;
    sum->halved_steps += before.halved_steps;
    sum->unconverged += before.unconverged;
    if (before.halvings > sum->halvings) sum->halvings = before.halvings;
    if (before.worst_residual > sum->worst_residual) sum->worst_residual = before.worst_residual;
    if (before.unconverged) sum->first_unconverged = before.first_unconverged;
    int residual = rbt_statistic_find("residual");  // that of the last step; all others are counts
    for (int i = 0; i < (int)rbt_statistic_count(); i++)
        if (i != residual) sum->statistics[i] += before.statistics[i];
}

// One call of the library, without the interpreter's lock
static bool call_library(rbp_sim *s, way how, double time, rbt_step_report *report) {
    bool good;
    bool watching = rbp_interrupt_begin(&s->stop);
    s->busy = true;
    PyThreadState *lock = PyEval_SaveThread();
    good = how == ONE_STEP    ? rbt_sim_step(s->sim, report)
           : how == ONE_FRAME ? rbt_sim_advance_frame(s->sim, report)
                              : rbt_sim_advance_to(s->sim, time, report);
    PyEval_RestoreThread(lock);
    s->busy = false;
    if (watching) rbp_interrupt_end();
    rbp_views_sync(s);
    return good;
}

// The same until it is done. Ctrl-C gives a step up; if the program's handler then raises nothing, it is taken again.
static bool advance_by(rbp_sim *s, way how, double time, rbt_step_report *sum) {
    for (bool first = true;; first = false) {
        rbt_step_report report;
        bool good = call_library(s, how, time, &report);
        if (first) *sum = report;
        else add_report(sum, &report);
        bool asked = s->asked;
        s->stop = good && asked;
        if (good) return true;
        if (report.outcome != RBT_STOPPED) break;
        s->asked = false;
        s->stop = 0;
        if (PyErr_CheckSignals() < 0) return false;
        if (asked) break;
    }
    rbt_body_info info;
    rbp_raise_step(sum, body_name(s, sum->body, &info));
    return false;
}

// A step with its callbacks; the last one of an advance may be shorter than the others.
static bool step_with_callbacks(rbp_sim *s, way how, double time, rbt_step_report *sum) {
    rbt_step_report report;
    if (!call_all(s, s->before) || !rbp_sim_enter_clean(s)) return false;
    double step = rbt_sim_step_length(s->sim);
    bool last = how == TO_TIME && time - rbt_sim_time(s->sim) <= step * (1 + 1e-6);
    if (!advance_by(s, last ? TO_TIME : ONE_STEP, time, &report)) return false;
    add_report(sum, &report);
    return call_all(s, s->after) && rbp_sim_enter_clean(s);
}

static bool is_before(const rbp_sim *s, double time) {
    return time > rbt_sim_time(s->sim) + 1e-6 * rbt_sim_step_length(s->sim);
}

static PyObject *advance(rbp_sim *s, way how, double time) {
    rbt_step_report sum = {.stage = "", .body = -1, .element = -1};
    if (s->calling) {
        PyErr_SetString(rbp.error,
                        "a callback of a step cannot take a step itself; clone the simulation to look ahead");
        return NULL;
    }
    if (!rbp_sim_enter_clean(s)) return NULL;
    bool good = true;
    if (!has_callbacks(s) || (how == TO_TIME && !is_before(s, time))) good = advance_by(s, how, time, &sum);
    else if (how == ONE_STEP) good = step_with_callbacks(s, how, time, &sum);
    else if (how == TO_TIME)
        while (good && is_before(s, time)) good = step_with_callbacks(s, how, time, &sum);
    else
        for (int64_t frame = rbt_sim_frame(s->sim); good && rbt_sim_frame(s->sim) == frame;)
            good = step_with_callbacks(s, how, time, &sum);
    return good ? rbp_report_new(&sum) : NULL;
}

static PyObject *step(PyObject *self, PyObject *unused) {
    (void)unused;
    return advance((rbp_sim *)self, ONE_STEP, 0);
}

static PyObject *advance_frame(PyObject *self, PyObject *unused) {
    (void)unused;
    return advance((rbp_sim *)self, ONE_FRAME, 0);
}

static PyObject *advance_to(PyObject *self, PyObject *time) {
    double t = PyFloat_AsDouble(time);
    if (t == -1 && PyErr_Occurred()) return NULL;
    if (!isfinite(t)) return PyErr_Format(PyExc_ValueError, "the time to advance to must be finite, it is %S", time);
    return advance((rbp_sim *)self, TO_TIME, t);
}

static PyObject *stop(PyObject *self, PyObject *unused) {
    (void)unused;
    rbp_sim *s = (rbp_sim *)self;
    s->asked = true;
    s->stop = 1;
    Py_RETURN_NONE;
}

// What was written to the arrays, now
static PyObject *flush(PyObject *self, PyObject *unused) {
    (void)unused;
    if (!rbp_sim_enter_clean((rbp_sim *)self)) return NULL;
    Py_RETURN_NONE;
}

// ---- States

static PyObject *save(PyObject *self, PyObject *arguments) {
    rbp_sim *s = (rbp_sim *)self;
    PyObject *into = Py_None;
    rbt_error error = {0};
    if (!PyArg_ParseTuple(arguments, "|O", &into) || !rbp_sim_enter_clean(s)) return NULL;
    if (into != Py_None) {
        if (!PyObject_TypeCheck(into, rbp.state))
            return PyErr_Format(PyExc_TypeError, "a simulation is saved into a rubato.State, not %R", into);
        if (!rbt_sim_save_to(s->sim, ((rbp_state_object *)into)->state, &error)) return rbp_raise(&error);
        return Py_NewRef(into);
    }
    rbt_state *state = rbt_sim_save(s->sim, &error);
    if (!state) return rbp_raise(&error);
    allocfunc allocate = (allocfunc)PyType_GetSlot(rbp.state, Py_tp_alloc);
    rbp_state_object *result = (rbp_state_object *)allocate(rbp.state, 0);
    if (result) result->state = state;
    else rbt_state_free(state);
    return (PyObject *)result;
}

static PyObject *restore(PyObject *self, PyObject *state) {
    rbp_sim *s = (rbp_sim *)self;
    rbt_error error = {0};
    if (!PyObject_TypeCheck(state, rbp.state))
        return PyErr_Format(PyExc_TypeError, "a simulation is restored from a rubato.State, not %R", state);
    if (!rbp_sim_enter(s)) return NULL;
    bool good = rbt_sim_restore(s->sim, ((rbp_state_object *)state)->state, &error);
    if (good) rbp_views_sync(s);
    if (!good) return rbp_raise(&error);
    Py_RETURN_NONE;
}

// ---- Attributes

#define NUMBER(name, make, function)                                                                                 \
    static PyObject *get_##name(PyObject *self, void *unused) {                                                      \
        (void)unused;                                                                                                \
        rbp_sim *s = (rbp_sim *)self;                                                                                \
        return rbp_sim_enter(s) ? make(function(s->sim)) : NULL;                                                     \
    }
NUMBER(time, PyFloat_FromDouble, rbt_sim_time)
NUMBER(dt, PyFloat_FromDouble, rbt_sim_step_length)
NUMBER(frame_interval, PyFloat_FromDouble, rbt_sim_frame_interval)
NUMBER(frame, PyLong_FromLongLong, rbt_sim_frame)
NUMBER(frame_count, PyLong_FromLongLong, rbt_sim_frame_count)
NUMBER(topology, PyLong_FromLongLong, rbt_sim_topology)
NUMBER(node_count, PyLong_FromSize_t, rbt_sim_node_count)

static PyObject *get_view(PyObject *self, void *kind) {
    return rbp_sim_view((rbp_sim *)self, *(rbp_view_kind *)kind);
}

static PyObject *get_threads(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(((rbp_sim *)self)->threads);
}

static int set_threads(PyObject *self, PyObject *value, void *unused) {
    (void)unused;
    rbp_sim *s = (rbp_sim *)self;
    rbt_error error = {0};
    long count = value ? PyLong_AsLong(value) : -1;
    if (count == -1 && PyErr_Occurred()) return -1;
    if (!rbp_sim_enter(s)) return -1;
    if (!rbt_sim_set_threads(s->sim, count > INT_MAX ? INT_MAX : (int)count, &error)) return rbp_raise(&error), -1;
    s->threads = (int)count;
    if (forks) rbt_sim_set_threads(s->sim, 1, NULL);
    return 0;
}

static PyObject *get_closed(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(((rbp_sim *)self)->sim == NULL);
}

static PyObject *get_method(PyObject *self, void *unused) {
    (void)unused;
    rbp_sim *s = (rbp_sim *)self;
    if (!rbp_sim_enter(s)) return NULL;
    return PyUnicode_FromString(rbt_sim_method(s->sim));
}

static rbp_view_kind kinds[RBP_VIEWS] = {RBP_POSITIONS, RBP_VELOCITIES, RBP_FORCES,    RBP_REST,
                                         RBP_MASSES,    RBP_TETS,       RBP_TRIANGLES, RBP_EDGES};
static PyGetSetDef attributes[] = {
    {"time", get_time, NULL, "[s]", NULL},
    {"dt", get_dt, NULL, "length of a whole step [s]", NULL},
    {"frame_interval", get_frame_interval, NULL, "time between frames [s]", NULL},
    {"frame", get_frame, NULL, "number of the last whole frame", NULL},
    {"frame_count", get_frame_count, NULL, "frames of the scene after frame 0", NULL},
    {"topology", get_topology, NULL, "changes whenever nodes and elements get other numbers", NULL},
    {"node_count", get_node_count, NULL, "nodes of all bodies", NULL},
    {"threads", get_threads, set_threads, "threads of a step; 0: as OpenMP has it. Results do not depend on it",
     NULL},
    {"closed", get_closed, NULL, "whether close() was called", NULL},
    {"method", get_method, NULL, "name of the time-stepping method", NULL},
    {"_x", get_view, NULL, NULL, &kinds[RBP_POSITIONS]},
    {"_v", get_view, NULL, NULL, &kinds[RBP_VELOCITIES]},
    {"_forces", get_view, NULL, NULL, &kinds[RBP_FORCES]},
    {"rest", get_view, NULL, "(nodes x 3) positions without strain [m], read-only", &kinds[RBP_REST]},
    {"masses", get_view, NULL, "(nodes) lumped masses [kg], read-only", &kinds[RBP_MASSES]},
    {"tets", get_view, NULL, "(tets x 4) int32 node numbers, read-only", &kinds[RBP_TETS]},
    {"triangles", get_view, NULL, "(triangles x 3) int32, hulls of solids and shells, read-only",
     &kinds[RBP_TRIANGLES]},
    {"edges", get_view, NULL, "(edges x 2) int32, springs of nets, read-only", &kinds[RBP_EDGES]},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMemberDef members[] = {
    {"scene", T_OBJECT_EX, offsetof(rbp_sim, scene), READONLY, "the scene it was made from"},
    {"before_step", T_OBJECT_EX, offsetof(rbp_sim, before), READONLY,
     "list of functions f(sim) that are called before every step"},
    {"after_step", T_OBJECT_EX, offsetof(rbp_sim, after), READONLY,
     "list of functions f(sim) that are called after every step"},
    {NULL, 0, 0, 0, NULL}};

static PyMethodDef methods[] = {
    {"step", step, METH_NOARGS,
     "step($self, /)\n--\n\nTakes one step and returns its Report. Raises StepFailed if it fails for good: the state "
     "is\n"
     "that before the step then. The interpreter's lock is released meanwhile, and Ctrl-C works."},
    {"advance_frame", advance_frame, METH_NOARGS,
     "advance_frame($self, /)\n--\n\nTakes the steps to the next frame."},
    {"advance", advance_to, METH_O,
     "advance($self, time, /)\n--\n\nTakes the steps to a time [s]. Steps keep to their grid; the last one is "
     "shortened\n"
     "if the time lies inside it. Raises ValueError for a time that has passed."},
    {"stop", stop, METH_NOARGS,
     "stop($self, /)\n--\n\nFor another thread: the step under way, or the next one, is given up and raises "
     "Stopped."},
    {"save", save, METH_VARARGS,
     "save($self, into=None, /)\n--\n\nThe state now; into a State that is there already, it allocates nothing."},
    {"restore", restore, METH_O,
     "restore($self, state, /)\n--\n\nContinues from a state, bit for bit as the simulation it was saved from."},
    {"clone", clone_sim, METH_NOARGS,
     "clone($self, /)\n--\n\nAnother simulation in the same state, without callbacks; it shares what never changes "
     "and may\n"
     "be used by a thread of its own."},
    {"close", close_sim, METH_NOARGS, "close($self, /)\n--\n\nFrees the simulation now; arrays of it stay, frozen."},
    {"_flush", flush, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_doc, (char *)"A simulation; rubato.Simulation is what programs use."},
                              {Py_tp_new, create},
                              {Py_tp_traverse, traverse},
                              {Py_tp_clear, clear},
                              {Py_tp_dealloc, destroy},
                              {Py_tp_members, members},
                              {Py_tp_getset, attributes},
                              {Py_tp_methods, NULL},  // filled by rbp_simulation_methods
                              {0, NULL}};
PyType_Spec rbp_simulation_spec = {.name = "rubato._rubato.Simulation",
                                   .basicsize = sizeof(rbp_sim),
                                   .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                                   .slots = slots};

static size_t count_methods(const PyMethodDef *of) {
    size_t count = 0;
    while (of[count].ml_name) count++;
    return count;
}

// One table of the methods of three files
void rbp_simulation_methods(void) {
    static PyMethodDef all[64];
    const PyMethodDef *parts[] = {methods, rbp_query_methods, rbp_input_methods};
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        size_t count = count_methods(parts[i]);
        memcpy(all + at, parts[i], count * sizeof *all);
        at += count;
    }
    for (PyType_Slot *slot = slots; slot->slot; slot++)
        if (slot->slot == Py_tp_methods) slot->pfunc = all;
    pthread_atfork(NULL, NULL, after_fork);
}
