// Life of contact: what it is made of, its constants, and the beginning of a step. See step_contact.h.
#include "step/contact/step_contact.h"

#include "math/scalar.h"
#include "math/vec3.h"
#include "model/contact_settings.h"
#include "model/force.h"
#include "step/contact/contact_multipliers.h"
#include "step/contact/contact_parts.h"

#include <stdio.h>
#include <string.h>

// Share of Young's modulus that contact is made of (Li et al. 2023), and of an edge's length that it may be thick
static const double MODULUS_SHARE = 0.1, EDGE_SHARE = 0.1, BOX_SHARE = 1e-3;
static const double AHEAD = 2;  // thicknesses
// b''(d^/2) d^ of the barrier: what a node's inertia over tau^2 is compared with
static const double HALF_WAY_STIFFNESS = 6.4;

static bool take(rbt_step_contact *c, rbt_error *error) {
    size_t n = c->node_count;
    double **vectors[] = {&c->x0, &c->x1, &c->y, &c->force, &c->motion};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof vectors / sizeof *vectors; i++)
        ok = (*vectors[i] = rbt_arena_take(c->arena, 3 * n, sizeof(double))) != NULL;
    double **scalars[] = {&c->stiffness, &c->raise,    &c->half_gap,  &c->reach,
                          &c->hardness,  &c->firmness, &c->node_speed};
    for (size_t i = 0; ok && i < sizeof scalars / sizeof *scalars; i++)
        ok = (*scalars[i] = rbt_arena_take(c->arena, n, sizeof(double))) != NULL;
    ok = ok && (c->body_stiffness = rbt_arena_take(c->arena, c->model->body_count + 1, sizeof(double)));
    ok = ok && (c->node_edges = rbt_arena_take(c->arena, n, sizeof *c->node_edges));
    return ok || rbt_fail_memory(error, 20 * n * sizeof(double), "contact");
}

// ---- Constants

static double edge_length(const rbt_contact_surface *s, size_t e) {
    double along[3];
    const int32_t *node = s->edges + 2 * e;
    rbt_subtract(s->def.X + 3 * (size_t)node[1], s->def.X + 3 * (size_t)node[0], along);
    return rbt_length(along);
}

// Of the bodies; of scenes with particles alone, their diameter, or if they have none, that of the scene
static double mean_edge(const rbt_step_contact *c) {
    const rbt_contact_surface *s = &c->primitives;
    double sum = 0, count = 0;
    for (size_t e = 0; e < s->edge_count; e++) {
        if ((size_t)s->edges[2 * e] >= c->model->node_count) continue;
        sum += edge_length(s, e);
        count++;
    }
    if (count > 0) return sum / count;
    double widest = 0;
    for (size_t i = 0; i < s->def.point_count; i++)
        if ((size_t)s->def.points[i] < c->model->node_count)
            widest = fmax(widest, 2 * s->def.radius[s->def.points[i]]);
    return widest > 0 ? widest : rbt_model_diagonal(c->model);
}

// The softest material around a node [Pa]
static double node_modulus(const rbt_model *m, size_t n) {
    const rbt_body *body = &m->bodies[m->node_body[n]];
    double least = INFINITY;
    if (body->kind == RBT_SOLID)
        for (size_t i = m->tet_start[n]; i < m->tet_start[n + 1]; i++)
            least = fmin(least, m->regions[m->tet_region[m->node_tets[i]]].material.young);
    return least < INFINITY ? least : 0;
}

// Shells: the softest of their triangles at each node
static void add_shells(const rbt_model *m, double *modulus) {
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body *body = &m->bodies[b];
        if (body->kind != RBT_SHELL) continue;
        for (size_t n = body->node_begin; n < body->node_end; n++) modulus[n] = INFINITY;
        for (size_t t = body->triangle_begin; t < body->triangle_end; t++)
            for (size_t k = 0; k < 3; k++) {
                double *own = &modulus[m->triangles[3 * t + k]];
                *own = fmin(*own, m->regions[m->triangle_region[t]].material.young);
            }
        // a sheet has its thickness to be stiff with, where a solid has the size of its elements
        for (size_t n = body->node_begin; n < body->node_end; n++)
            modulus[n] =
                modulus[n] < INFINITY ? modulus[n] * fmin(1, body->shell.thickness / sqrt(m->node_area[n])) : 0;
    }
}

// Where nothing is fixed, the motion of all together does not count.
static void common_velocity(const rbt_model *m, const double *v, double mean[3]) {
    double mass = 0;
    bool bound = m->obstacles.count > 0;
    memset(mean, 0, 3 * sizeof *mean);
    for (size_t n = 0; n < m->node_count; n++) {
        bound |= m->role[n] != RBT_FREE;
        rbt_add_scaled(mean, m->mass[n], v + 3 * n);
        mass += m->mass[n];
    }
    for (int k = 0; k < 3; k++) mean[k] = bound || !(mass > 0) ? 0 : mean[k] / mass;
}

// The largest speed of obstacles from t to t + h, and into c->node_speed that of each of their nodes [m/s]
static double obstacle_speed(rbt_step_contact *c, double t, double h) {
    double most = 0, by[3];
    if (c->node_count == c->model->node_count) return 0;
    rbt_model_surface_place(&c->surface, t, c->x0);
    rbt_model_surface_place(&c->surface, t + h, c->x1);
    for (size_t n = c->model->node_count; n < c->node_count; n++) {
        rbt_subtract(c->x1 + 3 * n, c->x0 + 3 * n, by);
        c->node_speed[n] = rbt_length(by) / h;
        most = fmax(most, c->node_speed[n]);
    }
    return most;
}

// The largest speed at which things of the scene move against each other at the start, or are prescribed to move [m/s]
static double largest_speed(rbt_step_contact *c) {
    enum { SAMPLES = 32 };
    const rbt_model *m = c->model;
    double mean[3], most = 0, by[3];
    common_velocity(m, m->v0, mean);
    for (size_t n = 0; n < m->node_count; n++) {
        rbt_subtract(m->v0 + 3 * n, mean, by);
        most = fmax(most, rbt_length(by));
    }
    double length = (double)m->frame_count * m->frame_interval;
    for (int i = 0; i < SAMPLES; i++)
        most = fmax(most, obstacle_speed(c, floor(i * length / SAMPLES / m->step) * m->step, m->step));
    return most;
}

void rbt_step_contact_note_speed(rbt_step_contact *c, double t, double h, const double *v, const double *external) {
    const rbt_model *m = c->model;
    double mean[3], most = obstacle_speed(c, t, h), by[3];
    common_velocity(m, v, mean);
    for (size_t n = 0; n < m->node_count; n++) {
        rbt_subtract(v + 3 * n, mean, by);
        if (m->mass[n] > 0) rbt_add_scaled(by, h / m->mass[n], external + 3 * n);
        c->node_speed[n] = rbt_length(by);
        most = rbt_larger(c->node_speed[n], most);
    }
    c->step_speed = most;
    if (c->is_raised) c->listed = SIZE_MAX;
    c->is_raised = false;
    for (size_t n = 0; n < c->node_count; n++) c->raise[n] = 1;
}

// What S is of inertia, of a node of mass 1 [m/s^2]. With d^ the thickness, T of a whole step and V the largest speed
// of the start, u that of the step, and h^ = d^/u the time that a thickness takes at u,
//   whole step   max(d^ / 6.4 T^2, V/T)
//   piece        the same, or u / max(tau, h^), if that is more.
// A force stops a node within a piece at u / tau. A piece shorter than h^ need not do that: a barrier of S = m u^2/d^
// has the kinetic energy m u^2/2 at a quarter of the thickness. More would be energy from nothing: S is raised where
// pairs are already close, by S' in the place of S from one piece to the next, and S' b throws them apart that S b has
// stopped.
static double inertial(const rbt_step_contact *c, double tau) {
    double T = c->whole_tau, whole = fmax(c->thickness / (T * T * HALF_WAY_STIFFNESS), c->speed / T);
    return tau < T ? fmax(whole, c->step_speed * fmin(1 / tau, c->step_speed / c->thickness)) : whole;
}

// What is light may be pressed by what is heavy: a sheet between a block and the floor. S of the light one then leaves
// a gap that falls as exp(-M/m) of the masses where S is what stops its own mass, and nothing is left to move in. So
// once a step is halved, S is multiplied where gaps are small, up to the factor
//   b'(s) / b'(WANTED)      for a gap of s thicknesses,
// which would bear the same force at the gap WANTED, and MOST at a time: what has not converged has any force. To
// open a gap against the force F takes at most F d^ of energy, small beside what presses where d^ is.
void rbt_step_contact_raise(rbt_step_contact *c) {
    static const double LOW = 0.01, WANTED = 0.3, MOST = 10;  // chosen
    if (c->augmented || c->linearised) return;
    const double bearing = rbt_barrier_slope(WANTED * c->thickness, c->thickness);
    memcpy(c->motion, c->raise, c->node_count * sizeof *c->raise);
    for (size_t i = 0; i < c->active_count; i++) {
        const rbt_active_pair *a = &c->active[i];
        if (!(a->gap < LOW * c->thickness) || !(a->gap > 0)) continue;
        double by = fmin(MOST, rbt_barrier_slope(a->gap, c->thickness) / bearing);
        int first = rbt_pair_first(a->pair.barrier.kind);
        int corners = first > 1 ? rbt_pair_corners(a->pair.barrier.kind) : 1;
        for (int k = 0; k < corners; k++) {
            size_t n = (size_t)a->pair.node[k];
            c->raise[n] = fmax(c->raise[n], by * c->motion[n]);
        }
        c->is_raised = true;
        c->listed = SIZE_MAX;
    }
}

// S of every node, for a step of this tau. Nets: the stiffness of a spring over a tenth of its length, as a solid of
// that modulus would have.
static void find_stiffness(rbt_step_contact *c, double tau) {
    const rbt_model *m = c->model;
    double inertia = inertial(c, tau);
    if (inertia == c->inertia) return;
    c->inertia = inertia;
    c->listed = SIZE_MAX;  // pairs have other parameters now
    for (size_t n = 0; n < m->node_count; n++) c->stiffness[n] = node_modulus(m, n);
    add_shells(m, c->stiffness);
    for (size_t n = 0; n < m->node_count; n++) {
        const rbt_body *body = &m->bodies[m->node_body[n]];
        double elastic = MODULUS_SHARE * c->stiffness[n] * m->node_area[n];
        if (body->kind == RBT_NET) elastic = MODULUS_SHARE * body->springs.stiffness * c->edge_length;
        c->stiffness[n] = fmax(elastic, m->mass[n] * inertia);
    }
    for (size_t n = m->node_count; n < c->node_count; n++) c->stiffness[n] = INFINITY;
    for (size_t b = 0; b < m->body_count; b++) {
        double sum = 0, count = 0;
        for (size_t n = m->bodies[b].node_begin; n < m->bodies[b].node_end; n++)
            if (m->bodies[b].kind != RBT_SOLID || m->node_area[n] > 0) sum += c->stiffness[n], count++;
        c->body_stiffness[b] = count > 0 ? sum / count : INFINITY;
    }
}

// Triangles at each edge, edges at each node
static bool count_neighbours(rbt_step_contact *c, rbt_error *error) {
    const rbt_contact_surface *s = &c->primitives;
    c->edge_faces = rbt_arena_take(c->arena, s->edge_count + 1, sizeof *c->edge_faces);
    if (!c->edge_faces) return rbt_fail_memory(error, s->edge_count * sizeof *c->edge_faces, "contact");
    memset(c->edge_faces, 0, s->edge_count * sizeof *c->edge_faces);
    memset(c->node_edges, 0, c->node_count * sizeof *c->node_edges);
    for (size_t l = 0; l < s->leaf_count; l++)
        for (int k = 0; k < 3 && s->leaves[l].corners == 3; k++) c->edge_faces[s->leaves[l].edge[k]]++;
    for (size_t i = 0; i < 2 * s->edge_count; i++) c->node_edges[s->edges[i]]++;
    return true;
}

static void find_reach(rbt_step_contact *c) {
    const rbt_model *m = c->model;
    c->ahead = AHEAD * c->thickness;
    for (size_t n = 0; n < c->node_count; n++) {
        c->half_gap[n] = n < m->node_count ? 0.5 * rbt_contact_settings_gap(&m->contact, m->node_body[n]) : 0;
        c->reach[n] = c->primitives.def.radius[n] + c->half_gap[n] + 0.5 * c->ahead;
    }
}

// The thickness of "auto": small beside edges and bodies. rbt_contact_check_start makes it less than the gaps of the
// start, within reason, so that nothing pushes before it is touched.
static double choose_thickness(rbt_step_contact *c) {
    double box = rbt_model_diagonal(c->model), thickness = EDGE_SHARE * c->edge_length;
    if (box > 0) thickness = fmin(thickness, BOX_SHARE * box);
    return thickness;
}

// ---- Positions

static void place_obstacles(rbt_step_contact *c, double t, double *all) {
    if (rbt_model_surface_follow(&c->surface)) rbt_candidates_forget(&c->candidates);
    rbt_model_surface_place(&c->surface, t, all);
}

static void fill_positions(rbt_step_contact *c, double t, const double *x, double *all) {
    memcpy(all, x, 3 * c->model->node_count * sizeof *all);
    place_obstacles(c, t, all);
}

bool rbt_step_contact_is_apart(rbt_step_contact *c, double t, const double *x, char *text, size_t size) {
    fill_positions(c, t, x, c->motion);
    return rbt_contact_is_apart(c, c->motion, text, size);
}

static double slip_speed(const rbt_step_contact *c) {
    const rbt_contact_settings *s = &c->model->contact;
    double least = INFINITY;  // of the smallest body
    if (!isnan(s->slip_speed)) return s->slip_speed;
    for (size_t b = 0; b < c->model->body_count; b++) {
        double across[3];
        rbt_subtract(c->model->bodies[b].box_max, c->model->bodies[b].box_min, across);
        if (rbt_length(across) > 0) least = fmin(least, rbt_length(across));
    }
    return 1e-3 * (least < INFINITY ? least : c->edge_length);
}

// A body that friction can just hold, let go at rest, comes up to the slip speed and must not come beyond it, where
// nothing brakes it any more. If the first step ends at the mean speed w = e/h, backward Euler keeps to w. The midpoint
// rule ends it at 2 w, and BDF2, whose later steps repeat a third of the last change of speed each, comes to w + w/3 +
// w/9 + ... = 3/2 w. So e = v_eps times h, h/2 and 2h/3: v_eps tau.
static void find_friction(rbt_step_contact *c, double tau) {
    c->has_friction = rbt_contact_settings_has_friction(&c->model->contact);
    c->slip_speed = slip_speed(c) * tau / c->model->step;
}

static bool build(rbt_step_contact *c, double tau, const rbt_block_matrix *K, rbt_error *error) {
    const rbt_model *m = c->model;
    if (!rbt_model_surface_make(&c->surface, m, c->arena, error)) return false;
    c->node_count = c->surface.node_count;
    c->surface.def.blocks = true;
    if (!take(c, error) || !rbt_contact_surface_init(&c->primitives, &c->surface.def, error) ||
        !count_neighbours(c, error))
        return false;
    c->edge_length = mean_edge(c);
    c->fitting = choose_thickness(c);
    c->thickness = isnan(m->contact.thickness) ? c->fitting : m->contact.thickness;
    if (!(c->thickness > 0))
        return rbt_fail_path(error, NULL, "contact.thickness",
                             "no thickness can be chosen, since nothing in the scene has a size; give one");
    find_reach(c);
    if (!rbt_contact_check_sizes(c, error) || !rbt_candidates_init(&c->candidates, &c->primitives, c->reach, error) ||
        !rbt_contact_check_start(c, error))
        return false;
    find_reach(c);
    c->augmented = m->contact.augmented;
    c->support = c->augmented ? c->ahead : c->thickness;
    c->speed = c->step_speed = largest_speed(c);
    c->whole_tau = tau;
    c->inertia = NAN;
    for (size_t n = 0; n < c->node_count; n++) c->raise[n] = 1;
    find_stiffness(c, tau);
    find_friction(c, tau);
    c->effort = (rbt_contact_effort){0};  // what steps take counts
    return !K || rbt_contact_matrix_init(&c->matrix, K, error);
}

rbt_step_contact *rbt_step_contact_new(const rbt_model *model, double tau, const rbt_block_matrix *K,
                                       rbt_error *error) {
    rbt_step_contact *c = rbt_array_new(1, sizeof *c, "contact", error);
    if (!c) return NULL;
    c->model = model;
    c->arena = rbt_arena_new();
    if (!c->arena) rbt_fail_memory(error, sizeof *c, "contact");
    else if (build(c, tau, K, error)) return c;
    rbt_step_contact_free(c);
    return NULL;
}

void rbt_step_contact_free(rbt_step_contact *c) {
    if (!c) return;
    rbt_contact_matrix_free(&c->matrix);
    rbt_candidates_free(&c->candidates);
    rbt_contact_surface_free(&c->primitives);
    free(c->pairs);
    free(c->values);
    free(c->near);
    free(c->terms);
    free(c->simplices);
    free(c->features);
    rbt_feature_work_free(&c->feature_work);
    free(c->active);
    free(c->gradients);
    free(c->hessians);
    free(c->corners);
    free(c->rubbing);
    free(c->lagged);
    free(c->constraints);
    free(c->multipliers);
    rbt_arena_free(c->arena);
    free(c);
}

void rbt_step_contact_name(const rbt_step_contact *c, rbt_pair_key key, char *text, size_t size) {
    rbt_model_surface_name(&c->surface, &c->primitives, key, text, size);
}

void rbt_step_contact_describe(const rbt_step_contact *c, rbt_text *json) {
    const rbt_contact_effort *e = &c->effort;
    rbt_text_add(
        json,
        "\"contact\": {\"thickness\": %.17g, \"search_seconds\": %.6f, \"test_seconds\": %.6f, \"tests\": %zu, ",
        c->thickness, e->search_seconds, e->test_seconds, e->tests);
    rbt_text_add(json, "\"searches\": %zu, \"wide\": %zu, \"lists\": %zu, \"candidates\": %zu, ",
                 c->candidates.searches, c->candidates.found_count, c->candidates.lists, c->candidates.count);
    rbt_text_add(json, "\"pairs\": %zu, \"most_pairs\": %zu", c->active_count, e->most_pairs);
    if (c->augmented) rbt_text_add(json, ", \"rounds\": %zu", e->rounds);
    rbt_text_add(json, "}");
}

// ---- A step

static void use_raise(rbt_step_contact *c, bool use) {
    if (c->is_raised && use != c->uses_raise) c->listed = SIZE_MAX;
    c->uses_raise = use;
}

bool rbt_step_contact_begin(rbt_step_contact *c, double t, double h, double tau, double rate, const double *last,
                            const unsigned char *constrained) {
    const rbt_model *m = c->model;
    c->t = t, c->h = h, c->tau = tau, c->rate = rate;
    find_stiffness(c, tau);
    use_raise(c, true);
    c->last = last;
    c->constrained = constrained;
    c->share = 0;
    c->out_of_memory = c->cautious = false;
    c->rubbing_count = c->constraint_count = 0;
    c->linearised = false;
    if (c->augmented) c->listed = SIZE_MAX;  // targets and stiffness are of the step
    fill_positions(c, t, last, c->x0);
    memcpy(c->x1, c->x0, 3 * c->node_count * sizeof *c->x1);
    rbt_model_surface_place(&c->surface, t + h, c->x1);
    memset(c->motion, 0, 3 * m->node_count * sizeof *c->motion);
    rbt_constrained_velocities(m, constrained, t, h, last, c->motion);
    for (size_t i = 0; i < 3 * m->node_count; i++)
        if (constrained[i / 3]) c->x1[i] = last[i] + h * c->motion[i];
    memcpy(c->y, c->x0, 3 * c->node_count * sizeof *c->y);
    rbt_contact_matrix_begin(&c->matrix);
    return true;
}

bool rbt_step_contact_look(rbt_step_contact *c, double t, const double *x) {
    c->tau = c->rate = 1;
    find_stiffness(c, c->whole_tau);
    use_raise(c, false);
    c->share = 0;
    c->rubbing_count = 0;
    c->out_of_memory = false;
    place_obstacles(c, t, c->x0);
    if (!c->augmented) return isfinite(rbt_step_contact_gradient(c, x, 0));
    rbt_contact_put(c, x, 0);
    return rbt_multipliers_look(c);
}

void rbt_step_contact_return(rbt_step_contact *c, const double *z) {
    if (!c->observer || !c->observer->every) return;
    rbt_contact_place(c, z, c->share);
    c->observer->see(c->observer->context, RBT_SEEN_START, c->t + c->share * c->h, c->y);
}

void rbt_step_contact_show(rbt_step_contact *c, const double *z) {
    if (!c->observer || !c->observer->every) return;
    rbt_contact_place(c, z, c->share);
    c->observer->see(c->observer->context, RBT_SEEN_EVENT, c->t + c->share * c->h, c->y);
}
