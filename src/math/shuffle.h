// Numbers of two vectors in another order: RBT_SHUFFLE(order, a, b, i, j, …) has number i of a and b one behind the
// other, then number j, and so on; `order` is the type below of as many whole numbers. RBT_TWICE(type, a) has the four
// numbers of a two times. Clang's name for it is GCC's from version 12 on.
#ifndef RBT_MATH_SHUFFLE_H
#define RBT_MATH_SHUFFLE_H

#include <stdint.h>

typedef int64_t rbt_order_4_doubles __attribute__((vector_size(32)));
typedef int32_t rbt_order_4_floats __attribute__((vector_size(16)));
typedef int32_t rbt_order_8_floats __attribute__((vector_size(32)));

#if defined(__clang__) || __GNUC__ >= 12
#define RBT_SHUFFLE(order, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define RBT_TWICE(type, a)            __builtin_shufflevector(a, a, 0, 1, 2, 3, 0, 1, 2, 3)
#else
#define RBT_SHUFFLE(order, a, b, ...) __builtin_shuffle(a, b, (order){__VA_ARGS__})
#define RBT_TWICE(type, a)            ((type){(a)[0], (a)[1], (a)[2], (a)[3], (a)[0], (a)[1], (a)[2], (a)[3]})
#endif

#endif
