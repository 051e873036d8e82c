#include "step/core/method.h"

#include <string.h>

#define ENTRY(NAME) &RBT_##NAME,
static const rbt_method *const METHODS[] = {RBT_METHOD_LIST(ENTRY)};
enum { METHOD_COUNT = sizeof METHODS / sizeof METHODS[0] };

const rbt_method *rbt_method_at(int i) { return i >= 0 && i < METHOD_COUNT ? METHODS[i] : NULL; }
const char *rbt_method_name(int i) { return i >= 0 && i < METHOD_COUNT ? METHODS[i]->name : NULL; }

const char *rbt_label_name(int kind) {
    static const char *const names[RBT_LABEL_KINDS] = {"subdomain", "rate_part", "implicit_set"};
    return kind >= 0 && kind < RBT_LABEL_KINDS ? names[kind] : NULL;
}

bool rbt_method_has_contact(const rbt_method *method, const rbt_model *model) {
    return method->own_contact || (method->contact && model->contact.on);
}

bool rbt_scene_has_contact(const rbt_scene *scene) {
    const rbt_method *method = rbt_method_at(scene->integrator.method);
    if (!method) return scene->contact != NULL;  // rubato chooses one of those that know it
    return method->own_contact || (method->contact && scene->contact);
}

int rbt_method_find(const char *name) {
    for (int i = 0; name && i < METHOD_COUNT; i++)
        if (strcmp(METHODS[i]->name, name) == 0) return i;
    return -1;
}

const char *rbt_solver_name(int method, int solver) {
    const rbt_method *m = rbt_method_at(method);
    if (!m || !m->solvers || solver < 0) return NULL;
    for (int i = 0; i < solver; i++)
        if (!m->solvers(i)) return NULL;
    return m->solvers(solver);
}

int rbt_solver_find(int method, const char *name) {
    const char *found;
    for (int i = 0; name && (found = rbt_solver_name(method, i)); i++)
        if (strcmp(found, name) == 0) return i;
    return -1;
}
