// The distance d of a pair to second order: gradient and Hessian in closed form, by the closest features.
//
// The nearest points are p_A and p_B, r = p_B - p_A = sum_i w_i x_i, d = |r|, n = r / d; t_0, t_1 are orthonormal
// tangents, and a displacement delta of the corners has the parts
//   tau_j   = t_j . sum_i w_i delta_i        how far the nearest points are displaced against each other along t_j,
//   theta_j = n . sum_i slope_ji delta_i     how far the surfaces turn towards each other about the axis n x t_j.
// slope_ji is the derivative of the weight w_i as the nearest points slide so that r moves along t_j. They can slide
// along both tangents (a point over the inside of a triangle, the insides of two edges), along the first only (a point
// beside the inside of an edge), or not at all (two points). Then
//   d'  [delta]        = n . sum_i w_i delta_i
//   d'' [delta, delta] = sum_j -2 tau_j theta_j - d theta_j^2   over the tangents they can slide along
//                      + sum_j tau_j^2 / d                      over the others.
//
// Proof. Let D(x, p) = |r(x, p)| with r = sum_i w_i(p) x_i and parameters p of the nearest points, chosen such that
// the derivatives of r by them are those t_j that r can move along; weights are linear in p. (Those of two edges have
// mixed derivatives neither, as s weighs the corners of A alone and t those of B.) The distance is d(x) = min_p D, thus
//   d' = D_x,   d'' = D_xx - D_xp D_pp^-1 D_px.
// With r_delta = sum_i w_i delta_i and n . t_j = 0:
//   D_xx [delta, delta] = (|r_delta|^2 - (n . r_delta)^2) / d = (tau_0^2 + tau_1^2) / d,
//   D_xj [delta]        = t_j . r_delta / d + n . sum_i (dw_i/dp_j) delta_i = tau_j / d + theta_j,
//   D_jk                = t_j . t_k / d = 1 / d if j = k, else 0.
// Each tangent they can slide along takes d (tau_j / d + theta_j)^2 away. QED
//
// A wall is a plane with a fixed normal: both tangents slide with slopes 0, and d'' = 0.
#ifndef RBT_CONTACT_DISTANCE_SHAPE_H
#define RBT_CONTACT_DISTANCE_SHAPE_H

#include "contact/distance/gap.h"

typedef struct rbt_gap_shape {
    rbt_gap gap;           // weights of corners that do not exist are 0
    int corners;           // of the pair, those of A first
    int sliding;           // how many of the tangents, the first ones, the nearest points can slide along
    double tangent[2][3];  // with the normal an orthonormal frame: normal x tangent[0] = tangent[1]
    double slope[2][4];    // per tangent and corner [1/m]; 0 where nothing slides and for corners that do not exist
} rbt_gap_shape;

// x: the corners (x 3). wall_normal: unit, to the free side; NULL unless the kind is RBT_TOUCH_WALL, whose first corner
// is the node and whose second is a point of the plane.
//
// Which features are closest follows from weights that are exactly 0. The first tangent goes along the edge (the edge
// of B of two, the first edge of a triangle), of two points it is a function of the normal alone. Edges whose
// directions are parallel to 1e-8, and triangles without area, slide along the first tangent only: no number is
// infinite or NaN if lengths are of ordinary size (1e-70 m to 1e70 m).
void rbt_gap_shape_measure(rbt_touch_kind kind, const double x[12], const double wall_normal[3],
                           rbt_gap_shape *shape);

// Of two edges, or of ends of theirs (rbt_gap_edge_parts)
void rbt_gap_shape_edge_parts(const double x[12], const signed char part[2], rbt_gap_shape *shape);

// The gap alone, with walls as above: the same bits as rbt_gap_shape_measure has.
void rbt_gap_measure_any(rbt_touch_kind kind, const double x[12], const double wall_normal[3], rbt_gap *gap);

// Tangents as a function of shape->gap.normal alone
void rbt_gap_shape_frame(rbt_gap_shape *shape);

// d' (12)
void rbt_gap_gradient(const rbt_gap *gap, double gradient[12]);

// tau_j and theta_j as rows (12) for a displacement of the corners
static inline void rbt_gap_shape_rows(const rbt_gap_shape *shape, int j, double tau[12], double theta[12]) {
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            tau[3 * i + k] = shape->gap.weight[i] * shape->tangent[j][k];
            theta[3 * i + k] = shape->slope[j][i] * shape->gap.normal[k];
        }
}

// d'' (12 x 12); 0 for points that coincide
void rbt_gap_shape_hessian(const rbt_gap_shape *shape, double hessian[144]);

#endif
