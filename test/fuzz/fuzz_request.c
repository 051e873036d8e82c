// The reader of what pages ask for, on arbitrary bytes; and events of theirs, as a run would take them.
#include "scene/record_text.h"
#include "scene/table.h"
#include "serve/request.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    rbt_error error = {0};
    rbt_request request;
    rbt_arena *arena = rbt_arena_new();
    if (!arena) return 0;
    bool good = rbt_request_read(&request, arena, (const char *)data, size, 2, &error);
    if (!good && !error.message[0]) abort();  // a failure without a sentence
    if (good) {
        int asked = !!request.frames + !!request.frame + !!request.shape + !!request.live + !!request.file +
                    !!request.act + !!request.pause;
        if (asked != 1) abort();
        if (request.frame && (request.frame->run < 0 || request.frame->run > 1 || request.frame->number < 0)) abort();
        if (request.file && !rbt_served_file(request.file->name)) abort();
    }
    if (good && request.act) {
        rbt_event_def event;
        rbt_error why = {0};
        if (!rbt_record_read(&RBT_EVENT_RECORD, arena, request.act->event, strlen(request.act->event), &event,
                             &why) &&
            !why.message[0])
            abort();
    }
    rbt_arena_free(arena);
    return 0;
}
