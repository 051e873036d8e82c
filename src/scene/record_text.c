#include "scene/record_text.h"

#include "scene/json_room.h"
#include "scene/parse.h"

bool rbt_record_read(const rbt_record *record, rbt_arena *arena, const char *json, size_t size, void *data,
                     rbt_error *error) {
    if (!rbt_json_room_enter(size, NULL, 0, error)) return false;
    rbt_walk walk = {.error = error};
    json_error_t trouble;
    json_t *root = json_loadb(json, size, JSON_REJECT_DUPLICATES, &trouble);
    bool good = root ? rbt_record_parse(&walk, arena, record, root, data) && rbt_record_check(&walk, record, data)
                     : rbt_fail_at(error, "", trouble.line, trouble.column, "not valid JSON: %s", trouble.text);
    json_decref(root);
    rbt_json_room_leave();
    return good;
}
