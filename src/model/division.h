// The elements of a model divided into subdomains of about equal size with small interfaces. A subdomain has the nodes
// of its elements; nodes between subdomains belong to each of them. It depends on the mesh and the number asked for
// alone.
#ifndef RBT_MODEL_DIVISION_H
#define RBT_MODEL_DIVISION_H

#include "model/model.h"

typedef struct rbt_division {
    size_t count;
    size_t *member_start;  // (count + 1)
    int32_t *members;      // (member_start[count]) nodes, ascending in each
    size_t *home_start;    // (node_count + 1)
    int32_t *homes;        // (member_start[count]) the subdomains of each node, ascending
} rbt_division;

// `count` as asked for; there are as many as there are elements at most, and at least one. Nodes without an element
// are in the first.
bool rbt_division_build(rbt_division *division, const rbt_model *model, size_t count, rbt_error *error);

// The same from homes that are known, which are copied. Of a rank's nodes (model/ranks.h) some subdomains have a part.
bool rbt_division_from_homes(rbt_division *division, size_t node_count, size_t count, const size_t *home_start,
                             const int32_t *homes, rbt_error *error);
void rbt_division_free(rbt_division *division);

#endif
