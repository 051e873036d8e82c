// What async-contact makes of what the scene says about contact, and what it asks of the start.
#include "math/vec3.h"
#include "model/prescribed_motions.h"
#include "step/async/async_stepper.h"
#include "step/async/bounds.h"

#include <stdio.h>
#include <string.h>

// ---- Geometry

// Mean length of edges, or the least radius of particles
static double mean_edge(const rbt_model *m) {
    double sum = 0;
    size_t count = 0;
    for (size_t t = 0; t < m->triangle_count; t++)
        for (size_t k = 0; k < 3; k++, count++) {
            double along[3];
            rbt_subtract(m->X + 3 * (size_t)m->triangles[3 * t + k],
                         m->X + 3 * (size_t)m->triangles[3 * t + (k + 1) % 3], along);
            sum += rbt_length(along);
        }
    for (size_t e = 0; e < m->edge_count; e++, count++) {
        double along[3];
        rbt_subtract(m->X + 3 * (size_t)m->edges[2 * e], m->X + 3 * (size_t)m->edges[2 * e + 1], along);
        sum += rbt_length(along);
    }
    double mean = count ? sum / (double)count : INFINITY;
    for (size_t b = 0; b < m->body_count; b++)
        if (m->bodies[b].kind == RBT_PARTICLES && m->bodies[b].particles.radius > 0)
            mean = fmin(mean, m->bodies[b].particles.radius);
    return isfinite(mean) ? mean : 0.1;
}

static bool limits_are_kept(const rbt_async_stepper *s, rbt_error *error) {
    double length;
    int32_t leaf = rbt_limit_broken(&s->contact, s->surface.x, &length);
    if (leaf < 0) return true;
    const int32_t *node = s->contact.surface.leaves[leaf].node;
    const rbt_body *body = &s->model->bodies[s->model->node_body[node[0]]];
    return rbt_fail_path(
        error, NULL, "bodies",
        "the spring between nodes %zu and %zu of \"%s\" is %.3g m long at the start, but its limit lets "
        "it differ from its length at rest by %g %% only; deform the body less",
        (size_t)node[0] - body->node_begin, (size_t)node[1] - body->node_begin, body->name, length,
        100 * body->springs.limit);
}

// An impact of random phase changes the energy of its pair by 0.1 to 1 safety^2 (standard deviation; shallow and deep
// ones, measured with bench/async-contact/reproduce.py), and while it lasts the energy read is off by up to safety /
// 2. Without loss these add up as a random walk: 0.025 leaves 1.25 % for the reading and half a percent for 4,000
// impacts of one pair. With restitution c an impact takes 1 - c of the energy anyway, and an error of a few percent
// of that does not matter.
static double safety_of(double restitution) {
    const double elastic = 0.025, plastic = 0.2;
    return sqrt(elastic * elastic + (plastic * plastic - elastic * elastic) * (1 - restitution));
}

// Gaps of the start, where layers must not be awake: "auto" yields to them, down to a limit, and a thickness that was
// given must not bury a pair under more layers than this.
static const double THINNEST = 1e-3;  // of the thickness that fits the mesh
enum { BURIED_UNDER = 256 };          // layers: a gap of a quarter of the thickness

static bool start_is_loose(rbt_async_stepper *s, double fitting, rbt_error *error) {
    bool chosen = isnan(s->options.thickness);
    rbt_start_gap nearest;
    char text[160];
    if (!rbt_contact_start_gap(&s->contact, s->surface.x, !chosen, &nearest)) return true;
    rbt_model_surface_name(&s->surface, &s->contact.surface, nearest.key, text, sizeof text);
    if (chosen && nearest.gap >= THINNEST * fitting) {
        rbt_contact_set_thickness(&s->contact, nearest.gap * (1 - 1e-9));
        return true;
    }
    if (chosen)
        return rbt_fail_path(
            error, NULL, "bodies",
            "%s are %.3g m apart at the start, less than a thousandth of the thickness of %.3g m that fits "
            "the mesh; move the bodies apart, or give %s",
            text, nearest.gap, fitting, s->model->contact.on ? "contact.thickness" : "integrator.options.thickness");
    if (nearest.gap > nearest.eta / sqrt(sqrt(BURIED_UNDER))) return true;
    return rbt_fail_path(
        error, NULL, s->model->contact.on ? "contact.thickness" : "integrator.options.thickness",
        "%s are %.3g m apart at the start, but their layers are %.3g m thick: contact would begin with "
        "%.3g J and throw them apart; a thickness of %.3g m fits, as \"auto\" would find, or move the bodies apart",
        text, nearest.gap, nearest.eta, nearest.energy, nearest.gap);
}

// ---- What the scene says about contact

static bool said_twice(const char *key, rbt_error *error) {
    char path[64];
    snprintf(path, sizeof path, "integrator.options.%s", key);
    return rbt_fail_path(error, NULL, path,
                         "the scene has \"contact\", which says it as contact.%s; leave one of them out", key);
}

// "contact" of a scene means here what it means for other methods: thickness is that of the outermost layer, friction
// that of each pair, and a gap lies inside of everything, as radii do. Other things have no counterpart.
bool rbt_async_take_settings(rbt_async_stepper *s, rbt_error *error) {
    const rbt_contact_settings *set = &s->model->contact;
    if (!set->on) return true;
    if (!s->options.contact)
        return rbt_fail_path(error, NULL, "integrator.options.contact",
                             "is false, but the scene has \"contact\"; leave one of them out");
    if (set->augmented)
        return rbt_fail_path(
            error, NULL, "contact.solver",
            "async-contact has layers in place of an augmented-lagrangian, and no step to solve; leave "
            "\"solver\" out, or take an implicit method");
    if (!isnan(set->slip_speed))
        return rbt_fail_path(error, NULL, "contact.slip_speed",
                             "is %g m/s, but with async-contact surfaces stick wholly; leave \"slip_speed\" out, or "
                             "take an implicit method",
                             set->slip_speed);
    if (!isnan(s->options.thickness)) return said_twice("thickness", error);
    if (s->options.friction > 0) return said_twice("friction", error);
    s->options.thickness = set->thickness;
    return true;
}

// Sides of nodes, and half of what their bodies keep free added to radii
static bool take_sides(rbt_async_stepper *s, rbt_contact_law *law, rbt_error *error) {
    const rbt_model *m = s->model;
    if (!m->contact.on) return true;
    double *radius = rbt_arena_take(s->arena, s->node_count, sizeof *radius);
    int32_t *side = rbt_arena_take(s->arena, s->node_count, sizeof *side);
    if (!radius || !side) return rbt_fail_memory(error, s->node_count * sizeof *radius, "contact");
    for (size_t n = 0; n < s->node_count; n++) {
        bool own = n < m->node_count;
        side[n] = own ? m->node_body[n] : -1 - s->surface.obstacle[n];
        radius[n] = s->surface.def.radius[n] + (own ? 0.5 * rbt_contact_settings_gap(&m->contact, side[n]) : 0);
        s->gaps |= own && rbt_contact_settings_gap(&m->contact, side[n]) > 0;
    }
    s->surface.def.radius = radius;
    law->rubbing = &m->contact;
    law->side = side;
    return true;
}

bool rbt_async_make_contact(rbt_async_stepper *s, rbt_error *error) {
    const rbt_model *m = s->model;
    if (!rbt_async_take_settings(s, error) || !rbt_model_surface_make(&s->surface, m, s->arena, error)) return false;
    memcpy(s->tracks.x, s->surface.x, 3 * s->node_count * sizeof(double));
    rbt_contact_law law = {s->options.stiffness,
                           s->options.thickness,
                           s->options.restitution,
                           s->options.friction,
                           isnan(s->options.safety) ? safety_of(s->options.restitution) : s->options.safety,
                           m->step,
                           0,
                           !s->options.slack,
                           NULL,
                           NULL};
    if (!take_sides(s, &law, error)) return false;
    double fitting = 0.25 * mean_edge(m);
    if (isnan(law.thickness)) law.thickness = fitting;
    while (law.deepest < RBT_TICK_BITS && ldexp(m->step, -law.deepest - 1) >= s->options.floor) law.deepest++;
    if (!rbt_contact_init(&s->contact, &law, &s->surface.def, &s->tracks, error)) return false;
    s->touching = true;
    char text[192];
    if (!limits_are_kept(s, error)) return false;
    if (rbt_contact_is_legal(&s->contact, s->surface.x, text, sizeof text))
        return start_is_loose(s, fitting, error) && rbt_prescribed_motions_are_possible(m, error);
    return rbt_fail_path(
        error, NULL, "bodies",
        "%s touch or cross at the start (node numbers count through all bodies)%s, but contact needs a gap; "
        "move the bodies apart",
        text, s->gaps ? " or are closer than the gap that they keep" : "");
}
