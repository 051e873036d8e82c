// The extension module rubato._rubato: the public library (include/rubato/) as Python objects. What needs numpy, or is
// a matter of taste, is Python code beside it (python/rubato/).
//
//   errors.c       rbt_error and rbt_step_report as exceptions
//   block.c        memory that numpy looks at without copying
//   views.c        sim.x and its like: arrays that follow a simulation, and what was written to them
//   interrupt.c    Ctrl-C while the interpreter waits for a step
//   simulation.c   life and steps; query.c asks, input.c acts
//   scene.c, mesh.c, state.c, report.c, picture.c   one concept each
//
// Everything here runs with the interpreter's lock held, but for the calls of the library that take long: these run
// without, and the simulation is marked as busy meanwhile, so that a second thread gets an exception.
#ifndef RUBATO_PYTHON_H
#define RUBATO_PYTHON_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <structmember.h>

#include "rubato/rubato.h"
#include "rubato/view.h"

#include <stdbool.h>

// ---- Exceptions and types of the module, made when it is imported

typedef struct rbp_globals {
    PyObject *error, *step_failed, *stopped, *busy, *stale;
    PyTypeObject *block, *report, *scene, *state, *simulation;
    PyObject *asarray;  // numpy's
} rbp_globals;
extern rbp_globals rbp;

bool rbp_errors_add(PyObject *module);
bool rbp_types_add(PyObject *module);

// Each raises an exception and returns NULL. `context` comes before the sentence; NULL: nothing does.
PyObject *rbp_raise(const rbt_error *error);
PyObject *rbp_raise_about(const rbt_error *error, const char *context);
PyObject *rbp_raise_step(const rbt_step_report *report, const char *body);

// ---- Memory that several objects share

typedef struct rbp_memory {
    Py_ssize_t users;
    void *data;
} rbp_memory;

rbp_memory *rbp_memory_new(size_t bytes);     // zeros; NULL with MemoryError
rbp_memory *rbp_memory_of(void *allocated);   // takes over what malloc gave, also on failure
void rbp_memory_release(rbp_memory *memory);  // NULL: nothing

typedef struct rbp_layout {
    char format;  // 'd', 'i' or 'B', as the module struct has them
    int dimensions;
    Py_ssize_t shape[3];
    bool writable;
} rbp_layout;

// An object with the buffer protocol; keeps `owner` alive (may be NULL), and takes over one use of the memory, also on
// failure.
PyObject *rbp_block_new(rbp_memory *memory, PyObject *owner, rbp_layout layout);

// A numpy array of a block, which it takes over; NULL stays NULL. And one of a copy.
PyObject *rbp_array(PyObject *block);
PyObject *rbp_array_copy(const void *data, rbp_layout layout);

// The numbers of an object that must be a C-contiguous array of this format with these dimensions (a shape of -1 may be
// anything). false with TypeError or ValueError; else to be released with PyBuffer_Release.
bool rbp_numbers(PyObject *object, const char *what, rbp_layout wanted, Py_buffer *buffer);

bool rbp_three(PyObject *object, const char *what, double values[3]);  // a sequence of three numbers

// ---- Simulations

typedef enum rbp_view_kind {
    RBP_POSITIONS,
    RBP_VELOCITIES,
    RBP_FORCES,
    RBP_WRITABLE,  // as many of them
    RBP_REST = RBP_WRITABLE,
    RBP_MASSES,
    RBP_TETS,
    RBP_TRIANGLES,
    RBP_EDGES,
    RBP_VIEWS
} rbp_view_kind;

typedef struct rbp_view {
    rbp_memory *memory;  // NULL: nobody has asked for it
    rbp_layout layout;
    bool fresh;    // it shows the state
    bool touched;  // it was handed out since the last call
    bool recent;   // and before that call
} rbp_view;

typedef struct rbp_scene_object {
    PyObject ob_base;
    rbt_scene_file *file;
    rbt_scene scene;  // of the file, with meshes from memory put in
    rbt_body_def *bodies;
    rbt_obstacle *obstacles;
    rbt_obstacle_mesh *obstacle_meshes;
    rbt_sequence_def *sequences;
    rbt_mesh **meshes;   // (mesh_count) copies
    double **positions;  // (mesh_count) of sequences, or NULL
    char **units;        // (mesh_count) or NULL
    size_t mesh_count;
} rbp_scene_object;

typedef struct rbp_sim {
    PyObject ob_base;
    rbt_sim *sim;              // NULL: closed
    PyObject *scene;           // that it was made from
    PyObject *before, *after;  // lists of callbacks
    rbp_view views[RBP_VIEWS];
    int64_t topology;   // of the views
    volatile int stop;  // what the library looks at
    bool asked;         // stop() was called
    bool busy;          // a thread is inside of the library
    bool calling;       // a callback runs
    int threads;        // as set by the user
    int forks;          // of the process, when it was used last
} rbp_sim;

typedef struct rbp_state_object {
    PyObject ob_base;
    rbt_state *state;
} rbp_state_object;

// Whether the simulation can be used by this thread; false with an exception.
bool rbp_sim_enter(rbp_sim *s);

// The same, and takes over what was written to its arrays: for everything that looks at the state or changes it.
bool rbp_sim_enter_clean(rbp_sim *s);

// What was written to x, v and forces becomes the state. false with an exception if it is refused; the arrays show the
// state again then.
bool rbp_views_flush(rbp_sim *s);
void rbp_views_sync(rbp_sim *s);   // after the state has changed
void rbp_views_clear(rbp_sim *s);  // they live on without the simulation

PyObject *rbp_sim_view(rbp_sim *s, rbp_view_kind kind);  // a numpy array

PyObject *rbp_report_new(const rbt_step_report *report);
PyObject *rbp_contact_layout(void);  // (size, [(name, type, offset, count), …])
void rbp_simulation_methods(void);   // before its type is made

// While a step is under way *stop becomes 1 with SIGINT. false: another thread than the first, or nobody wants to know.
bool rbp_interrupt_begin(volatile int *stop);
void rbp_interrupt_end(void);

extern PyMethodDef rbp_query_methods[], rbp_input_methods[], rbp_module_functions[];
extern PyType_Spec rbp_block_spec, rbp_report_spec, rbp_scene_spec, rbp_state_spec, rbp_simulation_spec;

// Functions of the module
PyObject *rbp_mesh_read(PyObject *module, PyObject *arguments);
PyObject *rbp_mesh_generate(PyObject *module, PyObject *arguments);
PyObject *rbp_mesh_write(PyObject *module, PyObject *arguments);
PyObject *rbp_mesh_diagnose(PyObject *module, PyObject *arguments);
PyObject *rbp_paint(PyObject *module, PyObject *arguments);
PyObject *rbp_draw(PyObject *module, PyObject *arguments);
PyObject *rbp_plot(PyObject *module, PyObject *arguments);
PyObject *rbp_report_load(PyObject *module, PyObject *arguments);
PyObject *rbp_state_read_file(PyObject *module, PyObject *arguments);
PyObject *rbp_state_unpickle(PyObject *module, PyObject *arguments);

// A copy of a mesh that Python describes as (nodes, tets, triangles, edges, sets), to be freed with rbt_mesh_free.
rbt_mesh *rbp_mesh_from(PyObject *parts);

#endif
