// Ctrl-C while a step is under way. Python's handler only notes the signal, and the interpreter looks at the note when
// it runs again, which it does not while it waits for a step. So the first thread puts a handler in front of Python's
// for as long as it waits: it does what Python's does and tells the library to give the step up.
#include "rubato_python.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sigaction before;
static volatile int *volatile target;

static void on_interrupt(int number, siginfo_t *info, void *context) {
    if (target) *target = 1;
    if (before.sa_flags & SA_SIGINFO) before.sa_sigaction(number, info, context);
    else before.sa_handler(number);
}

// Python runs handlers in the first thread only.
static bool is_first_thread(void) {
#ifdef SYS_gettid
    return syscall(SYS_gettid) == getpid();
#else
    static unsigned long first;  // the module is imported there
    if (!first) first = PyThread_get_thread_ident();
    return PyThread_get_thread_ident() == first;
#endif
}

bool rbp_interrupt_begin(volatile int *stop) {
    if (target || !is_first_thread() || sigaction(SIGINT, NULL, &before) != 0) return false;
    bool handled = (before.sa_flags & SA_SIGINFO) || (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN);
    if (!handled) return false;
    struct sigaction ours = {.sa_sigaction = on_interrupt, .sa_mask = before.sa_mask};
    ours.sa_flags = before.sa_flags | SA_SIGINFO;
    target = stop;
    if (sigaction(SIGINT, &ours, NULL) == 0) return true;
    target = NULL;
    return false;
}

void rbp_interrupt_end(void) {
    sigaction(SIGINT, &before, NULL);
    target = NULL;
}
