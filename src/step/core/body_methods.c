#include "step/core/body_methods.h"

#include <stdio.h>

const rbt_body_integrator_def *rbt_body_integrator(const rbt_model *m, size_t body) {
    return m->described ? m->described[body].integrator : NULL;
}

static bool same(int method, const void *options, const rbt_body_integrator_def *other) {
    const rbt_method *own = rbt_method_at(method);
    if (method != other->method) return false;
    if (!own || !own->options || options == other->options) return true;
    return options && other->options && rbt_record_same(own->options, options, other->options);
}

bool rbt_body_integrators_same(const rbt_body_integrator_def *a, const rbt_body_integrator_def *b) {
    return same(a->method, a->options, b);
}

// Whether a body names what it would have without
static bool says_nothing(const rbt_integrator_def *scene, const rbt_body_integrator_def *own) {
    return own->method == scene->method && (!own->options || same(scene->method, scene->options, own));
}

void rbt_body_methods_simplify(rbt_scene *scene) {
    rbt_integrator_def *whole = &scene->integrator;
    const rbt_body_integrator_def *first = scene->bodies.count ? scene->bodies.items[0].integrator : NULL;
    bool alike = first != NULL;
    for (size_t b = 0; b < scene->bodies.count; b++) {
        rbt_body_def *body = (rbt_body_def *)(uintptr_t)&scene->bodies.items[b];
        if (body->integrator && says_nothing(whole, body->integrator)) body->integrator = NULL;
        alike = alike && body->integrator && rbt_body_integrators_same(first, body->integrator);
    }
    if (!alike) return;
    if (first->method != whole->method) whole->solver = 0;
    whole->method = first->method;
    whole->options = first->options;
    for (size_t b = 0; b < scene->bodies.count; b++)
        ((rbt_body_def *)(uintptr_t)&scene->bodies.items[b])->integrator = NULL;
}

static const char *reason(const rbt_method *method) {
    if (method->alone) return method->alone;
    return method->free_step ? "contact is a programme of impulses on one factor of all bodies"
                             : "nobody has said how bodies of another method could be part of the step";
}

bool rbt_body_methods_fit(const rbt_model *m, const rbt_method *method, rbt_error *error) {
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body_integrator_def *def = rbt_body_integrator(m, b);
        const rbt_method *own = def ? rbt_method_at(def->method) : NULL;
        char path[64];
        if (!own || (method->joins && own->free_step)) continue;
        snprintf(path, sizeof path, "bodies[%zu].integrator.method", b);
        const char *name = m->bodies[b].name;
        if (own == method)
            return rbt_fail_path(
                error, NULL, path,
                "\"%s\" has options of its own for %s, but bodies of one method share one step; give "
                "the options in \"integrator\", or leave them out here",
                name, own->name);
        if (own->joins && method->free_step)
            return rbt_fail_path(error, NULL, path,
                                 "\"%s\" by %s, others by %s: the minimum of %s is the step of all bodies together; "
                                 "name %s in \"integrator\", and %s in the bodies that it is for",
                                 name, own->name, method->name, own->name, own->name, method->name);
        const rbt_method *odd = own->free_step || own->joins ? method : own;
        return rbt_fail_path(error, NULL, path,
                             "\"%s\" by %s cannot be stepped together with bodies by %s: with %s, %s; take "
                             "backward-euler in \"integrator\", and siere or semi-implicit for single bodies",
                             name, own->name, method->name, odd->name, reason(odd));
    }
    return true;
}
