// rollouts SCENE [--steps N] [--repeats N] [--threads N]: what bench/python compares Python with. Steps of a simulation
// through the public library, and the same from one state in N threads at once, one simulation each, as JSON: medians
// over the repeats, in seconds of the clock and of the processor.
#include "tool.h"

#include "rubato/rubato.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct job {
    rbt_sim *sim;
    int steps;
} job;

static double clock_of(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

static void *run(void *context) {
    job *j = context;
    rbt_step_report report;
    for (int i = 0; i < j->steps; i++)
        if (!rbt_sim_step(j->sim, &report)) {
            fprintf(stderr, "rollouts: a step failed: %s\n", report.hint);
            exit(1);
        }
    return NULL;
}

int main(int count, char **words) {
    rbt_tool_words w =
        rbt_tool_read(count, words, "rollouts SCENE [--set PATH=VALUE] [--steps N] [--repeats N] [--threads N]");
    rbt_error error = {0};
    rbt_sim *sim = rbt_tool_sim(&w);
    if (!rbt_sim_set_threads(sim, 1, &error)) rbt_tool_fail(&error);
    rbt_state *start = rbt_sim_save(sim, &error);
    if (!start) rbt_tool_fail(&error);
    int repeats = w.repeats > 0 ? w.repeats : 1, threads = w.threads > 0 ? w.threads : 1;
    double *wall = calloc((size_t)repeats, sizeof *wall), *cpu = calloc((size_t)repeats, sizeof *cpu);
    double *together = calloc((size_t)repeats, sizeof *together);
    job *jobs = calloc((size_t)threads, sizeof *jobs);
    pthread_t *ids = calloc((size_t)threads, sizeof *ids);
    if (!wall || !cpu || !together || !jobs || !ids) return 1;
    for (int i = 0; i < threads; i++)
        if (!(jobs[i].sim = rbt_sim_clone(sim, &error))) rbt_tool_fail(&error);
    for (int r = 0; r < repeats; r++) {
        double begin = clock_of(CLOCK_MONOTONIC), used = clock_of(CLOCK_THREAD_CPUTIME_ID);
        run(&(job){sim, w.steps});
        wall[r] = (clock_of(CLOCK_MONOTONIC) - begin) / w.steps;
        cpu[r] = (clock_of(CLOCK_THREAD_CPUTIME_ID) - used) / w.steps;
        if (!rbt_sim_restore(sim, start, &error)) rbt_tool_fail(&error);
        begin = clock_of(CLOCK_MONOTONIC);
        for (int i = 0; i < threads; i++) {
            jobs[i].steps = w.steps;
            if (!rbt_sim_restore(jobs[i].sim, start, &error)) rbt_tool_fail(&error);
            if (pthread_create(&ids[i], NULL, run, &jobs[i]) != 0) return 1;
        }
        for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
        together[r] = clock_of(CLOCK_MONOTONIC) - begin;
    }
    printf("{\"wall\": %.9g, \"cpu\": %.9g, \"together\": %.9g}\n", median(wall, repeats), median(cpu, repeats),
           median(together, repeats));
    for (int i = 0; i < threads; i++) rbt_sim_free(jobs[i].sim);
    free(wall);
    free(cpu);
    free(together);
    free(jobs);
    free(ids);
    rbt_state_free(start);
    rbt_sim_free(sim);
    return 0;
}
