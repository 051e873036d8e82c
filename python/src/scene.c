// A scene: JSON text that the library reads and checks, with meshes from memory put in where the text has a stand-in.
// It does not change any more, so several simulations and threads may share it.
#include "rubato_python.h"

#include <stdlib.h>
#include <string.h>

static void destroy(PyObject *object) {
    rbp_scene_object *self = (rbp_scene_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    for (size_t i = 0; i < self->mesh_count; i++) {
        rbt_mesh_free(self->meshes[i]);
        free(self->positions[i]);
        free(self->units[i]);
    }
    free(self->meshes);
    free(self->positions);
    free(self->units);
    free(self->bodies);
    free(self->obstacles);
    free(self->obstacle_meshes);
    free(self->sequences);
    rbt_scene_free(self->file);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

// ---- Meshes from memory

static void *copy_list(const void *items, size_t count, size_t size) {
    void *copy = calloc(count ? count : 1, size);
    if (!copy) PyErr_NoMemory();
    else if (count) memcpy(copy, items, count * size);
    return copy;
}

// Lists of its own, in which meshes can be put
static bool own_lists(rbp_scene_object *self, size_t count) {
    rbt_scene *s = &self->scene;
    self->bodies = copy_list(s->bodies.items, s->bodies.count, sizeof *self->bodies);
    self->obstacles = copy_list(s->obstacles.items, s->obstacles.count, sizeof *self->obstacles);
    self->obstacle_meshes = calloc(s->obstacles.count + 1, sizeof *self->obstacle_meshes);
    self->sequences = calloc(s->obstacles.count + 1, sizeof *self->sequences);
    self->meshes = calloc(count + 1, sizeof *self->meshes);
    self->positions = calloc(count + 1, sizeof *self->positions);
    self->units = calloc(count + 1, sizeof *self->units);
    if (!self->bodies || !self->obstacles) return false;
    if (!self->obstacle_meshes || !self->sequences || !self->meshes || !self->positions || !self->units)
        return PyErr_NoMemory(), false;
    s->bodies.items = self->bodies;
    s->obstacles.items = self->obstacles;
    return true;
}

static bool put_mesh(rbt_mesh_def *def, const rbt_mesh *mesh, const char *unit) {
    def->mesh = mesh;
    def->file = NULL;
    def->shape = (rbt_variant){-1, NULL};
    if (unit) def->unit = unit;
    return true;
}

// The frames of a sequence (frames x nodes x 3)
static bool put_sequence(rbp_scene_object *self, size_t o, PyObject *object, double **positions) {
    Py_buffer buffer;
    rbt_obstacle_mesh *mesh = &self->obstacle_meshes[o];
    rbp_layout wanted = {'d', 3, {-1, (Py_ssize_t)mesh->mesh.mesh->node_count, 3}, false};
    if (!rbp_numbers(object, "the positions of a sequence", wanted, &buffer)) return false;
    *positions = copy_list(buffer.buf, (size_t)buffer.len, 1);
    self->sequences[o] = mesh->sequence ? *mesh->sequence : rbt_sequence_default();
    self->sequences[o].positions = *positions;
    self->sequences[o].frame_count = (size_t)buffer.shape[0];
    self->sequences[o].file = NULL;
    mesh->sequence = &self->sequences[o];
    PyBuffer_Release(&buffer);
    return *positions != NULL;
}

// ("body" or "obstacle", number, parts, unit or None, positions or None)
static bool put(rbp_scene_object *self, PyObject *entry) {
    const char *kind, *unit;
    Py_ssize_t number;
    PyObject *parts, *sequence;
    size_t i = self->mesh_count;
    if (!PyArg_ParseTuple(entry, "snOzO", &kind, &number, &parts, &unit, &sequence)) return false;
    bool of_body = strcmp(kind, "body") == 0;
    size_t count = of_body ? self->scene.bodies.count : self->scene.obstacles.count;
    if (number < 0 || (size_t)number >= count)
        return PyErr_Format(PyExc_ValueError, "a mesh is given for %s %zd, but there are %zu", kind, number, count),
               false;
    if (!(self->meshes[i] = rbp_mesh_from(parts))) return false;
    self->mesh_count++;
    if (unit && !(self->units[i] = strdup(unit))) return PyErr_NoMemory(), false;
    if (of_body) return put_mesh(&self->bodies[number].mesh, self->meshes[i], self->units[i]);
    rbt_obstacle *obstacle = &self->obstacles[number];
    if (obstacle->which != RBT_OBSTACLE_MESH)
        return PyErr_Format(PyExc_ValueError, "a mesh is given for obstacle %zd, which is none", number), false;
    rbt_obstacle_mesh *own = &self->obstacle_meshes[number];
    *own = *(const rbt_obstacle_mesh *)obstacle->value;
    obstacle->value = own;
    return put_mesh(&own->mesh, self->meshes[i], self->units[i]) &&
           (sequence == Py_None || put_sequence(self, (size_t)number, sequence, &self->positions[i]));
}

// ---- Making it

static bool read_settings(PyObject *list, const char ***settings, size_t *count) {
    Py_ssize_t n = PyList_Size(list);
    *settings = calloc(n > 0 ? (size_t)n : 1, sizeof **settings);
    *count = n > 0 ? (size_t)n : 0;
    if (!*settings) return PyErr_NoMemory(), false;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!((*settings)[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL))) return false;
    return true;
}

// Scene(text or None, name or None, settings, meshes): text None reads the file `name`.
static PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    const char *text, *name, **settings = NULL;
    Py_ssize_t size;
    PyObject *list, *meshes;
    size_t count = 0;
    rbt_error error = {0};
    if (keywords && PyDict_Size(keywords) > 0) return PyErr_Format(PyExc_TypeError, "Scene takes no keywords");
    if (!PyArg_ParseTuple(arguments, "z#zO!O!", &text, &size, &name, &PyList_Type, &list, &PyList_Type, &meshes))
        return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    rbp_scene_object *self = (rbp_scene_object *)allocate(type, 0);
    if (!self) return NULL;
    bool good = read_settings(list, &settings, &count);
    if (good) {
        PyThreadState *lock = PyEval_SaveThread();
        self->file = text ? rbt_scene_parse(text, (size_t)size, name, settings, count, &error)
                          : rbt_scene_read(name, settings, count, &error);
        PyEval_RestoreThread(lock);
        good = self->file != NULL;
        if (!good) rbp_raise(&error);
    }
    free(settings);
    if (good) {
        Py_ssize_t n = PyList_Size(meshes);
        self->scene = *rbt_scene_of(self->file);
        good = n == 0 || own_lists(self, (size_t)n);
        for (Py_ssize_t i = 0; good && i < n; i++) good = put(self, PyList_GetItem(meshes, i));
    }
    if (good && !rbt_scene_check(&self->scene, &error)) {
        rbp_raise(&error);
        good = false;
    }
    if (!good) Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *get_json(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(rbt_scene_json(((rbp_scene_object *)self)->file));
}

static PyObject *get_warnings(PyObject *self, void *unused) {
    (void)unused;
    PyObject *list = PyList_New(0);
    const char *text;
    for (int i = 0; list && (text = rbt_scene_warning(((rbp_scene_object *)self)->file, i)); i++) {
        PyObject *item = PyUnicode_FromString(text);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyGetSetDef attributes[] = {
    {"json", get_json, NULL, "the scene as JSON text, with the settings applied", NULL},
    {"warnings", get_warnings, NULL, "sentences about renamed keys and the like", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {{Py_tp_doc, (char *)"A scene that was read and checked."},
                              {Py_tp_new, create},
                              {Py_tp_dealloc, destroy},
                              {Py_tp_getset, attributes},
                              {0, NULL}};
PyType_Spec rbp_scene_spec = {.name = "rubato._rubato.Scene",
                              .basicsize = sizeof(rbp_scene_object),
                              .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                              .slots = slots};
