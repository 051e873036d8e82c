// The continuous test (contact/ccd/additive.h) judged on millions of random pairs by exact predicates: prints, per kind
// and per class of pairs (test/support/ccd_pairs.h), how many passed, were stopped and refused, that none is late, how
// early those that were stopped are, and the time of one question.
#include "ccd_pairs.h"

#include <stdio.h>
#include <time.h>

enum { BATCH = 3000 };

static const char USAGE[] = "ccd_study PAIRS [SEED]";

typedef struct ccd_times {
    double seconds[2];  // of pairs that pass, and of those that are stopped
    long asked[2];
} ccd_times;

// Of this thread, whatever else the machine does
static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double ask(const ccd_pair *p) {
    return rbt_ccd_pair(p->kind, p->x, p->y, p->inside, p->reach, p->kind == RBT_TOUCH_WALL ? p->wall : NULL);
}

static void add(const ccd_counts *c, ccd_counts *sum) {
    sum->pairs += c->pairs, sum->passed += c->passed, sum->stopped += c->stopped, sum->refused += c->refused;
    sum->late += c->late, sum->undecided += c->undecided, sum->far += c->far, sum->needless += c->needless;
    sum->without += c->without;
    for (int b = 0; b < CCD_BINS; b++) sum->early[b] += c->early[b];
}

static void show(const char *name, const ccd_counts *c) {
    printf("| %s | %ld | %ld | %ld | %ld | %ld | %ld | %ld | %ld | %ld |\n", name, c->pairs, c->passed, c->stopped,
           c->refused, c->late, c->undecided, c->far, c->needless, c->without);
}

static void show_early(const char *name, const ccd_counts *c) {
    long all = 0;
    for (int b = 0; b < CCD_BINS; b++) all += c->early[b];
    printf("| %s | %ld |", name, all);
    for (int b = 0; b < CCD_BINS; b++) printf(" %.2f |", all ? 100.0 * (double)c->early[b] / (double)all : 0);
    printf("\n");
}

// One batch of a kind and a class: asked in one go, for the time, then judged
static void study(uint64_t *stream, rbt_touch_kind kind, ccd_class class, int count, ccd_counts *c,
                  ccd_times *times) {
    static ccd_pair pairs[BATCH];
    static double t[BATCH];
    for (int i = 0; i < count; i++) pairs[i] = ccd_draw(stream, kind, class);
    for (int i = 0; i < count; i++) t[i] = ask(pairs + i);
    for (int stopped = 0; stopped < 2; stopped++) {
        double start = processor_seconds(), sum = 0;
        for (int i = 0; i < count; i++)
            if (t[i] > 0 && (t[i] < 1) == stopped) {
                sum += ask(pairs + i);
                times->asked[stopped]++;
            }
        times->seconds[stopped] += processor_seconds() - start;
        if (sum < 0) printf("%g\n", sum);
    }
    for (int i = 0; i < count; i++) ccd_count(stream, pairs + i, t[i], c);
}

int main(int count, char **words) {
    double asked = count > 1 ? strtod(words[1], NULL) : 0;
    if (!(asked >= 1) || count > 3) {
        fprintf(stderr, "usage: %s\n", USAGE);
        return 2;
    }
    static ccd_counts counts[CCD_KINDS][CCD_CLASSES];
    static ccd_times times[CCD_KINDS][CCD_CLASSES];
    uint64_t stream = random_stream("ccd_study", count > 2 ? strtoull(words[2], NULL, 10) : 0);
    long each = (long)ceil(asked / (CCD_KINDS * CCD_CLASSES));
    for (long done = 0; done < each; done += BATCH)
        for (int k = 0; k < CCD_KINDS; k++)
            for (int class = 0; class < CCD_CLASSES; class ++)
                study(&stream, (rbt_touch_kind)k, (ccd_class) class, (int)(each - done < BATCH ? each - done : BATCH),
                      &counts[k][class], &times[k][class]);
    ccd_counts all = {0};
    printf("| pairs | asked | passed | stopped | refused | late | undecided | out of reach | needless | no impact |\n"
           "|---|---|---|---|---|---|---|---|---|---|\n");
    for (int class = 0; class < CCD_CLASSES; class ++) {
        ccd_counts c = {0};
        for (int k = 0; k < CCD_KINDS; k++) add(&counts[k][class], &c);
        show(CCD_CLASS_NAMES[class], &c);
        add(&c, &all);
    }
    show("all", &all);
    printf("\n| kind | stopped before an impact |");
    for (int b = 0; b < CCD_BINS; b++) printf(" to %.2f |", CCD_BIN[b]);
    printf("\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int k = 0; k < CCD_KINDS; k++) {
        ccd_counts c = {0};
        for (int class = 0; class < CCD_CLASSES; class ++)
            if (class != CCD_PLANE) add(&counts[k][class], &c);  // of motion within a plane the judge's time is any
        show_early(CCD_KIND_NAMES[k], &c);
    }
    printf("\n| kind | random, passed [ns] | random, stopped [ns] | all, passed [ns] | all, stopped [ns] "
           "|\n|---|---|---|---|---|\n");
    for (int k = 0; k < CCD_KINDS; k++) {
        ccd_times sum = {0};
        printf("| %s |", CCD_KIND_NAMES[k]);
        for (int class = 0; class < CCD_CLASSES; class ++)
            for (int s = 0; s < 2; s++) {
                sum.seconds[s] += times[k][class].seconds[s];
                sum.asked[s] += times[k][class].asked[s];
                if (class == CCD_RANDOM) printf(" %.0f |", 1e9 * sum.seconds[s] / (double)sum.asked[s]);
            }
        for (int s = 0; s < 2; s++) printf(" %.0f |", 1e9 * sum.seconds[s] / (double)sum.asked[s]);
        printf("\n");
    }
    return all.late || all.far || all.needless ? 1 : 0;
}
