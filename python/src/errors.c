// Errors of the library as exceptions. The sentence is the message; the parts of an rbt_error are attributes, and a
// step that failed brings its report.
#include "rubato_python.h"

#include <string.h>

rbp_globals rbp;

static PyObject *add(PyObject *module, const char *name, const char *doc, PyObject *base) {
    char full[64];
    PyOS_snprintf(full, sizeof full, "rubato.%s", name);
    PyObject *type = PyErr_NewExceptionWithDoc(full, doc, base, NULL);
    if (type && PyModule_AddObjectRef(module, name, type) < 0) Py_CLEAR(type);
    return type;
}

bool rbp_errors_add(PyObject *module) {
    rbp.error =
        add(module, "Error",
            "Something is wrong with a file, a scene or a call; the message says what, where and what to try.\n"
            "\n"
            "file, line, column: the place in a file, where there is one ('' and 0 otherwise)\n"
            "path: the key of the scene, as 'bodies[0].material.young'\n"
            "sentence: the message without the place",
            NULL);
    if (!rbp.error) return false;
    rbp.step_failed = add(module, "StepFailed",
                          "A step failed for good. The state is that of the last good step.\n\n"
                          "report: what happened, in which stage and where (rubato.Report)",
                          rbp.error);
    rbp.busy = add(module, "Busy", "The simulation is used by another thread at this moment.", rbp.error);
    rbp.stale =
        add(module, "Stale",
            "The object belongs to a mesh that a cut has replaced, or to a simulation that was closed.", rbp.error);
    if (!rbp.step_failed || !rbp.busy || !rbp.stale) return false;
    rbp.stopped =
        add(module, "Stopped", "The step was given up because stop() was called; the state is that before it.",
            rbp.step_failed);
    return rbp.stopped != NULL;
}

static PyObject *text_of(const char *bytes) {
    return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)strlen(bytes), "replace");
}

static bool set_text(PyObject *object, const char *name, const char *value) {
    PyObject *text = text_of(value);
    bool good = text && PyObject_SetAttrString(object, name, text) == 0;
    Py_XDECREF(text);
    return good;
}

static bool set_number(PyObject *object, const char *name, long value) {
    PyObject *number = PyLong_FromLong(value);
    bool good = number && PyObject_SetAttrString(object, name, number) == 0;
    Py_XDECREF(number);
    return good;
}

static PyObject *exception(PyObject *type, const char *message) {
    PyObject *text = text_of(message), *instance = text ? PyObject_CallFunctionObjArgs(type, text, NULL) : NULL;
    Py_XDECREF(text);
    return instance;
}

PyObject *rbp_raise_about(const rbt_error *error, const char *context) {
    char text[2400], whole[3000];
    if (error->out_of_memory) {
        PyErr_SetString(PyExc_MemoryError, error->message);
        return NULL;
    }
    rbt_error_text(error, text, sizeof text);
    PyOS_snprintf(whole, sizeof whole, "%s%s%s", context ? context : "", context ? ": " : "", text);
    PyObject *instance = exception(rbp.error, whole);
    if (instance && set_text(instance, "sentence", error->message) && set_text(instance, "file", error->file) &&
        set_text(instance, "path", error->path) && set_number(instance, "line", error->line) &&
        set_number(instance, "column", error->column))
        PyErr_SetObject(rbp.error, instance);
    Py_XDECREF(instance);
    return NULL;
}

PyObject *rbp_raise(const rbt_error *error) { return rbp_raise_about(error, NULL); }

PyObject *rbp_raise_step(const rbt_step_report *r, const char *body) {
    char where[200] = "", element[80] = "", text[800];
    if (r->outcome == RBT_REFUSED) {
        PyErr_SetString(PyExc_ValueError, r->hint);
        return NULL;
    }
    PyObject *type = r->outcome == RBT_STOPPED ? rbp.stopped : rbp.step_failed;
    if (body) PyOS_snprintf(where, sizeof where, ", body \"%.120s\"", body);
    if (r->element >= 0)
        PyOS_snprintf(element, sizeof element, ", %s %lld", r->element_kind ? r->element_kind : "element",
                      (long long)r->element);
    PyOS_snprintf(text, sizeof text, "a step failed: %s in stage \"%s\"%s%s, after %d halvings%s%s",
                  rbt_outcome_name(r->outcome), r->stage ? r->stage : "", where, element, r->halvings,
                  r->hint[0] ? "; " : "", r->hint);
    PyObject *instance =
        exception(type, r->outcome == RBT_STOPPED ? "stop() was called: the step was given up" : text);
    PyObject *report = rbp_report_new(r);
    if (instance && report && PyObject_SetAttrString(instance, "report", report) == 0)
        PyErr_SetObject(type, instance);
    Py_XDECREF(instance);
    Py_XDECREF(report);
    return NULL;
}
