// Contenders as CSV and JSON. Both are made from one table of columns, so that they cannot disagree; what was not
// measured is an empty cell in one and null in the other.
#ifndef RBT_STUDY_CONTENDER_FILES_H
#define RBT_STUDY_CONTENDER_FILES_H

#include "base/text.h"
#include "study/contender.h"

// ---- CSV

void rbt_csv_add_cell(rbt_text *text, const char *words);  // in quotes where it has to be, quotes doubled (RFC 4180)
void rbt_contender_add_head(rbt_text *text);               // the unit is part of the name: "step [s]"
void rbt_contender_add_row(rbt_text *text, const rbt_contender *contender);

// ---- JSON

// The begin of the whole, up to and with the units.
void rbt_study_add_begin(rbt_text *text, const char *scene_path, int repeat);
void rbt_contender_add_members(rbt_text *text, const rbt_contender *contender);  // without the braces around them

// Writes folder/name and frees the text.
bool rbt_study_write(const char *folder, const char *name, rbt_text *text, rbt_error *error);

#endif
