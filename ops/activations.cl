// Activations of real values, see ops/internal/unary.clh:
//   RELU   max(0, x)
//   RELU6  min(max(x, 0), 6)
// -DFUNCTION=RELU  which one

#define RELU(T, x, a, b) TIM_RELU(T, x)
#define RELU6(T, x, a, b) TIM_RELU6(T, x)

#ifndef FUNCTION
#define FUNCTION RELU
#endif

#include "kernels/activations.clh"
#include "ops/internal/unary.clh"
