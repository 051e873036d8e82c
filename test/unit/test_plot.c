// Plots: the SVG is well formed, the ticks cover the data, and gaps, constants, single points and log axes are drawn.
#include "base/file.h"
#include "view/energy_plot.h"
#include "view/plot.h"
#include "view/table.h"
#include "view/ticks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[256];

static int make_folder(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/rubato_plot_XXXXXX", base ? base : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

static const char *path_of(const char *name) {
    static char paths[2][512];
    static int turn;
    turn = !turn;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", folder, name);
    return paths[turn];
}

// Every opened tag is closed in order, attributes are quoted, and no bare & or < stands in the text.
static void check_well_formed(const char *svg) {
    char open[32][32];
    int depth = 0, elements = 0;
    for (const char *c = svg; *c; c++) {
        if (*c == '&')
            assert_true(!strncmp(c, "&amp;", 5) || !strncmp(c, "&lt;", 4) || !strncmp(c, "&gt;", 4) ||
                        !strncmp(c, "&quot;", 6));
        if (*c != '<') continue;
        const char *end = strchr(c, '>');
        assert_non_null(end);
        int quotes = 0;
        for (const char *q = c + 1; q < end; q++) {
            assert_int_not_equal(*q, '<');
            quotes += *q == '"';
        }
        assert_int_equal(quotes % 2, 0);
        char name[32] = {0};
        sscanf(c + 1 + (c[1] == '/'), "%31[a-z]", name);
        assert_true(name[0]);
        if (c[1] == '/') {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
        } else if (end[-1] != '/') {
            assert_true(depth < 32);
            snprintf(open[depth++], 32, "%s", name);
        }
        elements++;
        c = end;
    }
    assert_int_equal(depth, 0);
    assert_true(elements > 3);
    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "inf\""));
}

static char *draw(const rbt_panel *panels, size_t count, const char *title) {
    rbt_text text = {0};
    rbt_error error;
    assert_true(rbt_plot_text(&(rbt_plot){.title = title, .panels = panels, .panel_count = count}, &text, &error));
    check_well_formed(text.text);
    return text.text;
}

static size_t count_of(const char *text, const char *part) {
    size_t count = 0;
    for (const char *c = text; (c = strstr(c, part)); c++) count++;
    return count;
}

static void titles_are_escaped(void **state) {
    (void)state;
    const double x[] = {0, 1}, y[] = {2, 3};
    rbt_series series = {"a < b & \"c\"", 2, x, y, false};
    rbt_panel panel = {.title = "x > 0", .x_label = "t", .y_label = "<J>", .series_count = 1, .series = &series};
    char *svg = draw(&panel, 1, "R&D");
    assert_non_null(strstr(svg, "a &lt; b &amp; &quot;c&quot;"));
    assert_non_null(strstr(svg, "R&amp;D"));
    free(svg);
}

static void ticks_cover_the_data(void **state) {
    (void)state;
    rbt_ticks ticks = rbt_ticks_linear(-0.3, 1.7, 5);
    assert_int_equal(ticks.count, 4);
    for (int i = 0; i < 4; i++) assert_true(fabs(ticks.at[i] - 0.5 * i) < 1e-12);
    assert_true(fabs(rbt_tick_step(2.0, 5) - 0.5) < 1e-15);
    assert_true(fabs(rbt_tick_step(7e-9, 5) - 1e-9) < 1e-20);
    // In a plot the y axis is widened to whole ticks: -0.3 to 1.7 needs -0.5 and 2.0.
    const double x[] = {0, 1, 2}, y[] = {-0.3, 0.4, 1.7};
    rbt_series series = {"s", 3, x, y, false};
    rbt_panel panel = {.series_count = 1, .series = &series};
    char *svg = draw(&panel, 1, NULL);
    assert_non_null(strstr(svg, ">-0.5<"));
    assert_non_null(strstr(svg, ">2.0<"));
    free(svg);
}

static void gaps_split_the_curve(void **state) {
    (void)state;
    const double x[] = {0, 1, 2, 3, 4}, y[] = {1, 2, NAN, 4, 3}, z[] = {1, 2, 3, INFINITY, 3};
    rbt_series series[] = {{"y", 5, x, y, false}, {"z", 4, x, z, false}};
    rbt_panel panel = {.series_count = 2, .series = series};
    char *svg = draw(&panel, 1, NULL);
    const char *first = strstr(svg, "<path class=\"curve\""), *second = strstr(first + 1, "<path class=\"curve\"");
    char *path = strndup(first, (size_t)(second - first));
    assert_int_equal(count_of(path, "M"), 2);
    assert_int_equal(count_of(path, "L"), 2);
    assert_null(strstr(svg, ">1000<"));
    free(path);
    free(svg);
}

static void constants_get_room(void **state) {
    (void)state;
    const double x[] = {0, 1}, five[] = {5, 5}, zero[] = {0, 0};
    rbt_series series[] = {{"five", 2, x, five, false}, {"zero", 2, x, zero, false}};
    rbt_panel panels[] = {{.series_count = 1, .series = &series[0]}, {.series_count = 1, .series = &series[1]}};
    char *svg = draw(panels, 2, NULL);
    assert_non_null(strstr(svg, ">5.0<"));
    assert_non_null(strstr(svg, ">0<"));
    free(svg);
}

static void a_single_point_is_a_dot(void **state) {
    (void)state;
    const double x[] = {0, 1, 2}, y[] = {NAN, 7, NAN};
    rbt_series series = {"s", 3, x, y, false};
    rbt_panel panel = {.series_count = 1, .series = &series};
    char *svg = draw(&panel, 1, NULL);
    assert_int_equal(count_of(svg, "<circle"), 1);
    free(svg);
    series.marks = true;
    series.y = x;
    svg = draw(&panel, 1, NULL);
    assert_int_equal(count_of(svg, "<circle"), 3);
    free(svg);
}

static void nothing_to_draw_says_so(void **state) {
    (void)state;
    const double x[] = {0}, y[] = {NAN};
    rbt_series series = {"s", 1, x, y, false};
    rbt_panel panel = {.series_count = 1, .series = &series};
    char *svg = draw(&panel, 1, NULL);
    assert_non_null(strstr(svg, "no data to draw"));
    free(svg);
}

// On log axes a power law is straight: the middle point of 1e-3, 1e-1, 1e1 lies half way.
static void log_axes_are_logarithmic(void **state) {
    (void)state;
    const double x[] = {1e-2, 1e-1, 1, -4}, y[] = {1e-3, 1e-1, 1e1, 5};
    rbt_series series = {"order 2", 4, x, y, true};
    rbt_panel panel = {.x_log = true, .y_log = true, .series_count = 1, .series = &series};
    char *svg = draw(&panel, 1, NULL);
    double at[3][2];
    const char *c = svg;
    for (int i = 0; i < 3; i++) {
        c = strstr(c, "<circle") + 1;
        assert_int_equal(sscanf(c, "circle cx=\"%lf\" cy=\"%lf\"", &at[i][0], &at[i][1]), 2);
    }
    for (int k = 0; k < 2; k++) assert_true(fabs(at[0][k] + at[2][k] - 2 * at[1][k]) < 0.05);
    assert_int_equal(count_of(svg, "<circle"), 3);
    assert_non_null(strstr(svg, ">0.001<"));
    assert_non_null(strstr(svg, ">10<"));
    free(svg);
}

static void long_series_stay_small(void **state) {
    (void)state;
    enum { N = 200000 };
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    for (int i = 0; i < N; i++) {
        x[i] = i;
        y[i] = i == 77777 ? 50 : sin(0.01 * i);
    }
    rbt_series series = {"s", N, x, y, false};
    rbt_panel panel = {.series_count = 1, .series = &series};
    char *svg = draw(&panel, 1, NULL);
    assert_true(strlen(svg) < 150000);
    assert_non_null(strstr(svg, ">50<"));
    free(svg);
    free(x);
    free(y);
}

static void energies_become_three_panels(void **state) {
    (void)state;
    const char *text = "frame,time,kinetic,elastic,gravity,contact,total,px,py,pz,lx,ly,lz,work\n"
                       "0,0,1,2,3,0,6,0,0,0,0,0,0,\n"
                       "1,0.1,nan,2,3,0,6,0,1,0,0,0,0,\n"
                       "2,0.2,2,1,3,0,6,0,2,0,0,0,0,\n"
                       "3,0.3,2,1";  // a line being written
    rbt_error error = {0};
    assert_true(rbt_file_write(path_of("energy.csv"), text, strlen(text), &error));
    assert_true(rbt_energy_plot_write(path_of("energy.csv"), "run", path_of("energy.svg"), &error));
    rbt_bytes svg;
    assert_true(rbt_file_read(path_of("energy.svg"), &svg, &error));
    check_well_formed(svg.data);
    assert_int_equal(count_of(svg.data, "class=\"head\""), 3);
    assert_int_equal(count_of(svg.data, "<path class=\"curve\""), 11);
    free(svg.data);
    rbt_table table;
    assert_true(rbt_table_read(&table, path_of("energy.csv"), &error));
    assert_int_equal(table.row_count, 3);
    assert_true(rbt_table_column(&table, "time")[2] == 0.2);
    assert_null(rbt_table_column(&table, "warmth"));
    rbt_table_free(&table);
    unlink(path_of("energy.csv"));
    unlink(path_of("energy.svg"));
}

// Energies of two runs: a panel for each quantity that is not zero everywhere, a curve for each run in it.
static void several_runs_share_their_panels(void **state) {
    (void)state;
    const char *one = "frame,time,kinetic,elastic,gravity,contact,total,px,py,pz,lx,ly,lz,work\n"
                      "0,0,1,2,0,0,3,3,4,0,0,0,0,\n"
                      "1,0.1,2,1,0,0,3,3,4,12,0,0,0,\n";
    const char *other = "time,kinetic,total\n0,1,3\n0.2,4,5\n0.4,4,5\n";
    char first[512], second[512];
    rbt_error error = {0};
    snprintf(first, sizeof first, "%s", path_of("first.csv"));
    snprintf(second, sizeof second, "%s", path_of("second.csv"));
    assert_true(rbt_file_write(first, one, strlen(one), &error));
    assert_true(rbt_file_write(second, other, strlen(other), &error));
    const rbt_energy_source runs[] = {{first, "the first"}, {second, "a <second>"}};
    assert_true(rbt_energy_plot_overlay(runs, 2, "2 runs", path_of("both.svg"), &error));
    rbt_bytes svg;
    assert_true(rbt_file_read(path_of("both.svg"), &svg, &error));
    check_well_formed(svg.data);
    // total and kinetic of both, elastic and |p| of the first alone; |p| goes from 5 to 13
    assert_int_equal(count_of(svg.data, "class=\"head\""), 4);
    assert_int_equal(count_of(svg.data, "<path class=\"curve\""), 6);
    assert_int_equal(count_of(svg.data, ">the first<"), 4);
    assert_int_equal(count_of(svg.data, ">a &lt;second&gt;<"), 2);
    assert_null(strstr(svg.data, "contact"));
    assert_non_null(strstr(svg.data, ">14<"));
    free(svg.data);

    const char *empty = "time,total\n";
    assert_true(rbt_file_write(second, empty, strlen(empty), &error));
    assert_false(rbt_energy_plot_overlay(runs, 2, "2 runs", path_of("both.svg"), &error));
    assert_string_equal(error.message, "the table has no rows: the run has written no frame yet");
    assert_string_equal(error.file, second);
    rbt_energy_source many[RBT_PLOT_CURVES_MAX + 1];
    for (int i = 0; i <= RBT_PLOT_CURVES_MAX; i++) many[i] = runs[0];
    assert_false(rbt_energy_plot_overlay(many, RBT_PLOT_CURVES_MAX + 1, "many", path_of("both.svg"), &error));
    assert_string_equal(error.message, "41 runs in one plot cannot be told apart; give at most 40");
    unlink(first);
    unlink(second);
    unlink(path_of("both.svg"));
}

// Many curves: each has a look of its own and a name inside the picture.
static void many_curves_are_told_apart(void **state) {
    (void)state;
    const double x[] = {0, 1}, y[] = {0, 1};
    rbt_series series[RBT_PLOT_CURVES_MAX];
    for (int i = 0; i < RBT_PLOT_CURVES_MAX; i++) series[i] = (rbt_series){"a name", 2, x, y, false};
    const rbt_panel panel = {.series_count = RBT_PLOT_CURVES_MAX, .series = series};
    rbt_plot plot = {.panel_count = 1, .panels = &panel};
    rbt_text text = {0};
    rbt_error error = {0};
    rbt_plot_fit(&plot);
    assert_true(rbt_plot_text(&plot, &text, &error));
    char looks[RBT_PLOT_CURVES_MAX][80];
    const char *c = text.text;
    for (int i = 0; i < RBT_PLOT_CURVES_MAX; i++) {
        c = strstr(c, "<path class=\"curve\"") + 20;
        snprintf(looks[i], sizeof looks[i], "%.*s", (int)(strstr(c, " d=") - c), c);
        for (int k = 0; k < i; k++) assert_string_not_equal(looks[i], looks[k]);
    }
    double lowest = 0, height = 0;
    for (c = text.text; (c = strstr(c, "class=\"name\"")); c++) {
        const char *at = c;
        while (strncmp(at, "y=\"", 3) != 0) at--;
        lowest = fmax(lowest, strtod(at + 3, NULL));
    }
    assert_int_equal(sscanf(strstr(text.text, "height=\""), "height=\"%lf", &height), 1);
    assert_true(lowest > 700 && lowest < height);
    rbt_text_free(&text);
}

static void broken_tables_are_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
        long line;
    } cases[] = {
        {"", "the file has no line with the names of the columns", 0},
        {"a,b\n1,2\n", "the table has no column \"time\"", 1},
        {"time,total\n", "the table has no rows: the run has written no frame yet", 0},
        {"time,total\n1\n", "the line has 1 cells, but the table has 2 columns", 2},
        {"time,total\n1,2\n1,x\n", "column \"total\" needs a number, \"x\" is none", 3},
        {"time,total\n1,\n", "column \"total\" needs a number, \"\" is none", 2},
        {"time,warmth\n1,2\n", "the table has no column of energies or momenta", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rbt_error error = {0};
        assert_true(rbt_file_write(path_of("energy.csv"), cases[i].text, strlen(cases[i].text), &error));
        assert_false(rbt_energy_plot_write(path_of("energy.csv"), "run", path_of("energy.svg"), &error));
        assert_string_equal(error.message, cases[i].message);
        assert_string_equal(error.file, path_of("energy.csv"));
        assert_int_equal(error.line, cases[i].line);
    }
    unlink(path_of("energy.csv"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(titles_are_escaped),
        cmocka_unit_test(ticks_cover_the_data),
        cmocka_unit_test(gaps_split_the_curve),
        cmocka_unit_test(constants_get_room),
        cmocka_unit_test(a_single_point_is_a_dot),
        cmocka_unit_test(nothing_to_draw_says_so),
        cmocka_unit_test(log_axes_are_logarithmic),
        cmocka_unit_test(long_series_stay_small),
        cmocka_unit_test(energies_become_three_panels),
        cmocka_unit_test(broken_tables_are_named),
        cmocka_unit_test(several_runs_share_their_panels),
        cmocka_unit_test(many_curves_are_told_apart),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
