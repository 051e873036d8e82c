// Texts made from the tables: the JSON Schema, the reference page, and examples of values.
#ifndef RBT_SCENE_SCHEMA_H
#define RBT_SCENE_SCHEMA_H

#include "base/record.h"

// docs/scene.schema.json: JSON Schema, draft 2020-12. false: not enough memory.
bool rbt_schema_write(rbt_text *text);
bool rbt_schema_write_of(rbt_text *text, const rbt_record *root, const char *title);

// docs/scene.md: the reference in Markdown. false: not enough memory.
bool rbt_reference_write(rbt_text *text);

// A JSON value that the field accepts, on one line. `full`: records with all their keys, else only with the required
// ones. `record`: what the field belongs to, for what depends on a sibling (its default is assumed); NULL for an
// alternative.
void rbt_example_write(rbt_text *text, const rbt_record *record, const rbt_field *field, bool full);

// The default as JSON; false and nothing written if the field has none that JSON can say (records, lists, absent).
bool rbt_default_write(rbt_text *text, const rbt_field *field);

#endif
