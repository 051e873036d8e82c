// Contenders as a table for people, and what is said while they run: shared by the commands that run several.
#ifndef RBT_CLI_CONTENDER_TABLE_H
#define RBT_CLI_CONTENDER_TABLE_H

#include "base/text.h"
#include "study/contender.h"

enum { RBT_CELL = 136 };

typedef struct rbt_contender_column {
    const char *head, *unit;                          // in two lines
    bool left;                                        // aligned
    void (*put)(const rbt_contender *c, char *cell);  // at most RBT_CELL letters with the end
} rbt_contender_column;

// A column for every label, left, under the heads; then the others.
typedef struct rbt_contender_columns {
    size_t head_count;
    const char *const *heads;  // (head_count)
    size_t count;
    const rbt_contender_column *columns;  // (count)
} rbt_contender_columns;

void rbt_contender_table(rbt_text *text, const rbt_contender *contenders, size_t count,
                         const rbt_contender_columns *columns);

// A line if the run failed, did not converge or is to be doubted.
void rbt_contender_trouble(rbt_text *text, const char *name, const rbt_trial *trial);

// "finished", "not converged", "failed at 0.12 s", "crashed at 0.12 s"
const char *rbt_outcome_text(const rbt_trial *trial, char text[64]);

// ---- Cells

void rbt_put_number(char *cell, const char *format, double value);  // "-" if it is not finite
void rbt_put_count(char *cell, int64_t count);
void rbt_put_steps(const rbt_contender *c, char *cell);
void rbt_put_iterations(const rbt_contender *c, char *cell);
void rbt_put_outcome(const rbt_contender *c, char *cell);
void rbt_put_distance_end(const rbt_contender *c, char *cell);

// ---- A command

// One line a run, rewritten with every frame on a terminal; listener: const bool *, whether stdout is one.
void rbt_contender_hear(const rbt_contender_news *news, void *listener);

// Prints the table, which must be whole, unless quiet, and says where what was saved lies. The exit code: 1 if the
// files could not be saved (`saved`) or no run finished.
typedef struct rbt_study_end {
    const char *kind;  // of contender, "method"
    const char *files;
    const char *folder;
    size_t count;
    const rbt_contender *contenders;  // (count)
    bool saved, quiet;
} rbt_study_end;
int rbt_study_present(const rbt_study_end *end, rbt_text *table, rbt_error *error);

#endif
