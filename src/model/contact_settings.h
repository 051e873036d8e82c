// What a scene says about contact, compiled: who rubs whom, and how much room bodies keep.
#ifndef RBT_MODEL_CONTACT_SETTINGS_H
#define RBT_MODEL_CONTACT_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

// A side of a pair: the number of a body, or -1 less that of an obstacle.
enum { RBT_ANY_SIDE = 0x7fffffff };

typedef struct rbt_contact_rule {
    int a, b;  // sides; RBT_ANY_SIDE: any
    double friction;
} rbt_contact_rule;

typedef struct rbt_contact_settings {
    bool on;            // the scene has contact
    bool augmented;     // by an augmented Lagrangian, not by a barrier
    double thickness;   // [m]; NaN: chosen by what makes contact
    double slip_speed;  // [m/s]; NaN: likewise
    double friction;    // of obstacles beside others of their kind
    size_t body_count;
    const double *body_friction;  // (body_count) NaN: none of its own
    const double *body_gap;       // (body_count) [m]
    size_t rule_count;
    const rbt_contact_rule *rules;
} rbt_contact_settings;

// Coulomb's coefficient of two sides: that of the last rule that fits; else the geometric mean of both sides' own ones.
// A side without one has that of the scene, an obstacle that of what touches it.
double rbt_contact_settings_friction(const rbt_contact_settings *settings, int a, int b);

// Whether any pair rubs
bool rbt_contact_settings_has_friction(const rbt_contact_settings *settings);

static inline double rbt_contact_settings_gap(const rbt_contact_settings *settings, int body) {
    return settings->body_gap[body];
}

#endif
