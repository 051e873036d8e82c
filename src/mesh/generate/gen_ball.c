// Balls in spherical layers: the twenty tets between an icosahedron's centre and its faces, each cut regularly into
// n^3 tets, with layer k of n blown up to a sphere. The layers are exact spheres, so a shell and its core meet in one.
//
// In a tet with corners centre, A, B, C the points are (i, j, l) / n, i + j + l = k on layer k. Between layers k and
// k + 1 lie tets on points and under points, and octahedra, which are cut along their shortest diagonal.
#include "mesh/core/build.h"
#include "mesh/generate/shapes.h"

#include "math/vec3.h"

static const rbt_field BALL_FIELDS[] = {{"radius", RBT_REAL, offsetof(rbt_ball_shape, radius), .fallback = {0.5},
                                         RBT_SIZE_LIMITS, .doc = "Radius of the ball around the origin."},
                                        {"layers", RBT_INT, offsetof(rbt_ball_shape, layers), .fallback = {6},
                                         .min = 1, .max = 200,
                                         .doc = "Layers from the centre to the surface; n layers make 20 n^3 tets."}};
const rbt_record RBT_BALL_PARAMETERS = {"ball shape", "A solid ball; its outer nodes are the set surface.",
                                        sizeof(rbt_ball_shape), RBT_FIELDS(BALL_FIELDS)};

static const rbt_field SHELL_BALL_FIELDS[] = {
    {"radius", RBT_REAL, offsetof(rbt_shell_ball_shape, radius), .fallback = {0.1}, RBT_SIZE_LIMITS,
     .doc = "Radius of the whole ball around the origin."},
    {"thickness", RBT_REAL, offsetof(rbt_shell_ball_shape, thickness), .fallback = {0.02}, RBT_SIZE_LIMITS,
     .doc = "Thickness of the shell; less than the radius."},
    {"core_layers", RBT_INT, offsetof(rbt_shell_ball_shape, core_layers), .fallback = {5}, .min = 1, .max = 200,
     .doc = "Layers of tets from the centre to the shell."},
    {"shell_layers", RBT_INT, offsetof(rbt_shell_ball_shape, shell_layers), .fallback = {1}, .min = 1, .max = 200,
     .doc = "Layers of tets in the shell; n layers in all make 20 n^3 tets."}};
const rbt_record RBT_SHELL_BALL_PARAMETERS = {
    "shell-ball shape",
    "A solid ball with a shell: the tet sets shell and core; its outer nodes are the set surface.",
    sizeof(rbt_shell_ball_shape), RBT_FIELDS(SHELL_BALL_FIELDS)};

// An icosahedron with corners at the poles; faces counter-clockwise from outside.
enum { CORNERS = 12, EDGES = 30, FACES = 20 };

typedef struct icosahedron {
    double corner[CORNERS][3];
    int face[FACES][3];
    int edge[CORNERS][CORNERS];  // number of the edge between two corners
} icosahedron;

static void make_icosahedron(icosahedron *ico) {
    *ico = (icosahedron){.corner = {{0, 1, 0}, {0, -1, 0}}};
    double height = 1 / sqrt(5), radius = 2 / sqrt(5);
    for (int i = 0; i < 5; i++) {
        double a = 2 * M_PI * i / 5, b = a + M_PI / 5;
        double upper[3] = {radius * sin(a), height, radius * cos(a)},
               lower[3] = {radius * sin(b), -height, radius * cos(b)};
        for (int k = 0; k < 3; k++) {
            ico->corner[2 + i][k] = upper[k];
            ico->corner[7 + i][k] = lower[k];
        }
        int u = 2 + i, v = 2 + (i + 1) % 5, p = 7 + i, q = 7 + (i + 1) % 5;
        int face[4][3] = {{0, u, v}, {u, p, v}, {v, p, q}, {1, q, p}};
        for (int f = 0; f < 4; f++)
            for (int k = 0; k < 3; k++) ico->face[4 * i + f][k] = face[f][k];
    }
    int edges = 0;
    for (int f = 0; f < FACES; f++)
        for (int k = 0; k < 3; k++) {
            int a = ico->face[f][k], b = ico->face[f][(k + 1) % 3];
            if (a < b) ico->edge[a][b] = ico->edge[b][a] = edges++;
        }
}

typedef struct ball {
    icosahedron ico;
    rbt_mesh *mesh;
    const double *radius;  // (layers + 1) of each layer
    int layers;
    int32_t *out;
} ball;

static int32_t nodes_below(int k) {  // of all layers before k: 1, then 10 k^2 + 2 each
    return k ? 1 + 2 * (k - 1) + 10 * (k - 1) * k * (2 * k - 1) / 6 : 0;
}

// Number of the point with weights w (sum k) of the corners of a face, the same from either side of an edge.
static int32_t ball_node(const ball *b, int face, const int w[3]) {
    int k = w[0] + w[1] + w[2];
    if (k == 0) return 0;
    int32_t first = nodes_below(k);
    const int *corner = b->ico.face[face];
    for (int i = 0; i < 3; i++)
        if (w[i] == k) return first + corner[i];
    first += CORNERS;
    for (int i = 0; i < 3; i++) {
        if (w[i]) continue;
        int a = (i + 1) % 3, c = (i + 2) % 3;
        int from_lower = corner[a] < corner[c] ? w[c] : w[a];
        return first + b->ico.edge[corner[a]][corner[c]] * (k - 1) + from_lower - 1;
    }
    first += EDGES * (k - 1) + face * ((k - 1) * (k - 2) / 2);
    return first + (w[0] - 1) * (2 * k - 2 - w[0]) / 2 + w[1] - 1;
}

static void place_nodes(ball *b) {
    for (int f = 0; f < FACES; f++)
        for (int k = 1; k <= b->layers; k++)
            for (int i = 0; i <= k; i++)
                for (int j = 0; i + j <= k; j++) {
                    int w[3] = {i, j, k - i - j};
                    double x[3] = {0, 0, 0}, *node = b->mesh->nodes + 3 * (size_t)ball_node(b, f, w);
                    for (int c = 0; c < 3; c++) rbt_add_scaled(x, w[c], b->ico.corner[b->ico.face[f][c]]);
                    rbt_normalize(x, x);
                    for (int c = 0; c < 3; c++) node[c] = b->radius[k] * x[c];
                }
}

static void add_tet(ball *b, int32_t p, int32_t q, int32_t r, int32_t s) {
    int32_t tet[4] = {p, q, r, s};
    rbt_tet_orient(b->mesh->nodes, tet);
    for (int k = 0; k < 4; k++) *b->out++ = tet[k];
}

// Nodes 0, 1, 2 below and 3, 4, 5 above, node i + 3 opposite to node i.
static void add_octahedron(ball *b, const int32_t node[6]) {
    int best = 0;
    double shortest = INFINITY;
    for (int i = 0; i < 3; i++) {
        double d[3];
        rbt_subtract(b->mesh->nodes + 3 * node[i], b->mesh->nodes + 3 * node[i + 3], d);
        double length = rbt_dot(d, d);
        if (length < shortest * (1 - 1e-9)) {  // rounding must not choose among equals
            shortest = length;
            best = i;
        }
    }
    int j = (best + 1) % 3, k = (best + 2) % 3, ring[5] = {j, k, j + 3, k + 3, j};
    for (int i = 0; i < 4; i++) add_tet(b, node[best], node[best + 3], node[ring[i]], node[ring[i + 1]]);
}

// All tets between layers k and k + 1.
static void fill_layer(ball *b, int k) {
    for (int f = 0; f < FACES; f++)
        for (int i = 0; i <= k; i++)
            for (int j = 0; i + j <= k; j++) {
                int l = k - i - j;
#define NODE(di, dj, dl) ball_node(b, f, (int[3]){i + (di), j + (dj), l + (dl)})
                add_tet(b, NODE(0, 0, 0), NODE(1, 0, 0), NODE(0, 1, 0), NODE(0, 0, 1));
                if (l < 1) continue;
                int32_t octahedron[6] = {NODE(1, 0, -1), NODE(0, 1, -1), NODE(0, 0, 0),
                                         NODE(0, 1, 0),  NODE(1, 0, 0),  NODE(1, 1, -1)};
                add_octahedron(b, octahedron);
                if (l < 2) continue;
                add_tet(b, NODE(1, 1, -2), NODE(1, 0, -1), NODE(0, 1, -1), NODE(1, 1, -1));
#undef NODE
            }
}

// A ball with these radii of layers 0 .. layers (the first 0). Layers from `shell` on are the shell; 0: no sets of
// tets.
static rbt_mesh *make_layers(const double *radius, int layers, int shell, rbt_error *error) {
    double tets = 20.0 * layers * layers * layers;
    if (tets > RBT_MAX_GENERATED_TETS) {
        rbt_fail(error, "%d layers make %.0f tets, and the limit is %d; try fewer layers", layers, tets,
                 RBT_MAX_GENERATED_TETS);
        return NULL;
    }
    ball b = {.mesh = rbt_mesh_new(error), .radius = radius, .layers = layers};
    if (!b.mesh) return NULL;
    make_icosahedron(&b.ico);
    size_t nodes = (size_t)nodes_below(layers + 1);
    bool made = rbt_mesh_allocate(b.mesh, nodes, (size_t)tets, 0, 0, error);
    b.out = b.mesh->tets;
    if (made) place_nodes(&b);
    for (int k = 0; k < layers && made; k++) fill_layer(&b, k);
    size_t longest = nodes > (size_t)tets ? nodes : (size_t)tets;
    int32_t *numbers = made ? rbt_array_new(longest, sizeof *numbers, "sets", error) : NULL;
    made = numbers != NULL;
    if (made) {
        for (size_t i = 0; i < longest; i++) numbers[i] = (int32_t)i;
        size_t inner = (size_t)nodes_below(layers), core = 20 * (size_t)shell * (size_t)shell * (size_t)shell;
        made = rbt_mesh_add_to_set(b.mesh, "surface", RBT_SET_NODES, numbers + inner, nodes - inner, error);
        if (made && shell)
            made = rbt_mesh_add_to_set(b.mesh, "core", RBT_SET_TETS, numbers, core, error) &&
                   rbt_mesh_add_to_set(b.mesh, "shell", RBT_SET_TETS, numbers + core, (size_t)tets - core, error);
    }
    free(numbers);
    if (made) return b.mesh;
    rbt_mesh_free(b.mesh);
    return NULL;
}

enum { MAX_LAYERS = 400 };

static bool check_layers(int layers, rbt_error *error) {
    return (layers >= 1 && layers <= MAX_LAYERS) ||
           rbt_fail(error, "%d layers are not possible: a ball has 1 to %d", layers, MAX_LAYERS);
}

rbt_mesh *rbt_make_ball(const void *parameters, rbt_error *error) {
    const rbt_ball_shape *p = parameters;
    if (!check_layers(p->layers, error)) return NULL;
    double radius[MAX_LAYERS + 1];
    for (int k = 0; k <= p->layers; k++) radius[k] = p->radius * k / p->layers;
    return make_layers(radius, p->layers, 0, error);
}

rbt_mesh *rbt_make_shell_ball(const void *parameters, rbt_error *error) {
    const rbt_shell_ball_shape *p = parameters;
    if (!check_layers(p->core_layers, error) || !check_layers(p->shell_layers, error) ||
        !check_layers(p->core_layers + p->shell_layers, error))
        return NULL;
    if (p->thickness >= p->radius) {
        rbt_fail(error, "thickness %g m leaves no core in a ball of radius %g m: it must be below the radius",
                 p->thickness, p->radius);
        return NULL;
    }
    double radius[MAX_LAYERS + 1], core = p->radius - p->thickness;
    int layers = p->core_layers + p->shell_layers;
    for (int k = 0; k <= layers; k++)
        radius[k] = k <= p->core_layers ? core * k / p->core_layers
                                        : core + p->thickness * (k - p->core_layers) / p->shell_layers;
    return make_layers(radius, layers, p->core_layers, error);
}
