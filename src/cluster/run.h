// A run of a scene by several ranks together: what sim/run.h does for one program. The first rank reads the scene and
// its meshes, divides them, sends every rank its part and forgets the whole; it alone prints and writes what there is
// one of.
#ifndef RBT_CLUSTER_RUN_H
#define RBT_CLUSTER_RUN_H

#include "cluster/communicator.h"
#include "sim/run.h"

typedef struct rbt_cluster_order {  // what the first rank was told
    const rbt_scene *scene;
    const char *scene_text;
    const char *folder;
    int64_t frames, from_frame;
    bool resume, quiet, json;
    int threads;
    const volatile int *stop;
} rbt_cluster_order;

// Whether ranks can run a scene; else the error says what they do not know yet.
bool rbt_cluster_accepts(const rbt_scene *scene, rbt_error *error);

// All ranks call it; `order` counts at the first only. Returns the exit code, the same everywhere.
int rbt_cluster_run(MPI_Comm world, const rbt_cluster_order *order);

#endif
