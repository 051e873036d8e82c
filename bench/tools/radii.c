// Spectral radii of imex: whole steps on random bodies. Prints a list of JSON objects, one per step in units of the
// body's bound: with damping and obstacles (test/support/coupled.h) how many bodies, how many with nodes of both
// kinds, the largest radius minus 1; and for the bodies as the paper has them, without damping and obstacles, of the
// implicit set by its local test alone ("paper") and of ours ("ours") how many nodes are implicit, how many steps
// have nodes of both kinds, how many are unstable, and the largest radius minus 1.
#include "base/text.h"
#include "base/threads.h"
#include "coupled.h"

#include <unistd.h>

enum { SETS = 2 };
static const char *const NAMES[SETS] = {"paper", "ours"};
static const char *const OPTIONS[SETS] = {
    ", 'options': {'safety': 1, 'certify': false, 'release': false, 'tolerance': 1e-13}",
    ", 'options': {'tolerance': 1e-13}"};
static const double UNSTABLE = 1e-7;  // beyond 1; steps solved to 1e-13 have radii to about 1e-14

typedef struct found {
    size_t implicit, mixed, unstable;
    double worst;
} found;

static found undamped(const char *mesh, double over, const char *options) {
    found f = {0};
    for (int k = 0; k < COUPLED_BODIES; k++) {
        coupled_mesh(mesh, k);
        rbt_sim *plain = coupled_sim(mesh, "symplectic-euler", &(coupled){.step = 1e-3});
        coupled c = {.step = over * rbt_stability_step_bound(plain->model, NULL, NULL, NULL), .solver = options};
        size_t moving = plain->model->node_count - 3;
        rbt_sim_free(plain);
        rbt_sim *sim = coupled_sim(mesh, "imex", &c);
        size_t implicit = coupled_implicit(sim);
        double radius = coupled_radius(sim, &c);
        f.implicit += implicit;
        f.mixed += implicit > 0 && implicit < moving;
        f.unstable += radius > 1 + UNSTABLE;
        f.worst = fmax(f.worst, radius);
        rbt_sim_free(sim);
    }
    return f;
}

int main(void) {
    char mesh[64];
    rbt_threads_set(1);  // many small steps
    snprintf(mesh, sizeof mesh, "/tmp/rubato_radii_%d.mesh", (int)getpid());
    for (int k = 0; k < COUPLED_STEPS; k++) {
        coupled_found damped = coupled_study(mesh, k, COUPLED_BODIES);
        printf("%s{\"over\": %g, \"bodies\": %d, \"mixed\": %zu, \"without\": %zu, \"beyond\": %.3g", k ? " " : "[",
               COUPLED_OVER[k], COUPLED_BODIES, damped.mixed, damped.without, damped.worst - 1);
        for (int i = 0; i < SETS; i++) {
            found f = undamped(mesh, COUPLED_OVER[k], OPTIONS[i]);
            printf(", \"%s\": {\"implicit\": %zu, \"mixed\": %zu, \"unstable\": %zu, \"beyond\": %.3g}", NAMES[i],
                   f.implicit, f.mixed, f.unstable, f.worst - 1);
        }
        printf("}%s\n", k + 1 < COUPLED_STEPS ? "," : "]");
    }
    return unlink(mesh) != 0;
}
