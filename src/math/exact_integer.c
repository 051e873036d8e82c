// Roots are told apart and narrowed down by counting: a Sturm chain p, p', -rem(p, p'), ... has V(low) - V(high)
// different roots of p between, V being the changes of sign in it, if neither end is a root; p may have multiple roots.
#include "math/exact_integer.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// ---- Memory

// GMP ends the program when there is no memory, and what it decides here has no way to say "I do not know". So it
// falls back to a reserve, which is far more than the integers of any decision take (some kilobytes, for a moment):
// lack of memory shows elsewhere.
enum { RESERVE_BYTES = 1 << 22, GRAIN = 16 };
static struct {
    pthread_mutex_t lock;
    size_t used, pieces;  // it is free again once no piece is in use
    _Alignas(GRAIN) char bytes[RESERVE_BYTES];
} reserve = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_reserved(const void *memory) {
    uintptr_t at = (uintptr_t)memory, first = (uintptr_t)reserve.bytes;
    return at >= first && at < first + RESERVE_BYTES;
}

static void *take_reserved(size_t bytes) {
    bytes = (bytes + GRAIN - 1) / GRAIN * GRAIN;
    pthread_mutex_lock(&reserve.lock);
    void *memory = bytes <= RESERVE_BYTES - reserve.used ? reserve.bytes + reserve.used : NULL;
    reserve.used += memory ? bytes : 0;
    reserve.pieces += memory != NULL;
    pthread_mutex_unlock(&reserve.lock);
    if (!memory) abort();
    return memory;
}

static void give_back(void *memory, size_t bytes) {
    (void)bytes;
    if (!is_reserved(memory)) {
        free(memory);
        return;
    }
    pthread_mutex_lock(&reserve.lock);
    if (--reserve.pieces == 0) reserve.used = 0;
    pthread_mutex_unlock(&reserve.lock);
}

static void *take(size_t bytes) {
    void *memory = malloc(bytes);
    return memory ? memory : take_reserved(bytes);
}

static void *resize(void *memory, size_t before, size_t bytes) {
    void *grown = is_reserved(memory) ? NULL : realloc(memory, bytes);
    if (grown) return grown;
    grown = take(bytes);
    memcpy(grown, memory, before < bytes ? before : bytes);
    give_back(memory, before);
    return grown;
}

// What GMP takes unless told otherwise. A program that told it otherwise has its reasons.
extern void *__gmp_default_allocate(size_t bytes) __attribute__((weak));

__attribute__((constructor)) static void use_reserve(void) {
    void *(*current)(size_t);
    mp_get_memory_functions(&current, NULL, NULL);
    if (current == __gmp_default_allocate) mp_set_memory_functions(take, resize, give_back);
}

// ---- Whole numbers

void rbt_doubles_to_integers(const double *doubles, int count, mpz_t *integers) {
    int exponent[32], lowest = INT_MAX;
    for (int i = 0; i < count; i++) {
        mpz_set_d(integers[i], ldexp(frexp(doubles[i], &exponent[i]), 53));
        if (doubles[i] != 0 && exponent[i] < lowest) lowest = exponent[i];
    }
    for (int i = 0; i < count; i++)
        if (doubles[i] != 0) mpz_mul_2exp(integers[i], integers[i], (mp_bitcnt_t)(exponent[i] - lowest));
}

// ---- Polynomials

void rbt_polynomial_init(rbt_polynomial *p) {
    p->degree = -1;
    for (int i = 0; i <= RBT_POLYNOMIAL_DEGREE; i++) mpz_init(p->c[i]);
}

void rbt_polynomial_clear(rbt_polynomial *p) {
    for (int i = 0; i <= RBT_POLYNOMIAL_DEGREE; i++) mpz_clear(p->c[i]);
}

static void trim(rbt_polynomial *p) {
    p->degree = RBT_POLYNOMIAL_DEGREE;
    while (p->degree >= 0 && mpz_sgn(p->c[p->degree]) == 0) p->degree--;
}

static void copy(const rbt_polynomial *p, rbt_polynomial *to) {
    for (int i = 0; i <= RBT_POLYNOMIAL_DEGREE; i++) mpz_set(to->c[i], p->c[i]);
    to->degree = p->degree;
}

void rbt_polynomial_line(rbt_polynomial *p, const mpz_t at_0, const mpz_t at_1) {
    mpz_set(p->c[0], at_0);
    mpz_sub(p->c[1], at_1, at_0);
    for (int i = 2; i <= RBT_POLYNOMIAL_DEGREE; i++) mpz_set_ui(p->c[i], 0);
    trim(p);
}

void rbt_polynomial_subtract(const rbt_polynomial *a, const rbt_polynomial *b, rbt_polynomial *difference) {
    for (int i = 0; i <= RBT_POLYNOMIAL_DEGREE; i++) mpz_sub(difference->c[i], a->c[i], b->c[i]);
    trim(difference);
}

void rbt_polynomial_add_product(const rbt_polynomial *a, const rbt_polynomial *b, int sign, rbt_polynomial *sum) {
    for (int i = 0; i <= a->degree; i++)
        for (int j = 0; j <= b->degree; j++) {
            if (sign > 0) mpz_addmul(sum->c[i + j], a->c[i], b->c[j]);
            else mpz_submul(sum->c[i + j], a->c[i], b->c[j]);
        }
    trim(sum);
}

// Divides by the greatest common divisor of the coefficients, so that they stay small.
static void make_primitive(rbt_polynomial *p) {
    mpz_t common;
    mpz_init(common);
    for (int i = 0; i <= p->degree; i++) mpz_gcd(common, common, p->c[i]);
    if (mpz_cmp_ui(common, 1) > 0)
        for (int i = 0; i <= p->degree; i++) mpz_divexact(p->c[i], p->c[i], common);
    mpz_clear(common);
}

// p becomes a positive multiple of its remainder by q.
static void reduce(rbt_polynomial *p, const rbt_polynomial *q) {
    mpz_t lead, factor;
    mpz_init(lead);
    mpz_init(factor);
    mpz_abs(factor, q->c[q->degree]);
    while (p->degree >= q->degree) {
        int shift = p->degree - q->degree;
        mpz_set(lead, p->c[p->degree]);
        if (mpz_sgn(q->c[q->degree]) < 0) mpz_neg(lead, lead);
        for (int i = 0; i <= p->degree; i++) mpz_mul(p->c[i], p->c[i], factor);
        for (int i = 0; i <= q->degree; i++) mpz_submul(p->c[i + shift], lead, q->c[i]);
        trim(p);
    }
    make_primitive(p);
    mpz_clear(lead);
    mpz_clear(factor);
}

// Sign of p(number / 2^bits), by Horner's rule on the multiple that is whole.
static int sign_at(const rbt_polynomial *p, const mpz_t number, unsigned long bits) {
    if (p->degree < 0) return 0;
    mpz_t value, term;
    mpz_init_set(value, p->c[p->degree]);
    mpz_init(term);
    for (int i = p->degree - 1; i >= 0; i--) {
        mpz_mul(value, value, number);
        mpz_mul_2exp(term, p->c[i], bits * (unsigned long)(p->degree - i));
        mpz_add(value, value, term);
    }
    int sign = mpz_sgn(value);
    mpz_clear(value);
    mpz_clear(term);
    return sign;
}

// ---- Sturm chains

typedef struct chain {
    int count;
    rbt_polynomial p[RBT_POLYNOMIAL_DEGREE + 2];
} chain;

static void chain_init(chain *s, const rbt_polynomial *p) {
    for (int i = 0; i < RBT_POLYNOMIAL_DEGREE + 2; i++) rbt_polynomial_init(&s->p[i]);
    copy(p, &s->p[0]);
    make_primitive(&s->p[0]);
    for (int i = 1; i <= p->degree; i++) mpz_mul_si(s->p[1].c[i - 1], s->p[0].c[i], i);
    trim(&s->p[1]);
    s->count = s->p[1].degree < 0 ? 1 : 2;
    while (s->p[s->count - 1].degree > 0) {
        rbt_polynomial *next = &s->p[s->count];
        copy(&s->p[s->count - 2], next);
        reduce(next, &s->p[s->count - 1]);
        if (next->degree < 0) break;
        for (int i = 0; i <= next->degree; i++) mpz_neg(next->c[i], next->c[i]);
        s->count++;
    }
}

static void chain_clear(chain *s) {
    for (int i = 0; i < RBT_POLYNOMIAL_DEGREE + 2; i++) rbt_polynomial_clear(&s->p[i]);
}

static int changes(const chain *s, const mpz_t number, unsigned long bits) {
    int count = 0, last = 0;
    for (int i = 0; i < s->count; i++) {
        int sign = sign_at(&s->p[i], number, bits);
        if (sign && last && sign != last) count++;
        if (sign) last = sign;
    }
    return count;
}

static int count_roots(const chain *s, const mpz_t low, const mpz_t high, unsigned long bits) {
    return changes(s, low, bits) - changes(s, high, bits);
}

// A number between low and high that is no root, in (low, high, bits) made finer: of five places one must do.
static void split(const rbt_polynomial *p, mpz_t low, mpz_t high, unsigned long *bits, mpz_t middle) {
    static const unsigned long places[5][2] = {{1, 1}, {1, 2}, {3, 2}, {3, 3}, {5, 3}};  // part, of 2^this
    for (int i = 0; i < 5; i++) {
        unsigned long part = places[i][0], finer = places[i][1];
        mpz_mul_ui(middle, high, part);
        mpz_addmul_ui(middle, low, (1ul << finer) - part);
        if (i < 4 && sign_at(p, middle, *bits + finer) == 0) continue;
        mpz_mul_2exp(low, low, finer);
        mpz_mul_2exp(high, high, finer);
        *bits += finer;
        return;
    }
}

// ---- Roots

static void narrow(const chain *s, rbt_root *root) {
    mpz_t middle;
    mpz_init(middle);
    split(root->of, root->low, root->high, &root->bits, middle);
    if (count_roots(s, root->low, middle, root->bits) == 1) mpz_set(root->high, middle);
    else mpz_set(root->low, middle);
    mpz_clear(middle);
}

static double root_value(const rbt_root *root) {
    long exponent;
    double value = mpz_get_d_2exp(&exponent, root->low);
    return ldexp(value, (int)(exponent - (long)root->bits));
}

static bool try_point(unsigned long point, rbt_root_test accept, void *context, double *when) {
    rbt_root root = {.of = NULL};
    mpz_init_set_ui(root.low, point);
    mpz_init(root.high);
    bool found = accept(&root, context);
    if (found) *when = (double)point;
    mpz_clear(root.low);
    mpz_clear(root.high);
    return found;
}

// The roots between low and high, neither of which is one, from left to right.
static bool search(const chain *s, const rbt_root *range, rbt_root_test accept, void *context, double *when) {
    int count = count_roots(s, range->low, range->high, range->bits);
    if (count == 0) return false;
    rbt_root left = {.of = range->of, .bits = range->bits}, right = left;
    mpz_t middle;
    mpz_init_set(left.low, range->low);
    mpz_init_set(left.high, range->high);
    mpz_init(right.low);
    mpz_init(right.high);
    mpz_init(middle);
    bool found;
    if (count == 1) {
        found = accept(&left, context);
        while (found && left.bits < 30) narrow(s, &left);
        if (found) *when = root_value(&left);
    } else {
        split(range->of, left.low, left.high, &left.bits, middle);
        right.bits = left.bits;
        mpz_set(right.low, middle);
        mpz_set(right.high, left.high);
        mpz_set(left.high, middle);
        found = search(s, &left, accept, context, when) || search(s, &right, accept, context, when);
    }
    mpz_clear(left.low);
    mpz_clear(left.high);
    mpz_clear(right.low);
    mpz_clear(right.high);
    mpz_clear(middle);
    return found;
}

// Takes the factors t and t - 1 out, so that 0 and 1 are no roots; what is left has the roots between.
static void take_ends_out(rbt_polynomial *p) {
    while (p->degree > 0 && mpz_sgn(p->c[0]) == 0) {
        for (int i = 0; i < p->degree; i++) mpz_swap(p->c[i], p->c[i + 1]);
        p->degree--;
    }
    mpz_t one;
    mpz_init_set_ui(one, 1);
    while (p->degree > 0 && sign_at(p, one, 0) == 0) {  // synthetic division by t - 1
        for (int i = p->degree - 1; i >= 0; i--) mpz_add(p->c[i], p->c[i], p->c[i + 1]);
        for (int i = 0; i < p->degree; i++) mpz_swap(p->c[i], p->c[i + 1]);
        p->degree--;
    }
    mpz_clear(one);
    for (int i = p->degree + 1; i <= RBT_POLYNOMIAL_DEGREE; i++) mpz_set_ui(p->c[i], 0);
}

bool rbt_polynomial_find_root(const rbt_polynomial *p, rbt_root_test accept, void *context, double *when) {
    mpz_t one;
    mpz_init_set_ui(one, 1);
    bool at_0 = p->degree < 0 || mpz_sgn(p->c[0]) == 0, at_1 = sign_at(p, one, 0) == 0, found = false;
    mpz_clear(one);
    if (at_0 && try_point(0, accept, context, when)) return true;
    if (p->degree > 0) {
        rbt_polynomial inner;
        chain s;
        rbt_polynomial_init(&inner);
        copy(p, &inner);
        take_ends_out(&inner);
        chain_init(&s, &inner);
        rbt_root all = {.of = &inner};
        mpz_init_set_ui(all.low, 0);
        mpz_init_set_ui(all.high, 1);
        found = search(&s, &all, accept, context, when);
        mpz_clear(all.low);
        mpz_clear(all.high);
        chain_clear(&s);
        rbt_polynomial_clear(&inner);
    }
    return found || (at_1 && try_point(1, accept, context, when));
}

// Whether p and q share the root: then their greatest common divisor has it.
static bool share_root(const rbt_polynomial *q, const rbt_root *root) {
    rbt_polynomial a, b, *divisor = &a, *rest = &b;
    rbt_polynomial_init(&a);
    rbt_polynomial_init(&b);
    copy(root->of, divisor);
    copy(q, rest);
    while (rest->degree >= 0) {
        reduce(divisor, rest);
        rbt_polynomial *next = divisor;
        divisor = rest;
        rest = next;
    }
    bool shared = false;
    if (divisor->degree > 0) {
        chain s;
        chain_init(&s, divisor);
        shared = count_roots(&s, root->low, root->high, root->bits) > 0;
        chain_clear(&s);
    }
    rbt_polynomial_clear(&a);
    rbt_polynomial_clear(&b);
    return shared;
}

int rbt_polynomial_sign(const rbt_polynomial *q, rbt_root *root) {
    if (q->degree <= 0) return q->degree < 0 ? 0 : mpz_sgn(q->c[0]);
    if (!root->of) return sign_at(q, root->low, 0);
    if (share_root(q, root)) return 0;
    chain of_root, of_q;
    chain_init(&of_root, root->of);
    chain_init(&of_q, q);
    // Not 0 there, so some range around the root has no root of q.
    while (sign_at(q, root->low, root->bits) == 0 || sign_at(q, root->high, root->bits) == 0 ||
           count_roots(&of_q, root->low, root->high, root->bits) > 0)
        narrow(&of_root, root);
    chain_clear(&of_root);
    chain_clear(&of_q);
    return sign_at(q, root->low, root->bits);
}
