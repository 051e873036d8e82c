#include "math/sum.h"

#include <math.h>
#include <string.h>

enum { BASE = 30, LANES = 8, BLOCK = 512, LOWEST = -32 };
enum { PARALLEL_FROM = 1 << 17, MAX_PIECES = 64 };

// The least place whose digits hold numbers up to `size`: size < 2^(30 place + 29)
static int place_of(double size) {
    int exponent;
    frexp(size, &exponent);  // size < 2^exponent
    int place = (int)floor(exponent / (double)BASE);
    return place < LOWEST ? LOWEST : place;
}

static double unit_of(int place) { return ldexp(1, BASE * place); }

// Four numbers at once: the compiler has a place for them in every instruction set.
typedef double four __attribute__((vector_size(32)));

#define ALWAYS_INLINE static inline __attribute__((always_inline))

// Numbers that are none are passed over.
ALWAYS_INLINE double largest(const double *values, size_t count) {
    double most[LANES] = {0}, all = 0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t l = 0; l < LANES; l++) most[l] = fabs(values[i + l]) > most[l] ? fabs(values[i + l]) : most[l];
    for (; i < count; i++) most[0] = fabs(values[i]) > most[0] ? fabs(values[i]) : most[0];
    for (size_t l = 0; l < LANES; l++) all = most[l] > all ? most[l] : all;
    return all;
}

// Digits of a block by the oldest trick: beside 1.5 2^52 units a number has no room for less than a unit, and is
// rounded to the nearest. All of it is exact but that.
ALWAYS_INLINE rbt_sum digits_of(const double *values, size_t count) {
    double size = largest(values, count);
    if (!(size <= 1e290)) return (rbt_sum){.used = 2};
    rbt_sum own = {.top = place_of(size), .used = 1};
    double unit[RBT_SUM_PLACES], big[RBT_SUM_PLACES];
    four part[RBT_SUM_PLACES] = {{0}};
    for (int k = 0; k < RBT_SUM_PLACES; k++) {
        unit[k] = unit_of(own.top - k);
        big[k] = 0x1.8p52 * unit[k];
    }
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        four rest, first;
        memcpy(&rest, values + i, sizeof rest);
        first = (rest + big[0]) - big[0];
        rest -= first;
        four second = (rest + big[1]) - big[1];
        rest -= second;
        part[0] += first;
        part[1] += second;
        part[2] += (rest + big[2]) - big[2];
    }
    for (; i < count; i++) {
        double rest = values[i];
        for (int k = 0; k < RBT_SUM_PLACES; k++) {
            double digit = (rest + big[k]) - big[k];
            rest -= digit;
            part[k][0] += digit;
        }
    }
    for (int k = 0; k < RBT_SUM_PLACES; k++) {
        double whole = (part[k][0] + part[k][1] + part[k][2] + part[k][3]) / unit[k];
        if (isnan(whole)) own.used = 2;
        else own.digit[k] = (int64_t)whole;
    }
    if (size == 0 && own.used == 1) own.used = 0;
    return own;
}

// The sums are exact, so wider instructions change their time and no bit. As long as the upper halves of registers are
// in use, processors take several times as long for all that is not wide: compilers clear them where wide functions
// end, but GCC 12 forgets some of the ways out of this one.
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static void digits_avx2(rbt_sum *own, const double *values, size_t count) {
    *own = digits_of(values, count);
    __builtin_ia32_vzeroupper();
}
static bool has_avx2(void) { return __builtin_cpu_supports("avx2"); }
#else
static void digits_avx2(rbt_sum *own, const double *values, size_t count) { *own = digits_of(values, count); }
static bool has_avx2(void) { return false; }
#endif

static void add_block(rbt_sum *sum, const double *values, size_t count) {
    rbt_sum own;
    if (has_avx2()) digits_avx2(&own, values, count);
    else own = digits_of(values, count);
    rbt_sum_join(sum, &own);
}

void rbt_sum_add(rbt_sum *sum, const double *values, size_t count) {
    for (size_t first = 0; first < count; first += BLOCK)
        add_block(sum, values + first, count - first < BLOCK ? count - first : BLOCK);
}

void rbt_sum_add_products(rbt_sum *sum, const double *a, const double *b, size_t count) {
    double product[BLOCK];
    for (size_t first = 0; first < count; first += BLOCK) {
        size_t size = count - first < BLOCK ? count - first : BLOCK;
        for (size_t i = 0; i < size; i++) product[i] = a[first + i] * b[first + i];
        add_block(sum, product, size);
    }
}

void rbt_sum_join(rbt_sum *sum, const rbt_sum *other) {
    if (!other->used || sum->used == 2) return;
    if (!sum->used || other->used == 2) {
        *sum = *other;
        return;
    }
    rbt_sum high = sum->top >= other->top ? *sum : *other;
    const rbt_sum *low = sum->top >= other->top ? other : sum;
    for (int k = high.top - low->top; k < RBT_SUM_PLACES; k++) high.digit[k] += low->digit[k - (high.top - low->top)];
    *sum = high;
}

double rbt_sum_value(const rbt_sum *sum) {
    if (sum->used == 2) return NAN;
    double value = 0;
    for (int k = RBT_SUM_PLACES - 1; sum->used && k >= 0; k--) value += (double)sum->digit[k] * unit_of(sum->top - k);
    return value;
}

// ---- Whole arrays

static double in_pieces(const double *a, const double *b, size_t count) {
    rbt_sum part[MAX_PIECES] = {0}, sum = {0};
    size_t pieces = count >= PARALLEL_FROM ? MAX_PIECES : 1, length = (count + pieces - 1) / pieces;
    length = (length + BLOCK - 1) / BLOCK * BLOCK;
#pragma omp parallel for schedule(static) if (pieces > 1)
    for (size_t p = 0; p < pieces; p++) {
        size_t first = p * length, size = first >= count ? 0 : count - first < length ? count - first : length;
        if (b) rbt_sum_add_products(&part[p], a + first, b + first, size);
        else rbt_sum_add(&part[p], a + first, size);
    }
    for (size_t p = 0; p < pieces; p++) rbt_sum_join(&sum, &part[p]);
    return rbt_sum_value(&sum);
}

double rbt_sum_of(const double *values, size_t count) { return in_pieces(values, NULL, count); }
double rbt_sum_dot(const double *a, const double *b, size_t count) { return in_pieces(a, b, count); }
