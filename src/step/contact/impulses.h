// Contact of methods that solve one linear system a step (semi-implicit, siere, multirate-euler): a small quadratic
// programme on the factor they have.
//
// Such a step is linear in the impulses J [N s] that act on nodes during it: positions and velocities at its end are
//
//   y = y_free + S_q J,   v = v_free + S_v J
//
// semi-implicit: S_v = A^-1, S_q = h S_v; siere: exponential/siere_contact.h; multirate-euler:
// multirate/multirate_contact.h. A pair of primitives gets one impulse p
// along its normal n, and with friction two along its tangents t, J_i = w_i (p n + p_1 t_1 + p_2 t_2) at its corners,
// so that pairs never change momentum. Gaps, linearised, are to stay:
//
//   c = n . sum_i w_i y_i - inside - target >= 0,   p >= 0,   p c = 0                                       (1)
//   |(p_1, p_2)| <= mu p,   opposite to the slip u_j = h t_j . sum_i w_i v_i, and on the cone where there is one    (2)
//
// target = d^, the thickness, or the gap at the start where that is less. All that (1) and (2) need of S are its
// entries between the nodes of pairs, which come from the factor (rbt_cholesky_inverse); Gauss and Seidel's iteration
// over pairs then solves (1), a quadratic programme, and with it (2), Coulomb's law at the solution, until no pair
// would change by more than a thousandth of the thickness, or for a few hundred sweeps: the test below judges the
// motion in either case. Where sweeps get there slowly, since a light node is pressed between heavy ones or since many
// pairs say nearly the same, Newton's method on the pairs that push (impulse_newton.c) takes turns with them.
//
// Which pairs: the continuous test (contact/ccd) goes from a safe position to y. Pairs that stop it are linearised
// where they stopped, others that are near where the motion begins; the programme is solved again, and the new motion
// tested again. If it is still not free after a few rounds, the safe position moves on as far as it may, and what is
// left is tried from there. A step ends only with a y that the test has let through: nothing passes through anything,
// whatever the linearised gaps are worth. If it does not end, it is an outcome, and tried again in halves.
//
// Of some methods the entries are those of a symmetric matrix S~ near S. The programme then stands about the motion of
// the impulses so far, y = y(J_0) + S~ (J - J_0), and is solved again with what its impulses really do, until S~ tells
// that to a hundredth of the thickness.
//
// Nothing here knows the residual of the nonlinear equations: that remains what one linearisation leaves.
#ifndef RBT_STEP_CONTACT_IMPULSES_H
#define RBT_STEP_CONTACT_IMPULSES_H

#include "step/contact/step_contact.h"

typedef struct rbt_impulse_pair {
    rbt_contact_pair pair;
    double weight[4], normal[3], tangent[2][3];  // where the pair was linearised
    double target;                               // [m] the gap that is wanted
    double friction;                             // Coulomb's coefficient
    double impulse[3];                           // [N s] along the normal and the tangents
    int number;                                  // which one of its key came first
} rbt_impulse_pair;

typedef struct rbt_impulse_proposal {  // a pair that is not known yet
    rbt_impulse_pair pair;
    double missing;  // [m] of the gap that is wanted, at the end of the motion
    bool again;      // the pair is known, with other normals
} rbt_impulse_proposal;

// What a method brings. S_v = A^-1 + U B_v U^T and S_q = h A^-1 + U B_q U^T: A has the pattern of the stiffness matrix,
// so that connected parts of bodies do not feel each other through A^-1; U are a few vectors over all nodes, B
// diagonal.
typedef struct rbt_impulse_response {
    // A^-1 between nodes: (3 columns) vectors of (3 rows) numbers. false: no memory.
    bool (*entries)(void *self, size_t column_count, const int32_t *column, size_t row_count, const int32_t *row,
                    double *entries);
    // All nodes at the end of the step with impulses J (nodes x 3; NULL: none): displacements from its start and
    // velocities.
    rbt_outcome (*apply)(void *self, const double *J, double *displacement, double *velocity,
                         rbt_step_report *report);
    bool swings;            // energy does so within vibrations, as with explicit nodes: a step's gain tells nothing
    bool approximate;       // entries are symmetric ones near those that apply has
    const double *sliding;  // (nodes x 3) after apply: velocities that friction sees; NULL: those at the end
    const double *slip_share;  // (nodes) of these beside displacement over h, per impulse; NULL: 1
    size_t mode_count;
    const double *modes;                          // (mode_count x nodes x 3) U
    const double *by_displacement, *by_velocity;  // (mode_count) B_q, B_v
} rbt_impulse_response;

// Nodes of pairs in one connected part of the bodies, and the pairs with such nodes
typedef struct rbt_impulse_part {
    size_t node_count, node_capacity, entry_capacity;
    int32_t *nodes;    // (node_count)
    double *response;  // ((3 node_count)^2) h A^-1
    size_t known;      // nodes whose entries are there
    size_t row_count, row_capacity, matrix_capacity, image_capacity;
    size_t *rows;    // (row_count) 3 pair + direction
    double *matrix;  // (row_count x row_count) h C A^-1 C^T
    double *images;  // (row_count x 3 node_count) S C^T, by rows: work
    double *value;   // (row_count) impulses
    size_t value_capacity;
} rbt_impulse_part;

typedef struct rbt_impulse_place {  // rows of a pair in the matrix of a part: from `row` on
    int32_t part;                   // -1: there is none
    size_t row;
} rbt_impulse_place;

enum { RBT_MAX_NEWTON_UNKNOWNS = 300 };  // beyond, sweeps alone have to do

typedef struct rbt_impulse_programme {
    rbt_impulse_place *places;  // (pairs x 2)
    double *base;               // (pairs x 3) c and u without impulses
    double *saved;              // (pairs x 3) work
    double *wanted;             // (pairs) [m] what gaps are to grow by
    int32_t *number;            // (pairs x 3) work of Newton's method
    double *factor;             // (pairs x 3) the same
    double *matrix, *right;     // (unknowns^2), (unknowns) of it, at most RBT_MAX_NEWTON_UNKNOWNS
    double *modal;              // (pairs x 3 x modes) C U
    double *amount;             // (modes) U^T C^T p
    size_t modal_capacity, amount_capacity;
    size_t capacity;  // pairs
} rbt_impulse_programme;

typedef struct rbt_impulses {
    rbt_step_contact *contact;
    const rbt_impulse_response *method;
    void *self;  // the method's
    rbt_arena *arena;
    int32_t *part_of;  // (nodes of the model) connected part
    int32_t *slot_of;  // (nodes of the model) number within `nodes` of its part; -1: not there
    size_t part_count, used_count;
    rbt_impulse_part *parts;  // (part_count)
    int32_t *used;            // (used_count) parts with nodes of pairs
    rbt_impulse_pair *pairs;  // (pair_count) ascending by key
    size_t pair_count, pair_capacity;
    rbt_impulse_proposal *proposed;  // work
    size_t proposed_capacity;
    rbt_sum *chunks;                     // (chunks of elements) work
    double rounding;                     // [J] of differences of energies
    double *most_missing;                // (nodes of the model) work
    double *free, *free_velocity;        // (contact nodes x 3) without impulses
    double *base, *base_velocity;        // the same, or of `approximate` methods what S~ leaves of y(J_0)
    double *move, *velocity, *J, *safe;  // (nodes x 3)
    double *step_move, *push, *ignored;  // (nodes x 3) work
    struct rbt_part_momentum *momenta;   // (part_count) work
    rbt_impulse_programme programme;     // the latest one
    double *entries;                     // work
    size_t entry_capacity;
    size_t rounds, sweeps, newtons, most_nodes;  // so far
} rbt_impulses;

// For a model with contact, whose matrices have the pattern of K.
rbt_impulses *rbt_impulses_new(const rbt_model *model, const rbt_block_matrix *K, rbt_error *error);
void rbt_impulses_free(rbt_impulses *impulses);

// From the state at its time by h, with what is constrained: new positions and velocities into x and v (nodes x 3),
// which may be those of the state.
rbt_outcome rbt_impulses_step(rbt_impulses *impulses, const rbt_impulse_response *method, void *self,
                              const rbt_state *state, double h, const unsigned char *constrained, double *x,
                              double *v, rbt_stages *stages, rbt_step_report *report);

// ---- Parts

// Pairs that stopped the motion of the latest rbt_step_contact_limit, and near ones that would be closer at its end
// than they should, linearised; `relinearise`: those that are known as well. false: no memory.
bool rbt_impulses_collect(rbt_impulses *impulses, bool relinearise);

// One Newton step on (1) and (2), with the pairs that push and those that stick as they are now (impulse_newton.c).
// false: it was not tried, and nothing has changed.
bool rbt_impulses_newton(rbt_impulses *impulses);

// J (nodes x 3) of impulses that widen gaps by programme.wanted, or nearly, leaving the impulses as they are. false:
// there are none.
bool rbt_impulses_widen(rbt_impulses *impulses, double *J);

// J (nodes x 3) of all impulses
void rbt_impulses_sum(const rbt_impulses *impulses, double *J);

void rbt_impulses_set(rbt_impulses *impulses, const rbt_impulse_place places[2], size_t pair, size_t direction,
                      double value);

// Of mode l: B_q for normals, h B_v for tangents
double rbt_impulses_share(const rbt_impulses *impulses, size_t direction, size_t mode);

// Impulses of all pairs (impulse_solve.c)
rbt_outcome rbt_impulses_solve(rbt_impulses *impulses, rbt_step_report *report);

// How much further off than S~ tells the motion of the impulses is [m], for nodes of pairs
double rbt_impulses_defect(rbt_impulses *impulses);

// Each connected part of the bodies that nothing holds gets, as a translation, what is missing of the momentum `given`
// (nodes x 3) since its velocities were `before` (impulse_balance.c): for methods whose steps lose some. Parts with
// mass damping, which takes momentum, are left as they are.
void rbt_impulses_balance(const rbt_impulses *impulses, const unsigned char *constrained, const double *given,
                          const double *before, double *velocity);

// Whether a corner is an unknown of the step
static inline bool rbt_impulses_is_free(const rbt_impulses *s, int32_t node) {
    return node >= 0 && (size_t)node < s->contact->model->node_count && !s->contact->constrained[node];
}

// Direction 0 to 2 of a pair: normal, tangents
static inline const double *rbt_impulse_direction(const rbt_impulse_pair *pair, size_t direction) {
    return direction ? pair->tangent[direction - 1] : pair->normal;
}

// ---- What the state remembers of contact, and what it tells (impulse_memory.c)

typedef struct rbt_impulse_note {
    rbt_pair_key key;
    double force;  // [N] along the normal, on average over the last step
} rbt_impulse_note;

typedef struct rbt_impulse_memory {
    double work;         // [J] of prescribed nodes and obstacles, through contact, so far
    double dissipation;  // [J] taken by friction so far
    uint64_t count;  // pairs that pushed each other in the last step, those with small keys where there are too many
    // then (capacity) rbt_impulse_note and (nodes x 3) forces on nodes in the last step [N]
} rbt_impulse_memory;

size_t rbt_impulse_memory_size(const rbt_model *model);  // bytes; 0 without contact

// [J] of what is prescribed, through contact, in a step that has ended at x
double rbt_impulses_work(const rbt_impulses *impulses, const double *x);

// After a step that has ended at x.
void rbt_impulses_remember(const rbt_impulses *impulses, const double *x, rbt_impulse_memory *memory);

// Contact of the last step for another method's, and from it (step/core/fall_back.h)
void rbt_impulses_give(const rbt_model *model, const rbt_impulse_memory *memory, rbt_contact_handover *to);
void rbt_impulses_take(const rbt_model *model, rbt_impulse_memory *memory, const rbt_contact_handover *from);

// As rbt_method has them
void rbt_impulses_energies(const rbt_impulse_memory *memory, rbt_energies *energies);
size_t rbt_impulses_points(rbt_impulses *impulses, const rbt_impulse_memory *memory, const rbt_state *state,
                           rbt_contact_point *points, size_t capacity);
void rbt_impulses_add_forces(const rbt_model *model, const rbt_impulse_memory *memory, double *f);
// The same for any scene: impulses is NULL without contact.
void rbt_impulses_forces(const rbt_impulses *impulses, const rbt_model *model, const rbt_impulse_memory *memory,
                         const rbt_state *state, double *f);
bool rbt_impulses_accept(rbt_impulses *impulses, const rbt_state *state, char *text, size_t size);
double rbt_impulses_thickness(const rbt_impulses *impulses);
void rbt_impulses_describe(const rbt_impulses *impulses, rbt_text *json);

#endif
