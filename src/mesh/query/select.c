// Selections are evaluated into one byte per node or tet. `all`, `any` and `not` combine such bytes, a set name may
// lead to another selection; the names on the way are kept as a chain, so that one that needs itself is found.
#include "mesh/query/select.h"

#include "base/memory.h"
#include "base/text.h"
#include "math/vec3.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double FORGIVEN = 1e-9;  // of the body's diagonal

enum { PATH_SIZE = sizeof((rbt_error *)0)->path };

typedef RBT_LIST(int) int_list;
typedef RBT_LIST(rbt_selection) selection_list;

typedef struct evaluation {
    const rbt_select_context *context;
    rbt_set_kind kind;
    size_t count;          // nodes, tets or triangles
    const double *points;  // (count x 3) nodes or centroids
    double box_min[3], box_max[3];
    double slack;  // [m]
    rbt_error *error;
} evaluation;

// Where in the description an evaluation is: the JSON path, and the named selections it has come through.
typedef struct place {
    const char *path;
    const struct chain *through;
} place;

typedef struct chain {
    const char *name;
    const struct chain *before;
} chain;

static const char *things(const evaluation *e) {
    static const char *const names[] = {
        [RBT_SET_NODES] = "nodes", [RBT_SET_TETS] = "tets", [RBT_SET_TRIANGLES] = "triangles"};
    return names[e->kind];
}

static const int32_t *elements_of(const rbt_mesh *mesh, rbt_set_kind kind, size_t *corners) {
    *corners = kind == RBT_SET_TETS ? 4 : 3;
    return kind == RBT_SET_TETS ? mesh->tets : mesh->triangles;
}

RBT_PRINTF(3, 4)
static bool complain(const evaluation *e, place at, const char *format, ...) {
    char message[768];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (!at.through) return rbt_fail_path(e->error, e->context->file, at.path, "%s", message);
    return rbt_fail_path(e->error, e->context->file, at.path, "selection \"%s\": %s", at.through->name, message);
}

// One place further down. Inside a named selection the path stays at the name's use, which is what the user can find.
RBT_PRINTF(3, 4)
static place further(place at, char path[PATH_SIZE], const char *format, ...) {
    if (at.through) return at;
    size_t used = strnlen(at.path, PATH_SIZE - 1);
    memcpy(path, at.path, used);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path + used, PATH_SIZE - used, format, arguments);
    va_end(arguments);
    return (place){path, NULL};
}

// ---- Regions of space

static bool in_box(const evaluation *e, const rbt_select_box *box, place at, unsigned char *chosen) {
    double low[3], high[3];
    for (int k = 0; k < 3; k++) {
        if (!(box->min[k] <= box->max[k]))
            return complain(e, at, "min is %g and max %g along %c; a box needs min <= max", box->min[k], box->max[k],
                            "xyz"[k]);
        double size = e->box_max[k] - e->box_min[k];
        low[k] = (box->relative ? e->box_min[k] + box->min[k] * size : box->min[k]) - e->slack;
        high[k] = (box->relative ? e->box_min[k] + box->max[k] * size : box->max[k]) + e->slack;
    }
    for (size_t i = 0; i < e->count; i++) {
        const double *x = e->points + 3 * i;
        chosen[i] = x[0] >= low[0] && x[0] <= high[0] && x[1] >= low[1] && x[1] <= high[1] && x[2] >= low[2] &&
                    x[2] <= high[2];
    }
    return true;
}

static bool in_sphere(const evaluation *e, const rbt_select_sphere *sphere, place at, unsigned char *chosen) {
    if (!(sphere->radius >= 0)) return complain(e, at, "the radius is %g; it must be at least 0", sphere->radius);
    for (size_t i = 0; i < e->count; i++) {
        double d[3];
        rbt_subtract(e->points + 3 * i, sphere->centre, d);
        chosen[i] = rbt_length(d) <= sphere->radius + e->slack;
    }
    return true;
}

static bool beyond_plane(const evaluation *e, const rbt_select_plane *plane, place at, unsigned char *chosen) {
    double length = rbt_length(plane->normal), unit[3];
    if (!(length > 0 && isfinite(length)))
        return complain(e, at, "the normal is (%g, %g, %g); it must have a direction", plane->normal[0],
                        plane->normal[1], plane->normal[2]);
    rbt_normalize(plane->normal, unit);
    for (size_t i = 0; i < e->count; i++) {
        double d[3];
        rbt_subtract(e->points + 3 * i, plane->point, d);
        chosen[i] = rbt_dot(d, unit) >= -e->slack;
    }
    return true;
}

typedef struct candidate {
    double square;  // of the distance
    size_t item;
} candidate;

static int compare_candidates(const void *left, const void *right) {
    const candidate *a = left, *b = right;
    if (a->square != b->square) return a->square < b->square ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

static bool nearest(const evaluation *e, const rbt_select_nearest *wanted, place at, unsigned char *chosen) {
    if (wanted->count < 1) return complain(e, at, "count is %d; it must be at least 1", wanted->count);
    if ((size_t)wanted->count > e->count)
        return complain(e, at, "count is %d, but the body has only %zu %s", wanted->count, e->count, things(e));
    candidate *candidates = rbt_array_new(e->count, sizeof *candidates, "a selection", e->error);
    if (!candidates) return false;
    for (size_t i = 0; i < e->count; i++) {
        double d[3];
        rbt_subtract(e->points + 3 * i, wanted->point, d);
        double square = rbt_dot(d, d);
        candidates[i] = (candidate){isnan(square) ? INFINITY : square, i};
    }
    qsort(candidates, e->count, sizeof *candidates, compare_candidates);
    memset(chosen, 0, e->count);
    for (int k = 0; k < wanted->count; k++) chosen[candidates[k].item] = 1;
    free(candidates);
    return true;
}

// ---- Lists of nodes and sets of the mesh

// Turns chosen nodes into the elements whose nodes are all among them.
static void elements_of_nodes(const evaluation *e, const unsigned char *nodes, unsigned char *chosen) {
    size_t corners;
    const int32_t *elements = elements_of(e->context->mesh, e->kind, &corners);
    for (size_t i = 0; i < e->count; i++) {
        chosen[i] = 1;
        for (size_t k = 0; k < corners; k++) chosen[i] &= nodes[elements[corners * i + k]];
    }
}

static bool listed_nodes(const evaluation *e, const int_list *list, place at, unsigned char *chosen) {
    const rbt_mesh *mesh = e->context->mesh;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i] < 0 || (size_t)list->items[i] >= mesh->node_count) {
            char path[PATH_SIZE];
            return complain(e, further(at, path, "[%zu]", i),
                            "there is no node %d: the body has %zu nodes (0 to %ld)", list->items[i],
                            mesh->node_count, (long)mesh->node_count - 1);
        }
    bool of_elements = e->kind != RBT_SET_NODES;
    unsigned char *nodes = of_elements ? rbt_array_new(mesh->node_count, 1, "a selection", e->error) : chosen;
    if (!nodes) return false;
    memset(nodes, 0, mesh->node_count);
    for (size_t i = 0; i < list->count; i++) nodes[list->items[i]] = 1;
    if (of_elements) {
        elements_of_nodes(e, nodes, chosen);
        free(nodes);
    }
    return true;
}

static void mark_nodes_of_set(const rbt_mesh *mesh, const rbt_mesh_set *set, unsigned char *nodes) {
    size_t corners;
    const int32_t *elements = elements_of(mesh, set->kind, &corners);
    for (size_t i = 0; i < set->count; i++) {
        if (set->kind == RBT_SET_NODES) nodes[set->items[i]] = 1;
        else
            for (size_t k = 0; k < corners; k++) nodes[elements[corners * (size_t)set->items[i] + k]] = 1;
    }
}

// The sets of this name, of which there can be one for each kind. Elements come from a set of their own kind if there
// is one, for a set of another kind of the same name would only repeat some of them.
static bool members_of_sets(const evaluation *e, const char *name, unsigned char *chosen) {
    const rbt_mesh *mesh = e->context->mesh;
    memset(chosen, 0, e->count);
    bool of_elements = e->kind != RBT_SET_NODES, found = false;
    for (size_t s = 0; of_elements && s < mesh->set_count; s++) {
        const rbt_mesh_set *set = &mesh->sets[s];
        if (set->kind != e->kind || strcmp(set->name, name) != 0) continue;
        for (size_t i = 0; i < set->count; i++) chosen[set->items[i]] = 1;
        found = true;
    }
    if (found) return true;
    unsigned char *nodes = of_elements ? rbt_array_new(mesh->node_count, 1, "a selection", e->error) : chosen;
    if (!nodes) return false;
    for (size_t s = 0; s < mesh->set_count; s++)
        if (strcmp(mesh->sets[s].name, name) == 0) mark_nodes_of_set(mesh, &mesh->sets[s], nodes);
    if (of_elements) {
        elements_of_nodes(e, nodes, chosen);
        free(nodes);
    }
    return true;
}

// The i-th name that a set may have; NULL past the end.
static const char *known_name(const rbt_select_context *c, size_t i) {
    if (i < c->named_count) return c->named[i].name;
    i -= c->named_count;
    if (i < c->mesh->set_count) return c->mesh->sets[i].name;
    return i == c->mesh->set_count ? "everything" : NULL;
}

static bool unknown_set(const evaluation *e, const char *name, place at) {
    const char *known;
    rbt_nearest near = rbt_nearest_begin(name);
    for (size_t i = 0; (known = known_name(e->context, i)); i++) rbt_nearest_offer(&near, known);
    if (near.best) return complain(e, at, "there is no set \"%s\"; did you mean \"%s\"?", name, near.best);
    char list[512] = "";
    size_t used = 0;
    for (size_t i = 0; (known = known_name(e->context, i)) && used + strlen(known) + 12 < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s\"%s\"", i ? ", " : "", known);
    return complain(e, at, "there is no set \"%s\"; known are %s%s", name, list, known ? ", …" : "");
}

// ---- Combinations

static bool evaluate(const evaluation *e, const rbt_selection *where, place at, unsigned char *chosen);

static bool needs_itself(const evaluation *e, const char *name, place at) {
    char way[512];
    size_t used = (size_t)snprintf(way, sizeof way, "\"%s\"", name);
    for (const chain *link = at.through; link && used + strlen(link->name) + 8 < sizeof way; link = link->before) {
        used += (size_t)snprintf(way + used, sizeof way - used, ", needed by \"%s\"", link->name);
        if (strcmp(link->name, name) == 0) break;
    }
    return rbt_fail_path(e->error, e->context->file, at.path, "selection %s, is defined by itself", way);
}

static bool named(const evaluation *e, const char *name, place at, unsigned char *chosen) {
    const rbt_select_context *c = e->context;
    if (!name) return complain(e, at, "the name of the set is missing");
    for (size_t i = 0; i < c->named_count; i++) {
        if (strcmp(c->named[i].name, name) != 0) continue;
        for (const chain *link = at.through; link; link = link->before)
            if (strcmp(link->name, name) == 0) return needs_itself(e, name, at);
        chain longer = {name, at.through};
        return evaluate(e, &c->named[i].where, (place){at.path, &longer}, chosen);
    }
    for (size_t s = 0; s < c->mesh->set_count; s++)
        if (strcmp(c->mesh->sets[s].name, name) == 0) return members_of_sets(e, name, chosen);
    if (strcmp(name, "everything") != 0) return unknown_set(e, name, at);
    memset(chosen, 1, e->count);
    return true;
}

// All of a list (and) or any of it (or); of an empty list: nothing.
static bool combine(const evaluation *e, const selection_list *list, bool all, place at, unsigned char *chosen) {
    unsigned char *other = rbt_array_new(e->count, 1, "a selection", e->error);
    bool good = other != NULL;
    memset(chosen, all && list->count, e->count);
    for (size_t i = 0; good && i < list->count; i++) {
        char path[PATH_SIZE];
        good = evaluate(e, &list->items[i], further(at, path, "[%zu]", i), other);
        for (size_t k = 0; good && k < e->count; k++) chosen[k] = all ? chosen[k] & other[k] : chosen[k] | other[k];
    }
    free(other);
    return good;
}

static bool evaluate(const evaluation *e, const rbt_selection *where, place at, unsigned char *chosen) {
    static const char *const key[RBT_SELECT_KINDS] = {"box",     "sphere", "plane", "set", "nodes",
                                                      "nearest", "all",    "any",   "not"};
    if (where->which < 0 || where->which >= RBT_SELECT_KINDS || !where->value)
        return complain(e, at, "a selection is missing; \"everything\" takes all %s", things(e));
    char path[PATH_SIZE];
    place inside = further(at, path, "%s%s", at.path[0] ? "." : "", key[where->which]);
    const void *value = where->value;
    switch ((rbt_selection_kind)where->which) {
    case RBT_SELECT_BOX: return in_box(e, value, inside, chosen);
    case RBT_SELECT_SPHERE: return in_sphere(e, value, inside, chosen);
    case RBT_SELECT_PLANE: return beyond_plane(e, value, inside, chosen);
    case RBT_SELECT_SET: return named(e, value, inside, chosen);
    case RBT_SELECT_NODES: return listed_nodes(e, value, inside, chosen);
    case RBT_SELECT_NEAREST: return nearest(e, value, inside, chosen);
    case RBT_SELECT_ALL: return combine(e, value, true, inside, chosen);
    case RBT_SELECT_ANY: return combine(e, value, false, inside, chosen);
    case RBT_SELECT_NOT:
        if (!evaluate(e, value, inside, chosen)) return false;
        for (size_t i = 0; i < e->count; i++) chosen[i] = !chosen[i];
        return true;
    case RBT_SELECT_KINDS: break;
    }
    return false;
}

// ---- Entry

static void measure_body(evaluation *e) {
    const rbt_mesh *mesh = e->context->mesh;
    bool any = false;
    for (size_t i = 0; i < mesh->node_count; i++) {
        const double *x = mesh->nodes + 3 * i;
        if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2])) continue;
        for (int k = 0; k < 3; k++) {
            if (!any || x[k] < e->box_min[k]) e->box_min[k] = x[k];
            if (!any || x[k] > e->box_max[k]) e->box_max[k] = x[k];
        }
        any = true;
    }
    double diagonal[3];
    rbt_subtract(e->box_max, e->box_min, diagonal);
    e->slack = FORGIVEN * rbt_length(diagonal);
}

static bool select_things(evaluation *e, const rbt_selection *where, unsigned char *chosen) {
    const rbt_select_context *c = e->context;
    place at = {c->path ? c->path : "", NULL};
    measure_body(e);
    if (!evaluate(e, where, at, chosen)) return false;
    if (!c->must_match || memchr(chosen, 1, e->count)) return true;
    const double *a = e->box_min, *b = e->box_max;
    return complain(e, at, "selects none of the %zu %s; the body reaches from (%g, %g, %g) to (%g, %g, %g) m",
                    e->count, things(e), a[0], a[1], a[2], b[0], b[1], b[2]);
}

bool rbt_select_nodes(const rbt_select_context *context, const rbt_selection *where, unsigned char *chosen,
                      rbt_error *error) {
    const rbt_mesh *mesh = context->mesh;
    evaluation e = {.context = context, .count = mesh->node_count, .points = mesh->nodes, .error = error};
    return select_things(&e, where, chosen);
}

static bool select_elements(const rbt_select_context *context, rbt_set_kind kind, size_t count,
                            const rbt_selection *where, unsigned char *chosen, rbt_error *error) {
    size_t corners;
    const int32_t *elements = elements_of(context->mesh, kind, &corners);
    double *centroids = rbt_array_new(count, 3 * sizeof *centroids, "a selection", error);
    if (!centroids) return false;
    for (size_t t = 0; t < count; t++)
        for (size_t a = 0; a < corners; a++)
            rbt_add_scaled(centroids + 3 * t, 1.0 / (double)corners,
                           context->mesh->nodes + 3 * (size_t)elements[corners * t + a]);
    evaluation e = {.context = context, .kind = kind, .count = count, .points = centroids, .error = error};
    bool good = select_things(&e, where, chosen);
    free(centroids);
    return good;
}

bool rbt_select_tets(const rbt_select_context *context, const rbt_selection *where, unsigned char *chosen,
                     rbt_error *error) {
    return select_elements(context, RBT_SET_TETS, context->mesh->tet_count, where, chosen, error);
}

bool rbt_select_triangles(const rbt_select_context *context, const rbt_selection *where, unsigned char *chosen,
                          rbt_error *error) {
    return select_elements(context, RBT_SET_TRIANGLES, context->mesh->triangle_count, where, chosen, error);
}
