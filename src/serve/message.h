// Messages from the server to a page. Text messages are JSON. Binary ones are little endian and begin with
//
//   char[4] "RBV1"; uint32 kind; uint32 run; uint32 frame; double time [s]; uint64 shape
//
// kind 1, a shape: what is drawn of a mesh (serve/drawn.h)
//   uint32 nodes, triangles, edges, points, obstacle nodes, obstacle triangles, 1 if there is a floor, 0; double floor
//   [m] int32 node[nodes]; float rest[nodes x 3]
//   int32 triangle[triangles x 3], element[triangles], body[triangles], region[triangles]
//   int32 edge[edges x 2], body[edges]; int32 point[points], body[points]
//   float obstacle[obstacle nodes x 3]; int32 obstacle[obstacle triangles x 3]
// kind 2, a frame of the shape with that number
//   uint32 nodes, fields (bits of rbt_shown_field), obstacle nodes, live (0: from disk, 1: at a frame, 2: between);
//   uint64 sequence float x[nodes x 3]; for every field float[nodes]; float obstacle[obstacle nodes x 3], where
//   obstacles move
// kind 3, a part of a file: uint64 from, size of the file; then the bytes. "frame" is the number of the file.
#ifndef RBT_SERVE_MESSAGE_H
#define RBT_SERVE_MESSAGE_H

#include "base/error.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef enum rbt_shown_field {
    RBT_SHOWN_SPEED = 1,    // [m/s]
    RBT_SHOWN_STRESS = 2,   // von Mises [Pa], mean of the elements around a node
    RBT_SHOWN_CONTACT = 4,  // size of the contact force [N]
    RBT_SHOWN_LABEL = 8,    // what the method has made of the nodes: subdomain, multirate part, implicit set
    RBT_SHOWN_ALL = 15
} rbt_shown_field;
enum { RBT_SHOWN_FIELDS = 4 };

enum { RBT_MESSAGE_SHAPE = 1, RBT_MESSAGE_FRAME = 2, RBT_MESSAGE_FILE = 3 };

typedef struct rbt_message {
    bool text, failed;  // failed: memory lacked while it was filled
    size_t size, capacity;
    unsigned char *bytes;
    atomic_int users;
} rbt_message;

rbt_message *rbt_message_new(bool text, rbt_error *error);  // one user
rbt_message *rbt_message_keep(rbt_message *message);        // one more
void rbt_message_drop(rbt_message *message);                // one less; NULL: nothing

// Room for so many bytes more, to be filled at once; NULL: no memory, and the message has failed.
void *rbt_message_room(rbt_message *message, size_t bytes);
void rbt_message_add(rbt_message *message, const void *bytes, size_t size);
void rbt_message_add_floats(rbt_message *message, const double *values, size_t count);

typedef struct rbt_message_head {
    uint32_t kind, run, frame;
    double time;
    uint64_t shape;
} rbt_message_head;
void rbt_message_add_head(rbt_message *message, const rbt_message_head *head);

// The message if it is whole; otherwise it is dropped: NULL with an error.
rbt_message *rbt_message_done(rbt_message *message, rbt_error *error);

#endif
