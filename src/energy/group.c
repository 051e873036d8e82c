#include "energy/group.h"

#include <string.h>

enum { MAX_VALUES = 3 * RBT_MOST_CORNERS };

void rbt_group_energy(const rbt_group *group, size_t first, size_t count, const double *x, double *energy) {
    for (size_t e = 0; e < count; e++) energy[e] = group->type->local(group, first + e, x, NULL, RBT_HESSIAN, NULL);
}

void rbt_group_gradient(const rbt_group *group, size_t first, size_t count, const double *x, double *energy,
                        double *gradient) {
    size_t values = 3 * (size_t)group->type->corners;
    for (size_t e = 0; e < count; e++) {
        double *own = gradient + values * e, W = group->type->local(group, first + e, x, own, RBT_HESSIAN, NULL);
        for (size_t i = 0; i < values; i++) own[i] = -own[i];
        if (energy) energy[e] = W;
    }
}

void rbt_group_stiffness(const rbt_group *group, rbt_stiffness_kind kind, size_t first, size_t count, const double *x,
                         double *blocks) {
    size_t corners = (size_t)group->type->corners, values = 3 * corners;
    for (size_t e = first; e < first + count; e++) {
        double K[MAX_VALUES * MAX_VALUES];
        group->type->local(group, e, x, NULL, kind, K);
        for (size_t a = 0; a < corners; a++)
            for (size_t b = 0; b <= a; b++, blocks += 9)
                for (size_t i = 0; i < 3; i++)
                    memcpy(blocks + 3 * i, K + values * (3 * a + i) + 3 * b, 3 * sizeof *blocks);
    }
}

// What depends on x is the whole matrix: its blocks.
size_t rbt_group_tangent_size(const rbt_group *group) { return 9 * (size_t)group->type->pairs; }

void rbt_group_tangent(const rbt_group *group, size_t first, size_t count, const double *x, double *store) {
    rbt_group_stiffness(group, RBT_TANGENT, first, count, x, store);
}

void rbt_group_apply(const rbt_group *group, size_t first, size_t count, const double *store, const uint16_t *place,
                     const double *p, double *sum) {
    size_t corners = (size_t)group->type->corners;
    (void)first;
    for (size_t e = 0; e < count; e++, place += corners)
        for (size_t a = 0; a < corners; a++)
            for (size_t b = 0; b <= a; b++, store += 9)
                for (size_t i = 0; i < 3; i++)
                    for (size_t j = 0; j < 3; j++) {
                        sum[4 * (size_t)place[a] + i] += store[3 * i + j] * p[4 * (size_t)place[b] + j];
                        if (a != b) sum[4 * (size_t)place[b] + j] += store[3 * i + j] * p[4 * (size_t)place[a] + i];
                    }
}

bool rbt_group_part(const rbt_group *group, rbt_arena *arena, const int32_t *elements, size_t count,
                    const int32_t *number, rbt_group *part, rbt_error *error) {
    if (group->type->part) return group->type->part(group, arena, elements, count, number, part, error);
    size_t corners = (size_t)group->type->corners, size = group->type->data_size;
    int32_t *nodes = rbt_arena_take(arena, corners * count, sizeof *nodes);
    int32_t *members = rbt_arena_take(arena, count, sizeof *members);
    char *data = rbt_arena_take(arena, count, size);
    if (!nodes || !members || !data) return rbt_fail_memory(error, count * size, "part of a body");
    for (size_t k = 0; k < count; k++) {
        size_t e = (size_t)elements[k];
        members[k] = group->members[e];
        memcpy(data + size * k, (const char *)group->data + size * e, size);
        for (size_t a = 0; a < corners; a++) nodes[corners * k + a] = number[group->nodes[corners * e + a]];
    }
    *part = *group;
    part->count = count;
    part->nodes = nodes;
    part->members = members;
    part->data = data;
    return true;
}
