// Activations of real values, see ops/elements/unary.clh:
//   RELU        max(0, x)
//   RELU1       min(max(x, -1), 1)
//   RELU6       min(max(x, 0), 6)
//   TANH        tanh(x)
//   SIGMOID     1 / (1 + e^-x)
//   HARD_SWISH  x * min(max(x + 3, 0), 6) / 6
// -DFUNCTION=RELU  which one

#define RELU(T, x, a, b) TIM_RELU(T, x)
#define RELU1(T, x, a, b) TIM_RELU1(T, x)
#define RELU6(T, x, a, b) TIM_RELU6(T, x)
#define TANH(T, x, a, b) TIM_PASTE(tim_tanh_, T)(x)
#define SIGMOID(T, x, a, b) TIM_PASTE(tim_sigmoid_, T)(x)
#ifdef PLAIN
// What the results of integers round to.
#define HARD_SWISH(T, x, a, b) TIM_RELU(T, x)
#else
#define HARD_SWISH(T, x, a, b)    \
  ((x) <= (T)(-3.0f)  ? (T)(0.0f) \
   : (x) >= (T)(3.0f) ? (x)       \
                      : (x) * (((x) + 3.0f) * 0x1.555556p-3f))
#endif

#ifndef FUNCTION
#define FUNCTION RELU
#endif

#include "kernels/activations.clh"
#include "kernels/exact_exp.clh"
#include "ops/elements/unary.clh"
