#include "mesh/io/xml.h"

#include <stdlib.h>
#include <string.h>

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == ':' || c == '.';
}

bool rbt_xml_is(rbt_xml_slice slice, const char *text) {
    return slice.length == strlen(text) && memcmp(slice.at, text, slice.length) == 0;
}

rbt_xml_slice rbt_xml_attribute(const rbt_xml_tag *tag, const char *name) {
    for (int i = 0; i < tag->attribute_count; i++)
        if (rbt_xml_is(tag->attributes[i].name, name)) return tag->attributes[i].value;
    return (rbt_xml_slice){0};
}

static rbt_xml_slice read_name(rbt_scan *s) {
    rbt_xml_slice name = {s->at, 0};
    while (s->at < s->end && is_name(*s->at)) s->at++;
    name.length = (size_t)(s->at - name.at);
    return name;
}

static bool read_attribute(rbt_scan *s, rbt_xml_tag *tag, rbt_error *error) {
    if (tag->attribute_count == RBT_XML_ATTRIBUTES)
        return rbt_scan_fail(s, error, "a tag has more than %d attributes", RBT_XML_ATTRIBUTES);
    rbt_xml_slice name = read_name(s), value = {0};
    char seen[48];
    if (!name.length)
        return rbt_scan_fail(s, error, "an attribute or the end of a tag is expected, but here is %s",
                             rbt_scan_seen(s, seen));
    rbt_scan_space(s);
    if (s->at < s->end && *s->at == '=') {
        s->at++;
        rbt_scan_space(s);
        char quote = s->at < s->end ? *s->at : '\0';
        const char *close =
            quote == '"' || quote == '\'' ? memchr(s->at + 1, quote, (size_t)(s->end - s->at - 1)) : NULL;
        if (close) {
            value = (rbt_xml_slice){s->at + 1, (size_t)(close - s->at - 1)};
            s->at = close + 1;
        }
    }
    if (!value.at)
        return rbt_scan_fail(s, error, "attribute \"%.*s\" has no value in quotes",
                             name.length < 40 ? (int)name.length : 40, name.at);
    tag->attributes[tag->attribute_count].name = name;
    tag->attributes[tag->attribute_count++].value = value;
    return true;
}

static bool starts(const rbt_scan *s, const char *text) {
    size_t n = strlen(text);
    return (size_t)(s->end - s->at) >= n && memcmp(s->at, text, n) == 0;
}

static bool skip_past(rbt_scan *s, const char *what, const char *close, rbt_error *error) {
    const char *found = memmem(s->at, (size_t)(s->end - s->at), close, strlen(close));
    if (!found) return rbt_scan_fail(s, error, "%s is not closed by \"%s\"", what, close);
    s->at = found + strlen(close);
    return true;
}

int rbt_xml_next(rbt_scan *s, rbt_xml_tag *tag, rbt_error *error) {
    for (;;) {
        const char *start = s->at < s->end ? memchr(s->at, '<', (size_t)(s->end - s->at)) : NULL;
        if (!start) {
            s->at = s->end;
            return 0;
        }
        s->at = start;
        if (starts(s, "<!--")) {
            if (!skip_past(s, "a comment", "-->", error)) return -1;
        } else if (starts(s, "<?")) {
            if (!skip_past(s, "an instruction", "?>", error)) return -1;
        } else if (starts(s, "<!")) {
            if (!skip_past(s, "a declaration", ">", error)) return -1;
        } else break;
    }
    tag->start = s->at++;
    tag->attribute_count = 0;
    tag->closes = s->at < s->end && *s->at == '/';
    tag->opens = !tag->closes;
    if (tag->closes) s->at++;
    tag->name = read_name(s);
    if (!tag->name.length) {
        rbt_scan_fail(s, error, "\"<\" without the name of a tag");
        return -1;
    }
    for (;;) {
        rbt_scan_space(s);
        if (starts(s, ">")) break;
        if (starts(s, "/>")) {
            tag->closes = true;
            s->at++;
            break;
        }
        if (s->at >= s->end) {
            rbt_scan_fail(s, error, "the file ends within the tag \"%.*s\"",
                          tag->name.length < 40 ? (int)tag->name.length : 40, tag->name.at);
            return -1;
        }
        if (!read_attribute(s, tag, error)) return -1;
    }
    tag->end = ++s->at;
    return 1;
}

char *rbt_xml_copy(rbt_xml_slice slice) {
    static const struct {
        const char *entity;
        char character;
    } entities[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    char *copy = malloc(slice.length + 1), *to = copy;
    if (!copy) return NULL;
    for (size_t i = 0; i < slice.length;) {
        size_t used = 1;
        char character = slice.at[i];
        for (size_t k = 0; character == '&' && k < sizeof entities / sizeof *entities; k++) {
            size_t n = strlen(entities[k].entity);
            if (slice.length - i >= n && memcmp(slice.at + i, entities[k].entity, n) == 0) {
                character = entities[k].character;
                used = n;
                break;
            }
        }
        *to++ = character;
        i += used;
    }
    *to = '\0';
    return copy;
}
