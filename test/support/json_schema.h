// A validator for the part of JSON Schema (draft 2020-12) that rubato's schema uses, written for the tests alone: it
// shares nothing with the parser, so that the two can be compared. A keyword it does not know makes it say no.
#ifndef TEST_SUPPORT_JSON_SCHEMA_H
#define TEST_SUPPORT_JSON_SCHEMA_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

// Numbers are equal by value, whether written 1 or 1.0.
static bool same_json(const json_t *a, const json_t *b) {
    if (json_is_number(a) && json_is_number(b)) return json_number_value(a) == json_number_value(b);
    if (json_is_array(a) && json_is_array(b)) {
        if (json_array_size(a) != json_array_size(b)) return false;
        for (size_t i = 0; i < json_array_size(a); i++)
            if (!same_json(json_array_get(a, i), json_array_get(b, i))) return false;
        return true;
    }
    return json_equal(a, b);
}

static bool has_type(const json_t *value, const char *type) {
    if (strcmp(type, "object") == 0) return json_is_object(value);
    if (strcmp(type, "array") == 0) return json_is_array(value);
    if (strcmp(type, "string") == 0) return json_is_string(value);
    if (strcmp(type, "boolean") == 0) return json_is_boolean(value);
    if (strcmp(type, "number") == 0) return json_is_number(value);
    if (strcmp(type, "integer") == 0)
        return json_is_number(value) && json_number_value(value) == floor(json_number_value(value));
    return false;
}

static bool schema_accepts(json_t *root, json_t *schema, json_t *value);

static size_t count_accepting(json_t *root, json_t *list, json_t *value) {
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(list); i++) count += schema_accepts(root, json_array_get(list, i), value);
    return count;
}

static json_t *resolve(json_t *root, const char *reference) {
    static const char begin[] = "#/$defs/";
    if (strncmp(reference, begin, strlen(begin)) != 0) return NULL;
    return json_object_get(json_object_get(root, "$defs"), reference + strlen(begin));
}

static bool accepts_object(json_t *root, const char *keyword, json_t *rule, json_t *schema, json_t *value,
                           bool *known) {
    const char *key;
    json_t *item;
    if (strcmp(keyword, "properties") == 0) {
        json_object_foreach(value, key, item) {
            json_t *property = json_object_get(rule, key);
            if (property && !schema_accepts(root, property, item)) return false;
        }
    } else if (strcmp(keyword, "required") == 0) {
        for (size_t i = 0; json_is_object(value) && i < json_array_size(rule); i++)
            if (!json_object_get(value, json_string_value(json_array_get(rule, i)))) return false;
    } else if (strcmp(keyword, "additionalProperties") == 0) {
        json_object_foreach(value, key, item) {
            if (!json_object_get(json_object_get(schema, "properties"), key)) return false;
        }
    } else if (strcmp(keyword, "maxProperties") == 0) {
        return (double)json_object_size(value) <= json_number_value(rule);
    } else if (strcmp(keyword, "items") == 0) {
        for (size_t i = 0; i < json_array_size(value); i++)
            if (!schema_accepts(root, rule, json_array_get(value, i))) return false;
    } else if (strcmp(keyword, "minItems") == 0) {
        return !json_is_array(value) || (double)json_array_size(value) >= json_number_value(rule);
    } else if (strcmp(keyword, "maxItems") == 0) {
        return (double)json_array_size(value) <= json_number_value(rule);
    } else {
        *known = false;
    }
    return true;
}

static bool accepts_scalar(const char *keyword, json_t *rule, json_t *value, bool *known) {
    double number = json_number_value(value), limit = json_number_value(rule);
    bool is_number = json_is_number(value);
    if (strcmp(keyword, "type") == 0) return has_type(value, json_string_value(rule));
    if (strcmp(keyword, "const") == 0) return same_json(value, rule);
    if (strcmp(keyword, "minimum") == 0) return !is_number || number >= limit;
    if (strcmp(keyword, "maximum") == 0) return !is_number || number <= limit;
    if (strcmp(keyword, "exclusiveMinimum") == 0) return !is_number || number > limit;
    if (strcmp(keyword, "exclusiveMaximum") == 0) return !is_number || number < limit;
    if (strcmp(keyword, "minLength") == 0)
        return !json_is_string(value) || (double)json_string_length(value) >= limit;
    if (strcmp(keyword, "enum") == 0) {
        for (size_t i = 0; i < json_array_size(rule); i++)
            if (same_json(json_array_get(rule, i), value)) return true;
        return false;
    }
    *known = false;
    return true;
}

static bool accepts_combined(json_t *root, const char *keyword, json_t *rule, json_t *schema, json_t *value,
                             bool *known) {
    if (strcmp(keyword, "$ref") == 0) {
        json_t *other = resolve(root, json_string_value(rule));
        return other && schema_accepts(root, other, value);
    }
    if (strcmp(keyword, "oneOf") == 0) return count_accepting(root, rule, value) == 1;
    if (strcmp(keyword, "anyOf") == 0) return count_accepting(root, rule, value) >= 1;
    if (strcmp(keyword, "allOf") == 0) return count_accepting(root, rule, value) == json_array_size(rule);
    if (strcmp(keyword, "not") == 0) return !schema_accepts(root, rule, value);
    if (strcmp(keyword, "if") == 0)
        return !schema_accepts(root, rule, value) || schema_accepts(root, json_object_get(schema, "then"), value);
    *known = false;
    return true;
}

static bool schema_accepts(json_t *root, json_t *schema, json_t *value) {
    static const char *const notes[] = {"description", "default", "title", "$schema", "$defs", "then"};
    const char *keyword;
    json_t *rule;
    if (!json_is_object(schema)) return json_is_true(schema);
    json_object_foreach(schema, keyword, rule) {
        bool is_note = false, as_object = true, as_scalar = true, as_combined = true;
        for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++) is_note |= strcmp(keyword, notes[i]) == 0;
        if (is_note) continue;
        if (!accepts_object(root, keyword, rule, schema, value, &as_object)) return false;
        if (!accepts_scalar(keyword, rule, value, &as_scalar)) return false;
        if (!accepts_combined(root, keyword, rule, schema, value, &as_combined)) return false;
        if (!as_object && !as_scalar && !as_combined) return false;
    }
    return true;
}

#endif
