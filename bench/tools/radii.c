// Spectral radii of imex: whole steps on random bodies with damping and obstacles (test/support/coupled.h). Prints a
// list of JSON objects, one per step: in units of the body's bound, how many bodies, how many with nodes of both kinds,
// the largest radius minus 1.
#include "base/text.h"
#include "base/threads.h"
#include "coupled.h"

#include <unistd.h>

int main(void) {
    char mesh[64];
    rbt_threads_set(1);  // many small steps
    snprintf(mesh, sizeof mesh, "/tmp/rubato_radii_%d.mesh", (int)getpid());
    for (int k = 0; k < COUPLED_STEPS; k++) {
        coupled_found found = coupled_study(mesh, k, COUPLED_BODIES);
        printf("%s{\"over\": %g, \"bodies\": %d, \"mixed\": %zu, \"without\": %zu, \"beyond\": %.3g}%s\n",
               k ? " " : "[", COUPLED_OVER[k], COUPLED_BODIES, found.mixed, found.without, found.worst - 1,
               k + 1 < COUPLED_STEPS ? "," : "]");
    }
    return unlink(mesh) != 0;
}
