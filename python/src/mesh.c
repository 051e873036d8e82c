// Meshes: read, generated, written and judged by the library. In Python a mesh is its arrays (python/rubato/mesh.py):
// (nodes, tets, triangles, edges, sets), where sets is a list of (name, kind, items).
#include "rubato_python.h"

#include <stdlib.h>
#include <string.h>

// ---- To Python: the arrays move into blocks, nothing is copied

static PyObject *take(void **data, char format, size_t count, Py_ssize_t columns) {
    void *own = *data ? *data : calloc(1, 1);
    *data = NULL;
    if (!own) return PyErr_NoMemory();
    rbp_layout layout = {format, columns > 1 ? 2 : 1, {(Py_ssize_t)count, columns}, true};
    return rbp_array(rbp_block_new(rbp_memory_of(own), NULL, layout));
}

static PyObject *take_sets(rbt_mesh *mesh) {
    PyObject *list = PyList_New((Py_ssize_t)mesh->set_count);
    for (size_t i = 0; list && i < mesh->set_count; i++) {
        rbt_mesh_set *set = &mesh->sets[i];
        PyObject *name = PyUnicode_DecodeUTF8(set->name, (Py_ssize_t)strlen(set->name), "replace");
        PyObject *items = name ? take((void **)&set->items, 'i', set->count, 1) : NULL;
        PyObject *entry = items ? Py_BuildValue("NiN", name, (int)set->kind, items) : NULL;
        if (!entry || PyList_SetItem(list, (Py_ssize_t)i, entry) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *parts_of(rbt_mesh *mesh) {
    PyObject *parts = PyTuple_New(6), *items[6];
    items[0] = take((void **)&mesh->nodes, 'd', mesh->node_count, 3);
    items[1] = take((void **)&mesh->tets, 'i', mesh->tet_count, 4);
    items[2] = take((void **)&mesh->triangles, 'i', mesh->triangle_count, 3);
    items[3] = take((void **)&mesh->edges, 'i', mesh->edge_count, 2);
    items[4] = take_sets(mesh);
    items[5] = PyUnicode_FromString(mesh->format);
    bool good = parts != NULL;
    for (int i = 0; i < 6; i++) {
        good = good && items[i];
        if (parts && items[i]) PyTuple_SetItem(parts, i, items[i]);
        else Py_XDECREF(items[i]);
    }
    rbt_mesh_free(mesh);
    if (!good) Py_CLEAR(parts);
    return parts;
}

PyObject *rbp_mesh_read(PyObject *module, PyObject *path) {
    (void)module;
    rbt_error error = {0};
    rbt_mesh *mesh;
    PyObject *bytes;
    if (!PyUnicode_FSConverter(path, &bytes)) return NULL;
    const char *name = PyBytes_AsString(bytes);
    PyThreadState *lock = PyEval_SaveThread();
    mesh = rbt_mesh_read(name, &error);
    PyEval_RestoreThread(lock);
    Py_DECREF(bytes);
    return mesh ? parts_of(mesh) : rbp_raise(&error);
}

PyObject *rbp_mesh_generate(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *shape, *parameters;
    rbt_error error = {0};
    rbt_mesh *mesh;
    if (!PyArg_ParseTuple(arguments, "ss", &shape, &parameters)) return NULL;
    PyThreadState *lock = PyEval_SaveThread();
    mesh = rbt_mesh_generate(shape, parameters, &error);
    PyEval_RestoreThread(lock);
    return mesh ? parts_of(mesh) : rbp_raise(&error);
}

// ---- From Python: copies, so that nobody can change them later

static bool copy_numbers(PyObject *object, const char *what, char format, Py_ssize_t columns, void **data,
                         size_t *count) {
    Py_buffer buffer;
    rbp_layout wanted = {format, columns > 1 ? 2 : 1, {-1, columns}, false};
    if (!object || !rbp_numbers(object, what, wanted, &buffer)) return false;
    *data = malloc(buffer.len ? (size_t)buffer.len : 1);
    *count = (size_t)buffer.shape[0];
    if (*data && buffer.len) memcpy(*data, buffer.buf, (size_t)buffer.len);
    PyBuffer_Release(&buffer);
    if (!*data) PyErr_NoMemory();
    return *data != NULL;
}

static bool copy_set(PyObject *entry, rbt_mesh_set *set) {
    const char *name;
    int kind;
    PyObject *items;
    if (!PyTuple_Check(entry)) return PyErr_Format(PyExc_TypeError, "a set is a tuple (name, kind, items)"), false;
    if (!PyArg_ParseTuple(entry, "siO", &name, &kind, &items)) return false;
    set->kind = (rbt_set_kind)kind;
    if (!(set->name = strdup(name))) return PyErr_NoMemory(), false;
    return copy_numbers(items, "the items of a set", 'i', 1, (void **)&set->items, &set->count);
}

rbt_mesh *rbp_mesh_from(PyObject *parts) {
    PyObject *nodes, *tets, *triangles, *edges, *sets;
    if (!PyTuple_Check(parts)) return PyErr_Format(PyExc_TypeError, "a mesh is a tuple of its arrays"), NULL;
    if (!PyArg_ParseTuple(parts, "OOOOO!", &nodes, &tets, &triangles, &edges, &PyList_Type, &sets)) return NULL;
    rbt_mesh *mesh = calloc(1, sizeof *mesh);
    if (!mesh) return PyErr_NoMemory(), NULL;
    bool good = copy_numbers(nodes, "nodes", 'd', 3, (void **)&mesh->nodes, &mesh->node_count) &&
                copy_numbers(tets, "tets", 'i', 4, (void **)&mesh->tets, &mesh->tet_count) &&
                copy_numbers(triangles, "triangles", 'i', 3, (void **)&mesh->triangles, &mesh->triangle_count) &&
                copy_numbers(edges, "edges", 'i', 2, (void **)&mesh->edges, &mesh->edge_count);
    Py_ssize_t count = PyList_Size(sets);
    mesh->sets = good ? calloc(count ? (size_t)count : 1, sizeof *mesh->sets) : NULL;
    if (good && !mesh->sets) PyErr_NoMemory();
    good = good && mesh->sets;
    for (Py_ssize_t i = 0; good && i < count; i++) {
        mesh->set_count++;
        good = copy_set(PyList_GetItem(sets, i), &mesh->sets[i]);
    }
    if (good) return mesh;
    rbt_mesh_free(mesh);
    return NULL;
}

PyObject *rbp_mesh_write(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *parts, *path;
    int ascii;
    rbt_error error = {0};
    bool good;
    if (!PyArg_ParseTuple(arguments, "OO&p", &parts, PyUnicode_FSConverter, &path, &ascii)) return NULL;
    rbt_mesh *mesh = rbp_mesh_from(parts);
    const char *name = PyBytes_AsString(path);
    if (!mesh) {
        Py_DECREF(path);
        return NULL;
    }
    PyThreadState *lock = PyEval_SaveThread();
    good = rbt_mesh_write(mesh, name, ascii, &error);
    PyEval_RestoreThread(lock);
    rbt_mesh_free(mesh);
    Py_DECREF(path);
    if (!good) return rbp_raise(&error);
    Py_RETURN_NONE;
}

PyObject *rbp_mesh_diagnose(PyObject *module, PyObject *parts) {
    (void)module;
    rbt_error error = {0};
    rbt_mesh_report r;
    bool good;
    rbt_mesh *mesh = rbp_mesh_from(parts);
    if (!mesh) return NULL;
    PyThreadState *lock = PyEval_SaveThread();
    good = rbt_mesh_diagnose(mesh, &r, &error);
    PyEval_RestoreThread(lock);
    rbt_mesh_free(mesh);
    if (!good) return rbp_raise(&error);
    return Py_BuildValue("{s(ddd)s(ddd)sdsdsnsnsnsnsnsnsnsnsnsdsdsL}", "box_min", r.box_min[0], r.box_min[1],
                         r.box_min[2], "box_max", r.box_max[0], r.box_max[1], r.box_max[2], "volume", r.volume,
                         "area", r.area, "components", (Py_ssize_t)r.component_count, "inverted",
                         (Py_ssize_t)r.inverted_count, "degenerate", (Py_ssize_t)r.degenerate_count, "duplicate",
                         (Py_ssize_t)r.duplicate_count, "isolated", (Py_ssize_t)r.isolated_count, "not_finite",
                         (Py_ssize_t)r.not_finite_count, "surface_triangles", (Py_ssize_t)r.surface_triangle_count,
                         "non_manifold_edges", (Py_ssize_t)r.non_manifold_edge_count, "open_edges",
                         (Py_ssize_t)r.open_edge_count, "quality_min", r.quality_min, "quality_mean", r.quality_mean,
                         "worst_tet", (long long)r.worst_tet);
}
