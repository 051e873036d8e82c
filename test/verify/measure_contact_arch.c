// Masonry arches: loose blocks that friction and their shape alone keep up.
//
// A semicircular arch whose joints lie along the radii needs a coefficient of friction of about 0.4: the line of thrust
// meets the lower joints that much askew. So it stands at 0.5; at 0.2 blocks slide out and it falls. Blocks start
// nearly as far apart as the forces in the arch will hold them: 99 % of the thickness, of which the weight takes 1 %.
#include "rubato/rubato.h"
#include "verify.h"

enum { BLOCKS = 25, BODIES = BLOCKS + 2, CORNERS = 8, TETS = 6 };  // with an abutment at each end

static const double RADIUS = 10, DEPTH = 2, WIDTH = 2;  // [m] of the ring inside, its depth, and along z
static const double THICKNESS = 1e-3;                   // of contact [m]

typedef struct arch {
    rbt_mesh meshes[BODIES];  // blocks from left to right between the abutments
    double nodes[BODIES][3 * CORNERS];
    int32_t tets[BODIES][4 * TETS];
    char names[BODIES][12];
} arch;

// ---- The ring

// Block k, from -1 to BLOCKS. Corner i: bit 0 is front, bit 1 the right joint, bit 2 outside.
static void put_corners(int k, double *x) {
    for (int i = 0; i < CORNERS; i++, x += 3) {
        double r = RADIUS + (i & 4 ? DEPTH : 0), aside = (i & 2 ? 0.5 : -0.5) * 0.99 * THICKNESS;
        double angle = M_PI * (1 - (double)(k + (i & 2 ? 1 : 0)) / BLOCKS);
        x[0] = r * cos(angle) - aside * sin(angle);
        x[1] = r * sin(angle) + aside * cos(angle);
        x[2] = i & 1 ? 0.5 * WIDTH : -0.5 * WIDTH;
    }
}

// Kuhn's six tets, turned to have positive volume
static void put_tets(const double *x, int32_t *tets) {
    static const int32_t KUHN[4 * TETS] = {0, 1, 3, 7, 0, 1, 5, 7, 0, 2, 3, 7, 0, 2, 6, 7, 0, 4, 5, 7, 0, 4, 6, 7};
    memcpy(tets, KUHN, sizeof KUHN);
    for (int32_t *n = tets; n < tets + 4 * TETS; n += 4) {
        if (rbt_tet_volume(x + 3 * n[0], x + 3 * n[1], x + 3 * n[2], x + 3 * n[3]) > 0) continue;
        int32_t spare = n[1];
        n[1] = n[2], n[2] = spare;
    }
}

// ---- The published arch (Li et al. 2020): blocks of a catenary, whose meshes are not ours to ship. Its files have the
// corners in the order above, joints that touch, and are moved apart as published, (k, -|k|) times a little.

static bool read_blocks(arch *a) {
    for (int b = 1; b <= BLOCKS; b++) {
        char path[600];
        rbt_error error;
        snprintf(path, sizeof path, "%s/../shared/contact-scenes/masonry_arch/largeArch.%02d.msh", RBT_SOURCE_DIR, b);
        rbt_mesh *mesh = rbt_mesh_read(path, &error);
        bool fits = mesh && mesh->node_count == CORNERS;
        if (fits) memcpy(a->nodes[b], mesh->nodes, sizeof a->nodes[b]);
        rbt_mesh_free(mesh);
        if (!fits) return false;
        int k = b - 1 - BLOCKS / 2;
        for (int i = 0; i < CORNERS; i++) {
            a->nodes[b][3 * i] += k * 0.9 * THICKNESS;  // gaps of 1.06 to 1.27 thicknesses
            a->nodes[b][3 * i + 1] -= abs(k) * 0.9 * THICKNESS;
        }
    }
    return true;
}

// An abutment of 5 m behind a joint of the first or the last block, as far from it as blocks are from each other
static void put_abutment(const double *block, int joint, double *x) {
    double along[3], across[3], normal[3], out[3];
    rbt_subtract(block + 3 * (joint | 4), block + 3 * joint, along);
    rbt_subtract(block + 3 * (joint | 1), block + 3 * joint, across);
    rbt_cross(along, across, normal);
    rbt_normalize(normal, normal);
    rbt_subtract(block + 3 * joint, block + 3 * (joint ^ 2), out);
    double side = rbt_dot(out, normal) > 0 ? 1 : -1;
    for (int i = 0; i < CORNERS; i++) {
        bool near = (i & 2) != (joint & 2);
        memcpy(x + 3 * i, block + 3 * ((i & 5) | (joint & 2)), 3 * sizeof *x);
        rbt_add_scaled(x + 3 * i, side * (near ? 1.1 * THICKNESS : 5), normal);
    }
}

static bool build(arch *a, bool shared) {
    for (int b = 0; b < BODIES; b++) put_corners(b - 1, a->nodes[b]);
    if (shared) {
        if (!read_blocks(a)) return false;
        put_abutment(a->nodes[1], 0, a->nodes[0]);
        put_abutment(a->nodes[BLOCKS], 2, a->nodes[BODIES - 1]);
    }
    for (int b = 0; b < BODIES; b++) {
        put_tets(a->nodes[b], a->tets[b]);
        a->meshes[b] = (rbt_mesh){
            .node_count = CORNERS, .nodes = a->nodes[b], .tet_count = TETS, .tets = a->tets[b], .format = "made"};
        snprintf(a->names[b], sizeof a->names[b], "block-%d", b);
    }
    return true;
}

// ---- The run

static rbt_sim *create(arch *a, const char *method, double friction) {
    static const rbt_force_gravity GRAVITY = {{0, -9.80665, 0}};
    static const rbt_select_box BOX = {.min = {-1e3, -1e3, -1e3}, .max = {1e3, 1e3, 1e3}};
    static const rbt_selection EVERYTHING = {RBT_SELECT_BOX, &BOX};
    rbt_force force = {RBT_FORCE_GRAVITY, &GRAVITY};
    rbt_contact_def contact = {.thickness = THICKNESS, .friction = friction, .slip_speed = 1e-4};
    rbt_body_def bodies[BODIES];
    rbt_scene scene = rbt_scene_default();
    rbt_error error;
    for (int b = 0; b < BODIES; b++) {
        bodies[b] = rbt_body_default();
        bodies[b].name = a->names[b];
        bodies[b].mesh.mesh = &a->meshes[b];
        bodies[b].material = (rbt_material_def){rbt_material_find("fixed-corotated"), 2e10, 0.2, 2300};
        if (b == 0 || b == BODIES - 1) bodies[b].fixed.count = 1, bodies[b].fixed.items = &EVERYTHING;
    }
    scene.bodies.count = BODIES, scene.bodies.items = bodies;
    scene.forces.count = 1, scene.forces.items = &force;
    scene.contact = &contact;
    scene.time = (rbt_time_def){.step = 0.01, .frame = 0.01, .end = 20};
    scene.integrator.method = rbt_method_find(method);
    scene.integrator.solver = rbt_solver_find(scene.integrator.method, "newton");
    rbt_sim *sim = rbt_sim_create(&scene, &error);
    if (!sim) verify_stop("arch: %s", error.message);
    return sim;
}

typedef struct arch_motion {
    double largest;  // way of the node that is farthest from its start [m]
    double drop;     // of the keystone [m]
} arch_motion;

static arch_motion moved(const rbt_sim *sim, const double *start) {
    const double *x = rbt_sim_positions(sim);
    size_t key = CORNERS * (BODIES / 2), nodes = rbt_sim_node_count(sim);
    arch_motion m = {0, 0};
    for (size_t n = 0; n < nodes; n++) {
        double way[3];
        rbt_subtract(x + 3 * n, start + 3 * n, way);
        m.largest = verify_larger(m.largest, rbt_length(way));
        if (n >= key && n < key + CORNERS) m.drop -= way[1] / CORNERS;
    }
    return m;
}

// Stands: no node moves 1 cm in `duration`; falls: the keystone drops by `drop` within it.
static void run(verify *v, bool shared, const char *method, double friction, double duration, double drop) {
    arch a;
    rbt_step_report report;
    if (!build(&a, shared)) return;
    rbt_sim *sim = create(&a, method, friction);
    double *start = verify_copy(rbt_sim_positions(sim), 3 * rbt_sim_node_count(sim));
    bool stands = drop == 0, ended = true;
    arch_motion m = {0, 0};
    int64_t halved = 0;
    double largest = 0;
    while (ended && rbt_sim_time(sim) < duration - 1e-9 && (stands || m.drop <= drop)) {
        ended = rbt_sim_step(sim, &report);
        halved += report.halved_steps;
        m = moved(sim, start);
        largest = verify_larger(largest, m.largest);
    }
    bool holds = ended && (stands ? largest <= 0.01 : m.drop > drop);
    verify_row(v, holds, "%s|%s|%.1f|%.2f s|%s|%lld|%.3g m|%.3g m|%s %g m", shared ? "catenary" : "semicircle",
               method, friction, rbt_sim_time(sim), ended ? "done" : report.hint, (long long)halved, largest, m.drop,
               stands ? "no node moves" : "the keystone falls", stands ? 0.01 : drop);
    free(start);
    rbt_sim_free(sim);
}

void verify_arch(verify *v) {
    verify_say(
        v,
        "## Masonry arch\n\nA semicircular arch of %d loose blocks between two fixed ones: radius %g m inside, "
        "ring %g m deep and %g m wide, E 20 GPa, Poisson's ratio 0.2, 2300 kg/m³, contact 1 mm thick, steps of "
        "10 ms, slip speed 0.1 mm/s. It stands at friction 0.5 and must fall at 0.2. The catenary is that of Li et "
        "al. 2020, which spans 60 m, where its meshes are at hand, between fixed blocks that continue it: its joints "
        "are "
        "perpendicular to the thrust, so that it would stand at 0.2 as well.\n",
        BLOCKS, RADIUS, DEPTH, WIDTH);
    verify_table(v,
                 "arch|method|friction|until|outcome|halved steps|largest way of a node|drop of the keystone|bound");
    static const char *const METHODS[] = {"backward-euler", "bdf2", "implicit-midpoint"};
    for (int i = 0; i < (v->full ? 3 : 1); i++) run(v, false, METHODS[i], 0.5, v->full ? 20 : 0.5, 0);
    for (int i = 0; i < (v->full ? 3 : 1); i++) run(v, false, METHODS[i], 0.2, 5, v->full ? 1 : 0.03);
    if (v->full) run(v, true, METHODS[0], 0.5, 20, 0);
}
