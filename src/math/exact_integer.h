// Integers of any size and polynomials of them, with which math/exact.h decides what floating point leaves open. For
// files of this room only. They never lack memory: there is a reserve for them.
#ifndef RBT_MATH_EXACT_INTEGER_H
#define RBT_MATH_EXACT_INTEGER_H

#include <gmp.h>
#include <stdbool.h>

// The doubles times one power of two that makes all of them whole. `integers` are initialised ones.
void rbt_doubles_to_integers(const double *doubles, int count, mpz_t *integers);

enum { RBT_POLYNOMIAL_DEGREE = 4 };

// c[0] + c[1] t + ...; degree -1: zero. c[degree] is never 0.
typedef struct rbt_polynomial {
    int degree;
    mpz_t c[RBT_POLYNOMIAL_DEGREE + 1];
} rbt_polynomial;

void rbt_polynomial_init(rbt_polynomial *p);
void rbt_polynomial_clear(rbt_polynomial *p);
void rbt_polynomial_line(rbt_polynomial *p, const mpz_t at_0, const mpz_t at_1);  // the linear one with these values
void rbt_polynomial_subtract(const rbt_polynomial *a, const rbt_polynomial *b, rbt_polynomial *difference);
// sum += sign a b, sign 1 or -1
void rbt_polynomial_add_product(const rbt_polynomial *a, const rbt_polynomial *b, int sign, rbt_polynomial *sum);

// A number in [0, 1]: 0 or 1 themselves, or the only root of `of` between low / 2^bits and high / 2^bits, neither of
// which is a root.
typedef struct rbt_root {
    const rbt_polynomial *of;  // NULL: the number is `low`
    mpz_t low, high;
    unsigned long bits;
} rbt_root;

// Calls `accept` with the roots of p in [0, 1], ascending, until it says true; whether it did. *when: about where. Of
// the zero polynomial's roots only 0 and 1 are offered.
typedef bool (*rbt_root_test)(rbt_root *root, void *context);
bool rbt_polynomial_find_root(const rbt_polynomial *p, rbt_root_test accept, void *context, double *when);

// Sign of q at the root; may narrow the root down.
int rbt_polynomial_sign(const rbt_polynomial *q, rbt_root *root);

#endif
