// Tables of numbers from comma-separated text with names in the first line, as energy.csv.
#ifndef RBT_VIEW_TABLE_H
#define RBT_VIEW_TABLE_H

#include "base/error.h"

#include <stddef.h>

typedef struct rbt_table {
    size_t column_count, row_count;
    char **names;      // (column_count)
    double **columns;  // (column_count) of (row_count)
} rbt_table;

// A last line without its end is one that is being written: it is left out.
bool rbt_table_read(rbt_table *table, const char *path, rbt_error *error);
void rbt_table_free(rbt_table *table);
const double *rbt_table_column(const rbt_table *table, const char *name);  // NULL if there is none

#endif
