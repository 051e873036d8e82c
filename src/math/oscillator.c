// With h = 1 (a = h d / 2, z = h^2 lambda): S = e^-a sin(w) / w, w^2 = z - a^2. Three cases:
//   both small   the Taylor series of S, integrated term by term
//   two real roots r of r^2 + 2 a r + z, well apart   divided differences: S = exp[r, r'], I = phi_1[r, r'], J =
//                                                     phi_2[r, r']
//   otherwise z is not small: sine and cosine, and I = (1 - S' - 2 a S) / z, J = (1 - S - 2 a I) / z
#include "math/oscillator.h"

#include <math.h>

static rbt_response series(double a, double z) {
    rbt_response r = {0};
    // S = sum s_k / k!, s_0 = 0, s_1 = 1, s_{k+2} = -2 a s_{k+1} - z s_k; with a, z <= 1: |s_k| < 3^k
    double before = 0, now = 1, factorial = 1;
    for (int k = 1; k <= 40; k++) {
        factorial *= k;
        double term = now / factorial;
        r.impulse += term;
        r.step += term / (k + 1);
        r.ramp += term / ((k + 1.0) * (k + 2.0));
        double next = -2 * a * now - z * before;
        before = now;
        now = next;
    }
    return r;
}

static double phi1(double x) { return x == 0 ? 1 : expm1(x) / x; }

// (phi_1(x) - 1) / x
static double phi2(double x) {
    if (fabs(x) > 1) return (phi1(x) - 1) / x;
    double sum = 0, term = 0.5;
    for (int k = 1; k <= 18; k++) {
        sum += term;
        term *= x / (k + 2);
    }
    return sum;
}

// Roots -a + w and -a - w; the product of the two is z, which gives the one that would cancel.
static rbt_response two_roots(double a, double z, double w) {
    double high = a >= 0 ? -z / (a + w) : w - a, low = a >= 0 ? -a - w : z / (w - a);
    return (rbt_response){.impulse = exp(high) * -expm1(-2 * w) / (2 * w),
                          .step = (phi1(high) - phi1(low)) / (2 * w),
                          .ramp = (phi2(high) - phi2(low)) / (2 * w)};
}

static rbt_response oscillation(double a, double z) {
    double square = z - a * a, w = sqrt(fabs(square)), decay = exp(-a);
    double cosine = square >= 0 ? cos(w) : cosh(w), sine = w == 0 ? 1 : (square >= 0 ? sin(w) : sinh(w)) / w;
    rbt_response r = {.impulse = decay * sine};
    r.step = (1 - decay * (cosine + a * sine)) / z;
    r.ramp = (1 - r.impulse - 2 * a * r.step) / z;
    return r;
}

rbt_response rbt_oscillator_response(double h, double lambda, double d) {
    double a = 0.5 * h * d, z = h * h * lambda, square = a * a - z;
    rbt_response r = fmax(fabs(a), fabs(z)) <= 1 ? series(a, z)
                     : square >= 0.25            ? two_roots(a, z, sqrt(square))
                                                 : oscillation(a, z);
    r.slope = -2 * a * r.impulse - z * r.step;
    r.impulse *= h;
    r.step *= h * h;
    r.ramp *= h * h * h;
    return r;
}
