// Obstacles, and the positions that those made of meshes follow.
#include "scene/table.h"
#include "scene/table_macros.h"

#define STIFFNESS(type)                                                                                              \
    {                                                                                                                \
        FIELD(type, stiffness, RBT_REAL), .flags = RBT_ABOVE, .fallback = {1e6}, .unit = "Pa/m",                     \
                                          .doc = "Pressure per depth of a node inside the obstacle."                 \
    }

#define SCRIPT(type)                                                                                                 \
    {                                                                                                                \
        FIELD(type, motions, RBT_VARIANTS), .of.variants = &RBT_MOTION_VARIANTS,                                     \
                                            .doc = "How it moves, as driven nodes do; in scenes with contact."       \
    }

static const rbt_field OBSTACLE_PLANE[] = {
    {FIELD(rbt_obstacle_plane, point, RBT_VEC3), .unit = "m", .doc = "A point of the plane."},
    {FIELD(rbt_obstacle_plane, normal, RBT_VEC3), .flags = RBT_NOT_EMPTY, .fallback = {0, 1, 0},
     .doc = "Points to the free side; its length does not matter."},
    STIFFNESS(rbt_obstacle_plane),
    SCRIPT(rbt_obstacle_plane),
};
RECORD(static, OBSTACLE_PLANE_RECORD, rbt_obstacle_plane, OBSTACLE_PLANE, "obstacle-plane", "Ground or wall.");

static const rbt_field OBSTACLE_SPHERE[] = {
    {FIELD(rbt_obstacle_sphere, centre, RBT_VEC3), .unit = "m", .doc = "Its centre."},
    {FIELD(rbt_obstacle_sphere, radius, RBT_REAL), .flags = RBT_REQUIRED | RBT_ABOVE, .unit = "m",
     .doc = "Its radius.", .example = "0.1"},
    STIFFNESS(rbt_obstacle_sphere),
    SCRIPT(rbt_obstacle_sphere),
};
RECORD(static, OBSTACLE_SPHERE_RECORD, rbt_obstacle_sphere, OBSTACLE_SPHERE, "obstacle-sphere", "A ball.");

static const rbt_field OBSTACLE_BOX[] = {
    {FIELD(rbt_obstacle_box, min, RBT_VEC3), .flags = RBT_REQUIRED, .unit = "m",
     .doc = "Corner with the smallest coordinates.", .example = "[-1, -1, -1]"},
    {FIELD(rbt_obstacle_box, max, RBT_VEC3), .flags = RBT_REQUIRED, .unit = "m",
     .doc = "Corner with the largest coordinates.", .example = "[1, 0, 1]"},
    STIFFNESS(rbt_obstacle_box),
    SCRIPT(rbt_obstacle_box),
};
RECORD(, RBT_OBSTACLE_BOX_RECORD, rbt_obstacle_box, OBSTACLE_BOX, "obstacle-box",
       "A block with edges along the axes.");

static const rbt_field OBSTACLE_CAPSULE[] = {
    {FIELD(rbt_obstacle_capsule, a, RBT_VEC3), .flags = RBT_REQUIRED, .unit = "m", .doc = "Centre of one end.",
     .example = "[-1, 0, 0]"},
    {FIELD(rbt_obstacle_capsule, b, RBT_VEC3), .flags = RBT_REQUIRED, .unit = "m", .doc = "Centre of the other end.",
     .example = "[1, 0, 0]"},
    {FIELD(rbt_obstacle_capsule, radius, RBT_REAL), .flags = RBT_REQUIRED | RBT_ABOVE, .unit = "m",
     .doc = "Its radius.", .example = "0.1"},
    STIFFNESS(rbt_obstacle_capsule),
    SCRIPT(rbt_obstacle_capsule),
};
RECORD(static, OBSTACLE_CAPSULE_RECORD, rbt_obstacle_capsule, OBSTACLE_CAPSULE, "obstacle-capsule",
       "A rod with round ends.");

static const rbt_field SEQUENCE[] = {
    {FIELD(rbt_sequence_def, file, RBT_TEXT), .flags = RBT_REQUIRED | RBT_NOT_EMPTY,
     .doc =
         "A PC2 point cache (\"walk.pc2\"), or mesh files with a number each (\"walk_###.obj\": # stands for a "
         "digit of the number, filled up with zeros), relative to the folder of the scene. Every frame has the nodes "
         "of the mesh, in its order and its unit; the transform places them too.",
     .example = "\"walk.pc2\""},
    {FIELD(rbt_sequence_def, first, RBT_INT), .max = 99999999,
     .doc = "Number of the first frame; those of a cache count from 0."},
    {FIELD(rbt_sequence_def, last, RBT_INT), .flags = RBT_AUTO, .fallback = {-1}, .max = 99999999,
     .doc = "Number of the last frame; \"auto\": the last of a cache. Numbered files need it."},
    {FIELD(rbt_sequence_def, rate, RBT_REAL), .flags = RBT_ABOVE, .fallback = {25}, .unit = "1/s",
     .doc = "Frames per second; the times that a cache gives are not looked at."},
    {FIELD(rbt_sequence_def, from, RBT_REAL), .unit = "s",
     .doc = "When the first frame is reached; until then the nodes stay there."},
    {FIELD(rbt_sequence_def, loop, RBT_BOOL),
     .doc = "Begin again after the last frame, from which it takes as long to the first as between two others; "
            "otherwise the nodes stay where the last one has them."},
};
RECORD(, RBT_SEQUENCE_RECORD, rbt_sequence_def, SEQUENCE, "sequence",
       "Positions of a mesh's nodes, frame by frame; between two frames they are linear in time.");

static const rbt_field OBSTACLE_MESH[] = {
    {FIELD(rbt_obstacle_mesh, mesh, RBT_RECORD), .flags = RBT_REQUIRED, .of.record = &RBT_MESH_RECORD,
     .doc = "Its triangles, or the surface of its tetrahedra.", .example = "{\"shape\": {\"polyhedron\": {}}}"},
    {FIELD(rbt_obstacle_mesh, transform, RBT_RECORD), .of.record = &RBT_TRANSFORM_RECORD, .doc = "Where it is."},
    {FIELD(rbt_obstacle_mesh, sequence, RBT_OPTIONAL), .of.record = &RBT_SEQUENCE_RECORD,
     .doc = "Positions that its nodes follow instead of those in the mesh."},
    SCRIPT(rbt_obstacle_mesh),
};
RECORD(
    , RBT_OBSTACLE_MESH_RECORD, rbt_obstacle_mesh, OBSTACLE_MESH, "obstacle-mesh",
    "A surface of triangles, at rest, moved as a whole or following a sequence of positions; motions come on top of "
    "the sequence. Nothing passes through it from either side. In scenes with contact only.");

static const rbt_field OBSTACLES[RBT_OBSTACLE_KINDS] = {
    [RBT_OBSTACLE_PLANE] = ALTERNATIVE("plane", &OBSTACLE_PLANE_RECORD, "Ground or wall."),
    [RBT_OBSTACLE_SPHERE] = ALTERNATIVE("sphere", &OBSTACLE_SPHERE_RECORD, "A ball."),
    [RBT_OBSTACLE_BOX] = ALTERNATIVE("box", &RBT_OBSTACLE_BOX_RECORD, "A block with edges along the axes."),
    [RBT_OBSTACLE_CAPSULE] = ALTERNATIVE("capsule", &OBSTACLE_CAPSULE_RECORD, "A rod with round ends."),
    [RBT_OBSTACLE_MESH] = ALTERNATIVE("mesh", &RBT_OBSTACLE_MESH_RECORD, "A surface of triangles."),
};
VARIANTS(
    , RBT_OBSTACLE_VARIANTS, OBSTACLES, obstacle_at, "obstacle",
    "Things that bodies bounce off, and that no force moves: a node of surface area A that is d deep inside has the "
    "energy 1/2 k A d^2.",
    -1)

rbt_obstacle_mesh rbt_obstacle_mesh_default(void) {
    rbt_obstacle_mesh mesh;
    rbt_record_default(&RBT_OBSTACLE_MESH_RECORD, &mesh);
    return mesh;
}

rbt_sequence_def rbt_sequence_default(void) {
    rbt_sequence_def sequence;
    rbt_record_default(&RBT_SEQUENCE_RECORD, &sequence);
    return sequence;
}
