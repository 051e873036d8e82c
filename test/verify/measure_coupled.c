// imex: explicit and implicit nodes in one step, with damping and obstacles.
#include "coupled.h"
#include "verify.h"

#include <unistd.h>

void verify_coupled(verify *v) {
    char mesh[64];
    int bodies = v->full ? COUPLED_BODIES : COUPLED_BODIES / 10;
    snprintf(mesh, sizeof mesh, "/tmp/rubato_verify_%d.mesh", (int)getpid());
    verify_say(
        v, "## imex with damping and obstacles\n\n"
           "What imex leaves explicit must be stable together with what it makes implicit (the proof is in "
           "`step/explicit/stability.h`). Whole steps as matrices over positions and velocities: random Delaunay "
           "bodies of "
           "linear elasticity with slivers, Rayleigh damping of mass (h alpha up to 1) and stiffness (beta / h up "
           "to 10) and two planes each (h^2 k A / m up to 100), which all nodes touch, some, or none. Steps in "
           "units of the largest stable one of the undamped body; bound of the spectral radius: 1 + 1e-7, as "
           "rounding may split a double eigenvalue on the unit circle.\n");
    verify_table(v, "h over that bound|bodies|with nodes of both kinds|all explicit|largest spectral radius");
    for (int k = 0; k < COUPLED_STEPS; k++) {
        coupled_found found = coupled_study(mesh, k, bodies);
        verify_row(v, found.worst <= 1 + 1e-7, "%g|%d|%zu|%zu|1 + %.1e", COUPLED_OVER[k], bodies, found.mixed,
                   found.without, found.worst - 1);
    }
    unlink(mesh);
}
