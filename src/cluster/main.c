// rubato-mpi: a scene on many machines.
#include "base/processor.h"
#include "base/text.h"
#include "base/threads.h"
#include "cli/command.h"
#include "cluster/run.h"

#include <malloc.h>
#include <petscsys.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static volatile int stop_requested;

static void on_signal(int number) {
    (void)number;
    stop_requested = 1;
}

static int run(int count, char **words) {
    (void)count;
    (void)words;
    return 0;
}

const rbt_command RBT_COMMANDS[] = {
    {"run", "SCENE [-o DIR] [options]", "Simulate a scene on many ranks: mpirun -n 4 rubato-mpi run SCENE", run}};
const int RBT_COMMAND_COUNT = 1;

typedef struct words {
    rbt_scene_file *file;
    char *folder;
    rbt_cluster_order order;
} words_read;

// -1: the order is filled in; else the exit code
static int read_words(int count, char **words, words_read *r) {
    const char *folder = NULL, *method = NULL, *solver = NULL, *log = NULL, *scene_path;
    long frames = -1, threads = 0, from_frame = -1;
    bool resume = false, quiet = false;
    rbt_word_list settings = {0};
    const rbt_option options[] = {
        {"--output", "-o", "DIR", "where the results go (out/NAME of the scene, unless it says otherwise)",
         .text = &folder},
        {"--method", "-m", "M", "time-stepping method, instead of the scene's", .text = &method},
        {"--solver", NULL, "S", "solver, instead of the scene's", .text = &solver},
        {"--frames", "-n", "N", "stop after frame N; 0: write the start only", .integer = &frames},
        {"--threads", "-t", "N",
         "threads of each rank (OMP_NUM_THREADS, or the processors of a machine, shared by its ranks)",
         .integer = &threads, .min = 1, .max = RBT_MAX_THREADS},
        {"--set", NULL, "PATH=VALUE", "change a value of the scene, as time.step=0.001; may be repeated",
         .list = &settings},
        {"--resume", NULL, NULL, "continue from the newest checkpoint in DIR, of any number of ranks",
         .flag = &resume},
        {"--from-frame", NULL, "N", "continue from frame N, also with a changed scene", .integer = &from_frame},
        {"--quiet", "-q", NULL, "say nothing but errors", .flag = &quiet},
        {"--log", NULL, "json", "one JSON object per line instead of text", .text = &log},
    };
    int positionals, code = rbt_options_read("run", options, sizeof options / sizeof *options, count, words,
                                             &scene_path, &positionals, 1, 1);
    if (code >= 0) return code;
    if ((log && strcmp(log, "json") != 0) || (resume && from_frame >= 0)) {
        fprintf(stderr, resume && from_frame >= 0 ? "rubato-mpi run: --resume and --from-frame exclude each other\n"
                                                  : "rubato-mpi run: --log: only json is known\n");
        return 2;
    }
    const char *all[2 + RBT_MAX_WORDS];
    size_t used = 0;
    rbt_text first = {0}, second = {0};
    rbt_error error = {0};
    if (method) rbt_text_add(&first, "integrator.method=\"%s\"", method);
    if (solver) rbt_text_add(&second, "integrator.solver=\"%s\"", solver);
    if (first.text) all[used++] = first.text;
    if (second.text) all[used++] = second.text;
    for (int i = 0; i < settings.count; i++) all[used++] = settings.words[i];
    r->file = rbt_scene_read(scene_path, all, used, &error);
    rbt_text_free(&first);
    rbt_text_free(&second);
    const rbt_scene *scene = r->file ? rbt_scene_of(r->file) : NULL;
    if (!scene) return rbt_complain(&error);
    r->folder = folder                 ? strdup(folder)
                : scene->output.folder ? strdup(scene->output.folder)
                                       : rbt_default_folder("out/", scene_path);
    if (!r->folder) return fprintf(stderr, "rubato-mpi: not enough memory\n"), 1;
    r->order = (rbt_cluster_order){.scene = scene,
                                   .scene_text = rbt_scene_json(r->file),
                                   .folder = r->folder,
                                   .frames = frames,
                                   .from_frame = from_frame,
                                   .resume = resume,
                                   .quiet = quiet,
                                   .json = log != NULL,
                                   .threads = (int)threads};
    return -1;
}

// The words of the command, at the first rank
static int begin(int count, char **words, words_read *r) {
    if (count < 2 || strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0) {
        printf("rubato-mpi %s: a scene on many machines\n\nusage: mpirun -n N rubato-mpi run SCENE [-o DIR] "
               "[options]\n\n"
               "rubato-mpi run --help lists the options. It contains PETSc as Debian builds it, with CHOLMOD and "
               "UMFPACK:\n"
               "this program as a whole is under the GPL, version 2 or later; rubato itself is not.\n",
               RBT_VERSION);
        return count < 2 ? 2 : 0;
    }
    if (strcmp(words[1], "--version") == 0) return printf("rubato-mpi %s\n", RBT_VERSION), 0;
    if (strcmp(words[1], "run") != 0)
        return fprintf(stderr, "rubato-mpi: no command \"%s\"; there is run, and the others are those of rubato\n",
                       words[1]),
               2;
    rbt_error error = {0};
    if (!rbt_processor_check(&error)) return rbt_complain(&error), 2;
    return read_words(count - 2, words + 2, r);
}

// What is freed goes back to the system, so that a rank's peak is what it holds at once: the whole model is freed
// before parts build their matrices, and multigrid frees much of what it is set up with. SuperLU_DIST, which PETSc
// loads, has told the C library by then to keep all of it.
static void return_freed_memory(void) {
    enum { MANY = 1 << 16, LARGE = 1 << 18 };  // blocks; bytes
    mallopt(M_MMAP_MAX, MANY);
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, LARGE);
}

int main(int count, char **words) {
    words_read r = {0};
    int provided, rank, code = -1;
    MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PetscOptionsSetValue(NULL, "-no_signal_handler", "true");
    PetscInitializeNoArguments();
    return_freed_memory();
    PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    rbt_error error = {0};
    bool room = rbt_threads_make_room(&error);
    if (!room && rank == 0) code = rbt_complain(&error);
    if (rank == 0 && room) code = begin(count, words, &r);
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (code < 0) {
        r.order.stop = &stop_requested;
        code = rbt_cluster_run(MPI_COMM_WORLD, &r.order);
    }
    rbt_scene_free(r.file);
    free(r.folder);
    fflush(stdout);
    PetscFinalize();
    MPI_Finalize();
    return code;
}
