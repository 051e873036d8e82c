// What a step or an advance did (rbt_step_report).
#include "rubato_python.h"

#include <stddef.h>
#include <string.h>

typedef struct report {
    PyObject ob_base;
    rbt_step_report r;
    char stage[48], kind[16];  // texts of the report, since those of a pickled one have no other place
} report;

static void keep_texts(report *self, const char *stage, const char *kind) {
    PyOS_snprintf(self->stage, sizeof self->stage, "%s", stage ? stage : "");
    PyOS_snprintf(self->kind, sizeof self->kind, "%s", kind ? kind : "");
    self->r.stage = self->stage;
    self->r.element_kind = self->kind;
}

PyObject *rbp_report_new(const rbt_step_report *r) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(rbp.report, Py_tp_alloc);
    report *self = (report *)allocate(rbp.report, 0);
    if (!self) return NULL;
    self->r = *r;
    keep_texts(self, r->stage, r->element_kind);
    return (PyObject *)self;
}

static void destroy(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyObject *get_outcome(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(rbt_outcome_name(((report *)self)->r.outcome));
}

static PyObject *get_stage(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(((report *)self)->stage);
}

static PyObject *get_kind(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(((report *)self)->kind);
}

static PyObject *get_hint(PyObject *self, void *unused) {
    (void)unused;
    const char *hint = ((report *)self)->r.hint;
    return PyUnicode_DecodeUTF8(hint, (Py_ssize_t)strlen(hint), "replace");
}

static PyObject *get_statistics(PyObject *self, void *unused) {
    (void)unused;
    PyObject *all = PyDict_New();
    for (int i = 0; all && i < (int)rbt_statistic_count(); i++) {
        PyObject *value = PyFloat_FromDouble(rbt_report_statistic(&((report *)self)->r, i));
        if (!value || PyDict_SetItemString(all, rbt_statistic_at(i)->name, value) < 0) Py_CLEAR(all);
        Py_XDECREF(value);
    }
    return all;
}

static PyObject *represent(PyObject *self) {
    const rbt_step_report *r = &((report *)self)->r;
    return PyUnicode_FromFormat("<rubato.Report: %s, %lld step%s, %d halvings>", rbt_outcome_name(r->outcome),
                                (long long)r->steps, r->steps == 1 ? "" : "s", r->halvings);
}

static PyObject *reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    report *s = (report *)self;
    PyObject *module = PyImport_ImportModule("rubato._rubato");
    PyObject *load = module ? PyObject_GetAttrString(module, "_load_report") : NULL;
    PyObject *result =
        load ? Py_BuildValue("N(y#ss)", load, &s->r, (Py_ssize_t)sizeof s->r, s->stage, s->kind) : NULL;
    Py_XDECREF(module);
    return result;
}

PyObject *rbp_report_load(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *bytes, *stage, *kind;
    Py_ssize_t size;
    rbt_step_report r;
    if (!PyArg_ParseTuple(arguments, "y#ss", &bytes, &size, &stage, &kind)) return NULL;
    if (size != (Py_ssize_t)sizeof r)
        return PyErr_Format(PyExc_ValueError, "these %zd bytes are no report of this version", size);
    memcpy(&r, bytes, sizeof r);
    if (!memchr(r.hint, 0, sizeof r.hint)) return PyErr_Format(PyExc_ValueError, "these bytes are no report");
    r.stage = stage;
    r.element_kind = kind;
    return rbp_report_new(&r);
}

#define AT(field) offsetof(report, r.field)
static PyMemberDef members[] = {
    {"body", T_LONGLONG, AT(body), READONLY, "number of the body concerned; -1: not known"},
    {"element", T_LONGLONG, AT(element), READONLY, "number of its worst element; -1: not known"},
    {"value", T_DOUBLE, AT(value), READONLY, "what was found there: determinant, speed, residual"},
    {"steps", T_LONGLONG, AT(steps), READONLY, "accepted steps of the call"},
    {"halvings", T_INT, AT(halvings), READONLY, "of the step that needed most"},
    {"halved_steps", T_LONGLONG, AT(halved_steps), READONLY, "steps that had to be halved"},
    {"at_cap", T_BOOL, AT(at_cap), READONLY, "whether the last solve reached its limit of iterations"},
    {"unconverged", T_LONGLONG, AT(unconverged), READONLY, "steps that were accepted without having converged"},
    {"worst_residual", T_DOUBLE, AT(worst_residual), READONLY, "of these, gradient over tolerance"},
    {"first_unconverged", T_DOUBLE, AT(first_unconverged), READONLY, "when the first of them began [s]"},
    {"gain", T_DOUBLE, AT(gain), READONLY, "energy from nothing so far, beside all that is accounted for"},
    {NULL, 0, 0, 0, NULL}};
static PyGetSetDef attributes[] = {
    {"outcome", get_outcome, NULL, "'done', or what went wrong", NULL},
    {"stage", get_stage, NULL, "where it ended: 'predict', 'assemble', 'factor', 'solve', 'update', …", NULL},
    {"element_kind", get_kind, NULL, "'tet', 'triangle', 'edge' or ''", NULL},
    {"hint", get_hint, NULL, "what to try", NULL},
    {"statistics", get_statistics, NULL, "what the method counts, by name, as in run.json", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_doc, (char *)"What a step or an advance did."},
                              {Py_tp_dealloc, destroy},
                              {Py_tp_repr, represent},
                              {Py_tp_members, members},
                              {Py_tp_getset, attributes},
                              {Py_tp_methods, methods},
                              {0, NULL}};
PyType_Spec rbp_report_spec = {.name = "rubato.Report",
                               .basicsize = sizeof(report),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               .slots = slots};
