// A soft bar, held at one end, bends under its weight: a scene built in C with a mesh from memory, frame by frame.
//   cc hang.c $(pkg-config --cflags --libs rubato) -o hang
#include <rubato/rubato.h>

#include <stdio.h>

static bool show(const rbt_sim *sim, int64_t frame, void *context) {
    size_t tip = *(const size_t *)context;
    rbt_energies e = rbt_sim_energies(sim);
    if (frame % 10 == 0)
        printf("%6.2f s  tip height %+.4f m  energy %.5f J\n", rbt_sim_time(sim), rbt_sim_positions(sim)[3 * tip + 1],
               e.total);
    return true;
}

static int fail(const rbt_error *error) {
    char text[2048];
    fprintf(stderr, "%s\n", rbt_error_text(error, text, sizeof text));
    return 1;
}

int main(void) {
    rbt_error error;
    // Any mesh will do: fill the arrays of an rbt_mesh yourself, read a file, or generate a shape.
    rbt_mesh *mesh = rbt_mesh_generate("bar", "{\"cells\": [16, 2, 2]}", &error);
    if (!mesh) return fail(&error);
    size_t tip = mesh->node_count - 1;

    // Every struct starts from its defaults; alternatives are an enum constant and a pointer to their struct.
    rbt_select_box left = {{0, 0, 0}, {0.01, 1, 1}, true};
    rbt_selection fixed = {RBT_SELECT_BOX, &left};
    rbt_force_gravity down = {{0, -9.81, 0}};
    rbt_force gravity = {RBT_FORCE_GRAVITY, &down};

    rbt_body_def bar = rbt_body_default();
    bar.name = "bar";
    bar.mesh.mesh = mesh;
    bar.material.young = 5e5;
    bar.fixed.count = 1;
    bar.fixed.items = &fixed;

    rbt_siere_options options = rbt_siere_options_default();
    options.modes = 8;
    rbt_scene scene = rbt_scene_default();
    scene.bodies.count = 1;
    scene.bodies.items = &bar;
    scene.forces.count = 1;
    scene.forces.items = &gravity;
    scene.time.step = 0.01;
    scene.time.end = 1;
    scene.integrator.method = rbt_method_find("siere");
    scene.integrator.options = &options;

    rbt_sim *sim = rbt_sim_create(&scene, &error);
    rbt_mesh_free(mesh);  // it was only borrowed
    if (!sim) return fail(&error);
    rbt_step_report report;
    bool done = rbt_sim_run(sim, show, &tip, &report);
    if (!done) fprintf(stderr, "a step failed: %s in stage %s\n", rbt_outcome_name(report.outcome), report.stage);
    rbt_sim_free(sim);
    return done ? 0 : 1;
}
