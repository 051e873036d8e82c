// Collecting what the gmsh sections hold, and making a mesh with sets of it.
#include "mesh/io/gmsh.h"

#include "base/memory.h"

#include <stdio.h>

const rbt_gmsh_type RBT_GMSH_TYPE[RBT_GMSH_TYPES] = {
    [1] = {"lines", 2, 1},
    [2] = {"triangles", 3, 2},
    [3] = {"quadrangles", 4, -1},
    [4] = {"tets", 4, 3},
    [5] = {"hexahedra", 8, -1},
    [6] = {"prisms", 6, -1},
    [7] = {"pyramids", 5, -1},
    [8] = {"second-order lines with 3 nodes", 3, -1},
    [9] = {"second-order triangles with 6 nodes", 6, -1},
    [10] = {"second-order quadrangles with 9 nodes", 9, -1},
    [11] = {"second-order tets with 10 nodes", 10, -1},
    [12] = {"second-order hexahedra with 27 nodes", 27, -1},
    [13] = {"second-order prisms with 18 nodes", 18, -1},
    [14] = {"second-order pyramids with 14 nodes", 14, -1},
    [15] = {"points", 1, 0},
    [16] = {"second-order quadrangles with 8 nodes", 8, -1},
    [17] = {"second-order hexahedra with 20 nodes", 20, -1},
    [18] = {"second-order prisms with 15 nodes", 15, -1},
    [19] = {"second-order pyramids with 13 nodes", 13, -1},
    [20] = {"third-order triangles with 9 nodes", 9, -1},
    [21] = {"third-order triangles with 10 nodes", 10, -1},
    [22] = {"fourth-order triangles with 12 nodes", 12, -1},
    [23] = {"fourth-order triangles with 15 nodes", 15, -1},
    [24] = {"fifth-order triangles with 15 nodes", 15, -1},
    [25] = {"fifth-order triangles with 21 nodes", 21, -1},
    [26] = {"third-order lines with 4 nodes", 4, -1},
    [27] = {"fourth-order lines with 5 nodes", 5, -1},
    [28] = {"fifth-order lines with 6 nodes", 6, -1},
    [29] = {"third-order tets with 20 nodes", 20, -1},
    [30] = {"fourth-order tets with 35 nodes", 35, -1},
    [31] = {"fifth-order tets with 56 nodes", 56, -1},
    [92] = {"third-order hexahedra with 64 nodes", 64, -1},
    [93] = {"fourth-order hexahedra with 125 nodes", 125, -1},
};

const rbt_gmsh_type *rbt_gmsh_find_type(rbt_gmsh *g, int64_t number, size_t count) {
    if (number < 1 || number >= RBT_GMSH_TYPES || !RBT_GMSH_TYPE[number].name) {
        rbt_values_fail(&g->in, g->error,
                        "element type %lld is not known: points, lines, triangles and tets (types 15, 1, 2 and 4) "
                        "are supported",
                        (long long)number);
        return NULL;
    }
    const rbt_gmsh_type *type = &RBT_GMSH_TYPE[number];
    if (type->dimension >= 0 || !count) return type;
    if (!g->unsupported) {
        g->unsupported = (int)number;
        g->unsupported_at = g->in.scan.at;
    }
    if (g->unsupported == number) g->unsupported_count += count;
    g->unsupported_elements_total += count;
    return type;
}

bool rbt_gmsh_reserve_nodes(rbt_gmsh *g, size_t more) {
    size_t need = g->node_count + more;
    if (need > INT32_MAX) return rbt_values_fail(&g->in, g->error, "%zu nodes: the limit is %d", need, INT32_MAX);
    return rbt_array_reserve((void **)&g->nodes, &g->node_capacity, need, 3 * sizeof(double), "nodes", g->error) &&
           rbt_array_reserve((void **)&g->node_tags, &g->tag_capacity, need, sizeof(int64_t), "node tags", g->error);
}

bool rbt_gmsh_reserve_elements(rbt_gmsh *g, int dimension, size_t more) {
    rbt_gmsh_elements *list = &g->elements[dimension];
    size_t need = list->count + more, corners = (size_t)dimension + 1;
    if (need > INT32_MAX) return rbt_values_fail(&g->in, g->error, "%zu elements: the limit is %d", need, INT32_MAX);
    return rbt_array_reserve((void **)&list->corners, &list->corner_capacity, need, corners * sizeof(int32_t),
                             "elements", g->error) &&
           rbt_array_reserve((void **)&list->tags, &list->tag_capacity, need, sizeof(int64_t), "element tags",
                             g->error);
}

bool rbt_gmsh_take_corners(rbt_gmsh *g, const rbt_gmsh_type *type, int64_t tag, int width, int32_t *corners) {
    for (int k = 0; k < type->corners; k++) {
        int64_t node;
        if (!rbt_values_int(&g->in, width, &node))
            return rbt_values_missing(&g->in, g->error, "%d nodes of element %lld", type->corners, (long long)tag);
        corners[k] = rbt_tag_map_find(&g->node_of, node);
        if (corners[k] < 0)
            return rbt_values_fail(&g->in, g->error, "element %lld names node %lld, which $Nodes does not list",
                                   (long long)tag, (long long)node);
    }
    return true;
}

bool rbt_gmsh_add_run(rbt_gmsh *g, rbt_gmsh_run run) {
    if (!run.count) return true;
    rbt_gmsh_run *last = g->run_count ? &g->runs[g->run_count - 1] : NULL;
    if (last && last->dimension == run.dimension && last->entity == run.entity && last->physical == run.physical &&
        last->first + last->count == run.first) {
        last->count += run.count;
        return true;
    }
    if (!rbt_array_reserve((void **)&g->runs, &g->run_capacity, g->run_count + 1, sizeof run, "element groups",
                           g->error))
        return false;
    g->runs[g->run_count++] = run;
    return true;
}

static int compare_tagged(const void *a, const void *b) {
    const rbt_tagged *x = a, *y = b;
    if (x->tag != y->tag) return x->tag < y->tag ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

// Blocks scatter the elements by entity; their tags tell the order they were numbered in. Gives *rank, where the
// element at each place of the file has gone, or leaves it NULL if nothing had to move.
static bool sort_elements(rbt_gmsh *g, int dimension, int32_t **rank) {
    rbt_gmsh_elements *list = &g->elements[dimension];
    bool ascending = true;
    for (size_t i = 1; i < list->count; i++) ascending &= list->tags[i - 1] <= list->tags[i];
    if (ascending) return true;
    size_t n = (size_t)dimension + 1;
    rbt_tagged *order = rbt_array_new(list->count, sizeof *order, "the order of elements", g->error);
    int32_t *corners = rbt_array_new(list->count, n * sizeof *corners, "elements", g->error);
    *rank = rbt_array_new(list->count, sizeof **rank, "the order of elements", g->error);
    bool made = order && corners && *rank;
    if (made) {
        for (size_t i = 0; i < list->count; i++) order[i] = (rbt_tagged){list->tags[i], (int32_t)i};
        qsort(order, list->count, sizeof *order, compare_tagged);
        for (size_t i = 0; i < list->count; i++) {
            (*rank)[order[i].index] = (int32_t)i;
            memcpy(corners + n * i, list->corners + n * (size_t)order[i].index, n * sizeof *corners);
        }
        free(list->corners);
        list->corners = corners;
    } else free(corners);
    free(order);
    return made;
}

static int compare_entities(const void *a, const void *b) {
    const rbt_gmsh_entity *x = a, *y = b;
    if (x->dimension != y->dimension) return x->dimension < y->dimension ? -1 : 1;
    if (x->tag != y->tag) return x->tag < y->tag ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static const rbt_gmsh_entity *find_entity(const rbt_gmsh *g, int dimension, int64_t tag) {
    size_t low = 0, high = g->entity_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const rbt_gmsh_entity *e = &g->entities[middle];
        if (e->dimension < dimension || (e->dimension == dimension && e->tag < tag)) low = middle + 1;
        else high = middle;
    }
    const rbt_gmsh_entity *e = low < g->entity_count ? &g->entities[low] : NULL;
    return e && e->dimension == dimension && e->tag == tag ? e : NULL;
}

static int compare_names(const void *a, const void *b) {
    const rbt_gmsh_name *x = a, *y = b;
    if (x->dimension != y->dimension) return x->dimension < y->dimension ? -1 : 1;
    if (x->tag != y->tag) return x->tag < y->tag ? -1 : 1;
    return (x->text > y->text) - (x->text < y->text);
}

static const char *const DIMENSION_NAMES[4] = {"point", "curve", "surface", "volume"};

// The name of a physical group; NULL: it has none.
static const rbt_gmsh_name *find_name(const rbt_gmsh *g, int dimension, int64_t number) {
    size_t low = 0, high = g->name_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const rbt_gmsh_name *n = &g->names[middle];
        if (n->dimension < dimension || (n->dimension == dimension && n->tag < number)) low = middle + 1;
        else high = middle;
    }
    const rbt_gmsh_name *n = low < g->name_count ? &g->names[low] : NULL;
    return n && n->dimension == dimension && n->tag == number && n->length ? n : NULL;
}

static bool is_no_set(const rbt_gmsh *g, int dimension, int64_t number) {
    const rbt_gmsh_name *n = find_name(g, dimension, number);
    return n && n->length == strlen(RBT_GMSH_NO_SET) && memcmp(n->text, RBT_GMSH_NO_SET, n->length) == 0;
}

static void name_physical(const void *context, int source, int64_t number, rbt_text *name) {
    const rbt_gmsh_name *n = find_name(context, source, number);
    if (n) rbt_text_add_bytes(name, n->text, n->length);
    else rbt_text_add(name, "physical %s %lld", DIMENSION_NAMES[source], (long long)number);
}

static void name_entity(const void *context, int source, int64_t number, rbt_text *name) {
    (void)context;
    rbt_text_add(name, "%s %lld", DIMENSION_NAMES[source], (long long)number);
}

static bool mark_physicals(rbt_gmsh *g, rbt_marks *marks) {
    // An entity may list many groups and be listed by many blocks: what that unfolds to stays within a multiple of
    // the file's size.
    size_t cost = 0, limit = 8 * (size_t)(g->in.scan.end - g->in.scan.begin);
    for (size_t i = 0; i < g->run_count; i++) {
        const rbt_gmsh_run *run = &g->runs[i];
        if (run->physical && !is_no_set(g, run->dimension, run->physical) &&
            !rbt_marks_add(marks, run->dimension, run->physical, run->first, run->count, g->error))
            return false;
        const rbt_gmsh_entity *entity = g->entity_count ? find_entity(g, run->dimension, run->entity) : NULL;
        for (size_t k = 0; entity && k < entity->count; k++) {
            cost += run->count + 10;
            if (cost > limit)
                return rbt_fail_at(g->error, g->in.scan.file, 0, 0,
                                   "%s %lld belongs to %zu physical groups: too many for the number of its elements",
                                   DIMENSION_NAMES[run->dimension], (long long)run->entity, entity->count);
            int64_t physical = g->physicals[entity->first + k];
            if (is_no_set(g, run->dimension, physical)) continue;
            if (!rbt_marks_add(marks, run->dimension, physical, run->first, run->count, g->error)) return false;
        }
    }
    return true;
}

// Where no physical groups are given the entities tell the parts apart; a single one tells nothing.
static bool mark_entities(rbt_gmsh *g, rbt_marks *marks) {
    bool several[4] = {0};
    const rbt_gmsh_run *first[4] = {0};
    for (size_t i = 0; i < g->run_count; i++) {
        const rbt_gmsh_run *run = &g->runs[i];
        if (!first[run->dimension]) first[run->dimension] = run;
        several[run->dimension] |= first[run->dimension]->entity != run->entity;
    }
    for (size_t i = 0; i < g->run_count; i++) {
        const rbt_gmsh_run *run = &g->runs[i];
        if (several[run->dimension] && run->entity &&
            !rbt_marks_add(marks, run->dimension, run->entity, run->first, run->count, g->error))
            return false;
    }
    return true;
}

static bool make_sets(rbt_gmsh *g, int32_t *const rank[4], rbt_mesh *mesh) {
    bool physical = false;
    for (size_t i = 0; i < g->run_count; i++) physical |= g->runs[i].physical != 0;
    for (size_t i = 0; i < g->entity_count; i++) physical |= g->entities[i].count != 0;
    if (g->entity_count) qsort(g->entities, g->entity_count, sizeof *g->entities, compare_entities);
    if (g->name_count) qsort(g->names, g->name_count, sizeof *g->names, compare_names);
    // The runs tell places in the file. Points are no elements of ours: they stand for their nodes, as lines do.
    const rbt_mark_source sources[4] = {{RBT_SET_NODES, g->elements[0].corners, 1},
                                        {RBT_SET_NODES, g->elements[1].corners, 2},
                                        {RBT_SET_TRIANGLES, rank[2], 1},
                                        {RBT_SET_TETS, rank[3], 1}};
    rbt_marks marks = {0};
    bool made = (physical ? mark_physicals(g, &marks) : mark_entities(g, &marks)) &&
                rbt_marks_to_sets(&marks, sources, physical ? name_physical : name_entity, g, mesh, g->error);
    rbt_marks_free(&marks);
    return made;
}

// Hands the array over, cut to what is used.
static void *hand_over(void *array, size_t bytes) {
    void *fitted = array ? realloc(array, bytes ? bytes : 1) : NULL;
    return fitted ? fitted : array;
}

bool rbt_gmsh_finish(rbt_gmsh *g, rbt_mesh *mesh) {
    int32_t *rank[4] = {0};
    bool made = sort_elements(g, 2, &rank[2]) && sort_elements(g, 3, &rank[3]) && make_sets(g, rank, mesh);
    free(rank[2]);
    free(rank[3]);
    if (!made) return false;
    mesh->node_count = g->node_count;
    mesh->nodes = hand_over(g->nodes, g->node_count * 3 * sizeof(double));
    g->nodes = NULL;
    int32_t **arrays[4] = {NULL, &mesh->edges, &mesh->triangles, &mesh->tets};
    size_t *counts[4] = {NULL, &mesh->edge_count, &mesh->triangle_count, &mesh->tet_count};
    for (size_t d = 1; d < 4; d++) {
        *counts[d] = g->elements[d].count;
        *arrays[d] = hand_over(g->elements[d].corners, g->elements[d].count * (d + 1) * sizeof(int32_t));
        g->elements[d].corners = NULL;
    }
    return true;
}
