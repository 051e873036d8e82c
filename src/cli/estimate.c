#include "cli/command.h"
#include "mesh/generate/generate.h"
#include "rubato/scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool rbt_print_estimate(const char *shape, const void *parameters) {
    const rbt_surface_shape *surface = parameters;
    rbt_surface_plan plan;
    if (strcmp(shape, "surface") != 0 || !rbt_surface_plan_make(surface, &plan, NULL)) return false;
    double digits = plan.tets >= 100 ? pow(10, floor(log10(plan.tets)) - 1) : 1;  // two of them are worth printing
    printf("%s: %zu triangles, filled with cells of %.3g m: about %.0f tets; \"cell\" makes them more or fewer\n",
           surface->file, plan.triangle_count, plan.cell, digits * rint(plan.tets / digits));
    fflush(stdout);
    return true;
}

void rbt_print_estimates(const rbt_scene *scene) {
    for (size_t i = 0; i < scene->bodies.count; i++) {
        const rbt_variant *shape = &scene->bodies.items[i].mesh.shape;
        const rbt_shape *known = rbt_shape_at(shape->which);
        if (known && shape->value) rbt_print_estimate(known->name, shape->value);
    }
}

void rbt_print_scene_warnings(const rbt_scene_file *file) {
    for (int i = 0; file && rbt_scene_warning(file, i); i++)
        fprintf(stderr, "rubato: warning: %s\n", rbt_scene_warning(file, i));
}
