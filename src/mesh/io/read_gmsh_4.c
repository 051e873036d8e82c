// Entities, nodes and elements of gmsh version 4: blocks that belong to one geometric entity each.
//
// 4.0 and 4.1 differ in details: 4.0 gives points a bounding box, names an entity by tag and dimension (4.1: dimension
// and tag), puts a node's tag before its coordinates (4.1: all tags, then all coordinates), and counts nodes and
// elements with int (4.1: size_t).
#include "mesh/io/gmsh.h"

#include "base/memory.h"

static const char *const ENTITY_NAMES[4] = {"points", "curves", "surfaces", "volumes"};

static bool take_list(rbt_gmsh *g, const char *what, bool keep) {
    int64_t count, value;
    if (!rbt_values_int(&g->in, g->size_bytes, &count))
        return rbt_values_missing(&g->in, g->error, "the number of %s", what);
    if (!rbt_values_count(&g->in, count, what, 1, 4, g->error)) return false;
    if (keep && !rbt_array_reserve((void **)&g->physicals, &g->physical_capacity, g->physical_count + (size_t)count,
                                   sizeof(int64_t), what, g->error))
        return false;
    for (int64_t i = 0; i < count; i++) {
        if (!rbt_values_int(&g->in, 4, &value))
            return rbt_values_missing(&g->in, g->error, "%lld %s", (long long)count, what);
        // A negative physical group stands for reversed elements.
        if (keep) g->physicals[g->physical_count++] = value < 0 ? -value : value;
    }
    return true;
}

static bool read_entity(rbt_gmsh *g, int dimension, bool partitioned) {
    rbt_gmsh_entity entity = {.dimension = dimension, .first = g->physical_count};
    int64_t parent;
    double box;
    if (!rbt_values_int(&g->in, 4, &entity.tag))
        return rbt_values_missing(&g->in, g->error, "the tag of one of the %s", ENTITY_NAMES[dimension]);
    if (partitioned && (!rbt_values_int(&g->in, 4, &parent) || !rbt_values_int(&g->in, 4, &parent)))
        return rbt_values_missing(&g->in, g->error, "dimension and tag of the parent of %s %lld",
                                  ENTITY_NAMES[dimension], (long long)entity.tag);
    if (partitioned && !take_list(g, "partitions", false)) return false;
    int reals = dimension == 0 && g->version == 41 ? 3 : 6;
    for (int k = 0; k < reals; k++)
        if (!rbt_values_real(&g->in, 8, &box))
            return rbt_values_missing(&g->in, g->error, "%d coordinates of entity %lld among the %s", reals,
                                      (long long)entity.tag, ENTITY_NAMES[dimension]);
    if (!take_list(g, "physical groups", true)) return false;
    entity.count = g->physical_count - entity.first;
    if (dimension > 0 && !take_list(g, "bounding entities", false)) return false;
    if (!rbt_array_reserve((void **)&g->entities, &g->entity_capacity, g->entity_count + 1, sizeof entity, "entities",
                           g->error))
        return false;
    g->entities[g->entity_count++] = entity;
    return true;
}

bool rbt_gmsh_read_entities_4(rbt_gmsh *g, bool partitioned) {
    int64_t counts[4], partitions, ghosts, ghost;
    if (partitioned && g->version == 40)
        return rbt_values_fail(&g->in, g->error,
                               "a partitioned mesh of version 4.0 is not supported: save it as version 4.1");
    if (partitioned) {
        if (!rbt_values_int(&g->in, g->size_bytes, &partitions) || !rbt_values_int(&g->in, g->size_bytes, &ghosts))
            return rbt_values_missing(&g->in, g->error, "the numbers of partitions and ghost entities");
        if (!rbt_values_count(&g->in, ghosts, "ghost entities", 2, 8, g->error)) return false;
        for (int64_t i = 0; i < 2 * ghosts; i++)
            if (!rbt_values_int(&g->in, 4, &ghost)) return rbt_values_missing(&g->in, g->error, "a ghost entity");
    }
    for (int d = 0; d < 4; d++)
        if (!rbt_values_int(&g->in, g->size_bytes, &counts[d]))
            return rbt_values_missing(&g->in, g->error, "the number of %s", ENTITY_NAMES[d]);
    for (int d = 0; d < 4; d++) {
        if (!rbt_values_count(&g->in, counts[d], ENTITY_NAMES[d], 5, 32, g->error)) return false;
        for (int64_t i = 0; i < counts[d]; i++)
            if (!read_entity(g, d, partitioned)) return false;
    }
    return true;
}

// numbers of blocks and of items, in 4.1 followed by the smallest and largest tag
static bool read_section_counts(rbt_gmsh *g, const char *what, int64_t *blocks, int64_t *total) {
    int64_t unused;
    bool read = rbt_values_int(&g->in, g->size_bytes, blocks) && rbt_values_int(&g->in, g->size_bytes, total);
    if (read && g->version == 41)
        read = rbt_values_int(&g->in, g->size_bytes, &unused) && rbt_values_int(&g->in, g->size_bytes, &unused);
    if (!read) return rbt_values_missing(&g->in, g->error, "the numbers of blocks and of %s", what);
    return rbt_values_count(&g->in, *blocks, "blocks", 4, 16, g->error) &&
           rbt_values_count(&g->in, *total, what, 2, 8, g->error);
}

static bool read_block_header(rbt_gmsh *g, int64_t *dimension, int64_t *entity, int64_t *type, int64_t *count) {
    int64_t first, second;
    if (!rbt_values_int(&g->in, 4, &first) || !rbt_values_int(&g->in, 4, &second) ||
        !rbt_values_int(&g->in, 4, type) || !rbt_values_int(&g->in, g->size_bytes, count))
        return rbt_values_missing(&g->in, g->error, "the four numbers at the head of a block");
    *dimension = g->version == 41 ? first : second;
    *entity = g->version == 41 ? second : first;
    if (*dimension >= 0 && *dimension <= 3) return true;
    return rbt_values_fail(&g->in, g->error, "a block of dimension %lld: 0 to 3 expected", (long long)*dimension);
}

static bool check_total(rbt_gmsh *g, const char *what, int64_t announced, uint64_t found) {
    if ((uint64_t)announced == found) return true;
    return rbt_values_fail(&g->in, g->error, "%lld %s announced, but the blocks hold %llu", (long long)announced,
                           what, (unsigned long long)found);
}

static bool take_position(rbt_gmsh *g, size_t i, int parameters) {
    double *x = g->nodes + 3 * i, parameter;
    bool read =
        rbt_values_real(&g->in, 8, &x[0]) && rbt_values_real(&g->in, 8, &x[1]) && rbt_values_real(&g->in, 8, &x[2]);
    for (int k = 0; read && k < parameters; k++) read = rbt_values_real(&g->in, 8, &parameter);
    if (read) return true;
    return rbt_values_missing(&g->in, g->error, "%d coordinates of node %lld", 3 + parameters,
                              (long long)g->node_tags[i]);
}

bool rbt_gmsh_read_nodes_4(rbt_gmsh *g) {
    rbt_values *in = &g->in;
    int64_t blocks, total, dimension, entity, parametric, count;
    int tag_bytes = g->version == 41 ? g->size_bytes : 4;
    if (!read_section_counts(g, "nodes", &blocks, &total)) return false;
    for (int64_t b = 0; b < blocks; b++) {
        if (!read_block_header(g, &dimension, &entity, &parametric, &count)) return false;
        if (parametric != 0 && parametric != 1)
            return rbt_values_fail(in, g->error, "a block of nodes has %lld where 0 or 1 (parametric) is expected",
                                   (long long)parametric);
        int parameters = parametric ? (int)dimension : 0;
        if (!rbt_values_count(in, count, "nodes", (size_t)(4 + parameters), (size_t)(tag_bytes + 24 + 8 * parameters),
                              g->error) ||
            !rbt_gmsh_reserve_nodes(g, (size_t)count))
            return false;
        size_t first = g->node_count, end = first + (size_t)count;
        for (size_t i = first; i < end; i++) {
            if (!rbt_values_int(in, tag_bytes, &g->node_tags[i]))
                return rbt_values_missing(in, g->error, "the tag of node %zu of %lld", i + 1, (long long)total);
            if (g->version == 40 && !take_position(g, i, parameters)) return false;
        }
        for (size_t i = first; g->version == 41 && i < end; i++)
            if (!take_position(g, i, parameters)) return false;
        g->node_count = end;
    }
    return check_total(g, "nodes", total, g->node_count);
}

static bool skip_elements(rbt_gmsh *g, const rbt_gmsh_type *type, int64_t count, int tag_bytes) {
    int64_t unused;
    for (int64_t i = 0; i < count * (type->corners + 1); i++)
        if (!rbt_values_int(&g->in, tag_bytes, &unused))
            return rbt_values_missing(&g->in, g->error, "tag and %d nodes of an element", type->corners);
    return true;
}

static bool keep_elements(rbt_gmsh *g, const rbt_gmsh_type *type, int64_t count, int tag_bytes) {
    rbt_gmsh_elements *list = &g->elements[type->dimension];
    if (!rbt_gmsh_reserve_elements(g, type->dimension, (size_t)count)) return false;
    for (int64_t i = 0; i < count; i++) {
        int64_t *tag = &list->tags[list->count];
        if (!rbt_values_int(&g->in, tag_bytes, tag))
            return rbt_values_missing(&g->in, g->error, "the tag of an element");
        if (!rbt_gmsh_take_corners(g, type, *tag, tag_bytes, list->corners + (size_t)type->corners * list->count))
            return false;
        list->count++;
    }
    return true;
}

bool rbt_gmsh_read_elements_4(rbt_gmsh *g) {
    int64_t blocks, total, dimension, entity, number, count;
    uint64_t found = 0;
    int tag_bytes = g->version == 41 ? g->size_bytes : 4;
    if (!read_section_counts(g, "elements", &blocks, &total)) return false;
    for (int64_t b = 0; b < blocks; b++) {
        if (!read_block_header(g, &dimension, &entity, &number, &count)) return false;
        const rbt_gmsh_type *type = rbt_gmsh_find_type(g, number, count > 0 ? (size_t)count : 0);
        if (!type) return false;
        size_t values = (size_t)type->corners + 1;
        if (!rbt_values_count(&g->in, count, type->name, values, values * (size_t)tag_bytes, g->error)) return false;
        if (type->dimension < 0) {
            if (!skip_elements(g, type, count, tag_bytes)) return false;
        } else {
            rbt_gmsh_run run = {(int)type->dimension, entity, 0, g->elements[type->dimension].count, (size_t)count};
            if (!keep_elements(g, type, count, tag_bytes) || !rbt_gmsh_add_run(g, run)) return false;
        }
        found += (uint64_t)count;
    }
    return check_total(g, "elements", total, found);
}
