#include "model/contact_settings.h"

#include "model/compile.h"

#include <math.h>
#include <string.h>

// ---- Asking

static double own_friction(const rbt_contact_settings *s, int side) {
    return side >= 0 && !isnan(s->body_friction[side]) ? s->body_friction[side] : s->friction;
}

static bool fits(int rule, int side) { return rule == RBT_ANY_SIDE || rule == side; }

double rbt_contact_settings_friction(const rbt_contact_settings *s, int a, int b) {
    for (size_t i = s->rule_count; i-- > 0;) {
        const rbt_contact_rule *r = &s->rules[i];
        if ((fits(r->a, a) && fits(r->b, b)) || (fits(r->a, b) && fits(r->b, a))) return r->friction;
    }
    if (a < 0 || b < 0) return own_friction(s, a < 0 ? b : a);
    double first = own_friction(s, a), second = own_friction(s, b);
    return first == second ? first : sqrt(first * second);
}

bool rbt_contact_settings_has_friction(const rbt_contact_settings *s) {
    bool any = s->friction > 0;
    for (size_t b = 0; b < s->body_count; b++) any |= s->body_friction[b] > 0;
    for (size_t i = 0; i < s->rule_count; i++) any |= s->rules[i].friction > 0;
    return any;
}

// ---- Compiling

// "obstacles[12]", and nothing else
static bool read_obstacle(const char *name, size_t *number) {
    const char *digits = name + strlen("obstacles["), *end = digits + strspn(digits, "0123456789");
    size_t length = (size_t)(end - digits);
    *number = 0;
    for (const char *d = digits; d < end && length < 10; d++) *number = 10 * *number + (size_t)(*d - '0');
    return length > 0 && length < 10 && strcmp(end, "]") == 0;
}

static bool find_side(rbt_compiler *c, const char *name, size_t rule, const char *key, int *side) {
    const rbt_scene *scene = c->scene;
    size_t number, count = scene->obstacles.count;
    *side = RBT_ANY_SIDE;
    if (!name) return true;
    for (size_t b = 0; b < scene->bodies.count; b++)
        if (strcmp(c->bodies[b].name, name) == 0) {
            *side = (int)b;
            return true;
        }
    const char *path = rbt_compile_path(c, "contact.pairs[%zu].%s", rule, key);
    if (strncmp(name, "obstacles", 9) != 0)
        return rbt_fail_path(c->error, scene->file, path,
                             "there is no body \"%s\"; name a body, or an obstacle as \"obstacles[0]\"", name);
    if (strncmp(name, "obstacles[", 10) != 0 || !read_obstacle(name, &number))
        return rbt_fail_path(c->error, scene->file, path,
                             "\"%s\" names no obstacle; write its number, counted from 0, as \"obstacles[0]\"", name);
    if (number >= count)
        return rbt_fail_path(c->error, scene->file, path,
                             "there is no \"%s\": the scene has %zu obstacle%s, counted from 0", name, count,
                             count == 1 ? "" : "s");
    *side = -1 - (int)number;
    return true;
}

static bool find_sides(rbt_compiler *c, const rbt_contact_pair_def *pair, size_t rule, rbt_contact_rule *to) {
    if (!find_side(c, pair->a, rule, "a", &to->a) || !find_side(c, pair->b, rule, "b", &to->b)) return false;
    to->friction = pair->friction;
    if (to->a >= 0 || to->b >= 0) return true;
    return rbt_fail_path(c->error, c->scene->file, rbt_compile_path(c, "contact.pairs[%zu]", rule),
                         "\"%s\" and \"%s\" are both obstacles, which never feel each other; one side must be a body",
                         pair->a, pair->b);
}

bool rbt_compile_contact(rbt_compiler *c) {
    const rbt_contact_def *def = c->scene->contact;
    rbt_contact_settings *s = &c->model->contact;
    size_t bodies = c->scene->bodies.count;
    if (!def) return true;
    double *friction, *gap;
    rbt_contact_rule *rules;
    if (!RBT_TAKE(c, friction, bodies) || !RBT_TAKE(c, gap, bodies) || !RBT_TAKE(c, rules, def->pairs.count))
        return false;
    for (size_t b = 0; b < bodies; b++) {
        const rbt_body_def *body = &c->scene->bodies.items[b];
        friction[b] = body->friction;
        gap[b] = isnan(body->gap) ? def->gap : body->gap;
    }
    for (size_t i = 0; i < def->pairs.count; i++)
        if (!find_sides(c, &def->pairs.items[i], i, &rules[i])) return false;
    *s = (rbt_contact_settings){.on = true,
                                .augmented = def->solver == RBT_CONTACT_AUGMENTED_LAGRANGIAN,
                                .thickness = def->thickness,
                                .slip_speed = def->slip_speed,
                                .friction = def->friction,
                                .body_count = bodies,
                                .body_friction = friction,
                                .body_gap = gap,
                                .rule_count = def->pairs.count,
                                .rules = rules};
    return true;
}
