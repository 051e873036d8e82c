// The patch test and rigid motions, on a body of irregular tets: a grid whose inner nodes are displaced at random.
#include "mesh/generate/generate.h"
#include "rubato/mesh.h"
#include "verify.h"

#include <unistd.h>

enum { CELLS = 5 };

// Writes the irregular body to a file whose name is returned, to be removed and freed. Inner nodes move by up to a
// quarter of a cell in each direction; every tet stays the right way round, which the model's compiler checks.
static char *irregular_mesh(void) {
    const char *base = getenv("TMPDIR");
    char *path = NULL;
    if (asprintf(&path, "%s/rubato-verify-XXXXXX.msh", base && base[0] ? base : "/tmp") < 0)
        verify_stop("no memory for a name");
    int handle = mkstemps(path, 4);
    if (handle < 0) verify_stop("cannot make %s", path);
    close(handle);
    rbt_box_shape shape = {{1, 1, 1}, {CELLS, CELLS, CELLS}};
    rbt_error error;
    rbt_mesh *mesh = rbt_shape_generate("cuboid", &shape, &error);
    if (!mesh) verify_stop("cannot make a cuboid");
    for (size_t n = 0; n < mesh->node_count; n++) {
        double *x = mesh->nodes + 3 * n;
        bool inner = verify_larger(fabs(x[0]), verify_larger(fabs(x[1]), fabs(x[2]))) < 0.5 - 1e-9;
        for (int i = 0; inner && i < 3; i++) x[i] += verify_random(-0.25, 0.25) / CELLS;
    }
    if (!rbt_mesh_write(mesh, path, true, &error)) verify_stop("cannot write %s", path);
    rbt_mesh_free(mesh);
    return path;
}

// Boundary nodes fixed; backward Euler with a step so long that inertia is nothing beside stiffness finds the
// equilibrium.
static rbt_sim *irregular_body(const char *mesh, const char *material) {
    return verify_sim("{'rubato': 1, 'bodies': [{'name': 'body', 'mesh': {'file': '%s'}, 'material': {'model': '%s', "
                      "'young': 1e5, 'poisson': 0.3}, 'fixed': [{'not': {'box': {'min': [-0.499, -0.499, -0.499], "
                      "'max': [0.499, 0.499, 0.499]}}}]}], 'time': {'step': 1e4, 'frame': 1e4, 'end': 1e4}, "
                      "'integrator': {'method': 'backward-euler', 'options': {'tolerance': 1e-12}}}",
                      mesh, material);
}

static void affine(const double F[9], const rbt_model *m, double *x) {
    for (size_t n = 0; n < m->node_count; n++)
        for (size_t i = 0; i < 3; i++) x[3 * n + i] = 0.1 * (double)i + rbt_dot(F + 3 * i, m->X + 3 * n);
}

static void check_patch(verify *v, const char *mesh, const char *material) {
    // Stretched, sheared and turned a little: also linear elasticity and those weak under compression take it.
    static const double F[9] = {1.12, 0.05, -0.03, 0.02, 1.05, 0.08, 0.04, -0.06, 1.09};
    rbt_sim *sim = irregular_body(mesh, material);
    const rbt_model *m = sim->model;
    size_t n = 3 * m->node_count;
    double *exact = verify_vector(m), *f = verify_vector(m), inner = 0, outer = 0;
    affine(F, m, exact);
    verify_elastic_force(m, exact, f);
    for (size_t i = 0; i < n; i++)
        if (m->role[i / 3] == RBT_FREE) inner = verify_larger(inner, fabs(f[i]));
        else outer = verify_larger(outer, fabs(f[i]));
    memcpy(sim->state.x, exact, n * sizeof *exact);
    for (size_t i = 0; i < n; i++)
        if (m->role[i / 3] == RBT_FREE) sim->state.x[i] += verify_random(-0.02, 0.02);
    rbt_step_report report;
    bool found = verify_steps(sim, 1, &report);
    double distance = verify_distance(sim->state.x, exact, n);
    // Positions of 0.6 m are rounded by eps / 4, strains across edges of 0.05 m and more by 2e-15, which is 2e-14 of
    // the strains here; 24 tets around a node with random signs make 1e-13 of it, and 2e-13 is the bound. The solver
    // stops at 1e-12 of the characteristic force; the softest inner motion is some CELLS^2 times softer than one tet:
    // 1e-10 m.
    verify_row(v, inner / outer < 2e-13 && found && distance < 1e-10, "%s|%.1e|2e-13|%.1e m|1e-10 m", material,
               inner / outer, distance);
    free(exact), free(f);
    rbt_sim_free(sim);
}

void verify_patch(verify *v) {
    char *mesh = irregular_mesh();
    verify_say(v,
               "## Patch test\n\n"
               "A cube of 1 m of %d irregular tets whose surface nodes follow an affine map (stretch, shear and a "
               "little rotation) must follow it inside. First the forces on inner nodes in the affine state, beside "
               "the largest force on the surface; then the inner nodes are displaced at random by up to 2 cm and the "
               "equilibrium is looked for: its largest distance to the affine state.\n",
               6 * CELLS * CELLS * CELLS);
    verify_table(v, "material|inner forces|bound|equilibrium off by|bound");
    for (int i = 0; rbt_material_at(i); i++) check_patch(v, mesh, rbt_material_name(i));
    unlink(mesh);
    free(mesh);
}

static double moved_force(const rbt_model *m, bool turned, const double away[3]) {
    const double origin[3] = {0}, axis[3] = {2.0 / 7, 3.0 / 7, 6.0 / 7};
    double *x = verify_vector(m), *f = verify_vector(m), worst = 0;
    for (int k = 1; k <= (turned ? 12 : 1); k++) {
        for (size_t n = 0; n < m->node_count; n++) {
            rbt_rotate(m->X + 3 * n, origin, axis, turned ? k * 0.5 : 0, x + 3 * n);
            rbt_add_scaled(x + 3 * n, 1, away);
        }
        verify_elastic_force(m, x, f);
        worst = verify_larger(worst, verify_largest(f, 3 * m->node_count));
    }
    free(x), free(f);
    return worst;
}

void verify_rigid(verify *v) {
    char *mesh = irregular_mesh();
    const double young = 1e5, cell = 1.0 / CELLS, away[3] = {1, -2, 3};
    verify_say(
        v, "## Rigid motion\n\n"
           "The same body carried away by (1, -2, 3) m and turned by twelve angles up to 6 rad feels no force. "
           "Largest nodal force beside Young's modulus times the area of a cell's side. Linear elasticity takes a "
           "rotation for a strain; there only the translation is asked for, and the force of the rotations shown.\n");
    verify_table(v, "material|largest force|bound|turned");
    // Positions of 4 m are rounded by 4 eps / 2, so strains across edges of about 0.1 m by 4e-15 each; with moduli of
    // up to 2 E, faces of a cell's area and 24 tets around a node: at most 2e-13, some 100 times what random signs
    // leave.
    const double bound = 2e-13;
    for (int i = 0; rbt_material_at(i); i++) {
        const rbt_material *material = rbt_material_at(i);
        rbt_sim *sim = irregular_body(mesh, material->name);
        double scale = young * cell * cell,
               force = moved_force(sim->model, material->rotation_invariant, away) / scale;
        char turned[32] = "";
        bool wrong = false;
        if (!material->rotation_invariant) {
            double strain = moved_force(sim->model, true, away) / scale;
            wrong = strain < 1e-3;
            snprintf(turned, sizeof turned, "%.2g", strain);
        }
        verify_row(v, force < bound && !wrong, "%s|%.1e|%.0e|%s", material->name, force, bound, turned);
        rbt_sim_free(sim);
    }
    // Sheets with cells of the same size, as thick as a cell
    static const char *const kinds[] = {"constant-strain", "springs"};
    for (int i = 0; i < 2; i++) {
        rbt_sim *sim =
            verify_sim("{'rubato': 1, 'bodies': [{'name': 'sheet', 'mesh': {'shape': {'cloth': {'cells_along': "
                       "%d, 'cells_across': %d}}}, 'material': {'young': %g, 'poisson': 0.3}, 'shell': {'thickness': "
                       "0.2, 'membrane': '%s'}}]}",
                       CELLS, CELLS, young, kinds[i]);
        double force = moved_force(sim->model, true, away) / (young * cell * cell);
        verify_row(v, force < bound, "shell, %s|%.1e|%.0e|", kinds[i], force, bound);
        rbt_sim_free(sim);
    }
    unlink(mesh);
    free(mesh);
}
