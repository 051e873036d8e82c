// Shapes with parameters in JSON, for programs that generate meshes.
#include "mesh/generate/generate.h"
#include "scene/json_room.h"
#include "scene/parse.h"

#include <string.h>

static rbt_mesh *generate(const rbt_shape *shape, json_t *value, rbt_error *error) {
    rbt_walk walk = {.error = error};
    rbt_arena *arena = rbt_arena_new();
    void *parameters = arena ? rbt_arena_take(arena, 1, shape->parameters->size) : NULL;
    rbt_mesh *mesh = NULL;
    if (!parameters) rbt_fail_memory(error, shape->parameters->size, "parameters");
    else if (rbt_record_parse(&walk, arena, shape->parameters, value, parameters) &&
             rbt_record_check(&walk, shape->parameters, parameters))
        mesh = rbt_shape_generate(shape->name, parameters, error);
    rbt_arena_free(arena);
    return mesh;
}

rbt_mesh *rbt_mesh_generate(const char *name, const char *parameters, rbt_error *error) {
    int which = name ? rbt_shape_find(name) : -1;
    if (which < 0 || !parameters) return rbt_shape_generate(name ? name : "", NULL, error);
    size_t size = strlen(parameters);
    if (!rbt_json_room_enter(size, NULL, 0, error)) return NULL;
    json_error_t trouble;
    json_t *value = json_loadb(parameters, size, JSON_REJECT_DUPLICATES, &trouble);
    rbt_mesh *mesh = NULL;
    if (value) mesh = generate(rbt_shape_at(which), value, error);
    else rbt_fail_at(error, NULL, trouble.line, trouble.column, "%s: not valid JSON: %s", name, trouble.text);
    json_decref(value);
    rbt_json_room_leave();
    return mesh;
}
