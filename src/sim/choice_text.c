#include "sim/choice.h"
#include "step/core/method.h"

#include <math.h>
#include <string.h>

static void add_name(rbt_text *t, const rbt_method_candidate *c) {
    const char *solver = rbt_solver_name(c->method, c->solver);
    rbt_text_add(t, "%s", rbt_method_name(c->method));
    if (solver && rbt_solver_name(c->method, 1)) rbt_text_add(t, " with %s", solver);
}

static bool is_by_error(const rbt_method_candidate *c) { return rbt_method_at(c->method)->error_law != NULL; }

static void add_chosen(rbt_text *t, const rbt_choice *choice) {
    const rbt_method_candidate *c = &choice->candidates[choice->best];
    add_name(t, c);
    rbt_text_add(t, ", steps of about %.2g s", c->tried_step);
    if (choice->open && is_by_error(c)) rbt_text_add(t, " for an error of %.2g", choice->error);
    rbt_text_add(t, ": %.2g s of computing for a simulated second. ", c->tried_cost);
    if (choice->error > choice->asked)
        rbt_text_add(t, "The error that was asked for, %.2g, does not fit the budget. ", choice->asked);
}

static void add_tried(rbt_text *t, const rbt_choice *choice) {
    int others = 0;
    for (int i = 0; i < choice->count; i++) {
        const rbt_method_candidate *c = &choice->candidates[i];
        if (c->fate != RBT_FATE_TRIED && c->fate != RBT_FATE_FAILED) continue;
        rbt_text_add(t, others++ ? "; " : "Tried too: ");
        add_name(t, c);
        if (c->fate == RBT_FATE_FAILED) rbt_text_add(t, ", which failed (%s)", c->reason);
        else rbt_text_add(t, ", %.2g s (steps of %.2g s)", c->tried_cost, c->tried_step);
        if (c->fate == RBT_FATE_TRIED && c->counted_cost > c->tried_cost)
            rbt_text_add(t, ", counted as %.2g s for the vibrations that impacts leave", c->counted_cost);
    }
    if (others) rbt_text_add(t, ". ");
}

// The best of each method that was left out
static void add_predicted(rbt_text *t, const rbt_choice *choice) {
    int others = 0;
    for (int i = 0; i < choice->count; i++) {
        const rbt_method_candidate *c = &choice->candidates[i];
        bool best = c->fate == RBT_FATE_PREDICTED;
        for (int k = 0; k < choice->count && best; k++) {
            const rbt_method_candidate *o = &choice->candidates[k];
            if (o->method != c->method || k == i) continue;
            best = o->fate <= RBT_FATE_UNWANTED ||
                   (o->fate == RBT_FATE_PREDICTED && (o->cost > c->cost || (o->cost == c->cost && k > i)));
        }
        if (!best) continue;
        rbt_text_add(t, others++ ? ", " : "Not tried, by prediction: ");
        rbt_text_add(t, "%s about %.2g s (steps of %.2g s)", rbt_method_name(c->method), c->cost, c->step);
    }
    if (others) rbt_text_add(t, ". ");
}

static void add_unable(rbt_text *t, const rbt_choice *choice) {
    int others = 0, last = -1;
    for (int i = 0; i < choice->count; i++) {
        const rbt_method_candidate *c = &choice->candidates[i];
        bool all = c->fate <= RBT_FATE_UNWANTED && c->method != last;
        for (int k = 0; k < choice->count && all; k++)
            all = choice->candidates[k].method != c->method || choice->candidates[k].fate <= RBT_FATE_UNWANTED;
        last = c->method;
        if (!all) continue;
        rbt_text_add(t, others++ ? "; " : "Left out: ");
        rbt_text_add(t, "%s (%s)", rbt_method_name(c->method), c->reason);
    }
    if (others) rbt_text_add(t, ".");
}

void rbt_choice_text(const rbt_choice *choice, rbt_text *t) {
    if (choice->frame > 0) rbt_text_add(t, "Frame %lld, %s: ", (long long)choice->frame, choice->occasion);
    else rbt_text_add(t, "Chosen: ");
    add_chosen(t, choice);
    add_tried(t, choice);
    add_predicted(t, choice);
    add_unable(t, choice);
    while (t->size && !t->failed && t->text[t->size - 1] == ' ') t->text[--t->size] = '\0';
}

static void add_number(rbt_text *t, const char *name, double value, const char *end) {
    rbt_text_add(t, "\"%s\": ", name);
    rbt_text_add_json_number(t, value);
    rbt_text_add(t, "%s", end);
}

void rbt_choice_json(const rbt_choice *choice, rbt_text *t) {
    static const char *const fates[] = {"unable", "unwanted", "predicted", "failed", "tried", "chosen"};
    rbt_text words = {0};
    rbt_choice_text(choice, &words);
    rbt_text_add(t, "{\"frame\": %lld, ", (long long)choice->frame);
    add_number(t, "time", choice->time, ", \"occasion\": ");
    rbt_text_add_json(t, choice->occasion);
    rbt_text_add(t, ", ");
    add_number(t, "error", choice->error, ", ");
    add_number(t, "asked", choice->asked, ", ");
    add_number(t, "seconds", choice->seconds, ",\n    \"why\": ");
    rbt_text_add_json(t, words.text ? words.text : "");
    rbt_text_add(t, ",\n    \"candidates\": [");
    for (int i = 0; i < choice->count; i++) {
        const rbt_method_candidate *c = &choice->candidates[i];
        const char *solver = rbt_solver_name(c->method, c->solver);
        rbt_text_add(t, "%s\n      {\"method\": \"%s\", \"solver\": ", i ? "," : "", rbt_method_name(c->method));
        rbt_text_add_json(t, solver ? solver : "");
        rbt_text_add(t, ", \"fate\": \"%s\"", fates[c->fate]);
        if (c->reason[0]) {
            rbt_text_add(t, ", \"reason\": ");
            rbt_text_add_json(t, c->reason);
        }
        if (c->fate >= RBT_FATE_PREDICTED) {
            rbt_text_add(t, ", ");
            add_number(t, "predicted_step", c->step, ", ");
            add_number(t, "predicted_cost", c->cost, "");
        }
        if (c->fate >= RBT_FATE_TRIED) {
            rbt_text_add(t, ", ");
            add_number(t, "tried_step", c->tried_step, ", ");
            add_number(t, "tried_seconds", c->tried_seconds, ", ");
            add_number(t, "tried_cost", c->tried_cost, ", ");
            add_number(t, "counted_cost", c->counted_cost, "");
        }
        rbt_text_add(t, "}");
    }
    rbt_text_add(t, "]}");
    t->failed = t->failed || words.failed;
    rbt_text_free(&words);
}
