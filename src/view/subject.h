// What is to be looked at: the frames of a run's folder, or one mesh file, coloured by something.
#ifndef RBT_VIEW_SUBJECT_H
#define RBT_VIEW_SUBJECT_H

#include "rubato/mesh.h"
#include "rubato/sim.h"
#include "view/coloring.h"
#include "view/figure.h"
#include "view/frames.h"
#include "view/scenery.h"

typedef struct rbt_subject {
    const rbt_coloring *coloring;
    bool is_run;             // else one mesh file
    const rbt_sim *sim;      // a simulation instead of files, one frame; NULL: none
    rbt_frames frames;       // a mesh file: one entry at time 0
    const rbt_scene *scene;  // of the run, for the radii of its particles; NULL: unknown
    // The hull of the last tets, kept because the tets of a run's frames are usually the same:
    size_t tet_count, node_count, hull_count;
    int32_t *tets, *hull, *owner;
    // Names of the element sets that colour a mesh file by region:
    size_t name_count;
    char **names;
} rbt_subject;

bool rbt_subject_open(rbt_subject *subject, const char *path, const rbt_coloring *coloring, rbt_error *error);
bool rbt_subject_open_sim(rbt_subject *subject, const rbt_sim *sim, const rbt_coloring *coloring, rbt_error *error);
void rbt_subject_free(rbt_subject *subject);

// The surface of a frame with the values to colour it by; `scenery` (may be NULL) is added behind the subject's own
// triangles.
bool rbt_subject_load(rbt_subject *subject, size_t frame, const rbt_scenery *scenery, rbt_figure *figure,
                      rbt_error *error);

#endif
