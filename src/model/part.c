#include "model/part.h"

#include <string.h>

void rbt_model_part_free(rbt_model_part *part) {
    rbt_arena_free(part->arena);
    *part = (rbt_model_part){0};
}

static bool touches(const rbt_group *group, size_t element, const unsigned char *chosen) {
    size_t corners = (size_t)group->type->corners;
    for (size_t a = 0; a < corners; a++)
        if (chosen[group->nodes[corners * element + a]]) return true;
    return false;
}

// number[n]: place of node n in the part. The chosen ones first, then those that share an element with them, in the
// order in which the elements name them.
static size_t number_nodes(const rbt_model *m, const unsigned char *chosen, int32_t *number, size_t *chosen_count) {
    size_t count = 0;
    for (size_t n = 0; n < m->node_count; n++) number[n] = chosen[n] ? (int32_t)count++ : -1;
    *chosen_count = count;
    for (size_t g = 0; g < m->group_count; g++) {
        const rbt_group *group = &m->groups[g];
        size_t corners = (size_t)group->type->corners;
        for (size_t e = 0; e < group->count; e++)
            for (size_t a = 0; a < corners && touches(group, e, chosen); a++) {
                int32_t *own = &number[group->nodes[corners * e + a]];
                if (*own < 0) *own = (int32_t)count++;
            }
    }
    return count;
}

static bool take_groups(rbt_model_part *part, const rbt_model *m, const unsigned char *chosen, const int32_t *number,
                        int32_t *elements, rbt_error *error) {
    rbt_group *groups = rbt_arena_take(part->arena, m->group_count, sizeof *groups);
    if (!groups) return rbt_fail_memory(error, m->group_count * sizeof *groups, "part of a body");
    for (size_t g = 0; g < m->group_count; g++) {
        size_t count = 0;
        for (size_t e = 0; e < m->groups[g].count; e++)
            if (touches(&m->groups[g], e, chosen)) elements[count++] = (int32_t)e;
        part->element_count += count;
        if (count && !rbt_group_part(&m->groups[g], part->arena, elements, count, number,
                                     &groups[part->model.group_count++], error))
            return false;
    }
    part->model.groups = groups;
    return true;
}

bool rbt_model_part_build(rbt_model_part *part, const rbt_model *m, const unsigned char *chosen, rbt_error *error) {
    *part = (rbt_model_part){.arena = rbt_arena_new()};
    size_t most = 0;
    for (size_t g = 0; g < m->group_count; g++) most = m->groups[g].count > most ? m->groups[g].count : most;
    int32_t *number = rbt_array_new(m->node_count, sizeof *number, "part of a body", error);
    int32_t *elements = rbt_array_new(most, sizeof *elements, "part of a body", error), *nodes = NULL;
    bool ok = part->arena && number && elements;
    if (ok) {
        part->model.node_count = number_nodes(m, chosen, number, &part->chosen_count);
        nodes = rbt_arena_take(part->arena, part->model.node_count, sizeof *nodes);
        ok = nodes || rbt_fail_memory(error, part->model.node_count * sizeof *nodes, "part of a body");
    }
    for (size_t n = 0; ok && n < m->node_count; n++)
        if (number[n] >= 0) nodes[number[n]] = (int32_t)n;
    part->nodes = nodes;
    part->model.linear = m->linear;
    ok = ok && take_groups(part, m, chosen, number, elements, error) &&
         rbt_plan_build(&part->model.plan, part->arena, part->model.groups, part->model.group_count,
                        part->model.node_count, error);
    free(number);
    free(elements);
    if (!ok) rbt_model_part_free(part);
    return ok;
}

void rbt_model_part_gather(const rbt_model_part *part, const double *whole, double *values) {
    for (size_t i = 0; i < part->model.node_count; i++)
        memcpy(values + 3 * i, whole + 3 * (size_t)part->nodes[i], 3 * sizeof *values);
}
