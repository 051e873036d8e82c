// How much of a test runs where the sanitizers make everything take ten times as long: SAMPLED(whole, few) is `few`
// there. They look for wrong accesses, which show the first time; what repetitions measure is judged without them.
//
// LONG(whole, few) is `few` without them, too, unless RUBATO_TEST_WHOLE=1 asks for all, as `make soak` does.
#ifndef RBT_TEST_SAMPLED_H
#define RBT_TEST_SAMPLED_H

#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
#define SAMPLED(whole, few) (few)
#else
#define SAMPLED(whole, few) (whole)
#endif

#define LONG(whole, few) (getenv("RUBATO_TEST_WHOLE") && SAMPLED(1, 0) ? (whole) : (few))

#endif
