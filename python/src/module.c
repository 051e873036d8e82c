// The module: its types, its functions and the tables of the library.
#include "rubato_python.h"

static PyObject *names(const char *(*at)(int)) {
    PyObject *list = PyList_New(0);
    for (int i = 0; list && at(i); i++) {
        PyObject *name = PyUnicode_FromString(at(i));
        if (!name || PyList_Append(list, name) < 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *methods_of_library(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    PyObject *all = PyDict_New();
    for (int i = 0; all && rbt_method_name(i); i++) {
        PyObject *solvers = PyList_New(0);
        for (int k = 0; solvers && rbt_solver_name(i, k); k++) {
            PyObject *name = PyUnicode_FromString(rbt_solver_name(i, k));
            if (!name || PyList_Append(solvers, name) < 0) Py_CLEAR(solvers);
            Py_XDECREF(name);
        }
        if (!solvers || PyDict_SetItemString(all, rbt_method_name(i), solvers) < 0) Py_CLEAR(all);
        Py_XDECREF(solvers);
    }
    return all;
}

static PyObject *materials(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return names(rbt_material_name);
}

static PyObject *contact_layout(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return rbp_contact_layout();
}

PyMethodDef rbp_module_functions[] = {{"methods", methods_of_library, METH_NOARGS, NULL},
                                      {"materials", materials, METH_NOARGS, NULL},
                                      {"contact_layout", contact_layout, METH_NOARGS, NULL},
                                      {"mesh_read", rbp_mesh_read, METH_O, NULL},
                                      {"mesh_generate", rbp_mesh_generate, METH_VARARGS, NULL},
                                      {"mesh_write", rbp_mesh_write, METH_VARARGS, NULL},
                                      {"mesh_diagnose", rbp_mesh_diagnose, METH_O, NULL},
                                      {"paint", rbp_paint, METH_VARARGS, NULL},
                                      {"draw", rbp_draw, METH_VARARGS, NULL},
                                      {"plot", rbp_plot, METH_VARARGS, NULL},
                                      {"read_state", rbp_state_read_file, METH_O, NULL},
                                      {"_load_state", rbp_state_unpickle, METH_VARARGS, NULL},
                                      {"_load_report", rbp_report_load, METH_VARARGS, NULL},
                                      {NULL, NULL, 0, NULL}};

static bool add_type(PyObject *module, const char *name, PyType_Spec *spec, PyTypeObject **type) {
    PyObject *made = PyType_FromSpec(spec);
    *type = (PyTypeObject *)made;
    return made && PyModule_AddObjectRef(module, name, made) == 0;
}

bool rbp_types_add(PyObject *module) {
    rbp_simulation_methods();
    return add_type(module, "Block", &rbp_block_spec, &rbp.block) &&
           add_type(module, "Report", &rbp_report_spec, &rbp.report) &&
           add_type(module, "Scene", &rbp_scene_spec, &rbp.scene) &&
           add_type(module, "State", &rbp_state_spec, &rbp.state) &&
           add_type(module, "Simulation", &rbp_simulation_spec, &rbp.simulation);
}

static bool find_numpy(void) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    rbp.asarray = numpy ? PyObject_GetAttrString(numpy, "asarray") : NULL;
    Py_XDECREF(numpy);
    return rbp.asarray != NULL;
}

static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                 .m_name = "rubato._rubato",
                                 .m_doc = "The library; import rubato is what programs do.",
                                 .m_size = -1,
                                 .m_methods = rbp_module_functions};

PyMODINIT_FUNC PyInit__rubato(void);
PyMODINIT_FUNC PyInit__rubato(void) {
    PyObject *module = PyModule_Create(&definition);
    if (module && find_numpy() && rbp_errors_add(module) && rbp_types_add(module) &&
        PyModule_AddStringConstant(module, "__version__", rbt_version().text) == 0)
        return module;
    Py_XDECREF(module);
    return NULL;
}
