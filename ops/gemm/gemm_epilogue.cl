// What follows a float32 matrix product that a library made: c(n, m) =
// f(c(n, m) + bias[n] + add[n]), c dense [columns, …].
// One work-item = one element.
//
// -DBIAS, -DADD  a float per column that is added
// -DACTIVATE     f, see kernels/activate.clh

#include "kernels/activate.clh"
#include "ops/launch/epilogue_parameters.clh"

__kernel void gemm_epilogue(TIM_EPILOGUE_PARAMETERS, int columns, int count) {
  const int i = get_global_id(0);
  if (i >= count) return;
  float result = output[output_offset + i];
#if defined(BIAS) || defined(ADD)
  const int column = i % columns;
#endif
#ifdef BIAS
  result += bias[bias_offset + column];
#endif
#ifdef ADD
  result += add[add_offset + column];
#endif
  output[output_offset + i] = TIM_ACTIVATE(float, result, low, high);
}
