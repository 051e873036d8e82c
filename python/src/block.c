// A block of memory with the buffer protocol: numpy makes an array of it without copying, and the array keeps it alive.
#include "rubato_python.h"

#include <stdlib.h>
#include <string.h>

// ---- Shared memory; the interpreter's lock guards the count

rbp_memory *rbp_memory_of(void *allocated) {
    rbp_memory *memory = malloc(sizeof *memory);
    if (memory) {
        *memory = (rbp_memory){1, allocated};
        return memory;
    }
    free(allocated);
    PyErr_NoMemory();
    return NULL;
}

rbp_memory *rbp_memory_new(size_t bytes) {
    void *data = calloc(bytes ? bytes : 1, 1);
    if (data) return rbp_memory_of(data);
    PyErr_NoMemory();
    return NULL;
}

void rbp_memory_release(rbp_memory *memory) {
    if (!memory || --memory->users > 0) return;
    free(memory->data);
    free(memory);
}

// ---- The object

typedef struct block {
    PyObject ob_base;
    rbp_memory *memory;
    PyObject *owner;
    rbp_layout layout;
    Py_ssize_t strides[3], size;
    char format[2];
} block;

static Py_ssize_t item_size(char format) {
    return format == 'd' ? (Py_ssize_t)sizeof(double) : format == 'i' ? (Py_ssize_t)sizeof(int32_t) : 1;
}

static Py_ssize_t size_of(rbp_layout layout) {
    Py_ssize_t size = item_size(layout.format);
    for (int i = 0; i < layout.dimensions; i++) size *= layout.shape[i];
    return size;
}

PyObject *rbp_block_new(rbp_memory *memory, PyObject *owner, rbp_layout layout) {
    if (!memory) return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(rbp.block, Py_tp_alloc);
    block *b = (block *)allocate(rbp.block, 0);
    if (!b) {
        rbp_memory_release(memory);
        return NULL;
    }
    b->memory = memory;
    b->owner = Py_XNewRef(owner);
    b->layout = layout;
    b->format[0] = layout.format;
    b->size = size_of(layout);
    Py_ssize_t stride = item_size(layout.format);
    for (int i = layout.dimensions; i-- > 0; stride *= layout.shape[i]) b->strides[i] = stride;
    return (PyObject *)b;
}

PyObject *rbp_array(PyObject *of) {
    if (!of) return NULL;
    PyObject *array = PyObject_CallFunctionObjArgs(rbp.asarray, of, NULL);
    Py_DECREF(of);
    return array;
}

PyObject *rbp_array_copy(const void *data, rbp_layout layout) {
    size_t bytes = (size_t)size_of(layout);
    rbp_memory *memory = rbp_memory_new(bytes);
    if (memory && bytes) memcpy(memory->data, data, bytes);
    return rbp_array(rbp_block_new(memory, NULL, layout));
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags) {
    block *b = (block *)self;
    if ((flags & PyBUF_WRITABLE) && !b->layout.writable) {
        view->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "this array is read-only");
        return -1;
    }
    *view = (Py_buffer){.buf = b->memory->data,
                        .obj = Py_NewRef(self),
                        .len = b->size,
                        .itemsize = item_size(b->layout.format),
                        .readonly = !b->layout.writable,
                        .ndim = b->layout.dimensions,
                        .format = flags & PyBUF_FORMAT ? b->format : NULL,
                        .shape = flags & PyBUF_ND ? b->layout.shape : NULL,
                        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? b->strides : NULL};
    return 0;
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((block *)self)->owner);
    return 0;
}

static int clear(PyObject *self) {
    Py_CLEAR(((block *)self)->owner);
    return 0;
}

static void destroy(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    rbp_memory_release(((block *)self)->memory);
    clear(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyType_Slot slots[] = {{Py_tp_doc, (char *)"Memory that arrays share with a simulation, a state or a mesh."},
                              {Py_bf_getbuffer, get_buffer},
                              {Py_tp_traverse, traverse},
                              {Py_tp_clear, clear},
                              {Py_tp_dealloc, destroy},
                              {0, NULL}};
PyType_Spec rbp_block_spec = {.name = "rubato._rubato.Block",
                              .basicsize = sizeof(block),
                              .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                              .slots = slots};

// ---- Numbers from Python

static const char *name_of(char format) { return format == 'd' ? "float64" : "int32"; }

static bool same_format(const char *found, char wanted) {
    if (!found) return wanted == 'B';
    if (found[0] == '=' || found[0] == '<' || found[0] == '@') found++;
    if (found[1]) return false;
    return found[0] == wanted || (wanted == 'i' && found[0] == 'l' && sizeof(long) == sizeof(int32_t));
}

bool rbp_numbers(PyObject *object, const char *what, rbp_layout wanted, Py_buffer *buffer) {
    if (PyObject_GetBuffer(object, buffer, PyBUF_FORMAT | PyBUF_ND | PyBUF_C_CONTIGUOUS) < 0) return false;
    bool fits = buffer->ndim == wanted.dimensions;
    for (int i = 0; fits && i < buffer->ndim; i++) fits = wanted.shape[i] < 0 || buffer->shape[i] == wanted.shape[i];
    if (!same_format(buffer->format, wanted.format))
        PyErr_Format(PyExc_TypeError, "%s must be an array of %s, not of format '%s'", what, name_of(wanted.format),
                     buffer->format ? buffer->format : "B");
    else if (!fits && wanted.dimensions == 2 && wanted.shape[0] >= 0)
        PyErr_Format(PyExc_ValueError, "%s must have the shape (%zd, %zd)", what, wanted.shape[0], wanted.shape[1]);
    else if (!fits)
        PyErr_Format(PyExc_ValueError, "%s must have %d dimensions with %zd in the last", what, wanted.dimensions,
                     wanted.shape[wanted.dimensions - 1]);
    else return true;
    PyBuffer_Release(buffer);
    return false;
}

bool rbp_three(PyObject *object, const char *what, double values[3]) {
    Py_ssize_t count = PySequence_Check(object) ? PySequence_Size(object) : -1;
    if (count != 3) {
        if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(count < 0 ? PyExc_TypeError : PyExc_ValueError, "%s must be three numbers", what);
        return false;
    }
    for (Py_ssize_t i = 0; i < 3; i++) {
        PyObject *item = PySequence_GetItem(object, i);
        values[i] = item ? PyFloat_AsDouble(item) : -1;
        Py_XDECREF(item);
        if (PyErr_Occurred()) return false;
    }
    return true;
}
