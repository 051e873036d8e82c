#include "step/implicit/stop.h"

#include <math.h>

static const double EPSILON[] = {
    [RBT_STOP_FORCE] = 2e-3, [RBT_STOP_CHARACTERISTIC] = 1e-5, [RBT_STOP_STALL] = 1e-3, [RBT_STOP_STEP] = 1e-2};
static const double TYPICAL = 0.5, WORST = 8;
// Iterations without progress after which a residual has stalled: at the level of rounding, near it, and anywhere
enum { SHORT_IDLE = 2, IDLE = 5, LONG_IDLE = 30 };

const char *rbt_stop_name(int i) {
    static const char *const NAMES[] = {"force", "characteristic", "stall", "step"};
    return i >= 0 && i < 4 ? NAMES[i] : NULL;
}

rbt_stop rbt_stop_begin(const rbt_objective *objective, int test, double epsilon, double share) {
    double own = EPSILON[test] * (test == RBT_STOP_FORCE ? share : 1);
    return (rbt_stop){.objective = objective,
                      .test = (rbt_stop_test)test,
                      .epsilon = isnan(epsilon) ? own : epsilon,
                      .share = share,
                      .least = INFINITY};
}

static double acting_force(const rbt_acting *a) {
    return a->inertia + a->internal + a->external + a->damping + a->obstacle;
}

static double over(double residual, double allowed) {
    return residual > 0 ? residual / allowed : isnan(residual) ? NAN : 0;
}

// The largest of all pieces; NaN if one of them is.
static double larger(double a, double b) { return b > a || isnan(b) ? b : a; }

// Of the force test with `epsilon`, and a residual of `rounding` times the rounding level allowed everywhere
static double force_residual(const rbt_stop *s, double epsilon, double rounding) {
    double worst = 0;
    for (size_t p = 0; p < s->objective->pieces.count; p++) {
        const rbt_acting *a = &s->objective->acting[p];
        worst = larger(worst, over(a->residual, fmax(epsilon * acting_force(a), rounding * s->share * a->rounding)));
    }
    return worst;
}

// |r| of all pieces together [N]
static double whole_residual(const rbt_objective *o) {
    double square = 0;
    for (size_t p = 0; p < o->pieces.count; p++) square += o->acting[p].residual * o->acting[p].residual;
    return sqrt(square);
}

static void follow(rbt_stop *s, double residual) {
    s->idle++;
    if (!(residual < 0.9 * s->least)) return;
    s->least = residual;
    s->idle = 0;
}

bool rbt_stop_judge(rbt_stop *s, int iteration) {
    const rbt_objective *o = s->objective;
    double residual = whole_residual(o);
    follow(s, residual);
    switch (s->test) {
    case RBT_STOP_CHARACTERISTIC:
        s->residual = over(o->tau * o->tau * residual, rbt_objective_tolerance(o, s->epsilon));
        return s->residual <= 1;
    case RBT_STOP_STALL:
        s->residual = force_residual(s, s->epsilon, 0);
        return residual == 0 || s->idle >= (s->residual <= 1 ? IDLE : LONG_IDLE);
    case RBT_STOP_STEP:
        s->residual = iteration && isfinite(residual) ? over(o->move, s->epsilon * o->diagonal * o->tau)
                                                      : force_residual(s, EPSILON[RBT_STOP_FORCE], 0);
        return iteration ? s->residual <= 1 : residual == 0;
    case RBT_STOP_FORCE: break;
    }
    s->residual = force_residual(s, s->epsilon, 0);
    if (iteration == 0) return residual == 0;
    if (s->residual <= 1) return true;
    return (s->idle >= SHORT_IDLE && force_residual(s, s->epsilon, TYPICAL) <= 1) ||
           (s->idle >= IDLE && rbt_stop_at_rounding(s));
}

bool rbt_stop_at_rounding(const rbt_stop *s) {
    if (s->test == RBT_STOP_STALL) return true;
    if (s->test == RBT_STOP_STEP) return force_residual(s, EPSILON[RBT_STOP_FORCE], WORST) <= 1;
    return s->test == RBT_STOP_FORCE && force_residual(s, s->epsilon, WORST) <= 1;
}
