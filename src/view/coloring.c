#include "view/coloring.h"

#include "base/text.h"

#include <string.h>

// Stress has peaks at clamped and re-entrant edges that grow with refinement; a few vertices may go beyond its range.
static const rbt_coloring COLORINGS[] = {
    {"plain", "one colour a body", RBT_COLOR_PLAIN, NULL, "", "", 1},
    {"displacement", "distance from the rest position", RBT_COLOR_VALUES, "displacement", "displacement", "m", 1},
    {"velocity", "speed", RBT_COLOR_VALUES, "velocity", "speed", "m/s", 1},
    {"stress", "von Mises stress", RBT_COLOR_VALUES, "von_mises", "von Mises stress", "Pa", 0.995},
    {"region", "material regions, or the element sets of a mesh file", RBT_COLOR_KINDS, "region", "region", "", 1},
    {"body", "bodies", RBT_COLOR_KINDS, "body", "body", "", 1},
    {"quality", "shape of the tets: 1 regular, 0 flat", RBT_COLOR_QUALITY, NULL, "tet quality", "", 1},
};
enum { COLORING_COUNT = sizeof COLORINGS / sizeof COLORINGS[0] };

const rbt_coloring *rbt_coloring_at(int i) { return i >= 0 && i < COLORING_COUNT ? &COLORINGS[i] : NULL; }
const char *rbt_coloring_name(int i) { return i >= 0 && i < COLORING_COUNT ? COLORINGS[i].name : NULL; }

const rbt_coloring *rbt_coloring_find(const char *name, rbt_error *error) {
    for (int i = 0; i < COLORING_COUNT; i++)
        if (strcmp(COLORINGS[i].name, name) == 0) return &COLORINGS[i];
    rbt_text names = {0};
    for (int i = 0; i < COLORING_COUNT; i++) rbt_text_add(&names, "%s%s", i ? ", " : "", COLORINGS[i].name);
    const char *near = rbt_text_nearest(name, rbt_coloring_name);
    rbt_fail(error, "no colouring \"%s\"%s%s%s; there are %s", name, near ? ", did you mean " : "", near ? near : "",
             near ? "?" : "", names.text ? names.text : "several");
    rbt_text_free(&names);
    return NULL;
}
