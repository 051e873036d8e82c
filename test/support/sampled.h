// How much of a test runs where the sanitizers make everything take ten times as long: SAMPLED(whole, few) is `few`
// there. They look for wrong accesses, which show the first time; what repetitions measure is judged without them.
#ifndef RBT_TEST_SAMPLED_H
#define RBT_TEST_SAMPLED_H

#ifdef __SANITIZE_ADDRESS__
#define SAMPLED(whole, few) (few)
#else
#define SAMPLED(whole, few) (whole)
#endif

#endif
