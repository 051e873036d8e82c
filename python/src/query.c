// Asking a simulation (rubato/query.h): methods that python/rubato/simulation.py makes attributes of.
#include "rubato_python.h"

#include <stdlib.h>
#include <string.h>

#define SELF rbp_sim *s = (rbp_sim *)self
static PyObject *text_or_none(const char *text) {
    if (!text) Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *energies(PyObject *self, PyObject *unused) {
    (void)unused;
    SELF;
    if (!rbp_sim_enter_clean(s)) return NULL;
    rbt_energies e = rbt_sim_energies(s->sim);
    return Py_BuildValue("(ddddd(ddd)(ddd)dd)", e.kinetic, e.elastic, e.gravity, e.contact, e.total, e.momentum[0],
                         e.momentum[1], e.momentum[2], e.angular_momentum[0], e.angular_momentum[1],
                         e.angular_momentum[2], e.work, e.friction);
}

// ---- Bodies

static PyObject *body_names(PyObject *self, PyObject *unused) {
    (void)unused;
    SELF;
    if (!rbp_sim_enter(s)) return NULL;
    size_t count = rbt_sim_body_count(s->sim);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        rbt_body_info info = {0};
        rbt_sim_body(s->sim, i, &info, NULL);
        PyObject *name = text_or_none(info.name);
        if (!name || PyList_SetItem(list, (Py_ssize_t)i, name) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *body(PyObject *self, PyObject *number) {
    static const char *const kinds[RBT_BODY_KINDS] = {"solid", "shell", "net", "particles"};
    SELF;
    Py_ssize_t i = PyLong_AsSsize_t(number);
    rbt_error error = {0};
    rbt_body_info b;
    if ((i == -1 && PyErr_Occurred()) || !rbp_sim_enter(s)) return NULL;
    if (!rbt_sim_body(s->sim, (size_t)i, &b, &error)) return rbp_raise(&error);
    return Py_BuildValue("(ssnnnnnnnndd)", b.name, kinds[b.kind], (Py_ssize_t)b.node_begin, (Py_ssize_t)b.node_end,
                         (Py_ssize_t)b.tet_begin, (Py_ssize_t)b.tet_end, (Py_ssize_t)b.triangle_begin,
                         (Py_ssize_t)b.triangle_end, (Py_ssize_t)b.edge_begin, (Py_ssize_t)b.edge_end, b.mass,
                         b.volume);
}

static PyObject *selection(PyObject *self, PyObject *arguments) {
    SELF;
    Py_ssize_t b;
    const char *name;
    const int32_t *nodes;
    size_t count;
    rbt_error error = {0};
    if (!PyArg_ParseTuple(arguments, "ns", &b, &name) || !rbp_sim_enter(s)) return NULL;
    if (!rbt_sim_selection(s->sim, (size_t)b, name, &nodes, &count, &error)) return rbp_raise(&error);
    return rbp_array_copy(nodes, (rbp_layout){'i', 1, {(Py_ssize_t)count}, true});
}

static PyObject *selection_names(PyObject *self, PyObject *number) {
    SELF;
    Py_ssize_t b = PyLong_AsSsize_t(number);
    const char *name;
    if ((b == -1 && PyErr_Occurred()) || !rbp_sim_enter(s)) return NULL;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && (name = rbt_sim_selection_name(s->sim, (size_t)b, i)); i++) {
        PyObject *text = text_or_none(name);
        if (!text || PyList_Append(list, text) < 0) Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *notes(PyObject *self, PyObject *unused) {
    (void)unused;
    SELF;
    const char *note;
    if (!rbp_sim_enter(s)) return NULL;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && (note = rbt_sim_note(s->sim, i)); i++) {
        PyObject *text = text_or_none(note);
        if (!text || PyList_Append(list, text) < 0) Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

// ---- Nodes

// A new array (nodes x 3) that the library fills
static PyObject *fill(rbp_sim *s, bool (*function)(const rbt_sim *, double *, rbt_error *)) {
    rbt_error error = {0};
    if (!rbp_sim_enter_clean(s)) return NULL;
    size_t nodes = rbt_sim_node_count(s->sim);
    rbp_memory *memory = rbp_memory_new(3 * nodes * sizeof(double));
    if (!memory) return NULL;
    if (!function(s->sim, memory->data, &error)) {
        rbp_memory_release(memory);
        return rbp_raise(&error);
    }
    return rbp_array(rbp_block_new(memory, NULL, (rbp_layout){'d', 2, {(Py_ssize_t)nodes, 3}, true}));
}

static PyObject *reactions(PyObject *self, PyObject *unused) {
    (void)unused;
    return fill((rbp_sim *)self, rbt_sim_reactions);
}

static PyObject *contact_forces(PyObject *self, PyObject *unused) {
    (void)unused;
    return fill((rbp_sim *)self, rbt_sim_contact_forces);
}

static PyObject *constrained(PyObject *self, PyObject *unused) {
    (void)unused;
    SELF;
    if (!rbp_sim_enter(s)) return NULL;
    size_t nodes = rbt_sim_node_count(s->sim);
    rbp_memory *memory = rbp_memory_new(nodes);
    if (!memory) return NULL;
    rbt_sim_constrained(s->sim, memory->data);
    return rbp_array(rbp_block_new(memory, NULL, (rbp_layout){'B', 1, {(Py_ssize_t)nodes}, true}));
}

static PyObject *driven_names(PyObject *self, PyObject *unused) {
    (void)unused;
    SELF;
    if (!rbp_sim_enter(s)) return NULL;
    size_t count = rbt_sim_driven_count(s->sim);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *name = text_or_none(rbt_sim_driven_name(s->sim, i));
        if (!name || PyList_SetItem(list, (Py_ssize_t)i, name) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *driven_nodes(PyObject *self, PyObject *number) {
    SELF;
    Py_ssize_t group = PyLong_AsSsize_t(number);
    if ((group == -1 && PyErr_Occurred()) || !rbp_sim_enter(s)) return NULL;
    size_t count = rbt_sim_driven_nodes(s->sim, (size_t)group, NULL, 0);
    rbp_memory *memory = rbp_memory_new(count * sizeof(int32_t));
    if (!memory) return NULL;
    rbt_sim_driven_nodes(s->sim, (size_t)group, memory->data, count);
    return rbp_array(rbp_block_new(memory, NULL, (rbp_layout){'i', 1, {(Py_ssize_t)count}, true}));
}

static PyObject *obstacle_count(PyObject *self, PyObject *unused) {
    (void)unused;
    SELF;
    return rbp_sim_enter(s) ? PyLong_FromSize_t(rbt_sim_obstacle_count(s->sim)) : NULL;
}

// ---- Contacts, as the bytes of rbt_contact_point: numpy knows its members by their offsets

static PyObject *contacts(PyObject *self, PyObject *unused) {
    (void)unused;
    SELF;
    if (!rbp_sim_enter_clean(s)) return NULL;
    size_t count = rbt_sim_contacts(s->sim, NULL, 0), size = sizeof(rbt_contact_point);
    rbp_memory *memory = rbp_memory_new(count * size);
    if (!memory) return NULL;
    rbt_sim_contacts(s->sim, memory->data, count);
    return rbp_array(rbp_block_new(memory, NULL, (rbp_layout){'B', 1, {(Py_ssize_t)(count * size)}, true}));
}

PyObject *rbp_contact_layout(void) {
#define FIELD(name, format, count) #name, format, (Py_ssize_t)offsetof(rbt_contact_point, name), (Py_ssize_t)(count)
    return Py_BuildValue("(n[(ssnn)(ssnn)(ssnn)(ssnn)(ssnn)(ssnn)(ssnn)(ssnn)(ssnn)])",
                         (Py_ssize_t)sizeof(rbt_contact_point), FIELD(body_a, "i4", 1), FIELD(body_b, "i4", 1),
                         FIELD(count_a, "i4", 1), FIELD(count_b, "i4", 1), FIELD(nodes, "i4", 4),
                         FIELD(point, "f8", 3), FIELD(normal, "f8", 3), FIELD(gap, "f8", 1), FIELD(force, "f8", 1));
#undef FIELD
}

// ---- Probes, times, statistics

static PyObject *probes(PyObject *self, PyObject *unused) {
    (void)unused;
    SELF;
    rbt_error error = {0};
    if (!rbp_sim_enter_clean(s)) return NULL;
    size_t count = rbt_sim_probe_count(s->sim);
    rbt_probe_reading *all = calloc(count + 1, sizeof *all);
    if (!all) return PyErr_NoMemory();
    if (!rbt_sim_probes(s->sim, all, &error)) {
        free(all);
        return rbp_raise(&error);
    }
    PyObject *readings = PyDict_New();
    for (size_t i = 0; readings && i < count; i++) {
        PyObject *array = rbp_array_copy(&all[i], (rbp_layout){'d', 2, {4, 3}, true});
        if (!array || PyDict_SetItemString(readings, rbt_sim_probe_name(s->sim, i), array) < 0) Py_CLEAR(readings);
        Py_XDECREF(array);
    }
    free(all);
    return readings;
}

static PyObject *stage_times(PyObject *self, PyObject *unused) {
    (void)unused;
    SELF;
    if (!rbp_sim_enter(s)) return NULL;
    PyObject *times = PyDict_New();
    for (size_t i = 0; times && i < rbt_sim_stage_count(s->sim); i++) {
        PyObject *seconds = PyFloat_FromDouble(rbt_sim_stage_seconds(s->sim, i));
        if (!seconds || PyDict_SetItemString(times, rbt_sim_stage_name(s->sim, i), seconds) < 0) Py_CLEAR(times);
        Py_XDECREF(seconds);
    }
    return times;
}

static PyObject *statistics(PyObject *self, PyObject *unused) {
    (void)unused;
    SELF;
    if (!rbp_sim_enter(s)) return NULL;
    PyObject *all = PyDict_New();
    for (int i = 0; all && i < (int)rbt_statistic_count(); i++) {
        PyObject *value = PyFloat_FromDouble(rbt_sim_statistic(s->sim, i));
        if (!value || PyDict_SetItemString(all, rbt_statistic_at(i)->name, value) < 0) Py_CLEAR(all);
        Py_XDECREF(value);
    }
    return all;
}

PyMethodDef rbp_query_methods[] = {{"_energies", energies, METH_NOARGS, NULL},
                                   {"_body_names", body_names, METH_NOARGS, NULL},
                                   {"_body", body, METH_O, NULL},
                                   {"_selection", selection, METH_VARARGS, NULL},
                                   {"_selection_names", selection_names, METH_O, NULL},
                                   {"_notes", notes, METH_NOARGS, NULL},
                                   {"_reactions", reactions, METH_NOARGS, NULL},
                                   {"_contact_forces", contact_forces, METH_NOARGS, NULL},
                                   {"_constrained", constrained, METH_NOARGS, NULL},
                                   {"_driven_names", driven_names, METH_NOARGS, NULL},
                                   {"_driven_nodes", driven_nodes, METH_O, NULL},
                                   {"_obstacle_count", obstacle_count, METH_NOARGS, NULL},
                                   {"_contacts", contacts, METH_NOARGS, NULL},
                                   {"_probes", probes, METH_NOARGS, NULL},
                                   {"_stage_times", stage_times, METH_NOARGS, NULL},
                                   {"_statistics", statistics, METH_NOARGS, NULL},
                                   {NULL, NULL, 0, NULL}};
