#include "base/scan.h"

#include <ctype.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

rbt_scan rbt_scan_begin(const char *file, const char *text, size_t size) {
    return (rbt_scan){text, text + size, text, file, 0};
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool ends_word(const rbt_scan *s, const char *at) { return at >= s->end || is_space(*at); }

void rbt_scan_space(rbt_scan *s) {
    while (s->at < s->end) {
        if (is_space(*s->at)) {
            s->at++;
        } else if (s->comment && *s->at == s->comment) {
            while (s->at < s->end && *s->at != '\n') s->at++;
        } else break;
    }
}

bool rbt_scan_at_end(rbt_scan *s) {
    rbt_scan_space(s);
    return s->at >= s->end;
}

long rbt_scan_line(const rbt_scan *s) {
    long line = 1;
    for (const char *c = s->begin; c < s->at && c < s->end; c++) line += *c == '\n';
    return line;
}

bool rbt_scan_int(rbt_scan *s, int64_t *value) {
    rbt_scan_space(s);
    const char *c = s->at;
    bool negative = c < s->end && *c == '-';
    if (c < s->end && (*c == '-' || *c == '+')) c++;
    uint64_t magnitude = 0;
    const char *digits = c;
    for (; c < s->end && *c >= '0' && *c <= '9'; c++) {
        if (magnitude > (uint64_t)INT64_MAX / 10 - 1) return false;
        magnitude = magnitude * 10 + (uint64_t)(*c - '0');
    }
    if (c == digits || !ends_word(s, c)) return false;
    *value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    s->at = c;
    return true;
}

// Correct rounding for the long tail: the C library's conversion in the C locale.
static double slow_real(const char *text, char **end) {
    static _Thread_local locale_t c_locale;
    if (!c_locale) c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return c_locale ? strtod_l(text, end, c_locale) : strtod(text, end);
}

// A decimal with at most 15 significant digits and a power of ten up to 22 is one exact integer times or divided by
// one exact power: a single rounding (Clinger 1990). Everything else goes the slow way.
bool rbt_scan_real(rbt_scan *s, double *value) {
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    rbt_scan_space(s);
    const char *c = s->at;
    if (c >= s->end) return false;
    bool negative = *c == '-';
    if (*c == '-' || *c == '+') c++;
    uint64_t mantissa = 0;
    int digits = 0, exponent = 0;
    const char *first = c;
    for (; *c >= '0' && *c <= '9'; c++) {
        if (mantissa || *c != '0') digits++;
        if (digits <= 15) mantissa = mantissa * 10 + (uint64_t)(*c - '0');
    }
    bool any = c != first;
    if (*c == '.') {
        const char *fraction = ++c;
        for (; *c >= '0' && *c <= '9'; c++) {
            if (mantissa || *c != '0') digits++;
            if (digits <= 15) {
                mantissa = mantissa * 10 + (uint64_t)(*c - '0');
                exponent--;
            }
        }
        any |= c != fraction;
    }
    if (any && (*c == 'e' || *c == 'E')) {
        const char *mark = c++;
        bool down = *c == '-';
        if (*c == '-' || *c == '+') c++;
        int e = 0;
        const char *start = c;
        for (; *c >= '0' && *c <= '9'; c++) e = e < 10000 ? e * 10 + (*c - '0') : e;
        if (c == start) c = mark;
        exponent += down ? -e : e;
    }
    if (any && digits <= 15 && exponent >= -22 && exponent <= 22 && ends_word(s, c)) {
        double m = (double)mantissa;
        m = exponent < 0 ? m / power[-exponent] : m * power[exponent];
        *value = negative ? -m : m;
        s->at = c;
        return true;
    }
    char *end;
    double slow = slow_real(s->at, &end);  // also "nan" and "inf", which the caller judges
    if (end == s->at || end > s->end || !ends_word(s, end)) return false;
    *value = slow;
    s->at = end;
    return true;
}

bool rbt_scan_word(rbt_scan *s, char *word, size_t size) {
    rbt_scan_space(s);
    const char *start = s->at;
    while (s->at < s->end && !is_space(*s->at)) s->at++;
    size_t n = (size_t)(s->at - start);
    if (!n) return false;
    if (n > size - 1) n = size - 1;
    memcpy(word, start, n);
    word[n] = '\0';
    return true;
}

bool rbt_scan_match(rbt_scan *s, const char *word) {
    rbt_scan_space(s);
    size_t n = strlen(word);
    if ((size_t)(s->end - s->at) < n || strncmp(s->at, word, n) != 0 || !ends_word(s, s->at + n)) return false;
    s->at += n;
    return true;
}

bool rbt_scan_rest(rbt_scan *s, const char **line, size_t *length) {
    if (s->at >= s->end) return false;
    const char *stop = memchr(s->at, '\n', (size_t)(s->end - s->at));
    const char *next = stop ? stop + 1 : s->end;
    if (!stop) stop = s->end;
    *line = s->at;
    *length = (size_t)(stop - s->at);
    if (*length && (*line)[*length - 1] == '\r') --*length;
    s->at = next;
    return true;
}

const char *rbt_scan_seen(rbt_scan *s, char buffer[48]) {
    rbt_scan_space(s);
    if (s->at >= s->end) return "the end of the file";
    size_t n = 0;
    buffer[n++] = '"';
    for (const char *c = s->at; c < s->end && !is_space(*c) && n < 40; c++)
        buffer[n++] = isprint((unsigned char)*c) ? *c : '?';
    buffer[n++] = '"';
    buffer[n] = '\0';
    return buffer;
}

bool rbt_scan_fail(rbt_scan *s, rbt_error *error, const char *format, ...) {
    char message[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return rbt_fail_at(error, s->file, rbt_scan_line(s), 0, "%s", message);
}
