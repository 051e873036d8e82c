// The stages of rbt_model_compile: each fills its part of the model from the scene and the bodies' meshes.
#ifndef RBT_MODEL_COMPILE_H
#define RBT_MODEL_COMPILE_H

#include "model/sources.h"

typedef struct rbt_compiler {
    const rbt_scene *scene;
    rbt_model *model;  // being filled
    rbt_arena *arena;  // of the model
    rbt_sources *sources;
    rbt_mesh **uncut;   // (body count) placed in the world, of the sources
    rbt_mesh **meshes;  // (body count) the same, or what cuts have left: nodes and elements only, freed at the end
    rbt_body *bodies;   // (body count)
    rbt_error *error;
} rbt_compiler;

// An array of the model; false with the error filled if there is no memory.
#define RBT_TAKE(compiler, pointer, count)                                                                           \
    (((pointer) = rbt_arena_take((compiler)->arena, (count), sizeof *(pointer))) != NULL ||                          \
     rbt_fail_memory((compiler)->error, (size_t)(count) * sizeof *(pointer), #pointer))

bool rbt_compile_warn(rbt_compiler *c, const char *format, ...) RBT_PRINTF(2, 3);
bool rbt_compile_fail(rbt_compiler *c, size_t body, const char *member, const char *format, ...) RBT_PRINTF(4, 5);

// JSON path of a member of a body, as bodies[2].fixed[0]; lives in the compiler's arena.
const char *rbt_compile_path(rbt_compiler *c, const char *format, ...) RBT_PRINTF(2, 3);

// Nodes of a body that a selection chooses: chosen (nodes of the body). Selections are made on the uncut mesh.
bool rbt_compile_select(rbt_compiler *c, size_t body, const rbt_selection *where, const char *path,
                        unsigned char *chosen);

// What cuts have made of a body's mesh; NULL if they have not.
const rbt_dissection *rbt_compile_dissection(const rbt_compiler *c, size_t body);

bool rbt_compile_meshes(rbt_compiler *c);       // files and generators, placed, judged, oriented
bool rbt_compile_geometry(rbt_compiler *c);     // one set of arrays for all bodies, surface, corners
bool rbt_compile_materials(rbt_compiler *c);    // regions, masses, element groups, estimated explicit step
bool rbt_compile_selections(rbt_compiler *c);   // what has a name
bool rbt_compile_constraints(rbt_compiler *c);  // fixed and driven nodes
bool rbt_compile_tempos(rbt_compiler *c);       // parts that take steps of their own
bool rbt_compile_start(rbt_compiler *c);        // x0 and v0
bool rbt_compile_loads(rbt_compiler *c);        // forces and obstacles
bool rbt_compile_contact(rbt_compiler *c);      // friction and gaps
bool rbt_compile_probes(rbt_compiler *c);       // what is read
bool rbt_compile_events(rbt_compiler *c);       // what is done while time runs
bool rbt_compile_input(rbt_compiler *c);        // where callers' forces and motions will be
bool rbt_compile_embedded(rbt_compiler *c);     // embedded render surfaces
bool rbt_compile_time(rbt_compiler *c);

// The nodes that a selection chooses in a body, or in all (NULL), with their shares of the mass.
bool rbt_compile_shares(rbt_compiler *c, const char *body, const rbt_selection *where, const char *path,
                        rbt_node_load *load);

// Parts of rbt_compile_materials: element groups and the plan; the explicit step of each body's tets
bool rbt_compile_groups(rbt_compiler *c);
void rbt_compile_tet_steps(rbt_compiler *c);

// Parts of rbt_compile_materials for shells and nets: masses (node_count, added to); their groups, appended to the
// model's (RBT_SHEET_GROUPS at most); scales for tolerances and the estimate of each body's explicit step.
enum { RBT_SHEET_GROUPS = 4 };
void rbt_compile_sheet_masses(rbt_compiler *c, double *mass);
bool rbt_compile_sheet_groups(rbt_compiler *c, rbt_group *groups);
bool rbt_compile_sheet_scales(rbt_compiler *c);

#endif
