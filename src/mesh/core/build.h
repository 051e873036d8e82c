// Putting a mesh together piece by piece: growing arrays, named sets, merging. Used by readers and generators.
#ifndef RBT_MESH_CORE_BUILD_H
#define RBT_MESH_CORE_BUILD_H

#include "base/memory.h"
#include "rubato/mesh.h"

rbt_mesh *rbt_mesh_new(rbt_error *error);
void rbt_mesh_clear(rbt_mesh *mesh);  // frees the arrays, keeps the struct

// Allocates zeroed arrays of exactly these sizes (checked against INT32_MAX); earlier arrays must be NULL.
bool rbt_mesh_allocate(rbt_mesh *mesh, size_t nodes, size_t tets, size_t triangles, size_t edges, rbt_error *error);

// Adds a copy of the items to the set of this name and kind (made if new); sorted and made unique by
// rbt_mesh_finish_sets, which must be called once at the end.
bool rbt_mesh_add_to_set(rbt_mesh *mesh, const char *name, rbt_set_kind kind, const int32_t *items, size_t count,
                         rbt_error *error);
bool rbt_mesh_finish_sets(rbt_mesh *mesh, rbt_error *error);
const rbt_mesh_set *rbt_mesh_find_set(const rbt_mesh *mesh, const char *name);

// Whether a mesh that somebody else has filled can be looked at: it is there, and so are its arrays, and every index
// names something. Places need not be finite.
bool rbt_mesh_is_whole(const rbt_mesh *mesh, const char *name, rbt_error *error);

// A copy of a mesh that somebody else owns, with everything about it checked that a reader makes sure of: arrays that
// are there, finite places, indices, sets with names. The message calls it `name`.
rbt_mesh *rbt_mesh_copy(const rbt_mesh *mesh, const char *name, rbt_error *error);

// Swaps two corners of a tet that is inside out.
void rbt_tet_orient(const double *nodes, int32_t tet[4]);

// Every index within the nodes, every set item within its kind; the error names element, index and limit.
bool rbt_mesh_check_indices(const rbt_mesh *mesh, const char *file, rbt_error *error);

#endif
