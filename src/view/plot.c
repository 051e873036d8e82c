#include "view/plot.h"

#include "base/file.h"
#include "view/ticks.h"

#include <math.h>
#include <string.h>

enum { LEFT = 78, TOP = 34, BOTTOM = 46, TITLE = 34, GAP_BELOW = 10, NAME_HEIGHT = 19 };
enum { WIDTH = 860, WIDTH_MAX = 1400, PANEL_HEIGHT = 300 };

// Dark enough on white, told apart by inverse mass too.
static const char *const COLORS[] = {"#2f6fb0", "#e07b39", "#3f9a57", "#8e5bb5", "#222a35",
                                     "#c2405a", "#2a9ba8", "#a68a1f", "#7a5b48", "#7d8896"};
enum { COLOR_COUNT = sizeof COLORS / sizeof COLORS[0] };

// When the colours are used up, the same come again in dashes.
static const char *const DASHES[] = {"", " stroke-dasharray=\"7 4\"", " stroke-dasharray=\"2 4\"",
                                     " stroke-dasharray=\"9 4 2 4\""};
enum { DASH_COUNT = sizeof DASHES / sizeof DASHES[0] };
_Static_assert(COLOR_COUNT *DASH_COUNT >= RBT_PLOT_CURVES_MAX, "every curve of a panel has a look of its own");

typedef struct axis {
    double low, high;  // what the axis spans
    double from, to;   // pixels of its ends
    bool log;
    rbt_ticks ticks;
} axis;

static bool drawable(double value, bool log) { return isfinite(value) && (!log || value > 0); }

static double place(const axis *a, double value) {
    double share = a->log ? log(value / a->low) / log(a->high / a->low) : (value - a->low) / (a->high - a->low);
    return a->from + share * (a->to - a->from);
}

// Range of what can be drawn; false if there is nothing.
static bool find_range(const rbt_panel *panel, bool of_y, double *low, double *high) {
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t k = 0; k < panel->series_count; k++) {
        const rbt_series *s = &panel->series[k];
        for (size_t i = 0; i < s->count; i++) {
            if (!drawable(s->x[i], panel->x_log) || !drawable(s->y[i], panel->y_log)) continue;
            double value = of_y ? s->y[i] : s->x[i];
            *low = fmin(*low, value);
            *high = fmax(*high, value);
        }
    }
    return *low <= *high;
}

// The next power of ten, or 1, 2 or 5 times one, above or below
static double round_log(double value, bool up, bool decades) {
    double power = pow(10, floor(log10(value) + 1e-9)), lead = value / power, slack = 1e-9;
    if (up && lead > 1 + slack) return power * (decades || lead > 5 + slack ? 10 : lead > 2 + slack ? 5 : 2);
    return up || decades ? power : power * (lead < 2 - slack ? 1 : lead < 5 - slack ? 2 : 5);
}

// A constant gets room around it. A y axis is widened to whole ticks, so that the ticks cover the data; a log axis
// always, for it often has few ticks and separate points.
static axis make_axis(double low, double high, bool log, double from, double to, int wanted, bool widen) {
    axis a = {low, high, from, to, log, {0}};
    if (log) {
        if (!(high > low * (1 + 1e-12))) {
            a.low = low / 10;
            a.high = high * 10;
        }
        bool decades = widen && a.high / a.low > 20;
        a.low = round_log(a.low, false, decades);
        a.high = round_log(a.high, true, decades);
        if (!(a.low > 0)) a.low = a.high * 1e-300;
        a.ticks = rbt_ticks_log(a.low, a.high, wanted);
        return a;
    }
    // Differences at the level of rounding are noise around a constant.
    double room = fmax(fabs(low), fabs(high)) * 1e-13;
    if (!(high - low > room)) {
        double around = fmax(fabs(low) * 0.1, low == 0 && high == 0 ? 1 : 0);
        a.low = low - around;
        a.high = high + around;
    }
    if (widen) {
        double step = rbt_tick_step(a.high - a.low, wanted);
        a.low = step * floor(a.low / step + 1e-9);
        a.high = step * ceil(a.high / step - 1e-9);
    }
    a.ticks = rbt_ticks_linear(a.low, a.high, wanted);
    return a;
}

static void add_escaped(rbt_text *text, const char *words) {
    for (const char *c = words ? words : ""; *c; c++) {
        if (*c == '&') rbt_text_add(text, "&amp;");
        else if (*c == '<') rbt_text_add(text, "&lt;");
        else if (*c == '>') rbt_text_add(text, "&gt;");
        else if (*c == '"') rbt_text_add(text, "&quot;");
        else if ((unsigned char)*c >= 0x20) rbt_text_add_bytes(text, c, 1);
    }
}

static void add_words(rbt_text *text, double x, double y, const char *style, const char *words) {
    rbt_text_add(text, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, style);
    add_escaped(text, words);
    rbt_text_add(text, "</text>\n");
}

static void draw_axes(rbt_text *text, const rbt_panel *panel, const axis *x, const axis *y) {
    char words[32];
    for (int i = 0; i < y->ticks.count; i++) {
        double at = place(y, y->ticks.at[i]);
        bool zero = y->ticks.at[i] == 0;
        rbt_text_add(text, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x->from, at,
                     x->to, at, zero ? "zero" : "grid");
        rbt_tick_text(&y->ticks, y->ticks.at[i], words, sizeof words);
        add_words(text, x->from - 8, at + 4, "text-anchor=\"end\" class=\"tick\"", words);
    }
    for (int i = 0; i < x->ticks.count; i++) {
        double at = place(x, x->ticks.at[i]);
        rbt_text_add(text, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"axis\"/>\n", at, y->from,
                     at, y->from + 5);
        rbt_tick_text(&x->ticks, x->ticks.at[i], words, sizeof words);
        add_words(text, at, y->from + 18, "text-anchor=\"middle\" class=\"tick\"", words);
    }
    rbt_text_add(text, "<path d=\"M%.1f %.1fV%.1fH%.1f\" class=\"axis\"/>\n", x->from, y->to, y->from, x->to);
    if (panel->x_label && panel->x_label[0])
        add_words(text, 0.5 * (x->from + x->to), y->from + 36, "text-anchor=\"middle\" class=\"label\"",
                  panel->x_label);
    if (panel->y_label && panel->y_label[0]) {
        rbt_text_add(text,
                     "<text transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"middle\" class=\"label\">",
                     x->from - 60, 0.5 * (y->from + y->to));
        add_escaped(text, panel->y_label);
        rbt_text_add(text, "</text>\n");
    }
}

// The curve of one series as a path; gaps start a new piece. Long series: a run of points within half a pixel of x is
// drawn as its first, lowest, highest and last point, which looks the same.
typedef struct pen {
    rbt_text *text;
    bool down;
    size_t pending;
    double x, first, low, high, last;
} pen;

static void pen_point(pen *p, double x, double y) {
    rbt_text_add(p->text, "%s%.2f %.2f", p->down ? "L" : "M", x, y);
    p->down = true;
}

static void pen_flush(pen *p) {
    if (!p->pending) return;
    pen_point(p, p->x, p->first);
    if (p->low < fmin(p->first, p->last)) pen_point(p, p->x, p->low);
    if (p->high > fmax(p->first, p->last)) pen_point(p, p->x, p->high);
    if (p->pending > 1) pen_point(p, p->x, p->last);
    p->pending = 0;
}

static void pen_add(pen *p, double x, double y) {
    if (p->pending && fabs(x - p->x) < 0.5) {
        p->low = fmin(p->low, y);
        p->high = fmax(p->high, y);
        p->last = y;
        p->pending++;
        return;
    }
    pen_flush(p);
    p->x = x;
    p->first = p->low = p->high = p->last = y;
    p->pending = 1;
}

static void draw_series(rbt_text *text, const rbt_panel *panel, const rbt_series *s, const axis *x, const axis *y,
                        const char *color, const char *dashes) {
    pen p = {.text = text};
    size_t lone = 0, count = 0;
    rbt_text_add(text, "<path class=\"curve\" stroke=\"%s\"%s d=\"", color, dashes);
    for (size_t i = 0; i < s->count; i++) {
        if (drawable(s->x[i], panel->x_log) && drawable(s->y[i], panel->y_log)) {
            pen_add(&p, place(x, s->x[i]), place(y, s->y[i]));
            lone = i;
            count++;
        } else {
            pen_flush(&p);
            p.down = false;
        }
    }
    pen_flush(&p);
    rbt_text_add(text, "\"/>\n");
    for (size_t i = 0; i < s->count; i++)
        if ((s->marks || (count == 1 && i == lone)) && drawable(s->x[i], panel->x_log) &&
            drawable(s->y[i], panel->y_log))
            rbt_text_add(text, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3\" fill=\"%s\"/>\n", place(x, s->x[i]),
                         place(y, s->y[i]), color);
}

static void draw_panel(rbt_text *text, const rbt_panel *panel, double top, double right, double height) {
    double low[2], high[2], left = LEFT, upper = top + TOP, lower = top + height - BOTTOM;
    if (panel->title && panel->title[0]) add_words(text, left, top + 20, "class=\"head\"", panel->title);
    if (!find_range(panel, false, &low[0], &high[0]) || !find_range(panel, true, &low[1], &high[1])) {
        add_words(text, 0.5 * (left + right), 0.5 * (upper + lower), "text-anchor=\"middle\" class=\"label\"",
                  "no data to draw");
        return;
    }
    axis x = make_axis(low[0], high[0], panel->x_log, left, right, 8, false);
    axis y = make_axis(low[1], high[1], panel->y_log, lower, upper, 5, true);
    draw_axes(text, panel, &x, &y);
    for (size_t k = 0; k < panel->series_count; k++) {
        const char *color = COLORS[k % COLOR_COUNT], *dashes = DASHES[k / COLOR_COUNT % DASH_COUNT];
        draw_series(text, panel, &panel->series[k], &x, &y, color, dashes);
        double at = upper + 10 + NAME_HEIGHT * (double)k;
        rbt_text_add(text,
                     "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"curve\" stroke=\"%s\"%s/>\n",
                     right + 16, at, right + 36, at, color, dashes);
        add_words(text, right + 43, at + 4, "class=\"name\"", panel->series[k].name);
    }
}

// Room for the names of the series, about seven pixels a letter
static double names_width(const rbt_plot *plot) {
    size_t longest = 8;
    for (size_t i = 0; i < plot->panel_count; i++)
        for (size_t k = 0; k < plot->panels[i].series_count; k++) {
            size_t length = strlen(plot->panels[i].series[k].name);
            if (length > longest) longest = length;
        }
    return 60 + 7 * (double)longest;
}

void rbt_plot_fit(rbt_plot *plot) {
    size_t most = 0;
    for (size_t i = 0; i < plot->panel_count; i++)
        if (plot->panels[i].series_count > most) most = plot->panels[i].series_count;
    plot->width = (int)fmin(fmax(WIDTH, 3 * names_width(plot)), WIDTH_MAX);
    plot->panel_height = (int)fmax(PANEL_HEIGHT, TOP + BOTTOM + NAME_HEIGHT * (double)most);
}

bool rbt_plot_text(const rbt_plot *plot, rbt_text *text, rbt_error *error) {
    double width = plot->width ? plot->width : WIDTH;
    double panel_height = plot->panel_height ? plot->panel_height : PANEL_HEIGHT;
    double legend = fmin(names_width(plot), width / 3);  // never more than a third of the picture
    double head = plot->title && plot->title[0] ? TITLE : 0;
    double height = head + (double)plot->panel_count * panel_height + GAP_BELOW;
    rbt_text_add(
        text, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n",
        width, height, width, height);
    rbt_text_add(text, "<style>text{font-family:Inter,Helvetica,Arial,sans-serif;fill:#2b3340}"
                       ".title{font-size:17px;font-weight:600}.head{font-size:14px;font-weight:600}"
                       ".label{font-size:12px;fill:#5a6472}.tick{font-size:11px;fill:#5a6472}.name{font-size:12px}"
                       ".grid{stroke:#e3e7ec;stroke-width:1}.zero{stroke:#b9c0c9;stroke-width:1}"
                       ".axis{stroke:#8a939e;stroke-width:1;fill:none}"
                       ".curve{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}</style>\n");
    rbt_text_add(text, "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n");
    if (head > 0) add_words(text, LEFT, 26, "class=\"title\"", plot->title);
    for (size_t i = 0; i < plot->panel_count; i++)
        draw_panel(text, &plot->panels[i], head + (double)i * panel_height, width - legend, panel_height);
    rbt_text_add(text, "</svg>\n");
    return !text->failed || rbt_fail_memory(error, text->size, "a plot");
}

bool rbt_plot_write(const rbt_plot *plot, const char *path, rbt_error *error) {
    rbt_text text = {0};
    bool good = rbt_plot_text(plot, &text, error) && rbt_file_write(path, text.text, text.size, error);
    rbt_text_free(&text);
    return good;
}
