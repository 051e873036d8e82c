// Random numbers for tests (splitmix64, Steele, Lea and Flood 2014). Every test of a program draws from a stream of
// its own that depends on its name alone: neither on the tests before it nor on how many instruction sets the machine
// has (a walk over those goes back to the same stream for each, random_again). RUBATO_TEST_SEED=N in the environment
// shifts all streams; a test holds for any N.
//
// Included after cmocka.h, it makes cmocka_unit_test start the test's stream; before, there are only streams that are
// named.
#ifndef TEST_SUPPORT_RANDOM_H
#define TEST_SUPPORT_RANDOM_H

#include <stdint.h>
#include <stdlib.h>

static inline uint64_t random_mix(uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline uint64_t random_shift(void) {
    const char *text = getenv("RUBATO_TEST_SEED");
    return text ? strtoull(text, NULL, 10) : 0;
}

// The start of stream `number` of those called `name`
static inline uint64_t random_stream(const char *name, uint64_t number) {
    uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return random_mix(hash + random_mix(number) + random_mix(~random_shift()));
}

static inline uint64_t random_bits(uint64_t *stream) { return random_mix(*stream += 0x9e3779b97f4a7c15u); }
static inline double random_unit(uint64_t *stream) {  // in [0, 1)
    return (double)(random_bits(stream) >> 11) * 0x1p-53;
}

// ---- The running test's own stream

static const char *random_test_name;
static uint64_t random_test_stream;

// Back to the beginning of stream `number` of this test
static inline void random_again(uint64_t number) { random_test_stream = random_stream(random_test_name, number); }

static inline int random_start(void **state) {
    random_test_name = *state;
    random_again(0);
    return 0;
}
#ifdef cmocka_unit_test
#undef cmocka_unit_test
#define cmocka_unit_test(f) cmocka_unit_test_prestate_setup_teardown(f, random_start, NULL, (void *)(uintptr_t) #f)
#endif

static inline uint64_t draw(void) {
    if (!random_test_name) abort();
    return random_bits(&random_test_stream);
}
static inline double unit(void) { return (double)(draw() >> 11) * 0x1p-53; }  // in [0, 1)
static inline double uniform(double low, double high) { return low + (high - low) * unit(); }
static inline size_t below(size_t n) { return (size_t)(draw() % n); }
static inline int small(int most) { return (int)(draw() % (uint64_t)(2 * most + 1)) - most; }  // from -most to most

#endif
