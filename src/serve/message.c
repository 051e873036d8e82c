#include "serve/message.h"

#include "base/memory.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are sent as they lie in memory");

rbt_message *rbt_message_new(bool text, rbt_error *error) {
    rbt_message *message = rbt_array_new(1, sizeof *message, "a message", error);
    if (!message) return NULL;
    message->text = text;
    atomic_init(&message->users, 1);
    return message;
}

rbt_message *rbt_message_keep(rbt_message *message) {
    if (message) atomic_fetch_add(&message->users, 1);
    return message;
}

void rbt_message_drop(rbt_message *message) {
    if (!message || atomic_fetch_sub(&message->users, 1) > 1) return;
    free(message->bytes);
    free(message);
}

void *rbt_message_room(rbt_message *m, size_t bytes) {
    if (m->failed || bytes > SIZE_MAX / 2 - m->size ||
        !rbt_array_reserve((void **)&m->bytes, &m->capacity, m->size + bytes, 1, "a message", NULL)) {
        m->failed = true;
        return NULL;
    }
    m->size += bytes;
    return m->bytes + m->size - bytes;
}

void rbt_message_add(rbt_message *message, const void *bytes, size_t size) {
    void *room = size ? rbt_message_room(message, size) : NULL;
    if (room) memcpy(room, bytes, size);
}

void rbt_message_add_floats(rbt_message *message, const double *values, size_t count) {
    unsigned char *room = rbt_message_room(message, count * sizeof(float));
    for (size_t i = 0; room && i < count; i++) {
        float value = (float)values[i];
        memcpy(room + i * sizeof value, &value, sizeof value);
    }
}

void rbt_message_add_head(rbt_message *message, const rbt_message_head *head) {
    const uint32_t numbers[] = {head->kind, head->run, head->frame};
    rbt_message_add(message, "RBV1", 4);
    rbt_message_add(message, numbers, sizeof numbers);
    rbt_message_add(message, &head->time, sizeof head->time);
    rbt_message_add(message, &head->shape, sizeof head->shape);
}

rbt_message *rbt_message_done(rbt_message *message, rbt_error *error) {
    if (!message || !message->failed) return message;
    rbt_fail_memory(error, message->size, "a message");
    rbt_message_drop(message);
    return NULL;
}
