// USD text is read back by a small strict parser of the grammar's part that is used: layer metadata, prims with
// metadata, attributes with values or time samples. Statements end with a line, list items are separated by commas
// (a last one is allowed), tuples and lists nest, names are identifiers joined by ':'.
#include "../support/out_model.h"
#include "base/file.h"
#include "base/text.h"
#include "out/usda.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
// cmocka needs the headers above
#include <cmocka.h>

enum { MAX_ITEMS = 64, MAX_NUMBERS = 4096 };

typedef struct item {
    char path[160];       // "/block.points", "(endTimeCode" for metadata of the layer, "/World/block(references"
    char type[32];        // "int[]", "" for metadata
    char text[64];        // a string or asset value
    double time;          // of a sample, NAN otherwise
    size_t first, count;  // numbers of the value
} item;

typedef struct parser {
    const char *at;
    item items[MAX_ITEMS];
    size_t item_count;
    double numbers[MAX_NUMBERS];
    size_t number_count;
} parser;

static void blanks(parser *p) { p->at += strspn(p->at, " \t"); }
static void space(parser *p) { p->at += strspn(p->at, " \t\r\n"); }

static void need(parser *p, const char *text) {
    if (strncmp(p->at, text, strlen(text)) != 0) fail_msg("expected '%s' at '%.40s'", text, p->at);
    p->at += strlen(text);
}

static bool have(parser *p, const char *text) {
    if (strncmp(p->at, text, strlen(text)) != 0) return false;
    p->at += strlen(text);
    return true;
}

static void end_of_statement(parser *p) {
    blanks(p);
    need(p, "\n");
    space(p);
}

static void name(parser *p, char *out, bool namespaces) {
    size_t n = 0;
    do {
        if (n) out[n++] = *p->at++;
        assert_true(isalpha((unsigned char)*p->at) || *p->at == '_');
        while (isalnum((unsigned char)*p->at) || *p->at == '_') out[n++] = *p->at++;
    } while (namespaces && *p->at == ':');
    out[n] = '\0';
}

static double number(parser *p) {
    const char *c = p->at;
    if (*c == '-') c++;
    assert_true(isdigit((unsigned char)*c));  // no sign '+', no hexadecimal, no 'nan' in a recording
    assert_false(c[0] == '0' && isalnum((unsigned char)c[1]));
    char *end;
    double value = strtod(p->at, &end);
    p->at = end;
    return value;
}

static void quoted(parser *p, char mark, char *out) {
    size_t n = 0;
    assert_int_equal(*p->at, mark);
    for (p->at++; *p->at != mark; p->at++) {
        assert_true(*p->at && *p->at != '\n');
        out[n++] = *p->at;
    }
    p->at++;
    out[n] = '\0';
}

static void value(parser *p, item *to) {
    if (*p->at == '[' || *p->at == '(') {
        char end = *p->at == '[' ? ']' : ')';
        p->at++;
        space(p);
        while (*p->at != end) {
            value(p, to);
            blanks(p);
            if (*p->at != end) need(p, ",");
            space(p);
        }
        p->at++;
    } else if (*p->at == '"') quoted(p, '"', to->text);
    else if (*p->at == '@') quoted(p, '@', to->text);
    else {
        assert_true(p->number_count < MAX_NUMBERS);
        p->numbers[p->number_count++] = number(p);
        to->count++;
    }
}

static item *new_item(parser *p, const char *path, const char *type, double time) {
    assert_true(p->item_count < MAX_ITEMS);
    item *i = &p->items[p->item_count++];
    *i = (item){.time = time, .first = p->number_count};
    snprintf(i->path, sizeof i->path, "%s", path);
    snprintf(i->type, sizeof i->type, "%s", type);
    return i;
}

static void metadata(parser *p, const char *path) {
    need(p, "(");
    space(p);
    while (!have(p, ")")) {
        char key[64], full[128];
        if (have(p, "prepend ")) blanks(p);
        name(p, key, false);
        snprintf(full, sizeof full, "%.60s(%.60s", path, key);
        blanks(p);
        need(p, "=");
        blanks(p);
        value(p, new_item(p, full, "", NAN));
        end_of_statement(p);
    }
}

static void attribute(parser *p, const char *path) {
    char type[32], key[64], full[160];
    if (have(p, "custom ") || have(p, "uniform ")) blanks(p);
    name(p, type, false);
    if (have(p, "[]")) strcat(type, "[]");
    need(p, " ");
    blanks(p);
    name(p, key, true);
    snprintf(full, sizeof full, "%.60s.%.60s", path, key);
    bool samples = have(p, ".timeSamples");
    blanks(p);
    need(p, "=");
    blanks(p);
    if (!samples) {
        value(p, new_item(p, full, type, NAN));
        end_of_statement(p);
        return;
    }
    need(p, "{");
    space(p);
    while (!have(p, "}")) {
        double time = number(p);
        blanks(p);
        need(p, ":");
        blanks(p);
        value(p, new_item(p, full, type, time));
        blanks(p);
        if (*p->at != '}') need(p, ",");
        space(p);
    }
    end_of_statement(p);
}

static void prim(parser *p, const char *parent) {
    char type[32], key[64], path[96];
    need(p, "def ");
    blanks(p);
    name(p, type, false);
    blanks(p);
    quoted(p, '"', key);
    snprintf(path, sizeof path, "%.30s/%.60s", parent, key);
    new_item(p, path, type, NAN);
    space(p);
    if (*p->at == '(') metadata(p, path);
    space(p);
    need(p, "{");
    space(p);
    while (!have(p, "}")) {
        if (strncmp(p->at, "def ", 4) == 0) prim(p, path);
        else attribute(p, path);
        space(p);
    }
}

static parser *parse(const char *folder, const char *file) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    rbt_bytes b;
    assert_true(rbt_file_read(path, &b, NULL));
    parser *p = calloc(1, sizeof *p);
    p->at = b.data;
    need(p, "#usda 1.0\n");
    space(p);
    metadata(p, "");
    end_of_statement(p);
    while (*p->at) {
        prim(p, "");
        end_of_statement(p);
    }
    free(b.data);
    return p;
}

static const item *find(const parser *p, const char *path, double time) {
    for (size_t i = 0; i < p->item_count; i++)
        if (strcmp(p->items[i].path, path) == 0 && (isnan(time) ? isnan(p->items[i].time) : p->items[i].time == time))
            return &p->items[i];
    return NULL;
}

static double real(const parser *p, const char *path) {
    const item *i = find(p, path, NAN);
    assert_non_null(i);
    assert_int_equal(i->count, 1);
    return p->numbers[i->first];
}

static void check_layer(const parser *p, const char *root, int frames) {
    assert_string_equal(find(p, "(defaultPrim", NAN)->text, root);
    assert_string_equal(find(p, "(upAxis", NAN)->text, "Y");
    assert_true(real(p, "(metersPerUnit") == 1);
    assert_true(real(p, "(timeCodesPerSecond") == 30);
    assert_true(real(p, "(framesPerSecond") == 30);
    assert_true(real(p, "(startTimeCode") == 0);
    assert_true(real(p, "(endTimeCode") == (frames > 0 ? frames - 1 : 0));
}

static void check_mesh(const parser *p, const char *prim_path, const rbt_surface *s, size_t part, double *const *y,
                       int frames) {
    const rbt_surface_part *q = &s->parts[part];
    char path[128];
    assert_string_equal(find(p, prim_path, NAN)->type, "Mesh");
    snprintf(path, sizeof path, "%s.faceVertexCounts", prim_path);
    const item *i = find(p, path, NAN);
    assert_string_equal(i->type, "int[]");
    assert_int_equal(i->count, q->triangle_end - q->triangle_begin);
    for (size_t k = 0; k < i->count; k++) assert_true(p->numbers[i->first + k] == 3);
    snprintf(path, sizeof path, "%s.faceVertexIndices", prim_path);
    i = find(p, path, NAN);
    assert_string_equal(i->type, "int[]");
    assert_int_equal(i->count, 3 * (q->triangle_end - q->triangle_begin));
    for (size_t k = 0; k < i->count; k++)
        assert_true(p->numbers[i->first + k] == s->triangles[3 * q->triangle_begin + k] - (double)q->vertex_begin);
    snprintf(path, sizeof path, "%s.subdivisionScheme", prim_path);
    assert_string_equal(find(p, path, NAN)->type, "token");
    assert_string_equal(find(p, path, NAN)->text, "none");
    snprintf(path, sizeof path, "%s.points", prim_path);
    assert_null(find(p, path, frames));
    for (int f = 0; f < frames; f++) {
        i = find(p, path, f);
        assert_non_null(i);
        assert_string_equal(i->type, "point3f[]");
        assert_int_equal(i->count, 3 * (q->vertex_end - q->vertex_begin));
        for (size_t k = 0; k < i->count; k++)
            assert_true((float)p->numbers[i->first + k] == (float)y[f][3 * q->vertex_begin + k]);
    }
}

typedef struct scene {
    char *folder;
    out_model *o;
    rbt_surface s;
    double *y[6];
} scene;

static scene make(size_t bodies, bool embedded) {
    scene c = {.folder = out_folder_new(), .o = out_model_new(1, bodies, embedded)};
    assert_true(rbt_surface_build(&c.s, &c.o->model, NULL));
    for (int f = 0; f < 6; f++) {
        rbt_state state = out_state_new(&c.o->model, f);
        c.y[f] = calloc(3 * c.s.vertex_count, sizeof(double));
        rbt_surface_evaluate(&c.s, state.x, c.y[f]);
        out_state_free(&state);
    }
    return c;
}

static void unmake(scene *c) {
    for (int f = 0; f < 6; f++) free(c->y[f]);
    rbt_surface_free(&c->s);
    out_model_free(c->o);
    out_folder_remove(c->folder);
}

static void check_single(const scene *c, int frames) {
    parser *p = parse(c->folder, "frames.usda");
    check_layer(p, "block", frames);
    check_mesh(p, "/block", &c->s, 0, c->y, frames);
    free(p);
}

static void one_body_is_one_file(void **unused) {
    (void)unused;
    scene c = make(1, false);
    double interval = c.o->model.frame_interval;
    rbt_usda u;
    rbt_error e;
    assert_true(rbt_usda_open(&u, c.folder, &c.s, interval, -1, &e));
    check_single(&c, 0);
    for (int f = 0; f < 5; f++) {
        assert_true(rbt_usda_add(&u, c.y[f], f * interval, &e));
        check_single(&c, f + 1);
    }
    assert_true(rbt_usda_close(&u, &e));
    assert_true(rbt_usda_open(&u, c.folder, &c.s, interval, 2, &e));
    assert_true(rbt_frame_file_cut(&u.files[0], &e));
    check_single(&c, 3);
    assert_true(rbt_usda_add(&u, c.y[3], 3 * interval, &e));
    check_single(&c, 4);
    assert_true(rbt_usda_close(&u, &e));

    assert_false(rbt_usda_open(&u, c.folder, &c.s, interval, 4, &e));
    assert_string_equal(e.message,
                        "holds 4 whole frames, but the run is to continue after frame 4 and needs 5; start the "
                        "run again or continue from an earlier frame");
    assert_false(rbt_usda_open(&u, c.folder, &c.s, 2 * interval, 3, &e));
    assert_string_equal(e.message, "does not belong to this run (its beginning differs), so it cannot be continued; "
                                   "start the run again or write into another folder");
    unmake(&c);
}

static void check_several(const scene *c, int frames) {
    parser *p = parse(c->folder, "frames.usda");
    check_layer(p, "World", frames);
    assert_string_equal(find(p, "/World", NAN)->type, "Xform");
    assert_string_equal(find(p, "/World/block(references", NAN)->text, "./usda/block.usda");
    assert_string_equal(find(p, "/World/tet_1(references", NAN)->text, "./usda/tet_1.usda");
    for (int f = 0; f < frames; f++) {
        const item *i = find(p, "/World.rubato:time", f);
        assert_string_equal(i->type, "double");
        assert_true(p->numbers[i->first] == f * c->o->model.frame_interval);
    }
    free(p);
    p = parse(c->folder, "usda/block.usda");
    check_layer(p, "block", frames);
    check_mesh(p, "/block", &c->s, 0, c->y, frames);
    free(p);
    p = parse(c->folder, "usda/tet_1.usda");
    check_layer(p, "tet_1", frames);
    check_mesh(p, "/tet_1", &c->s, 1, c->y, frames);
    free(p);
}

static void several_bodies_are_referenced(void **unused) {
    (void)unused;
    scene c = make(2, true);
    double interval = c.o->model.frame_interval;
    rbt_usda u;
    rbt_error e;
    assert_true(rbt_usda_open(&u, c.folder, &c.s, interval, -1, &e));
    for (int f = 0; f < 4; f++) {
        assert_true(rbt_usda_add(&u, c.y[f], f * interval, &e));
        check_several(&c, f + 1);
    }
    assert_true(rbt_usda_close(&u, &e));
    assert_true(rbt_usda_open(&u, c.folder, &c.s, interval, 1, &e));
    for (size_t i = 0; i < u.file_count; i++) assert_true(rbt_frame_file_cut(&u.files[i], &e));
    check_several(&c, 2);
    assert_true(rbt_usda_close(&u, &e));
    unmake(&c);
}

// Names become identifiers, and distinct ones.
static void names_are_identifiers(void **unused) {
    (void)unused;
    scene c = make(2, false);
    c.s.parts[0].name = "7 of \xc3\xa4/9";
    c.s.parts[1].name = "_7 OF \xc3\xa4.9";
    rbt_usda u;
    assert_true(rbt_usda_open(&u, c.folder, &c.s, 1.0 / 30, -1, NULL));
    assert_true(rbt_usda_close(&u, NULL));
    parser *p = parse(c.folder, "frames.usda");
    assert_non_null(find(p, "/World/_7_of____9", NAN));
    assert_non_null(find(p, "/World/_7_OF____9_1", NAN));
    free(p);
    unmake(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_body_is_one_file),
        cmocka_unit_test(several_bodies_are_referenced),
        cmocka_unit_test(names_are_identifiers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
