#include "cluster/piece.h"

#include "model/fingerprint.h"
#include "solve/partition.h"

#include <string.h>

static const char *const WHAT = "the parts of ranks";

// ---- Dividing

// Subdomains that share nodes belong together: they are divided among the ranks as elements of a mesh, whose nodes are
// those between them. Where that leaves a rank without, they are dealt out in their order.
static bool choose_ranks(rbt_cluster_plan *p, rbt_error *error) {
    const rbt_division *d = &p->division;
    size_t ranks = (size_t)p->rank_count, all = d->member_start[d->count], at = 0, used = 0;
    if (d->count == ranks) {
        for (size_t j = 0; j < d->count; j++) p->rank_of[j] = (int32_t)j;
        return true;
    }
    size_t *start = rbt_array_new(d->count + 1, sizeof *start, WHAT, error);
    int32_t *node = rbt_array_new(all, sizeof *node, WHAT, error);
    unsigned char *has = rbt_array_new(ranks, 1, WHAT, error);
    bool good = start && node && has;
    for (size_t j = 0; good && j < d->count; j++) {
        for (size_t k = d->member_start[j]; k < d->member_start[j + 1]; k++) {
            size_t n = (size_t)d->members[k];
            if (d->home_start[n + 1] - d->home_start[n] > 1) node[at++] = d->members[k];
        }
        start[j + 1] = at;
    }
    good = good && rbt_partition(d->count, start, node, p->whole->node_count, p->rank_count, p->rank_of, error);
    for (size_t j = 0; good && j < d->count; j++) {
        used += !has[p->rank_of[j]];
        has[p->rank_of[j]] = 1;
    }
    for (size_t j = 0; good && used < ranks && j < d->count; j++) p->rank_of[j] = (int32_t)(j * ranks / d->count);
    free(start);
    free(node);
    free(has);
    return good;
}

bool rbt_cluster_plan_make(rbt_cluster_plan *p, const rbt_model *m, int rank_count, size_t subdomains,
                           rbt_error *error) {
    *p = (rbt_cluster_plan){.whole = m, .rank_count = rank_count, .arena = rbt_arena_new()};
    bool good = p->arena && rbt_division_build(&p->division, m, subdomains ? subdomains : (size_t)rank_count, error);
    if (good && p->division.count < (size_t)rank_count)
        good = rbt_fail(error,
                        "there are %d ranks, but the bodies are divided into %zu subdomain%s only, and a rank has at "
                        "least one; take fewer ranks or more subdomains",
                        rank_count, p->division.count, p->division.count == 1 ? "" : "s");
    good = good && (p->rank_of = rbt_array_new(p->division.count, sizeof *p->rank_of, WHAT, error)) &&
           (p->owner = rbt_array_new(m->node_count, sizeof *p->owner, WHAT, error)) && choose_ranks(p, error) &&
           rbt_pieces_find(&p->pieces, p->arena, m, error);
    for (size_t n = 0; good && n < m->node_count; n++)
        p->owner[n] = p->rank_of[p->division.homes[p->division.home_start[n]]];
    if (good) {
        p->fingerprint = rbt_model_fingerprint(m);
        return true;
    }
    rbt_cluster_plan_free(p);
    return false;
}

void rbt_cluster_plan_free(rbt_cluster_plan *p) {
    rbt_division_free(&p->division);
    free(p->rank_of);
    free(p->owner);
    rbt_arena_free(p->arena);
    *p = (rbt_cluster_plan){0};
}

// ---- Packing

typedef struct packer {
    const rbt_cluster_plan *plan;
    const rbt_model *m;
    int rank;
    rbt_text *bytes;
    rbt_error *error;
    unsigned char *core;                     // (node_count) nodes of the rank's subdomains
    int32_t *local, *tet, *triangle, *edge;  // numbers here of nodes and so on, -1: not here
    size_t nodes, tets, triangles, edges;    // how many are here
    int32_t *list;                           // work
} packer;

static void put(packer *p, const void *data, size_t count, size_t size) {
    uint64_t bytes = count * size;
    rbt_text_add_bytes(p->bytes, &bytes, sizeof bytes);
    if (bytes) rbt_text_add_bytes(p->bytes, data, bytes);
}

static void put_text(packer *p, const char *text) { put(p, text ? text : "", 1 + strlen(text ? text : ""), 1); }

// Rows of an array of the whole that are here, in their order
static void put_rows(packer *p, const void *rows, size_t size, const int32_t *number, size_t count) {
    uint64_t here = 0;
    for (size_t i = 0; i < count; i++) here += number[i] >= 0;
    here *= size;
    rbt_text_add_bytes(p->bytes, &here, sizeof here);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && (number[end] >= 0) == (number[begin] >= 0); end++) {}
        if (number[begin] >= 0) rbt_text_add_bytes(p->bytes, (const char *)rows + begin * size, (end - begin) * size);
    }
}

static bool touches(const packer *p, const int32_t *node, size_t corners) {
    for (size_t a = 0; a < corners; a++)
        if (p->core[node[a]]) return true;
    return false;
}

static void mark(int32_t *number, const int32_t *which, size_t count) {
    for (size_t i = 0; i < count; i++) number[which[i]] = 0;
}

static size_t count_up(int32_t *number, size_t count) {
    size_t here = 0;
    for (size_t i = 0; i < count; i++)
        if (number[i] >= 0) number[i] = (int32_t)here++;
    return here;
}

// Elements of a chunk that the rank has, ascending, into `list`: of tets whole batches
static size_t choose_elements(const packer *p, const rbt_chunk *chunk, int32_t *list) {
    const rbt_group *group = &p->m->groups[chunk->group];
    size_t corners = (size_t)group->type->corners, width = group->type == &RBT_TETS ? RBT_W : 1, count = 0;
    for (size_t e = chunk->first, end; e < chunk->first + chunk->count; e = end) {
        end = e + width < chunk->first + chunk->count ? e + width : chunk->first + chunk->count;
        if (!touches(p, group->nodes + corners * e, corners * (end - e))) continue;
        for (size_t k = e; k < end; k++) list[count++] = (int32_t)k;
    }
    return count;
}

static void choose_all(packer *p) {
    const rbt_model *m = p->m;
    const rbt_division *d = &p->plan->division;
    memset(p->local, -1, m->node_count * sizeof *p->local);
    memset(p->tet, -1, m->tet_count * sizeof *p->tet);
    memset(p->triangle, -1, m->triangle_count * sizeof *p->triangle);
    memset(p->edge, -1, m->edge_count * sizeof *p->edge);
    for (size_t n = 0; n < m->node_count; n++) {
        for (size_t k = d->home_start[n]; k < d->home_start[n + 1] && !p->core[n]; k++)
            p->core[n] = p->plan->rank_of[d->homes[k]] == p->rank;
        if (p->core[n]) p->local[n] = 0;
    }
    for (size_t c = 0; c < m->plan.chunk_count; c++) {
        const rbt_group *group = &m->groups[m->plan.chunks[c].group];
        size_t corners = (size_t)group->type->corners, count = choose_elements(p, &m->plan.chunks[c], p->list);
        for (size_t k = 0; k < count; k++) {
            mark(p->local, group->nodes + corners * (size_t)p->list[k], corners);
            if (group->type == &RBT_TETS) p->tet[group->members[p->list[k]]] = 0;
        }
    }
    for (size_t t = 0; t < m->triangle_count; t++)
        if (touches(p, m->triangles + 3 * t, 3)) p->triangle[t] = 0;
    for (size_t e = 0; e < m->edge_count; e++)
        if (touches(p, m->edges + 2 * e, 2)) p->edge[e] = 0;
    p->nodes = count_up(p->local, m->node_count);
    p->tets = count_up(p->tet, m->tet_count);
    p->triangles = count_up(p->triangle, m->triangle_count);
    p->edges = count_up(p->edge, m->edge_count);
}

// Where those of begin .. end - 1 that are here begin and end
static void here(const int32_t *number, size_t begin, size_t end, size_t range[2]) {
    size_t before = 0, inside = 0;
    for (size_t i = 0; i < end; i++)
        if (number[i] >= 0) *(i < begin ? &before : &inside) += 1;
    range[0] = before;
    range[1] = before + inside;
}

static void put_corners(packer *p, const int32_t *elements, size_t corners, const int32_t *number, size_t count) {
    uint64_t bytes = 0;
    for (size_t e = 0; e < count; e++) bytes += number[e] >= 0 ? corners * sizeof(int32_t) : 0;
    rbt_text_add_bytes(p->bytes, &bytes, sizeof bytes);
    for (size_t e = 0; e < count; e++) {
        int32_t node[4];
        for (size_t a = 0; number[e] >= 0 && a < corners; a++) node[a] = p->local[elements[corners * e + a]];
        if (number[e] >= 0) rbt_text_add_bytes(p->bytes, node, corners * sizeof *node);
    }
}

// Numbers within their bodies of elements that are here
static void put_numbers(packer *p, const int32_t *number, size_t count, size_t offset) {
    const rbt_model *m = p->m;
    size_t at = 0;
    for (size_t b = 0; b < m->body_count; b++) {
        size_t begin = *(const size_t *)(const void *)((const char *)&m->bodies[b] + offset);
        size_t end = ((const size_t *)(const void *)((const char *)&m->bodies[b] + offset))[1];
        for (size_t i = begin; i < end && i < count; i++)
            if (number[i] >= 0) p->list[at++] = (int32_t)(i - begin);
    }
    put(p, p->list, at, sizeof *p->list);
}

static void put_bodies(packer *p) {
    const rbt_model *m = p->m;
    put(p, m->bodies, m->body_count, sizeof *m->bodies);  // with the numbers of the whole
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body *body = &m->bodies[b];
        size_t range[8];
        here(p->local, body->node_begin, body->node_end, range);
        here(p->tet, body->tet_begin, body->tet_end, range + 2);
        here(p->triangle, body->triangle_begin, body->triangle_end, range + 4);
        here(p->edge, body->edge_begin, body->edge_end, range + 6);
        put(p, range, 8, sizeof *range);
        put_text(p, body->name);
    }
    put(p, m->regions, m->region_count, sizeof *m->regions);
    for (size_t r = 0; r < m->region_count; r++) put_text(p, m->regions[r].name);
}

// Elements of a group: what kind, their chunks, and their data
static bool put_group(packer *p, size_t g) {
    const rbt_model *m = p->m;
    const rbt_group *group = &m->groups[g];
    rbt_arena *arena = rbt_arena_new();
    rbt_chunk *chunks = arena ? rbt_arena_take(arena, m->plan.chunk_count + 1, sizeof *chunks) : NULL;
    size_t count = 0, chunk_count = 0;
    for (size_t c = 0; chunks && c < m->plan.chunk_count; c++) {
        if (m->plan.chunks[c].group != g) continue;
        size_t own = choose_elements(p, &m->plan.chunks[c], p->list + count);
        if (own) chunks[chunk_count++] = (rbt_chunk){.group = g, .first = count, .count = own};
        count += own;
    }
    rbt_group part = *group;
    bool good = chunks && (!count || rbt_group_part(group, arena, p->list, count, p->local, &part, p->error));
    if (good) {
        int32_t *members = p->list;
        const int32_t *number = group->type == &RBT_TETS        ? p->tet
                                : group->type == &RBT_MEMBRANES ? p->triangle
                                                                : NULL;
        const rbt_tets *tets = group->type == &RBT_TETS ? part.data : NULL;
        int32_t head[4] = {tets ? (int32_t)tets->material->id : -1, group->constant_stiffness,
                           group->turning_stiffness, 0};
        for (size_t e = 0; e < count; e++) members[e] = number ? number[part.members[e]] : 0;
        put_text(p, group->type->name);
        put(p, head, 4, sizeof *head);
        put(p, chunks, chunk_count, sizeof *chunks);
        put(p, members, count, sizeof *members);
        put(p, part.nodes, count * (size_t)group->type->corners, count ? sizeof *part.nodes : 0);
        if (tets) put(p, tets->batches, count ? tets->batch_count : 0, sizeof *tets->batches);
        else put(p, part.data, count, group->type->data_size);
    } else rbt_fail_memory(p->error, m->plan.chunk_count * sizeof *chunks, WHAT);
    rbt_arena_free(arena);
    return good;
}

static const size_t MOTION_SIZES[] = {sizeof(rbt_move_velocity), sizeof(rbt_move_rotation),
                                      sizeof(rbt_move_oscillation), sizeof(rbt_move_keyframes)};
static const size_t OBSTACLE_SIZES[] = {sizeof(rbt_obstacle_plane), sizeof(rbt_obstacle_sphere),
                                        sizeof(rbt_obstacle_box), sizeof(rbt_obstacle_capsule)};

static void put_motions(packer *p) {
    const rbt_motions *motions = &p->m->motions;
    uint64_t count = motions->group_count;
    put(p, &count, 1, sizeof count);
    for (size_t g = 0; g < motions->group_count; g++) {
        const rbt_motion_group *group = &motions->groups[g];
        put(p, &group->release, 1, sizeof group->release);
        put_text(p, group->name);
        uint64_t own = group->motion_count;
        put(p, &own, 1, sizeof own);
        for (size_t i = 0; i < group->motion_count; i++) {
            const rbt_motion *motion = &group->motions[i];
            put(p, &motion->which, 1, sizeof motion->which);
            put(p, motion->value, 1, MOTION_SIZES[motion->which]);
            if (motion->which != RBT_MOVE_KEYFRAMES) continue;
            const rbt_move_keyframes *k = motion->value;
            put(p, k->times.items, k->times.count, sizeof(double));
            put(p, k->offsets.items, 3 * k->offsets.count, sizeof(double));
        }
    }
    size_t at = 0;
    for (size_t i = 0; i < motions->node_count; i++)
        if (p->local[motions->node[i]] >= 0) p->list[at++] = p->local[motions->node[i]];
    put(p, p->list, at, sizeof *p->list);
    at = 0;
    for (size_t i = 0; i < motions->node_count; i++)
        if (p->local[motions->node[i]] >= 0) p->list[at++] = motions->group[i];
    put(p, p->list, at, sizeof *p->list);
}

// Nodes of a list that are here, and their shares
static void put_shares(packer *p, const int32_t *nodes, const double *share, size_t count) {
    size_t at = 0;
    for (size_t i = 0; i < count; i++)
        if (p->local[nodes[i]] >= 0) p->list[at++] = p->local[nodes[i]];
    put(p, p->list, at, sizeof *p->list);
    uint64_t bytes = at * sizeof *share;
    rbt_text_add_bytes(p->bytes, &bytes, sizeof bytes);
    for (size_t i = 0; i < count; i++)
        if (p->local[nodes[i]] >= 0) rbt_text_add_bytes(p->bytes, &share[i], sizeof share[i]);
}

static void put_loads(packer *p) {
    const rbt_model *m = p->m;
    const rbt_loads *loads = &m->loads;
    put(p, loads->node_loads, loads->node_load_count, sizeof *loads->node_loads);
    for (size_t k = 0; k < loads->node_load_count; k++)
        put_shares(p, loads->node_loads[k].nodes, loads->node_loads[k].share, loads->node_loads[k].node_count);
    put(p, loads->winds, loads->wind_count, sizeof *loads->winds);
    for (size_t k = 0; k < loads->wind_count; k++) {
        size_t range[2];
        here(p->triangle, loads->winds[k].triangle_begin, loads->winds[k].triangle_end, range);
        put(p, range, 2, sizeof *range);
    }
    put(p, m->obstacles.items, m->obstacles.count, sizeof *m->obstacles.items);
    for (size_t i = 0; i < m->obstacles.count; i++)
        put(p, m->obstacles.items[i].value, 1, OBSTACLE_SIZES[m->obstacles.items[i].which]);
    put(p, m->probes, m->probe_count, sizeof *m->probes);
    for (size_t i = 0; i < m->probe_count; i++) {
        put_text(p, m->probes[i].name);
        put_shares(p, m->probes[i].nodes, m->probes[i].share, m->probes[i].count);
    }
    for (size_t i = 0; i < m->warning_count; i++) put_text(p, m->warnings[i]);
}

// What a rank knows of others: numbers in the whole, owners, connected pieces, subdomains
static void put_ranks(packer *p) {
    const rbt_model *m = p->m;
    const rbt_pieces *pieces = &p->plan->pieces;
    const rbt_division *d = &p->plan->division;
    for (size_t n = 0; n < m->node_count; n++)
        if (p->local[n] >= 0) p->list[p->local[n]] = (int32_t)n;
    put(p, p->list, p->nodes, sizeof *p->list);
    put_rows(p, p->plan->owner, sizeof *p->plan->owner, p->local, m->node_count);
    for (size_t piece = 0; piece < pieces->count; piece++)
        for (size_t k = pieces->block_start[pieces->piece_start[piece]];
             k < pieces->block_start[pieces->piece_start[piece + 1]]; k++)
            if (p->local[pieces->order[k]] >= 0) p->list[p->local[pieces->order[k]]] = (int32_t)piece;
    put(p, p->list, p->nodes, sizeof *p->list);
    size_t at = 0, homes = 0;
    for (size_t n = 0; n < m->node_count; n++)
        if (p->local[n] >= 0) p->list[at++] = (int32_t)(d->home_start[n + 1] - d->home_start[n]);
    for (size_t i = 0; i < at; i++) homes += (size_t)p->list[i];
    put(p, p->list, at, sizeof *p->list);
    uint64_t bytes = homes * sizeof *d->homes;
    rbt_text_add_bytes(p->bytes, &bytes, sizeof bytes);
    for (size_t n = 0; n < m->node_count; n++)
        if (p->local[n] >= 0)
            rbt_text_add_bytes(p->bytes, d->homes + d->home_start[n],
                               (d->home_start[n + 1] - d->home_start[n]) * sizeof *d->homes);
    put(p, p->plan->rank_of, d->count, sizeof *p->plan->rank_of);
    put_numbers(p, p->tet, m->tet_count, offsetof(rbt_body, tet_begin));
    put_numbers(p, p->triangle, m->triangle_count, offsetof(rbt_body, triangle_begin));
    put_numbers(p, p->edge, m->edge_count, offsetof(rbt_body, edge_begin));
    put(p, &p->plan->stable, 1, sizeof p->plan->stable);
}

static bool put_all(packer *p) {
    const rbt_model *m = p->m;
    choose_all(p);
    const uint64_t own[] = {p->nodes,
                            p->tets,
                            p->triangles,
                            p->edges,
                            (uint64_t)p->rank,
                            (uint64_t)p->plan->rank_count,
                            p->plan->pieces.count,
                            p->plan->fingerprint};
    put(p, m, 1, sizeof *m);
    put(p, own, 8, sizeof *own);
    put_bodies(p);
    put_rows(p, m->X, 3 * sizeof(double), p->local, m->node_count);
    put_rows(p, m->node_area, sizeof(double), p->local, m->node_count);
    put_rows(p, m->mass, sizeof(double), p->local, m->node_count);
    put_rows(p, m->node_body, sizeof(int32_t), p->local, m->node_count);
    put_rows(p, m->role, 1, p->local, m->node_count);
    put_rows(p, m->x0, 3 * sizeof(double), p->local, m->node_count);
    put_rows(p, m->v0, 3 * sizeof(double), p->local, m->node_count);
    put_corners(p, m->tets, 4, p->tet, m->tet_count);
    put_rows(p, m->tet_region, sizeof(int32_t), p->tet, m->tet_count);
    put_corners(p, m->triangles, 3, p->triangle, m->triangle_count);
    put_rows(p, m->triangle_region, sizeof(int32_t), p->triangle, m->triangle_count);
    put_corners(p, m->edges, 2, p->edge, m->edge_count);
    for (size_t g = 0; g < m->group_count; g++)
        if (!put_group(p, g)) return false;
    put_motions(p);
    put_loads(p);
    put_ranks(p);
    return !p->bytes->failed || rbt_fail_memory(p->error, p->bytes->size, WHAT);
}

bool rbt_piece_pack(const rbt_cluster_plan *plan, int rank, rbt_text *bytes, rbt_error *error) {
    const rbt_model *m = plan->whole;
    size_t most = m->node_count;
    for (size_t g = 0; g < m->group_count; g++) most = m->groups[g].count > most ? m->groups[g].count : most;
    most = m->tet_count > most ? m->tet_count : most;
    most = m->triangle_count > most ? m->triangle_count : most;
    most = m->edge_count > most ? m->edge_count : most;
    packer p = {.plan = plan,
                .m = m,
                .rank = rank,
                .bytes = bytes,
                .error = error,
                .core = rbt_array_new(m->node_count, 1, WHAT, error),
                .local = rbt_array_new(m->node_count, sizeof(int32_t), WHAT, error),
                .tet = rbt_array_new(m->tet_count, sizeof(int32_t), WHAT, error),
                .triangle = rbt_array_new(m->triangle_count, sizeof(int32_t), WHAT, error),
                .edge = rbt_array_new(m->edge_count, sizeof(int32_t), WHAT, error),
                .list = rbt_array_new(most, sizeof(int32_t), WHAT, error)};
    bool good = p.core && p.local && p.tet && p.triangle && p.edge && p.list && put_all(&p);
    free(p.core);
    free(p.local);
    free(p.tet);
    free(p.triangle);
    free(p.edge);
    free(p.list);
    return good;
}
