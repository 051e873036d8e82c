// Acting on a simulation while it runs (rubato/input.h).
#include "rubato_python.h"

#include <math.h>

#define SELF rbp_sim *s = (rbp_sim *)self

// After something was set
static PyObject *finish(rbp_sim *s, bool good, const rbt_error *error) {
    if (!good) return rbp_raise(error);
    rbp_views_sync(s);
    Py_RETURN_NONE;
}

// _drive(obstacle, number, velocity, spin, about, duration)
static PyObject *drive(PyObject *self, PyObject *arguments) {
    SELF;
    int obstacle;
    Py_ssize_t number;
    PyObject *velocity, *spin, *about;
    rbt_drive d = rbt_drive_default();
    rbt_error error = {0};
    if (!PyArg_ParseTuple(arguments, "pnOOOd", &obstacle, &number, &velocity, &spin, &about, &d.duration) ||
        !rbp_three(velocity, "the velocity", d.velocity) || !rbp_three(spin, "the spin", d.spin) ||
        !rbp_three(about, "the point to turn about", d.about) || !rbp_sim_enter_clean(s))
        return NULL;
    bool good = obstacle ? rbt_sim_drive_obstacle(s->sim, (size_t)number, &d, &error)
                         : rbt_sim_drive(s->sim, (size_t)number, &d, &error);
    return finish(s, good, &error);
}

// _drive_to(obstacle, number, offset, duration)
static PyObject *drive_to(PyObject *self, PyObject *arguments) {
    SELF;
    int obstacle;
    Py_ssize_t number;
    PyObject *place;
    double offset[3], duration;
    rbt_error error = {0};
    if (!PyArg_ParseTuple(arguments, "pnOd", &obstacle, &number, &place, &duration) ||
        !rbp_three(place, "the offset", offset) || !rbp_sim_enter_clean(s))
        return NULL;
    bool good = obstacle ? rbt_sim_drive_obstacle_to(s->sim, (size_t)number, offset, duration, &error)
                         : rbt_sim_drive_to(s->sim, (size_t)number, offset, duration, &error);
    return finish(s, good, &error);
}

// _drag(body, selection, point, stiffness)
static PyObject *drag(PyObject *self, PyObject *arguments) {
    SELF;
    Py_ssize_t body;
    const char *selection;
    PyObject *place;
    double point[3], stiffness;
    rbt_error error = {0};
    if (!PyArg_ParseTuple(arguments, "nsOd", &body, &selection, &place, &stiffness) ||
        !rbp_three(place, "the point", point) || !rbp_sim_enter_clean(s))
        return NULL;
    return finish(s, rbt_sim_drag(s->sim, (size_t)body, selection, point, stiffness, &error), &error);
}

// _set_material(body, region or None, young, poisson, mass_damping, stiffness_damping), NaN: as it is
static PyObject *set_material(PyObject *self, PyObject *arguments) {
    SELF;
    rbt_event_material m = rbt_event_material_default();
    rbt_error error = {0};
    if (!PyArg_ParseTuple(arguments, "szdddd", &m.body, &m.region, &m.young, &m.poisson, &m.mass_damping,
                          &m.stiffness_damping) ||
        !rbp_sim_enter_clean(s))
        return NULL;
    return finish(s, rbt_sim_set_material(s->sim, &m, &error), &error);
}

PyMethodDef rbp_input_methods[] = {{"_drive", drive, METH_VARARGS, NULL},
                                   {"_drive_to", drive_to, METH_VARARGS, NULL},
                                   {"_drag", drag, METH_VARARGS, NULL},
                                   {"_set_material", set_material, METH_VARARGS, NULL},
                                   {NULL, NULL, 0, NULL}};
