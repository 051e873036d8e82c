// States of a simulation (rubato/state.h).
#include "rubato_python.h"

#include <stdlib.h>

static PyObject *wrap(rbt_state *state, const rbt_error *error) {
    if (!state) return rbp_raise(error);
    allocfunc allocate = (allocfunc)PyType_GetSlot(rbp.state, Py_tp_alloc);
    rbp_state_object *self = (rbp_state_object *)allocate(rbp.state, 0);
    if (self) self->state = state;
    else rbt_state_free(state);
    return (PyObject *)self;
}

static void destroy(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    rbt_state_free(((rbp_state_object *)self)->state);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static rbt_state *of(PyObject *self) { return ((rbp_state_object *)self)->state; }

// Copies, for the state may be saved to again
static PyObject *copy_of(const rbt_state *state, const double *values) {
    return rbp_array_copy(values, (rbp_layout){'d', 2, {(Py_ssize_t)rbt_state_node_count(state), 3}, true});
}

static PyObject *get_time(PyObject *self, void *unused) {
    (void)unused;
    return PyFloat_FromDouble(rbt_state_time(of(self)));
}

static PyObject *get_positions(PyObject *self, void *unused) {
    (void)unused;
    return copy_of(of(self), rbt_state_positions(of(self)));
}

static PyObject *get_velocities(PyObject *self, void *unused) {
    (void)unused;
    return copy_of(of(self), rbt_state_velocities(of(self)));
}

static PyObject *write_file(PyObject *self, PyObject *path) {
    rbt_error error = {0};
    PyObject *bytes;
    if (!PyUnicode_FSConverter(path, &bytes)) return NULL;
    bool good = rbt_state_write(of(self), PyBytes_AsString(bytes), &error);
    Py_DECREF(bytes);
    if (!good) return rbp_raise(&error);
    Py_RETURN_NONE;
}

PyObject *rbp_state_read_file(PyObject *module, PyObject *path) {
    (void)module;
    rbt_error error = {0};
    PyObject *bytes;
    if (!PyUnicode_FSConverter(path, &bytes)) return NULL;
    rbt_state *state = rbt_state_read(PyBytes_AsString(bytes), &error);
    Py_DECREF(bytes);
    return wrap(state, &error);
}

static PyObject *to_bytes(PyObject *self, PyObject *unused) {
    (void)unused;
    rbt_error error = {0};
    void *bytes;
    size_t size;
    if (!rbt_state_pack(of(self), &bytes, &size, &error)) return rbp_raise(&error);
    PyObject *result = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
    free(bytes);
    return result;
}

PyObject *rbp_state_unpickle(PyObject *module, PyObject *arguments) {
    (void)module;
    rbt_error error = {0};
    const char *bytes;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(arguments, "y#", &bytes, &size)) return NULL;
    return wrap(rbt_state_unpack(bytes, (size_t)size, &error), &error);
}

static PyObject *reduce(PyObject *self, PyObject *unused) {
    PyObject *bytes = to_bytes(self, unused);
    PyObject *module = bytes ? PyImport_ImportModule("rubato._rubato") : NULL;
    PyObject *load = module ? PyObject_GetAttrString(module, "_load_state") : NULL;
    PyObject *result = load ? Py_BuildValue("N(O)", load, bytes) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(bytes);
    return result;
}

static PyObject *represent(PyObject *self) {
    char time[40];
    PyOS_snprintf(time, sizeof time, "%g", rbt_state_time(of(self)));
    return PyUnicode_FromFormat("<rubato.State at %s s, %zu nodes>", time, rbt_state_node_count(of(self)));
}

static PyGetSetDef attributes[] = {{"time", get_time, NULL, "[s]", NULL},
                                   {"x", get_positions, NULL, "(nodes x 3) positions [m], a copy", NULL},
                                   {"v", get_velocities, NULL, "(nodes x 3) velocities [m/s], a copy", NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef methods[] = {
    {"write", write_file, METH_O,
     "write($self, path, /)\n--\n\nWrites the state to a file in the format of checkpoints: complete, or not at "
     "all."},
    {"to_bytes", to_bytes, METH_NOARGS, "to_bytes($self, /)\n--\n\nThe bytes of such a file."},
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_doc, (char *)"All that decides how a simulation continues."},
                              {Py_tp_dealloc, destroy},
                              {Py_tp_repr, represent},
                              {Py_tp_getset, attributes},
                              {Py_tp_methods, methods},
                              {0, NULL}};
PyType_Spec rbp_state_spec = {.name = "rubato.State",
                              .basicsize = sizeof(rbp_state_object),
                              .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                              .slots = slots};
