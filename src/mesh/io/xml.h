// The part of XML that VTK files need: one tag after the other with its attributes. Text between the tags is for the
// caller, who sees where the last tag ended and the next one starts; comments, instructions and DOCTYPE are skipped.
// Nothing is copied. Nesting is not checked. A tag is only looked for where the caller asks, so that raw bytes
// behind the last wanted tag do no harm.
#ifndef RBT_MESH_IO_XML_H
#define RBT_MESH_IO_XML_H

#include "base/scan.h"

enum { RBT_XML_ATTRIBUTES = 32 };

typedef struct rbt_xml_slice {  // a piece of the file, not NUL-terminated
    const char *at;
    size_t length;
} rbt_xml_slice;

typedef struct rbt_xml_tag {
    rbt_xml_slice name;
    bool opens, closes;       // <a> opens, </a> closes, <a/> does both
    const char *start, *end;  // from '<' to behind '>'
    int attribute_count;
    struct {
        rbt_xml_slice name, value;
    } attributes[RBT_XML_ATTRIBUTES];
} rbt_xml_tag;

// The next tag at or behind s->at, moving there: 1, or 0 at the end of the text, or -1 with an error.
int rbt_xml_next(rbt_scan *s, rbt_xml_tag *tag, rbt_error *error);

bool rbt_xml_is(rbt_xml_slice slice, const char *text);
rbt_xml_slice rbt_xml_attribute(const rbt_xml_tag *tag, const char *name);  // .at NULL if there is none

// A copy with NUL and the five predefined entities replaced; NULL without memory.
char *rbt_xml_copy(rbt_xml_slice slice);

#endif
