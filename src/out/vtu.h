// VTK's XML format for unstructured grids (.vtu), raw appended binary: an XML head that says where each array begins,
// then the arrays as they lie in memory. ParaView and VTK read it without converting anything.
//
// Reference: "VTK XML Formats" and the VTK User's Guide, version 1.0 of the format, header_type UInt64. Behind the
// underscore an array is  [bytes][data]  or, compressed,  [blocks][block bytes][last block's bytes, 0 if full]
// [compressed bytes of each block...][data of each block...], all these numbers UInt64 and little endian.
#ifndef RBT_OUT_VTU_H
#define RBT_OUT_VTU_H

#include "out/surface.h"

enum { RBT_VTU_VERTEX = 1, RBT_VTU_LINE = 3, RBT_VTU_TRIANGLE = 5, RBT_VTU_TET = 10 };  // VTK's cell types

typedef struct rbt_vtu_field {
    const char *name;
    int components;
    const double *reals;  // (count x components), or NULL and
    const int32_t *ints;  // (count x components)
} rbt_vtu_field;

typedef struct rbt_vtu_grid {
    double time;  // [s] FieldData TimeValue
    size_t point_count, cell_count;
    const double *points;        // (point_count x 3)
    const int32_t *cells;        // the corners of all cells, one after the other
    int corners, cell_type;      // of every cell; or, if cells differ,
    const int32_t *ends;         // (cell_count) where each one's corners end, and
    const unsigned char *types;  // (cell_count) its type
    size_t point_field_count, cell_field_count;
    const rbt_vtu_field *point_fields, *cell_fields;
} rbt_vtu_grid;

typedef struct rbt_vtu_options {
    bool compress;          // vtkZLibDataCompressor
    bool single_precision;  // reals as Float32; the time stays Float64
} rbt_vtu_options;

// Under its name complete or not at all.
bool rbt_vtu_write(const char *path, const rbt_vtu_grid *grid, rbt_vtu_options options, rbt_error *error);

// Scratch for the fields of one frame, so that frames after the first allocate little.
typedef struct rbt_vtu_frame {
    const double *shown;                                // (node_count x 3) instead of the state's places; NULL: those
    const double *contact;                              // (node_count x 3) [N] contact forces; NULL: not shown
    const char *label_name;                             // of the labels
    const int32_t *labels;                              // (node_count) what the method makes of nodes; NULL: nothing
    double *displacement;                               // (node_count x 3)
    size_t cell_count;                                  // tets, then triangles of shells, then edges
    int32_t *cells, *ends, *region, *body;              // as rbt_vtu_grid has them; (cell_count)
    unsigned char *types;                               // (cell_count)
    double *stress, *triangle_stress;                   // (cell_count), (triangle_count)
    double *vertices, *vertex_shift, *vertex_velocity;  // (vertex_count x 3)
    int32_t *body_of_triangle;                          // (triangle_count)
} rbt_vtu_frame;

// frame->stress of the cells at x
void rbt_vtu_frame_stress(rbt_vtu_frame *frame, const rbt_model *model, const double *x);

bool rbt_vtu_frame_init(rbt_vtu_frame *frame, const rbt_model *model, const rbt_surface *surface, rbt_error *error);
void rbt_vtu_frame_free(rbt_vtu_frame *frame);

// Displacements and stresses of a state
void rbt_vtu_frame_evaluate(rbt_vtu_frame *frame, const rbt_model *model, const rbt_state *state);

// All tets, shells' triangles and edges: displacement, velocity and, where they are known, contact_force and labels (as
// "subdomain") on the points;
// region, body and von_mises [Pa] on the cells, 0 where there is no stress (springs).
bool rbt_vtu_write_elements(const char *path, rbt_vtu_frame *frame, const rbt_model *model, const rbt_state *state,
                            rbt_vtu_options options, rbt_error *error);

// The render surface: displacement and velocity on the points, body on the triangles.
bool rbt_vtu_write_surface(const char *path, rbt_vtu_frame *frame, const rbt_surface *surface, const rbt_state *state,
                           rbt_vtu_options options, rbt_error *error);

#endif
