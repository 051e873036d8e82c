// Differences for what is built of elements: the forces and matrices of whole models, obstacles, and the function
// that an implicit step minimises.
#include "dense.h"
#include "step/implicit/objective.h"
#include "verify.h"

// Fourth-order differences as in measure_materials.c. Lengths here are 0.1 m, so the step is a thousandth of that;
// the sums of some dozen elements leave 1e-9 of the largest entry, and 1e-8 is a bound.
static const double STEP = 5e-5, BOUND = 1e-8;

typedef void (*vector_function)(void *context, const double *x, double *y);  // x (n), y (rows)

// J[r n + j] = dy_r / dx_j
static double *jacobian(vector_function f, void *context, const double *x, size_t n, size_t rows) {
    static const double at[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
    double *J = calloc(rows * n, sizeof *J), *y = calloc(rows, sizeof *y), *z = verify_copy(x, n);
    if (!J || !y) verify_stop("no memory for a matrix");
    for (size_t j = 0; j < n; j++) {
        for (int k = 0; k < 4; k++) {
            z[j] = x[j] + at[k] * STEP;
            f(context, z, y);
            for (size_t r = 0; r < rows; r++) J[r * n + j] += weight[k] * y[r] / (12 * STEP);
        }
        z[j] = x[j];
    }
    free(y), free(z);
    return J;
}

// Largest difference between `exact` and the slope of f, beside the largest entry of `exact`
static double slope_error(vector_function f, void *context, const double *x, size_t n, size_t rows,
                          const double *exact) {
    double *J = jacobian(f, context, x, n, rows), error = verify_distance(J, exact, rows * n);
    free(J);
    return error / verify_largest(exact, rows * n);
}

static void energy_of_model(void *context, const double *x, double *y) { *y = verify_elastic_energy(context, x); }

static void gradient_of_model(void *context, const double *x, double *y) {
    const rbt_model *m = context;
    verify_elastic_force(m, x, y);
    for (size_t i = 0; i < 3 * m->node_count; i++) y[i] = -y[i];
}

// Random displacements of the nodes make a state without any symmetry.
static void shake(rbt_sim *sim, double by) {
    for (size_t i = 0; i < 3 * sim->model->node_count; i++) sim->state.x[i] += verify_random(-by, by);
}

static void check_model(verify *v, const char *name, rbt_sim *sim) {
    rbt_model *m = sim->model;
    size_t n = 3 * m->node_count;
    double *g = verify_vector(m);
    shake(sim, 0.01);
    gradient_of_model(m, sim->state.x, g);
    double force = slope_error(energy_of_model, m, sim->state.x, n, 1, g);
    rbt_stiffness s;
    if (!rbt_stiffness_build(&s, m, NULL)) verify_stop("no memory for a stiffness matrix");
    rbt_stiffness_assemble(&s, m, RBT_HESSIAN, sim->state.x);
    double *K = dense_of_blocks(&s.K), stiffness = slope_error(gradient_of_model, m, sim->state.x, n, n, K);
    verify_row(v, force < BOUND && stiffness < BOUND, "%s|%.1e|%.1e|%.0e", name, force, stiffness, BOUND);
    free(K), free(g);
    rbt_stiffness_free(&s);
    rbt_sim_free(sim);
}

// A bar whose parts have each a material of their own: all groups in one model
static rbt_sim *all_materials(void) {
    rbt_text regions = {0};
    int count = 0;
    while (rbt_material_at(count)) count++;
    for (int i = 0; i < count; i++)
        rbt_text_add(&regions,
                     "%s{'name': 'part %d', 'where': {'box': {'min': [%g, 0, 0], 'max': [%g, 1, 1], 'relative': "
                     "true}}, 'material': {'model': '%s', 'young': 1000, 'poisson': 0.3}}",
                     i ? ", " : "", i, (double)i / count, (i + 1.0) / count, rbt_material_name(i));
    rbt_sim *sim = verify_sim("{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [%g, "
                              "0.1, 0.1], 'cells': [%d, 1, 1]}}}, 'regions': [%s]}]}",
                              0.1 * count, count, regions.text);
    rbt_text_free(&regions);
    if (sim->model->group_count != (size_t)count) verify_stop("the materials did not make groups of their own");
    return sim;
}

// A sheet so thick that bending is as stiff as stretching
static rbt_sim *sheet(const char *kind) {
    return verify_sim(
        "{'rubato': 1, 'bodies': [{'name': 'sheet', 'mesh': {'shape': {'cloth': {'length': 0.4, 'width': "
        "0.3, 'cells_along': 4, 'cells_across': 3}}}, 'material': {'young': 1000, 'poisson': 0.3}, %s}]}",
        kind);
}

// ---- Obstacles

static void energy_of_obstacle(void *context, const double *x, double *y) {
    *y = rbt_obstacles_node(context, x, 0.01, NULL, NULL);
}

// Whether the obstacle pushes in the same direction all around x. At its surface the energy has a bend, inside a box
// the nearest face changes across planes, and the middle of a ball or rod has no normal: differences across these say
// nothing.
static bool smooth_around(const rbt_obstacles *one, const double x[3]) {
    double force[3], normal[3];
    if (rbt_obstacles_node(one, x, 0.01, force, NULL) == 0) return false;
    rbt_normalize(force, normal);
    for (int k = 0; k < 6; k++) {
        double y[3] = {x[0], x[1], x[2]}, beside[3];
        y[k / 2] += (k % 2 ? 4 : -4) * STEP;
        if (rbt_obstacles_node(one, y, 0.01, force, NULL) == 0) return false;
        rbt_normalize(force, beside);
        if (rbt_dot(normal, beside) < 0.999) return false;
    }
    return true;
}

static void check_obstacles(verify *v) {
    static const char *const names[] = {"plane", "sphere", "box", "capsule"};
    rbt_sim *sim = verify_sim("{'rubato': 1, 'bodies': [{'name': 'cube', 'mesh': {'shape': {'cuboid': {}}}}], "
                              "'obstacles': [{'plane': {'point': [0, 0.6, 0], 'normal': [1, 2, 2]}}, {'sphere': "
                              "{'centre': [0.1, 0.2, 0.3], 'radius': 0.5}}, {'box': {'min': [-0.5, -0.3, -0.4], "
                              "'max': [0.5, 0.6, 0.3]}}, {'capsule': {'a': [-1, 0, 0], 'b': [1, 0.2, 0], 'radius': "
                              "0.4}}]}");
    const rbt_obstacles *all = &sim->model->obstacles;
    for (size_t i = 0; i < all->count; i++) {
        rbt_obstacles one = {1, all->items + i, NULL};
        double worst = 0, x[3], force[3];
        for (int tries = 0; tries < 200;) {
            for (int k = 0; k < 3; k++) x[k] = verify_random(-0.6, 0.6);
            if (!smooth_around(&one, x)) continue;
            rbt_obstacles_node(&one, x, 0.01, force, NULL);
            for (int k = 0; k < 3; k++) force[k] = -force[k];
            worst = verify_larger(worst, slope_error(energy_of_obstacle, &one, x, 3, 1, force));
            tries++;
        }
        verify_row(v, worst < BOUND, "obstacle: %s|%.1e||%.0e", names[i], worst, BOUND);
    }
    rbt_sim_free(sim);
}

// ---- The function that an implicit step minimises

static void value_of_step(void *context, const double *z, double *y) { *y = rbt_objective_value(context, z); }
static void gradient_of_step(void *context, const double *z, double *y) { rbt_objective_gradient(context, z, y); }

// Damped, pressed into a plane, with a constrained end: all terms of E at once. Stretched, so that the projection
// changes nothing.
static void check_step(verify *v) {
    rbt_sim *sim = verify_sim("{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, "
                              "0.1, 0.1], 'cells': [4, 1, 1]}}}, 'material': {'young': 1e4, 'poisson': 0.3}, "
                              "'deform': [{'scale': {'factors': [1.2, 1.1, 1.1]}}], 'damping': {'mass': 2, "
                              "'stiffness': 0.01}, 'fixed': ['left']}], 'obstacles': [{'plane': {'point': [0, 0, "
                              "0], 'normal': [0, 1, 0], 'stiffness': 1e6}}]}");
    rbt_model *m = sim->model;
    size_t n = 3 * m->node_count;
    rbt_objective o;
    if (!rbt_objective_init(&o, m, NULL)) verify_stop("no memory for a step");
    o.tau = 0.02;
    o.base = sim->state.x;
    rbt_constrained_nodes(m, 0, o.constrained);
    rbt_objective_freeze_damping(&o, sim->state.x);
    double *z = verify_copy(sim->state.x, n), *g = verify_vector(m), constrained = 0;
    for (size_t i = 0; i < n; i++) {
        o.target[i] = z[i] + verify_random(-0.01, 0.01);
        z[i] += o.constrained[i / 3] ? 0 : verify_random(-0.004, 0.004);
        constrained += o.constrained[i / 3] != 0;
    }
    rbt_objective_gradient(&o, z, g);
    rbt_objective_hessian(&o, z);
    double *H = dense_of_blocks(&o.H), *J = jacobian(value_of_step, &o, z, n, 1),
           *G = jacobian(gradient_of_step, &o, z, n, n), slope = 0, curvature = 0;
    for (size_t i = 0; i < n; i++) {
        if (o.constrained[i / 3]) continue;
        slope = verify_larger(slope, fabs(J[i] - g[i]));
        for (size_t j = 0; j < n; j++)
            if (!o.constrained[j / 3]) curvature = verify_larger(curvature, fabs(G[i * n + j] - H[i * n + j]));
    }
    slope /= verify_largest(g, n);
    curvature /= verify_largest(H, n * n);
    verify_row(v, constrained > 0 && slope < BOUND && curvature < BOUND,
               "function of an implicit step|%.1e|%.1e|%.0e", slope, curvature, BOUND);
    free(H), free(J), free(G), free(g), free(z);
    rbt_objective_free(&o);
    rbt_sim_free(sim);
}

void verify_assembly(verify *v) {
    verify_say(
        v, "## Assembled forces and matrices\n\n"
           "The same differences on whole models: nodal forces against the slope of the energy, the sparse matrix "
           "(made dense) against the slope of the forces. The function of an implicit step has inertia, "
           "elasticity, damping, an obstacle and constrained nodes at once.\n");
    verify_table(v, "what|force|matrix|bound");
    check_model(v, "bar with all tet materials", all_materials());
    check_model(v, "shell: membranes and hinges", sheet("'shell': {'thickness': 0.1}"));
    check_model(v, "shell: springs and hinges", sheet("'shell': {'thickness': 0.1, 'membrane': 'springs'}"));
    check_obstacles(v);
    check_step(v);
}
