// gmsh version 4.1, text (reads back to the same bits) or binary.
//
// gmsh knows groups of elements only through geometric entities: an element belongs to one entity, an entity to any
// number of physical groups. So the elements of a kind that lie in the same combination of sets make up one entity,
// and every set becomes a physical group; if there are any, elements in none of them have a group of their own, too
// (gmsh.h). Node sets are written as point elements. Element tags number the tets, then triangles, edges and points in
// the mesh's order, which the blocks scatter and the reader restores.
#include "mesh/io/format.h"

#include "base/memory.h"
#include "mesh/io/gmsh.h"

#include <locale.h>
#include <string.h>

// One combination of sets: that of `parent` and one more. Class 0 is the empty combination.
typedef struct set_class {
    size_t parent;
    size_t set;    // which set of the mesh was added
    size_t count;  // elements in exactly this combination
    size_t child;  // this combination with the set `child_set` - 1 added
    size_t child_set;
    int32_t tag;  // entity, from 1; 0 if no element is left in the class
} set_class;

// The elements of one dimension, sorted into entities.
typedef struct layer {
    const int32_t *corners;  // (count x (dimension + 1)); NULL for points, which are nodes
    size_t count;
    int32_t *class_of;  // (count)
    set_class *classes;
    size_t class_count, class_capacity;
    size_t *start;   // (class_count + 1) into order
    int32_t *order;  // (count) elements by class
    size_t entity_count;
    size_t element_count;  // written: all, but of the points only those in a set
} layer;

typedef struct writer {
    const rbt_mesh *mesh;
    FILE *stream;
    bool ascii;
    layer layers[4];  // by dimension
    double box[6];
} writer;

static void put_int(writer *w, int value, char after) {
    if (w->ascii) fprintf(w->stream, "%d%c", value, after);
    else fwrite(&value, sizeof value, 1, w->stream);
}

static void put_size(writer *w, size_t value, char after) {
    uint64_t wide = value;
    if (w->ascii) fprintf(w->stream, "%zu%c", value, after);
    else fwrite(&wide, sizeof wide, 1, w->stream);
}

static void put_reals(writer *w, const double *values, int count, char after) {
    if (!w->ascii) fwrite(values, sizeof *values, (size_t)count, w->stream);
    for (int i = 0; w->ascii && i < count; i++) fprintf(w->stream, "%.17g%c", values[i], i < count - 1 ? ' ' : after);
}

static void end_section(writer *w, const char *name) { fprintf(w->stream, "%s$End%s\n", w->ascii ? "" : "\n", name); }

static int dimension_of(rbt_set_kind kind) { return kind == RBT_SET_TETS ? 3 : kind == RBT_SET_TRIANGLES ? 2 : 0; }

// Splits the classes by one more set: members leave class c for the class "c and this set", made when first needed.
static bool split_classes(layer *l, const rbt_mesh_set *set, size_t set_index, rbt_error *error) {
    for (size_t k = 0; k < set->count; k++) {
        int32_t *class_of = &l->class_of[set->items[k]];
        size_t old = (size_t)*class_of;
        if (old && l->classes[old].set == set_index) continue;  // listed twice
        if (l->classes[old].child_set != set_index + 1) {
            if (!rbt_array_reserve((void **)&l->classes, &l->class_capacity, l->class_count + 1, sizeof *l->classes,
                                   "combinations of sets", error))
                return false;
            l->classes[l->class_count] = (set_class){.parent = old, .set = set_index};
            l->classes[old].child = l->class_count++;
            l->classes[old].child_set = set_index + 1;
        }
        *class_of = (int32_t)l->classes[old].child;
        l->classes[old].count--;
        l->classes[*class_of].count++;
    }
    return true;
}

static bool sort_layer(const rbt_mesh *mesh, layer *l, int dimension, rbt_error *error) {
    l->class_of = rbt_array_new(l->count, sizeof *l->class_of, "combinations of sets", error);
    l->order = rbt_array_new(l->count, sizeof *l->order, "the order of elements", error);
    if (!l->class_of || !l->order ||
        !rbt_array_reserve((void **)&l->classes, &l->class_capacity, 1, sizeof *l->classes, "combinations of sets",
                           error))
        return false;
    l->classes[l->class_count++] = (set_class){.count = l->count};
    for (size_t i = 0; dimension != 1 && i < mesh->set_count; i++)
        if (dimension_of(mesh->sets[i].kind) == dimension && !split_classes(l, &mesh->sets[i], i, error))
            return false;
    if (dimension == 0) l->classes[0].count = 0;  // nodes in no set are not written as points
    if (!(l->start = rbt_array_new(l->class_count + 1, sizeof *l->start, "combinations of sets", error)))
        return false;
    for (size_t c = 0; c < l->class_count; c++) {
        if (l->classes[c].count) l->classes[c].tag = (int32_t)++l->entity_count;
        l->element_count += l->classes[c].count;
        l->start[c + 1] = l->start[c] + l->classes[c].count;
    }
    for (size_t i = 0; i < l->count; i++) {
        const set_class *c = &l->classes[l->class_of[i]];
        if (c->tag) l->order[l->start[l->class_of[i]]++] = (int32_t)i;
    }
    for (size_t c = l->class_count; c > 0; c--) l->start[c] = l->start[c - 1];  // the fill has moved each to its end
    l->start[0] = 0;
    return true;
}

static bool check_sets(const rbt_mesh *mesh, rbt_error *error) {
    for (size_t i = 0; i < mesh->set_count; i++)
        if (strpbrk(mesh->sets[i].name, "\r\n"))
            return rbt_fail(error, "the name of set %zu holds a line end, which a gmsh file cannot: rename it", i);
    for (size_t i = 0; i < mesh->set_count; i++)
        if (strcmp(mesh->sets[i].name, RBT_GMSH_NO_SET) == 0)
            return rbt_fail(error, "set %zu is named \"" RBT_GMSH_NO_SET "\", which stands for no set: rename it", i);
    return true;
}

static void write_names(writer *w) {
    const rbt_mesh *mesh = w->mesh;
    if (!mesh->set_count) return;
    size_t others = 0;  // dimensions with elements in no set
    for (int d = 0; d < 4; d++) others += w->layers[d].classes[0].tag != 0;
    fprintf(w->stream, "$PhysicalNames\n%zu\n", mesh->set_count + others);
    for (int d = 0; d < 4; d++)
        if (w->layers[d].classes[0].tag)
            fprintf(w->stream, "%d %zu \"" RBT_GMSH_NO_SET "\"\n", d, mesh->set_count + 1);
    for (size_t i = 0; i < mesh->set_count; i++)
        fprintf(w->stream, "%d %zu \"%s\"\n", dimension_of(mesh->sets[i].kind), i + 1, mesh->sets[i].name);
    fputs("$EndPhysicalNames\n", w->stream);
}

// The physical groups of a class: those of the chain of classes it was split from, or that of elements in no set.
static void write_groups(writer *w, const layer *l, size_t c) {
    size_t count = 0;
    if (c == 0 && w->mesh->set_count) {
        put_size(w, 1, ' ');
        put_int(w, (int)w->mesh->set_count + 1, ' ');
        return;
    }
    for (size_t k = c; k; k = l->classes[k].parent) count++;
    put_size(w, count, ' ');
    for (size_t k = c; k; k = l->classes[k].parent) put_int(w, (int)l->classes[k].set + 1, ' ');
}

static void write_entities(writer *w) {
    fputs("$Entities\n", w->stream);
    for (int d = 0; d < 4; d++) put_size(w, w->layers[d].entity_count, d < 3 ? ' ' : '\n');
    for (int d = 0; d < 4; d++) {
        const layer *l = &w->layers[d];
        for (size_t c = 0; c < l->class_count; c++) {
            if (!l->classes[c].tag) continue;
            put_int(w, l->classes[c].tag, ' ');
            const double *corner = d ? w->box : w->mesh->nodes + 3 * l->order[l->start[c]];
            put_reals(w, corner, d ? 6 : 3, ' ');
            write_groups(w, l, c);
            if (d) put_size(w, 0, '\n');
            else if (w->ascii) fputc('\n', w->stream);
        }
    }
    end_section(w, "Entities");
}

// All nodes in one block, which belongs to the first entity of the highest dimension.
static void write_nodes(writer *w) {
    size_t count = w->mesh->node_count;
    int d = 3;
    while (d > 0 && !w->layers[d].entity_count) d--;
    fputs("$Nodes\n", w->stream);
    put_size(w, 1, ' ');
    put_size(w, count, ' ');
    put_size(w, 1, ' ');
    put_size(w, count, '\n');
    put_int(w, d, ' ');
    put_int(w, 1, ' ');
    put_int(w, 0, ' ');
    put_size(w, count, '\n');
    for (size_t i = 0; i < count; i++) put_size(w, i + 1, '\n');
    for (size_t i = 0; i < count; i++) put_reals(w, w->mesh->nodes + 3 * i, 3, '\n');
    end_section(w, "Nodes");
}

static void write_block(writer *w, int dimension, size_t c, size_t first_tag) {
    static const int types[4] = {RBT_GMSH_POINT, RBT_GMSH_LINE, RBT_GMSH_TRIANGLE, RBT_GMSH_TET};
    const layer *l = &w->layers[dimension];
    put_int(w, dimension, ' ');
    put_int(w, l->classes[c].tag, ' ');
    put_int(w, types[dimension], ' ');
    put_size(w, l->classes[c].count, '\n');
    for (size_t i = l->start[c]; i < l->start[c + 1]; i++) {
        size_t element = (size_t)l->order[i];
        put_size(w, first_tag + element, ' ');
        for (int k = 0; k <= dimension; k++) {
            size_t node = dimension ? (size_t)l->corners[element * (size_t)(dimension + 1) + (size_t)k] : element;
            put_size(w, node + 1, k < dimension ? ' ' : '\n');
        }
    }
}

static void write_elements(writer *w) {
    size_t blocks = 0, total = 0, numbers = 0;
    for (int d = 0; d < 4; d++) {
        blocks += w->layers[d].entity_count;
        total += w->layers[d].element_count;
        numbers += w->layers[d].element_count ? w->layers[d].count : 0;
    }
    fputs("$Elements\n", w->stream);
    put_size(w, blocks, ' ');
    put_size(w, total, ' ');
    put_size(w, 1, ' ');
    put_size(w, numbers ? numbers : 1, '\n');
    size_t first_tag = 1;
    for (int d = 3; d >= 0; d--) {
        const layer *l = &w->layers[d];
        for (size_t c = 0; c < l->class_count; c++)
            if (l->classes[c].tag) write_block(w, d, c, first_tag);
        first_tag += l->count;
    }
    end_section(w, "Elements");
}

static void find_box(writer *w) {
    const rbt_mesh *mesh = w->mesh;
    for (size_t i = 0; i < mesh->node_count; i++)
        for (int k = 0; k < 3; k++) {
            double x = mesh->nodes[3 * i + (size_t)k];
            if (!i || x < w->box[k]) w->box[k] = x;
            if (!i || x > w->box[3 + k]) w->box[3 + k] = x;
        }
}

static void write_sections(writer *w) {
    // A program that uses the library may have chosen a locale with decimal commas.
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), before = plain ? uselocale(plain) : (locale_t)0;
    find_box(w);
    fprintf(w->stream, "$MeshFormat\n4.1 %d 8\n", w->ascii ? 0 : 1);
    if (!w->ascii) put_int(w, 1, ' ');
    end_section(w, "MeshFormat");
    write_names(w);
    write_entities(w);
    write_nodes(w);
    write_elements(w);
    if (!plain) return;
    uselocale(before);
    freelocale(plain);
}

bool rbt_write_gmsh(const rbt_mesh *mesh, FILE *stream, bool ascii, rbt_error *error) {
    writer w = {.mesh = mesh, .stream = stream, .ascii = ascii};
    w.layers[0].count = mesh->node_count;
    w.layers[1] = (layer){.corners = mesh->edges, .count = mesh->edge_count};
    w.layers[2] = (layer){.corners = mesh->triangles, .count = mesh->triangle_count};
    w.layers[3] = (layer){.corners = mesh->tets, .count = mesh->tet_count};
    bool sorted = check_sets(mesh, error);
    for (int d = 0; sorted && d < 4; d++) sorted = sort_layer(mesh, &w.layers[d], d, error);
    if (sorted) write_sections(&w);
    for (int d = 0; d < 4; d++) {
        free(w.layers[d].class_of);
        free(w.layers[d].classes);
        free(w.layers[d].start);
        free(w.layers[d].order);
    }
    return sorted;
}
