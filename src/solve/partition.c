#include "solve/partition.h"

#include "base/memory.h"
#include "solve/metis_lock.h"

#include <metis.h>
#include <string.h>

static int call_metis(idx_t elements, idx_t nodes, idx_t *start, idx_t *node, idx_t parts, idx_t *part,
                      idx_t *node_part) {
    idx_t options[METIS_NOPTIONS], shared = 3, cut;  // smaller elements are neighbours if they share all but one node
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_SEED] = 1;
    rbt_metis_lock(false);  // it calls itself, and tells itself of a lack of memory by SIGTERM
    int status = METIS_PartMeshDual(&elements, &nodes, start, node, NULL, NULL, &shared, &parts, NULL, options, &cut,
                                    part, node_part);
    rbt_metis_unlock();
    return status;
}

bool rbt_partition(size_t element_count, const size_t *start, const int32_t *node, size_t node_count, int part_count,
                   int32_t *part, rbt_error *error) {
    memset(part, 0, element_count * sizeof *part);
    if (part_count < 2 || element_count < 2) return true;
    if (start[element_count] > INT32_MAX)
        return rbt_fail(error, "a mesh with %zu corners: at most %d can be divided", start[element_count], INT32_MAX);
    const char *what = "dividing a mesh";
    idx_t *first = rbt_array_new(element_count + 1, sizeof *first, what, error);
    idx_t *corner = rbt_array_new(start[element_count], sizeof *corner, what, error);
    idx_t *found = rbt_array_new(element_count, sizeof *found, what, error);
    idx_t *of_node = rbt_array_new(node_count, sizeof *of_node, what, error);
    bool good = first && corner && found && of_node;
    if (good) {
        for (size_t e = 0; e <= element_count; e++) first[e] = (idx_t)start[e];
        for (size_t k = 0; k < start[element_count]; k++) corner[k] = (idx_t)node[k];
        idx_t parts = (size_t)part_count < element_count ? (idx_t)part_count : (idx_t)element_count;
        good = call_metis((idx_t)element_count, (idx_t)node_count, first, corner, parts, found, of_node) == METIS_OK;
        if (!good)
            rbt_fail(error, "a mesh of %zu elements was not divided: not enough memory, or SIGTERM came",
                     element_count);
    }
    for (size_t e = 0; good && e < element_count; e++) part[e] = (int32_t)found[e];
    free(first);
    free(corner);
    free(found);
    free(of_node);
    return good;
}
