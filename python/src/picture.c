// Pictures and plots (rubato/view.h).
#include "rubato_python.h"

#include <math.h>

// (frames or None, every, direction, color, width, height, columns, zoom, ground, ground_height, edges, low, high)
static bool read_options(PyObject *tuple, rbt_view_options *o) {
    int ground, edges;
    *o = rbt_view_default();
    if (!PyArg_ParseTuple(tuple, "zlssiildpdpdd", &o->frames, &o->every, &o->direction, &o->color, &o->width,
                          &o->height, &o->columns, &o->zoom, &ground, &o->ground_height, &edges, &o->low, &o->high))
        return false;
    o->ground = ground;
    o->edges = edges;
    return true;
}

static PyObject *image_array(rbt_view_image *image) {
    rbp_layout layout = {'B', 3, {image->height, image->width, 3}, true};
    return rbp_array(rbp_block_new(rbp_memory_of(image->pixels), NULL, layout));
}

// paint(path or simulation, options, scene or None) -> (height x width x 3) uint8
PyObject *rbp_paint(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *what, *tuple, *scene, *path = NULL;
    rbt_view_options options;
    rbt_view_image image = {0};
    rbt_error error = {0};
    bool good;
    if (!PyArg_ParseTuple(arguments, "OO!O", &what, &PyTuple_Type, &tuple, &scene) || !read_options(tuple, &options))
        return NULL;
    if (PyObject_TypeCheck(what, rbp.simulation)) {
        rbp_sim *s = (rbp_sim *)what;
        if (!rbp_sim_enter_clean(s)) return NULL;
        s->busy = true;
        PyThreadState *lock = PyEval_SaveThread();
        good = rbt_view_paint_sim(s->sim, &options, &image, &error);
        PyEval_RestoreThread(lock);
        s->busy = false;
        return good ? image_array(&image) : rbp_raise(&error);
    }
    if (PyObject_TypeCheck(scene, rbp.scene)) options.scene = &((rbp_scene_object *)scene)->scene;
    if (!PyUnicode_FSConverter(what, &path)) return NULL;
    const char *name = PyBytes_AsString(path);
    PyThreadState *lock = PyEval_SaveThread();
    good = rbt_view_paint(name, &options, &image, &error);
    PyEval_RestoreThread(lock);
    Py_DECREF(path);
    return good ? image_array(&image) : rbp_raise(&error);
}

// draw(path, output, options, scene or None, animate, frames per second): a PNG file
PyObject *rbp_draw(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *path, *output = NULL, *tuple, *scene;
    int animate;
    double rate;
    rbt_view_options options;
    rbt_error error = {0};
    bool good;
    if (!PyArg_ParseTuple(arguments, "O&O&O!Opd", PyUnicode_FSConverter, &path, PyUnicode_FSConverter, &output,
                          &PyTuple_Type, &tuple, &scene, &animate, &rate))
        return NULL;
    if (!read_options(tuple, &options)) {
        Py_DECREF(path);
        Py_DECREF(output);
        return NULL;
    }
    options.animate = animate;
    options.frames_per_second = rate;
    if (PyObject_TypeCheck(scene, rbp.scene)) options.scene = &((rbp_scene_object *)scene)->scene;
    const char *from = PyBytes_AsString(path), *to = PyBytes_AsString(output);
    PyThreadState *lock = PyEval_SaveThread();
    good = rbt_view_draw(from, to, &options, NULL, &error);
    PyEval_RestoreThread(lock);
    Py_DECREF(path);
    Py_DECREF(output);
    if (!good) return rbp_raise(&error);
    Py_RETURN_NONE;
}

// plot(folder, output): an SVG file
PyObject *rbp_plot(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *folder, *output = NULL;
    rbt_error error = {0};
    if (!PyArg_ParseTuple(arguments, "O&O&", PyUnicode_FSConverter, &folder, PyUnicode_FSConverter, &output))
        return NULL;
    bool good = rbt_view_plot(PyBytes_AsString(folder), PyBytes_AsString(output), &error);
    Py_DECREF(folder);
    Py_DECREF(output);
    if (!good) return rbp_raise(&error);
    Py_RETURN_NONE;
}
