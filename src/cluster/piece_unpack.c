// A rank's model from the bytes that cluster/piece.c has made of the whole.
#include "cluster/piece.h"

#include <string.h>

typedef struct unpacker {
    const char *at, *end;
    rbt_arena *arena;
    rbt_model *m;
    rbt_piece *piece;
    bool failed;
} unpacker;

// The next block, of `size` bytes each, copied; *count (NULL: not wanted) tells how many
static void *take(unpacker *u, size_t size, size_t *count) {
    uint64_t bytes;
    if (u->failed || (size_t)(u->end - u->at) < sizeof bytes) {
        u->failed = true;
        return NULL;
    }
    memcpy(&bytes, u->at, sizeof bytes);
    u->at += sizeof bytes;
    void *copy = bytes <= (size_t)(u->end - u->at) ? rbt_arena_take(u->arena, bytes + 1, 1) : NULL;
    if (!copy) {
        u->failed = true;
        return NULL;
    }
    memcpy(copy, u->at, bytes);
    u->at += bytes;
    if (count) *count = size ? bytes / size : 0;
    return copy;
}

#define TAKE(u, pointer, count) ((pointer) = take((u), sizeof *(pointer), (count)))

static void take_bodies(unpacker *u) {
    rbt_model *m = u->m;
    rbt_body *bodies = rbt_arena_take(u->arena, m->body_count, sizeof *bodies);
    int32_t *begin = rbt_arena_take(u->arena, m->body_count, sizeof *begin);
    TAKE(u, u->piece->whole_bodies, NULL);
    u->failed = u->failed || !bodies || !begin;
    for (size_t b = 0; !u->failed && b < m->body_count; b++) {
        size_t *range = take(u, sizeof *range, NULL);
        const char *name = take(u, 1, NULL);
        if (u->failed) return;
        rbt_body *whole = &u->piece->whole_bodies[b];
        whole->name = name;
        whole->embedded = (rbt_embedded_surface){0};
        bodies[b] = *whole;
        begin[b] = (int32_t)whole->node_begin;
        bodies[b].node_begin = range[0], bodies[b].node_end = range[1];
        bodies[b].tet_begin = range[2], bodies[b].tet_end = range[3];
        bodies[b].triangle_begin = range[4], bodies[b].triangle_end = range[5];
        bodies[b].edge_begin = range[6], bodies[b].edge_end = range[7];
    }
    rbt_region *regions;
    TAKE(u, regions, NULL);
    for (size_t r = 0; !u->failed && r < m->region_count; r++) regions[r].name = take(u, 1, NULL);
    m->bodies = bodies;
    m->regions = regions;
    u->piece->ranks.node_begin = begin;
}

static const rbt_group_type *type_called(const char *name) {
    const rbt_group_type *const types[] = {&RBT_TETS, &RBT_MEMBRANES, &RBT_SPRINGS, &RBT_HINGES};
    for (size_t i = 0; name && i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i]->name, name) == 0) return types[i];
    return NULL;
}

// Appends the chunks of the group to *chunks
static void take_group(unpacker *u, rbt_group *group, rbt_chunk **chunks, size_t *chunk_count, size_t number) {
    const char *name = take(u, 1, NULL);
    const int32_t *head, *members, *nodes;
    rbt_chunk *own, *all;
    size_t own_count = 0;
    TAKE(u, head, NULL);
    TAKE(u, own, &own_count);
    TAKE(u, members, &group->count);
    TAKE(u, nodes, NULL);
    group->type = type_called(name);
    all = rbt_arena_take(u->arena, *chunk_count + own_count, sizeof *all);
    u->failed = u->failed || !group->type || !all;
    if (u->failed) return;
    if (*chunk_count) memcpy(all, *chunks, *chunk_count * sizeof *all);
    for (size_t c = 0; c < own_count; c++) {
        all[*chunk_count] = own[c];
        all[(*chunk_count)++].group = number;
    }
    *chunks = all;
    group->nodes = nodes;
    group->members = members;
    group->constant_stiffness = head[1];
    group->turning_stiffness = head[2];
    if (group->type == &RBT_TETS) {
        rbt_tets *tets = rbt_arena_take(u->arena, 1, sizeof *tets);
        size_t batch_count = 0;
        const rbt_tet_batch *batches;
        TAKE(u, batches, &batch_count);
        const rbt_material *material = rbt_material_at(head[0]);
        u->failed = u->failed || !tets || !material;
        if (u->failed) return;
        *tets = (rbt_tets){material, rbt_tet_kernels_of(material), batch_count, batches};
        group->data = tets;
    } else group->data = take(u, group->type->data_size, NULL);
}

static bool take_groups(unpacker *u, rbt_error *error) {
    rbt_model *m = u->m;
    rbt_group *groups = rbt_arena_take(u->arena, m->group_count, sizeof *groups);
    rbt_chunk *chunks = NULL;
    size_t chunk_count = 0;
    u->failed = u->failed || !groups;
    for (size_t g = 0; !u->failed && g < m->group_count; g++) take_group(u, &groups[g], &chunks, &chunk_count, g);
    if (u->failed) return true;
    m->groups = groups;
    return rbt_plan_fill(&m->plan, u->arena, groups, chunks, chunk_count, m->node_count, error);
}

static void take_motion_group(unpacker *u, rbt_motion_group *group) {
    const double *release;
    TAKE(u, release, NULL);
    const char *name = take(u, 1, NULL);
    const uint64_t *count;
    TAKE(u, count, NULL);
    rbt_motion *motions = u->failed ? NULL : rbt_arena_take(u->arena, (size_t)*count, sizeof *motions);
    u->failed = u->failed || !motions;
    if (u->failed) return;
    for (size_t i = 0; !u->failed && i < (size_t)*count; i++) {
        const int *which;
        TAKE(u, which, NULL);
        void *value = take(u, 1, NULL);
        if (u->failed) return;
        motions[i] = (rbt_motion){*which, value};
        if (*which != RBT_MOVE_KEYFRAMES) continue;
        rbt_move_keyframes *k = value;
        k->times.items = take(u, sizeof(double), NULL);
        k->offsets.items = take(u, sizeof(double), NULL);
    }
    *group = (rbt_motion_group){
        .motion_count = (size_t)*count, .motions = motions, .release = *release, .name = name[0] ? name : NULL};
}

static void take_motions(unpacker *u) {
    const uint64_t *count;
    TAKE(u, count, NULL);
    size_t groups_count = u->failed ? 0 : (size_t)*count;
    rbt_motion_group *groups = rbt_arena_take(u->arena, groups_count, sizeof *groups);
    u->failed = u->failed || !groups;
    for (size_t g = 0; !u->failed && g < groups_count; g++) take_motion_group(u, &groups[g]);
    u->m->motions = (rbt_motions){.group_count = groups_count, .groups = groups};
    TAKE(u, u->m->motions.node, &u->m->motions.node_count);
    TAKE(u, u->m->motions.group, NULL);
}

static void take_loads(unpacker *u) {
    rbt_model *m = u->m;
    rbt_node_load *loads;
    rbt_wind *winds;
    rbt_obstacle *obstacles;
    rbt_probe *probes;
    TAKE(u, loads, NULL);
    for (size_t k = 0; !u->failed && k < m->loads.node_load_count; k++) {
        TAKE(u, loads[k].nodes, &loads[k].node_count);
        TAKE(u, loads[k].share, NULL);
    }
    TAKE(u, winds, NULL);
    for (size_t k = 0; !u->failed && k < m->loads.wind_count; k++) {
        const size_t *range;
        TAKE(u, range, NULL);
        if (u->failed) return;
        winds[k].triangle_begin = range[0];
        winds[k].triangle_end = range[1];
    }
    m->loads = (rbt_loads){.node_load_count = m->loads.node_load_count,
                           .node_loads = loads,
                           .wind_count = m->loads.wind_count,
                           .winds = winds};
    TAKE(u, obstacles, NULL);
    for (size_t i = 0; !u->failed && i < m->obstacles.count; i++) obstacles[i].value = take(u, 1, NULL);
    m->obstacles.items = obstacles;
    m->obstacles.geometry = NULL;
    rbt_motion_group *still = rbt_arena_take(u->arena, m->obstacles.count, sizeof *still);
    m->obstacle_motions = still;
    TAKE(u, probes, NULL);
    for (size_t i = 0; !u->failed && i < m->probe_count; i++) {
        probes[i].name = take(u, 1, NULL);
        TAKE(u, probes[i].nodes, &probes[i].count);
        TAKE(u, probes[i].share, NULL);
    }
    m->probes = probes;
    const char **warnings = rbt_arena_take(u->arena, m->warning_count, sizeof *warnings);
    u->failed = u->failed || !still || !warnings;
    for (size_t i = 0; !u->failed && i < m->warning_count; i++) warnings[i] = take(u, 1, NULL);
    m->warnings = warnings;
}

static void take_ranks(unpacker *u) {
    rbt_model *m = u->m;
    rbt_piece *piece = u->piece;
    rbt_ranks *ranks = &piece->ranks;
    const int32_t *homes_of = NULL;
    TAKE(u, ranks->number, NULL);
    TAKE(u, piece->owner, NULL);
    TAKE(u, ranks->piece, NULL);
    TAKE(u, homes_of, NULL);
    TAKE(u, ranks->homes, NULL);
    TAKE(u, ranks->rank_of, &ranks->subdomain_count);
    TAKE(u, ranks->tet_number, NULL);
    TAKE(u, ranks->triangle_number, NULL);
    TAKE(u, ranks->edge_number, NULL);
    TAKE(u, ranks->stable, NULL);
    size_t *start = rbt_arena_take(u->arena, m->node_count + 1, sizeof *start);
    unsigned char *owned = rbt_arena_take(u->arena, m->node_count, 1);
    u->failed = u->failed || !start || !owned;
    for (size_t n = 0; !u->failed && n < m->node_count; n++) {
        start[n + 1] = start[n] + (size_t)homes_of[n];
        owned[n] = piece->owner[n] == ranks->rank;
    }
    ranks->home_start = start;
    ranks->owned = owned;
}

// Tets at each node, ascending
static void list_tets(unpacker *u) {
    rbt_model *m = u->m;
    size_t *start = rbt_arena_take(u->arena, m->node_count + 2, sizeof *start);
    int32_t *tets = rbt_arena_take(u->arena, 4 * m->tet_count, sizeof *tets);
    u->failed = u->failed || !start || !tets;
    if (u->failed) return;
    for (size_t i = 0; i < 4 * m->tet_count; i++) start[m->tets[i] + 2]++;
    for (size_t n = 0; n < m->node_count; n++) start[n + 2] += start[n + 1];
    for (size_t i = 0; i < 4 * m->tet_count; i++) tets[start[m->tets[i] + 1]++] = (int32_t)(i / 4);
    m->tet_start = start;
    m->node_tets = tets;
}

// Nothing here is prescribed by callers, but steps ask.
static void take_input(unpacker *u) {
    rbt_model *m = u->m;
    size_t guides = m->motions.group_count + m->obstacles.count;
    m->input = rbt_arena_take(u->arena, 1, sizeof *m->input);
    const rbt_guide **none = rbt_arena_take(u->arena, guides, sizeof *none);
    m->users = rbt_arena_take(u->arena, 1, sizeof *m->users);
    u->failed = u->failed || !m->input || !none || !m->users;
    if (u->failed) return;
    atomic_init(m->users, 1);
    *m->input =
        (rbt_input){.group_count = m->motions.group_count, .obstacle_count = m->obstacles.count, .guides = none};
}

static bool take_all(unpacker *u, rbt_error *error) {
    rbt_piece *piece = u->piece;
    const rbt_model *whole;
    const uint64_t *own;
    TAKE(u, whole, NULL);
    TAKE(u, own, NULL);
    if (u->failed) return true;
    rbt_model *m = u->m;
    *m = *whole;
    m->arena = u->arena;
    m->node_count = own[0], m->tet_count = own[1], m->triangle_count = own[2], m->edge_count = own[3];
    piece->ranks = (rbt_ranks){.rank = (int)own[4],
                               .count = (int)own[5],
                               .piece_count = own[6],
                               .whole_nodes = whole->node_count,
                               .whole_tets = whole->tet_count,
                               .whole_triangles = whole->triangle_count,
                               .whole_edges = whole->edge_count};
    m->uncut_fingerprint = own[7];
    m->selection_count = m->event_count = m->drag_count = m->cut_count = 0;
    m->selections = NULL;
    m->events = NULL;
    m->drag_targets = NULL;
    m->tempos = (rbt_tempos){0};
    m->contact = (rbt_contact_settings){0};
    m->ranks = NULL;
    m->base = NULL;
    take_bodies(u);
    TAKE(u, m->X, NULL);
    TAKE(u, m->node_area, NULL);
    TAKE(u, m->mass, NULL);
    TAKE(u, m->node_body, NULL);
    TAKE(u, m->role, NULL);
    TAKE(u, m->x0, NULL);
    TAKE(u, m->v0, NULL);
    TAKE(u, m->tets, NULL);
    TAKE(u, m->tet_region, NULL);
    TAKE(u, m->triangles, NULL);
    TAKE(u, m->triangle_region, NULL);
    TAKE(u, m->edges, NULL);
    if (!take_groups(u, error)) return false;
    take_motions(u);
    take_loads(u);
    take_ranks(u);
    list_tets(u);
    take_input(u);
    return true;
}

bool rbt_piece_unpack(rbt_piece *piece, const void *bytes, size_t size, rbt_error *error) {
    *piece = (rbt_piece){0};
    unpacker u = {.at = bytes, .end = (const char *)bytes + size, .arena = rbt_arena_new(), .piece = piece};
    u.m = u.arena ? rbt_arena_take(u.arena, 1, sizeof *u.m) : NULL;
    u.failed = !u.m;
    bool good = !u.failed && take_all(&u, error);
    if (good && !u.failed) {
        piece->model = u.m;
        return true;
    }
    rbt_arena_free(u.arena);
    *piece = (rbt_piece){0};
    return good ? rbt_fail_memory(error, size, "a rank's part of the bodies") : false;
}

void rbt_piece_free(rbt_piece *piece) {
    rbt_model_free(piece->model);
    *piece = (rbt_piece){0};
}
