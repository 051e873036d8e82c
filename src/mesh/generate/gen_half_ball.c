// Half a ball that is fine around its pole and coarser away from it, by the same share of the distance everywhere: for
// contact at the pole, whose stresses fall off with the distance.
//
// It is made in a flat world, the half-space y >= 0 with the pole at its origin: a block of 2n x n x 2n equal cells,
// and around it shells that become round and grow like a geometric sequence, up to radius 2 R. An inversion about the
// opposite pole, (0, 2 R, 0), mirrored at y = 0, then makes a sphere of radius R of the plane y = 0 and the flat side
// of the half-ball of the last shell. It is conformal: cells keep their shape, and around the pole their size.
#include "math/vec3.h"
#include "mesh/core/build.h"
#include "mesh/generate/shapes.h"

static const rbt_field FIELDS[] = {
    {"radius", RBT_REAL, offsetof(rbt_half_ball_shape, radius), .fallback = {0.5}, RBT_SIZE_LIMITS,
     .doc = "Radius; the flat side lies in y = 0 around the origin, the pole at y = -radius."},
    {"fine", RBT_REAL, offsetof(rbt_half_ball_shape, fine), .fallback = {0.1}, RBT_SIZE_LIMITS,
     .doc = "Cells are equal up to this distance from the pole; at most the radius."},
    {"cells", RBT_INT, offsetof(rbt_half_ball_shape, cells), .fallback = {4}, .min = 1, .max = 200,
     .doc = "Cells over that distance; six tets each."}};
const rbt_record RBT_HALF_BALL_PARAMETERS = {
    "half-ball shape", "Half a ball, fine around its pole; the node sets flat and round are its surface.",
    sizeof(rbt_half_ball_shape), RBT_FIELDS(FIELDS)};

typedef struct half_ball {
    const rbt_half_ball_shape *p;
    rbt_mesh *mesh;
    int n, shells;
    int32_t inner;  // nodes of the block
    int32_t *skin;  // (inner) number of a node among those on the outside of the block; -1: none of them
    int32_t skin_count;
    int32_t *out;
} half_ball;

static int32_t block_node(const half_ball *b, const int at[3]) {  // at: -n .. n, 0 .. n, -n .. n
    int n = b->n, side = 2 * n + 1;
    return at[0] + n + side * (at[1] + (n + 1) * (at[2] + n));
}

// Of the block for shell 0
static int32_t shell_node(const half_ball *b, int32_t node, int shell) {
    return shell ? b->inner + (shell - 1) * b->skin_count + b->skin[node] : node;
}

// From the flat world: p -> N + (2 R)^2 (p' - N) / |p' - N|^2, p' = (x, -y, z), N = (0, 2 R, 0)
static void place(half_ball *b, int32_t node, const double flat[3]) {
    double R = b->p->radius, away[3] = {flat[0], -flat[1] - 2 * R, flat[2]}, scale = 4 * R * R / rbt_dot(away, away);
    double *x = b->mesh->nodes + 3 * (size_t)node;
    x[0] = scale * away[0];
    x[1] = R + scale * away[1];  // 2 R, less R: the flat side is y = 0
    x[2] = scale * away[2];
}

// The way from the block at(n) / n to the unit sphere; equal angles on it
static void place_shells(half_ball *b, const int at[3]) {
    int32_t node = block_node(b, at);
    double cube[3], round[3];
    for (int k = 0; k < 3; k++) {
        cube[k] = (double)at[k] / b->n;
        round[k] = tan(M_PI / 4 * cube[k]);
    }
    rbt_normalize(round, round);
    for (int s = 0; s <= b->shells; s++) {
        double t = (double)s / b->shells, radius = b->p->fine * pow(2 * b->p->radius / b->p->fine, t), flat[3];
        for (int k = 0; k < 3; k++) flat[k] = radius * ((1 - t) * cube[k] + t * round[k]);
        place(b, shell_node(b, node, s), flat);
    }
}

static bool is_outside(const half_ball *b, const int at[3]) {
    return abs(at[0]) == b->n || at[1] == b->n || abs(at[2]) == b->n;
}

static void place_nodes(half_ball *b) {
    for (int k = -b->n; k <= b->n; k++)
        for (int j = 0; j <= b->n; j++)
            for (int i = -b->n; i <= b->n; i++) {
                int at[3] = {i, j, k};
                double flat[3];
                for (int c = 0; c < 3; c++) flat[c] = b->p->fine * at[c] / b->n;
                if (is_outside(b, at)) place_shells(b, at);
                else place(b, block_node(b, at), flat);
            }
}

// ---- Cells

static void add_tet(half_ball *b, int32_t p, int32_t q, int32_t r, int32_t s) {
    int32_t tet[4] = {p, q, r, s};
    rbt_tet_orient(b->mesh->nodes, tet);
    for (int k = 0; k < 4; k++) *b->out++ = tet[k];
}

// Corner c is at (c & 1, c >> 1 & 1, c >> 2). Every face is cut through its node with the lowest number, so neighbours
// agree: tets from the lowest corner of all to the triangles of the three faces opposite to it.
static void add_cell(half_ball *b, const int32_t corner[8]) {
    int low = 0;
    for (int c = 1; c < 8; c++)
        if (corner[c] < corner[low]) low = c;
    for (int axis = 0; axis < 3; axis++) {
        int one = 1 << (axis + 1) % 3, other = 1 << (axis + 2) % 3, far = (low ^ (1 << axis)) & (1 << axis);
        int32_t face[4] = {corner[far], corner[far | one], corner[far | one | other], corner[far | other]};
        int first = 0;
        for (int c = 1; c < 4; c++)
            if (face[c] < face[first]) first = c;
        for (int c = 1; c < 3; c++)
            add_tet(b, corner[low], face[first], face[(first + c) % 4], face[(first + c + 1) % 4]);
    }
}

// Cells of all shells over one side of the block's cell that begins at `from`: the side with this value on an axis
static void add_column(half_ball *b, const int from[3], int axis, int value) {
    for (int s = 0; s < b->shells; s++) {
        int32_t corner[8];
        for (int c = 0; c < 8; c++) {
            int at[3] = {from[0], from[1], from[2]};
            at[(axis + 1) % 3] += c & 1;
            at[(axis + 2) % 3] += c >> 1 & 1;
            at[axis] = value;
            corner[c] = shell_node(b, block_node(b, at), s + (c >> 2));
        }
        add_cell(b, corner);
    }
}

static void add_cells(half_ball *b) {
    int n = b->n;
    for (int k = -n; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = -n; i < n; i++) {
                int from[3] = {i, j, k};
                int32_t corner[8];
                for (int c = 0; c < 8; c++) {
                    int at[3] = {i + (c & 1), j + (c >> 1 & 1), k + (c >> 2)};
                    corner[c] = block_node(b, at);
                }
                add_cell(b, corner);
                for (int axis = 0; axis < 3; axis++) {
                    if (axis != 1 && from[axis] == -n) add_column(b, from, axis, -n);
                    if (from[axis] == n - 1) add_column(b, from, axis, n);
                }
            }
}

static bool name_sides(half_ball *b, rbt_error *error) {
    int n = b->n;
    for (int k = -n; k <= n; k++)
        for (int j = 0; j <= n; j++)
            for (int i = -n; i <= n; i++) {
                int at[3] = {i, j, k};
                int32_t node = block_node(b, at);
                int last = b->skin[node] >= 0 ? b->shells : 0;
                for (int s = 0; s <= last; s++) {
                    int32_t own = shell_node(b, node, s);
                    if (j == 0 && !rbt_mesh_add_to_set(b->mesh, "round", RBT_SET_NODES, &own, 1, error)) return false;
                    if (s == b->shells && !rbt_mesh_add_to_set(b->mesh, "flat", RBT_SET_NODES, &own, 1, error))
                        return false;
                }
            }
    return rbt_mesh_finish_sets(b->mesh, error);
}

static void number_skin(half_ball *b) {
    int n = b->n;
    for (int k = -n; k <= n; k++)
        for (int j = 0; j <= n; j++)
            for (int i = -n; i <= n; i++) {
                int at[3] = {i, j, k};
                b->skin[block_node(b, at)] = is_outside(b, at) ? b->skin_count++ : -1;
            }
}

static bool make(half_ball *b, rbt_error *error) {
    int n = b->n;
    double cells = 4.0 * n * n * n + 12.0 * n * n * b->shells;
    if (6 * cells > RBT_MAX_GENERATED_TETS)
        return rbt_fail(error, "%d cells make %.0f tets, and the limit is %d; try fewer cells", n, 6 * cells,
                        RBT_MAX_GENERATED_TETS);
    b->inner = (2 * n + 1) * (n + 1) * (2 * n + 1);
    if (!(b->skin = rbt_array_new((size_t)b->inner, sizeof *b->skin, "half a ball", error))) return false;
    number_skin(b);
    size_t nodes = (size_t)b->inner + (size_t)b->shells * (size_t)b->skin_count;
    if (!(b->mesh = rbt_mesh_new(error)) || !rbt_mesh_allocate(b->mesh, nodes, 6 * (size_t)cells, 0, 0, error))
        return false;
    b->out = b->mesh->tets;
    place_nodes(b);
    add_cells(b);
    return name_sides(b, error);
}

// Shells grow by 1/n each: cells of theirs are about as high as wide.
rbt_mesh *rbt_make_half_ball(const void *parameters, rbt_error *error) {
    const rbt_half_ball_shape *p = parameters;
    half_ball b = {.p = p, .n = p->cells};
    if (p->fine > p->radius) {
        rbt_fail(error, "fine is %g m, more than the radius of %g m: it must be at most that", p->fine, p->radius);
        return NULL;
    }
    b.shells = (int)ceil(b.n * log(2 * p->radius / p->fine));
    bool made = make(&b, error);
    free(b.skin);
    if (made) return b.mesh;
    rbt_mesh_free(b.mesh);
    return NULL;
}
