// Checks of a finished description, made by the parser or by a program. First the limits of every member, by the same
// tables that the parser uses; then, record by record, what depends on several members.
#include "base/memory.h"
#include "math/vec3.h"
#include "scene/table.h"
#include "scene/walk.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef RBT_LIST(char) any_list;

typedef struct checker {
    rbt_walk *walk;
    const rbt_scene *scene;  // NULL while a record outside of a scene is checked
} checker;

static bool check_record(checker *c, const rbt_record *record, const void *data);
static bool check_dependencies(checker *c, const rbt_record *record, const void *data);

static bool fail_at(checker *c, const char *key, const char *message) {
    rbt_walk_key(c->walk, key);
    return rbt_walk_fail(c->walk, "%s", message);
}

// ---- Limits

static bool check_number(checker *c, const rbt_field *f, double value) {
    char limits[128], number[32];
    if (isnan(value) && (f->flags & RBT_AUTO)) return true;
    if (value == INFINITY && (f->flags & RBT_NEVER)) return true;
    if (!isfinite(value))
        return rbt_walk_fail(c->walk, "must be a finite number, found %s", rbt_text_number(value, number));
    if (rbt_field_allows(f, value)) return true;
    if (value == 0 && (f->flags & RBT_NOT_ZERO)) return rbt_walk_fail(c->walk, "must not be 0");
    rbt_field_limits(f, limits, sizeof limits);
    return rbt_walk_fail(c->walk, "must be %s%s%s, found %s", limits, f->unit ? " " : "", f->unit ? f->unit : "",
                         rbt_text_number(value, number));
}

// Components of a vector or items of a list of numbers
static bool check_numbers(checker *c, const rbt_field *f, const double *values, const int *integers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double value = values ? values[i] : integers[i];
        if (isfinite(value) && rbt_field_allows(f, value)) continue;
        rbt_walk_item(c->walk, i);
        return check_number(c, f, value);
    }
    return true;
}

static bool check_vector(checker *c, const rbt_field *f, const double *values, const int *integers) {
    if (!check_numbers(c, f, values, integers, 3)) return false;
    bool zero = true;
    for (int k = 0; k < 3; k++) zero = zero && (values ? values[k] == 0 : integers[k] == 0);
    return !zero || !(f->flags & RBT_NOT_EMPTY) || rbt_walk_fail(c->walk, "must not be the zero vector");
}

static bool check_text(checker *c, const rbt_field *f, const char *text) {
    if (!text) return true;
    if (!text[0] && (f->flags & RBT_NOT_EMPTY)) return rbt_walk_fail(c->walk, "must not be empty");
    if (!f->of.names) return true;
    for (int i = 0; f->of.names(i); i++)
        if (strcmp(f->of.names(i), text) == 0) return true;
    char begin[96];
    snprintf(begin, sizeof begin, "unknown %s", f->name);
    return rbt_walk_unknown(c->walk, begin, text, f->of.names);
}

static bool check_choice(checker *c, int which, rbt_name_of names) {
    int count = 0;
    while (names && names(count)) count++;
    if (which >= 0 && which < (count ? count : 1)) return true;
    return rbt_walk_fail(c->walk, "there are %d to choose from, counted from 0, found number %d", count, which);
}

static bool check_variant(checker *c, const rbt_field *f, const rbt_variant *variant);

static bool check_field(checker *c, const rbt_record *record, const void *data, const rbt_field *f, const void *at);

static bool check_item(checker *c, const rbt_field *f, const any_list *list, size_t i) {
    switch (f->kind) {
    case RBT_VEC3S: return check_vector(c, f, (const double *)(const void *)list->items + 3 * i, NULL);
    case RBT_TEXTS: {
        const char *text = ((const char *const *)(const void *)list->items)[i];
        return text ? check_text(c, f, text) : rbt_walk_fail(c->walk, "is missing");
    }
    case RBT_RECORDS: return check_record(c, f->of.record, list->items + i * f->of.record->size);
    default: {
        const rbt_variant *variant = (const rbt_variant *)(const void *)list->items + i;
        return variant->which >= 0 ? check_variant(c, f, variant) : rbt_walk_fail(c->walk, "is missing");
    }
    }
}

static bool check_list(checker *c, const rbt_field *f, const any_list *list) {
    if (!list->count) return !(f->flags & RBT_NOT_EMPTY) || rbt_walk_fail(c->walk, "needs at least one item");
    if (!list->items) return rbt_walk_fail(c->walk, "has %zu items that point nowhere", list->count);
    if (f->kind == RBT_REALS)
        return check_numbers(c, f, (const double *)(const void *)list->items, NULL, list->count);
    if (f->kind == RBT_INTS) return check_numbers(c, f, NULL, (const int *)(const void *)list->items, list->count);
    rbt_field item = *f;
    item.flags &= ~(unsigned)RBT_NOT_EMPTY;  // it is the list that must not be empty
    for (size_t i = 0; i < list->count; i++) {
        size_t mark = rbt_walk_item(c->walk, i);
        if (!check_item(c, &item, list, i)) return false;
        rbt_walk_back(c->walk, mark);
    }
    return true;
}

static bool check_variant(checker *c, const rbt_field *f, const rbt_variant *variant) {
    if (variant->which < 0) return true;
    const rbt_field *alternative = f->of.variants->alternative(variant->which);
    if (!alternative) return rbt_walk_fail(c->walk, "there is no %s number %d", f->of.variants->name, variant->which);
    if (!variant->value) return rbt_walk_fail(c->walk, "the %s points nowhere", alternative->name);
    if (!rbt_walk_deeper(c->walk)) return false;
    // A text that stands for an alternative was written without its key, and has the path that it was written with.
    size_t mark = c->walk->length;
    if (variant->which != f->of.variants->text_means) rbt_walk_key(c->walk, alternative->name);
    bool is_text = alternative->kind == RBT_TEXT;
    if (is_text ? !check_text(c, alternative, variant->value)
                : !check_field(c, NULL, NULL, alternative, variant->value))
        return false;
    rbt_walk_back(c->walk, mark);
    c->walk->depth--;
    return true;
}

// `at` points to the member; `record` and `data` to the struct it belongs to.
static bool check_field(checker *c, const rbt_record *record, const void *data, const rbt_field *f, const void *at) {
    switch (f->kind) {
    case RBT_BOOL: return true;
    case RBT_INT: return ((f->flags & RBT_AUTO) && *(const int *)at == -1) || check_number(c, f, *(const int *)at);
    case RBT_REAL: return check_number(c, f, *(const double *)at);
    case RBT_VEC3: return check_vector(c, f, at, NULL);
    case RBT_INT3: return check_vector(c, f, NULL, at);
    case RBT_TEXT: return check_text(c, f, *(const char *const *)at);
    case RBT_CHOICE:
        return ((f->flags & RBT_AUTO) && *(const int *)at == -1) || check_choice(c, *(const int *)at, f->of.names);
    case RBT_CHOICE_BY:
        if ((f->flags & RBT_AUTO) && *(const int *)at == -1) return true;
        return check_choice(c, *(const int *)at, f->of.by->names(rbt_record_sibling(record, f, data)));
    case RBT_RECORD: return check_record(c, f->of.record, at);
    case RBT_OPTIONAL: return !*(const void *const *)at || check_record(c, f->of.record, *(const void *const *)at);
    case RBT_RECORD_BY: {
        const rbt_record *own = f->of.by->record(rbt_record_sibling(record, f, data));
        const void *options = *(const void *const *)at;
        return !own || !options || check_record(c, own, options);
    }
    case RBT_VARIANT: return check_variant(c, f, at);
    default: return check_list(c, f, at);
    }
}

static bool is_given(const rbt_field *f, const void *at) {
    switch (f->kind) {
    case RBT_TEXT: return *(const char *const *)at != NULL;
    case RBT_OPTIONAL:
    case RBT_RECORD_BY: return *(const void *const *)at != NULL;
    case RBT_VARIANT: return ((const rbt_variant *)at)->which >= 0;
    case RBT_INTS:
    case RBT_REALS:
    case RBT_VEC3S:
    case RBT_TEXTS:
    case RBT_RECORDS:
    case RBT_VARIANTS: return ((const any_list *)at)->count > 0;
    default: return true;
    }
}

// Keys of which exactly one must be given
static bool check_one_of(checker *c, const rbt_record *record, const void *data) {
    int given = 0, known = 0;
    char names[256] = "";
    for (int i = 0; i < record->field_count; i++) {
        const rbt_field *f = &record->fields[i];
        if (!(f->flags & RBT_ONE_OF)) continue;
        given += is_given(f, (const char *)data + f->offset);
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s\"%s\"", known++ ? " and " : "", f->name);
    }
    if (record == &RBT_MESH_RECORD && ((const rbt_mesh_def *)data)->mesh)
        return !given || rbt_walk_fail(c->walk, "a mesh in memory is given: leave \"file\" and \"shape\" empty");
    if (!known || given == 1) return true;
    return rbt_walk_fail(c->walk, "exactly one of %s is needed, found %s", names,
                         !given       ? "none"
                         : known == 2 ? "both"
                                      : "several");
}

// A struct that its function has not made may hold anything.
static bool check_cookie(checker *c, const rbt_record *record, const void *data) {
    uint64_t cookie = 0;
    if (record->cookie) memcpy(&cookie, data, sizeof cookie);
    return !record->cookie || cookie == rbt_record_cookie(record) ||
           rbt_walk_fail(c->walk,
                         "this is no struct \"%s\" that its rbt_..._default() function of rubato %s has made (cookie "
                         "%016llx); start from that function's result",
                         record->name, RBT_VERSION, (unsigned long long)cookie);
}

static bool check_record(checker *c, const rbt_record *record, const void *data) {
    if (!check_cookie(c, record, data) || !rbt_walk_deeper(c->walk)) return false;
    for (int i = 0; i < record->field_count; i++) {
        const rbt_field *f = &record->fields[i];
        const void *at = (const char *)data + f->offset;
        if (f->flags & RBT_NOT_KEPT) continue;
        bool is_single = f->kind == RBT_TEXT || f->kind == RBT_VARIANT || f->kind == RBT_OPTIONAL;
        bool in_memory = record == &RBT_SEQUENCE_RECORD && ((const rbt_sequence_def *)data)->positions;
        if ((f->flags & RBT_REQUIRED) && is_single && !in_memory && !is_given(f, at))
            return rbt_walk_fail(c->walk, "the key \"%s\" is missing", f->name);
        size_t mark = rbt_walk_key(c->walk, f->name);
        if (!check_field(c, record, data, f, at)) return false;
        rbt_walk_back(c->walk, mark);
    }
    if (!check_one_of(c, record, data) || !check_dependencies(c, record, data)) return false;
    c->walk->depth--;
    return true;
}

// ---- What depends on several members

static bool check_span(checker *c, double from, double until) {
    char a[32], b[32];
    if (from <= until) return true;
    rbt_walk_key(c->walk, "until");
    return rbt_walk_fail(c->walk, "must be at least \"from\" (%s s), found %s", rbt_text_number(from, a),
                         rbt_text_number(until, b));
}

static bool check_corners(checker *c, const double min[3], const double max[3], bool may_be_flat) {
    for (size_t k = 0; k < 3; k++) {
        char a[32], b[32];
        if (min[k] < max[k] || (may_be_flat && min[k] == max[k])) continue;
        rbt_walk_key(c->walk, "max");
        rbt_walk_item(c->walk, k);
        return rbt_walk_fail(c->walk, "must be %s \"min\" (%s), found %s", may_be_flat ? "at least" : "above",
                             rbt_text_number(min[k], a), rbt_text_number(max[k], b));
    }
    return true;
}

static bool check_select_box(checker *c, const void *data) {
    const rbt_select_box *box = data;
    return check_corners(c, box->min, box->max, true);
}

static bool check_obstacle_box(checker *c, const void *data) {
    const rbt_obstacle_box *box = data;
    return check_corners(c, box->min, box->max, false);
}

// One run of marks # that stand for the digits of a number; else a cache
static bool check_sequence_file(checker *c, const rbt_sequence_def *sequence) {
    char quoted[64];
    const char *marks = strchr(sequence->file, '#'), *ending = strrchr(sequence->file, '.');
    size_t digits = marks ? strspn(marks, "#") : 0;
    if (!marks && ending && strcasecmp(ending, ".pc2") == 0) return true;
    if (marks && !strchr(marks + digits, '#') && digits <= 8)
        return sequence->last >= 0 ||
               fail_at(c, "last", "is missing: numbered files need the number of the last one");
    rbt_walk_key(c->walk, "file");
    return rbt_walk_fail(c->walk,
                         "must end in .pc2 or have one row of up to 8 marks # for the digits of a number, as "
                         "walk_###.obj, found %s",
                         rbt_walk_quote(sequence->file, quoted));
}

static bool check_sequence(checker *c, const void *data) {
    const rbt_sequence_def *sequence = data;
    if (sequence->positions) {
        if (sequence->file) return fail_at(c, "file", "must be empty: positions in memory are given");
        return sequence->frame_count > 0 ||
               rbt_walk_fail(c->walk, "positions in memory need a frame at least, found none");
    }
    if (sequence->last >= 0 && sequence->last < sequence->first) {
        rbt_walk_key(c->walk, "last");
        return rbt_walk_fail(c->walk, "must be at least \"first\" (%d), found %d", sequence->first, sequence->last);
    }
    return check_sequence_file(c, sequence);
}

static bool check_move_velocity(checker *c, const void *data) {
    const rbt_move_velocity *move = data;
    return check_span(c, move->from, move->until);
}

static bool check_move_rotation(checker *c, const void *data) {
    const rbt_move_rotation *move = data;
    return check_span(c, move->from, move->until);
}

static bool check_move_oscillation(checker *c, const void *data) {
    const rbt_move_oscillation *move = data;
    return check_span(c, move->from, move->until);
}

static bool check_move_keyframes(checker *c, const void *data) {
    const rbt_move_keyframes *move = data;
    char a[32], b[32];
    for (size_t i = 1; i < move->times.count; i++) {
        if (move->times.items[i] > move->times.items[i - 1]) continue;
        rbt_walk_key(c->walk, "times");
        rbt_walk_item(c->walk, i);
        return rbt_walk_fail(c->walk, "must be above the time before it (%s s), found %s",
                             rbt_text_number(move->times.items[i - 1], a), rbt_text_number(move->times.items[i], b));
    }
    if (move->offsets.count == move->times.count) return true;
    rbt_walk_key(c->walk, "offsets");
    return rbt_walk_fail(c->walk, "needs one offset for each of the %zu times, found %zu", move->times.count,
                         move->offsets.count);
}

static bool check_deform_bend(checker *c, const void *data) {
    const rbt_deform_bend *bend = data;
    double axis[3], towards[3], cross[3];
    rbt_normalize(bend->axis, axis);
    rbt_normalize(bend->towards, towards);
    rbt_cross(axis, towards, cross);
    return rbt_length(cross) > 1e-9 || fail_at(c, "towards", "must not point along the axis");
}

static bool check_body_exists(checker *c, const char *name) {
    if (!name || !c->scene) return true;
    rbt_nearest nearest = rbt_nearest_begin(name);
    for (size_t i = 0; i < c->scene->bodies.count; i++) {
        const char *body = c->scene->bodies.items[i].name;
        if (strcmp(body, name) == 0) return true;
        rbt_nearest_offer(&nearest, body);
    }
    char quoted[64];
    rbt_walk_key(c->walk, "body");
    rbt_walk_quote(name, quoted);
    if (nearest.best)
        return rbt_walk_fail(c->walk, "there is no body %s; did you mean \"%s\"?", quoted, nearest.best);
    return rbt_walk_fail(c->walk, "there is no body %s", quoted);
}

static bool check_force_pull(checker *c, const void *data) {
    const rbt_force_pull *force = data;
    return check_body_exists(c, force->body) && check_span(c, force->from, force->until);
}

static bool check_force_pulse(checker *c, const void *data) {
    return check_body_exists(c, ((const rbt_force_pulse *)data)->body);
}

static bool check_force_wind(checker *c, const void *data) {
    const rbt_force_wind *force = data;
    return check_body_exists(c, force->body) && check_span(c, force->from, force->until);
}

static bool check_force_drag(checker *c, const void *data) {
    const rbt_force_drag *force = data;
    return check_body_exists(c, force->body) && check_span(c, force->from, force->until);
}

static bool check_cut(checker *c, const void *data) {
    const rbt_cut_def *cut = data;
    char a[32], b[32];
    if (!check_body_exists(c, cut->body)) return false;
    if (!isnan(cut->until) && !(cut->until >= cut->time)) {
        rbt_walk_key(c->walk, "until");
        return rbt_walk_fail(c->walk, "must be at least \"time\" (%s s), found %s", rbt_text_number(cut->time, a),
                             rbt_text_number(cut->until, b));
    }
    const rbt_cut_blade *blade = cut->surface.value;
    if (cut->surface.which != RBT_CUT_BLADE || blade->points.count >= 2) return true;
    rbt_walk_key(c->walk, "surface");
    rbt_walk_key(c->walk, "blade");
    return fail_at(c, "points", "needs two points at least, found one");
}

static bool check_event_force(checker *c, const void *data) {
    return check_body_exists(c, ((const rbt_event_force *)data)->body);
}

static bool check_event_drag(checker *c, const void *data) {
    return check_body_exists(c, ((const rbt_event_drag *)data)->body);
}

static bool check_event_material(checker *c, const void *data) {
    const rbt_event_material *event = data;
    if (!check_body_exists(c, event->body)) return false;
    if (!c->scene || !event->region) return true;
    if (!isnan(event->mass_damping) || !isnan(event->stiffness_damping))
        return fail_at(c, "region", "has no damping of its own: damping is that of a whole body");
    rbt_nearest nearest = rbt_nearest_begin(event->region);
    for (size_t b = 0; b < c->scene->bodies.count; b++) {
        const rbt_body_def *body = &c->scene->bodies.items[b];
        for (size_t r = 0; strcmp(body->name, event->body) == 0 && r < body->regions.count; r++) {
            const char *name = body->regions.items[r].name;
            if (name && strcmp(name, event->region) == 0) return true;
            if (name) rbt_nearest_offer(&nearest, name);
        }
    }
    char quoted[64];
    rbt_walk_key(c->walk, "region");
    rbt_walk_quote(event->region, quoted);
    return rbt_walk_fail(c->walk, "body \"%s\" has no region %s%s%s%s", event->body, quoted,
                         nearest.best ? "; did you mean \"" : "", nearest.best ? nearest.best : "",
                         nearest.best ? "\"?" : "");
}

static bool check_event_drive(checker *c, const void *data) {
    const rbt_event_drive *event = data;
    if (!c->scene) return true;
    rbt_nearest nearest = rbt_nearest_begin(event->driven);
    for (size_t b = 0; b < c->scene->bodies.count; b++) {
        const rbt_body_def *body = &c->scene->bodies.items[b];
        for (size_t i = 0; i < body->driven.count; i++) {
            const char *name = body->driven.items[i].name;
            if (name && strcmp(name, event->driven) == 0) return true;
            if (name) rbt_nearest_offer(&nearest, name);
        }
    }
    char quoted[64];
    rbt_walk_key(c->walk, "driven");
    rbt_walk_quote(event->driven, quoted);
    return rbt_walk_fail(c->walk, "no driven nodes have the name %s%s%s%s", quoted,
                         nearest.best ? "; did you mean \"" : "", nearest.best ? nearest.best : "",
                         nearest.best ? "\"?" : "");
}

static bool check_cut_rectangle(checker *c, const void *data) {
    const rbt_cut_rectangle *r = data;
    const double *a = r->along, *t = r->across;
    double cross[3] = {a[1] * t[2] - a[2] * t[1], a[2] * t[0] - a[0] * t[2], a[0] * t[1] - a[1] * t[0]};
    double size = hypot(hypot(cross[0], cross[1]), cross[2]);
    double lengths = hypot(hypot(a[0], a[1]), a[2]) * hypot(hypot(t[0], t[1]), t[2]);
    return size > 1e-9 * lengths || fail_at(c, "across", "must not point along the blade's way");
}

static bool check_mesh(checker *c, const void *data) {
    const rbt_mesh_def *mesh = data;
    bool scaled = mesh->unit && strcmp(mesh->unit, "m") != 0;
    return mesh->shape.which < 0 || !scaled ||
           fail_at(c, "unit", "is for files; a generated shape is in metres, and \"transform\" can scale it");
}

// Names at a fixed place in the items of a list must differ.
static bool check_names(checker *c, const char *key, const void *items, size_t count, size_t size, size_t offset) {
    for (size_t i = 1; i < count; i++) {
        const char *name = *(const char *const *)(const void *)((const char *)items + i * size + offset);
        for (size_t j = 0; j < i; j++) {
            const char *other = *(const char *const *)(const void *)((const char *)items + j * size + offset);
            if (strcmp(name, other) != 0) continue;
            char quoted[64];
            rbt_walk_key(c->walk, key);
            rbt_walk_item(c->walk, i);
            rbt_walk_key(c->walk, "name");
            return rbt_walk_fail(c->walk, "%s is already the name of %s[%zu]", rbt_walk_quote(name, quoted), key, j);
        }
    }
    return true;
}

// Named selections may use one another, but not in a circle, and not so often that following the names never ends:
// the size of a selection is the number of selections it stands for once the names in it are replaced.
enum { SIZE_MOST = 1000 };

typedef struct search {
    const rbt_body_def *body;
    int *size;  // of each named selection; 0 not known yet, -1 being followed
    int depth;
} search;

static int selection_size(search *s, const rbt_selection *where);

static int named_size(search *s, const char *name) {
    for (size_t i = 0; i < s->body->selections.count; i++) {
        if (strcmp(s->body->selections.items[i].name, name) != 0) continue;
        if (s->size[i] < 0) return SIZE_MOST + 1;
        if (s->size[i] > 0) return s->size[i];
        s->size[i] = -1;
        return s->size[i] = 1 + selection_size(s, &s->body->selections.items[i].where);
    }
    return 1;
}

// More than SIZE_MOST stands for all that is too large, circles included.
static int selection_size(search *s, const rbt_selection *where) {
    if (s->depth > SIZE_MOST) return SIZE_MOST + 1;
    s->depth++;
    const RBT_LIST(rbt_selection) *list = where->value;
    int sum = 1;
    switch (where->which) {
    case RBT_SELECT_ALL:
    case RBT_SELECT_ANY:
        for (size_t i = 0; i < list->count && sum <= SIZE_MOST; i++) sum += selection_size(s, &list->items[i]);
        break;
    case RBT_SELECT_NOT: sum += selection_size(s, where->value); break;
    case RBT_SELECT_SET: sum = named_size(s, where->value); break;
    default: break;
    }
    s->depth--;
    return sum;
}

static bool check_circles(checker *c, const rbt_body_def *body) {
    size_t count = body->selections.count, i = 0;
    search s = {body, rbt_array_new(count, sizeof *s.size, "named selections", c->walk->error), 0};
    if (!s.size) return false;
    while (i < count && named_size(&s, body->selections.items[i].name) <= SIZE_MOST) i++;
    free(s.size);
    if (i == count) return true;
    rbt_walk_key(c->walk, "selections");
    rbt_walk_item(c->walk, i);
    return rbt_walk_fail(
        c->walk, "is defined by itself or stands for more than %d selections when names are followed", SIZE_MOST);
}

static bool check_body(checker *c, const void *data) {
    const rbt_body_def *body = data;
    return check_names(c, "regions", body->regions.items, body->regions.count, sizeof(rbt_region_def),
                       offsetof(rbt_region_def, name)) &&
           check_names(c, "selections", body->selections.items, body->selections.count, sizeof(rbt_named_selection),
                       offsetof(rbt_named_selection, name)) &&
           check_circles(c, body);
}

static bool check_named_selection(checker *c, const void *data) {
    return strcmp(((const rbt_named_selection *)data)->name, "everything") != 0 ||
           fail_at(c, "name", "\"everything\" always stands for the whole body and cannot be given another meaning");
}

// Counts beyond these are mistakes (a unit mixed up), not plans.
static bool check_time(checker *c, const void *data) {
    const rbt_time_def *time = data;
    const double most = 1e9;
    char number[32];
    if (time->end / time->frame > most) {
        rbt_walk_key(c->walk, "frame");
        return rbt_walk_fail(c->walk, "must be at least %g s, that is end / %g, found %s", time->end / most, most,
                             rbt_text_number(time->frame, number));
    }
    if (time->frame / time->step > most) {
        rbt_walk_key(c->walk, "step");
        return rbt_walk_fail(c->walk, "must be at least %g s, that is frame / %g, found %s", time->frame / most, most,
                             rbt_text_number(time->step, number));
    }
    return true;
}

// Names are parts of the first line of a table.
static bool check_probe(checker *c, const void *data) {
    const rbt_probe_def *probe = data;
    if (!check_body_exists(c, probe->body)) return false;
    return !strpbrk(probe->name, ",\"\r\n") ||
           fail_at(c, "name", "must have no comma, quotation mark or line break: it is the name of columns");
}

static size_t cut_events(const rbt_scene *scene) {
    size_t count = 0;
    for (size_t i = 0; i < scene->events.count; i++) count += scene->events.items[i].cut != NULL;
    return count;
}

static bool check_scene(checker *c, const void *data) {
    const rbt_scene *scene = data;
    return check_names(c, "bodies", scene->bodies.items, scene->bodies.count, sizeof(rbt_body_def),
                       offsetof(rbt_body_def, name)) &&
           check_names(c, "probes", scene->probes.items, scene->probes.count, sizeof(rbt_probe_def),
                       offsetof(rbt_probe_def, name)) &&
           (scene->cuts.count + cut_events(scene) <= RBT_MAX_CUTS ||
            fail_at(c, "cuts", "more than 64 cuts; one surface may have many parts"));
}

static const struct {
    const rbt_record *record;
    bool (*check)(checker *c, const void *data);
} DEPENDENCIES[] = {
    {&RBT_SCENE_RECORD, check_scene},
    {&RBT_BODY_RECORD, check_body},
    {&RBT_MESH_RECORD, check_mesh},
    {&RBT_NAMED_SELECTION_RECORD, check_named_selection},
    {&RBT_SELECT_BOX_RECORD, check_select_box},
    {&RBT_MOVE_VELOCITY_RECORD, check_move_velocity},
    {&RBT_MOVE_ROTATION_RECORD, check_move_rotation},
    {&RBT_MOVE_OSCILLATION_RECORD, check_move_oscillation},
    {&RBT_MOVE_KEYFRAMES_RECORD, check_move_keyframes},
    {&RBT_DEFORM_BEND_RECORD, check_deform_bend},
    {&RBT_FORCE_PULL_RECORD, check_force_pull},
    {&RBT_FORCE_PULSE_RECORD, check_force_pulse},
    {&RBT_FORCE_WIND_RECORD, check_force_wind},
    {&RBT_FORCE_DRAG_RECORD, check_force_drag},
    {&RBT_OBSTACLE_BOX_RECORD, check_obstacle_box},
    {&RBT_SEQUENCE_RECORD, check_sequence},
    {&RBT_CUT_RECORD, check_cut},
    {&RBT_EVENT_FORCE_RECORD, check_event_force},
    {&RBT_EVENT_DRAG_RECORD, check_event_drag},
    {&RBT_EVENT_MATERIAL_RECORD, check_event_material},
    {&RBT_EVENT_DRIVE_RECORD, check_event_drive},
    {&RBT_CUT_RECTANGLE_RECORD, check_cut_rectangle},
    {&RBT_TIME_RECORD, check_time},
    {&RBT_PROBE_RECORD, check_probe},
};

static bool check_dependencies(checker *c, const rbt_record *record, const void *data) {
    for (size_t i = 0; i < sizeof DEPENDENCIES / sizeof DEPENDENCIES[0]; i++)
        if (DEPENDENCIES[i].record == record) return DEPENDENCIES[i].check(c, data);
    return true;
}

bool rbt_record_check(rbt_walk *walk, const rbt_record *record, const void *data) {
    return check_record(&(checker){walk, NULL}, record, data);
}

bool rbt_scene_check(const rbt_scene *scene, rbt_error *error) {
    if (!scene) return rbt_fail(error, "there is no scene: the pointer is NULL");
    rbt_walk walk = {.file = scene->file, .error = error};
    return check_record(&(checker){&walk, scene}, &RBT_SCENE_RECORD, scene);
}
