// Where the surface of a mesh passes through itself, and where connected parts of it pass through each other: exactly
// (intersect.h). What only touches does not count: files may list corners several times.
#ifndef RBT_VERIFY_EXACT_CROSSINGS_H
#define RBT_VERIFY_EXACT_CROSSINGS_H

#include "rubato/mesh.h"

typedef struct rbt_surface_crossing {  // edges through triangles
    size_t count;
    double place[3];   // of the first
    int32_t parts[2];  // that it is between, as rbt_components counts them
} rbt_surface_crossing;

typedef struct rbt_crossings {
    rbt_surface_crossing within;   // one part
    rbt_surface_crossing between;  // two
    bool more;                     // there are more than were looked at
} rbt_crossings;

// Nodes must be finite.
bool rbt_mesh_crossings(const rbt_mesh *mesh, rbt_crossings *crossings, rbt_error *error);

#endif
