// Functions of kernels/*.clh on many floats, compared bit by bit.
#ifndef TIM_TESTS_SUPPORT_KERNELS_FLOAT_PROBE_H_
#define TIM_TESTS_SUPPORT_KERNELS_FLOAT_PROBE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace tim::testing {

/// A kernel `function` of `text`, which follows the header or the program
/// `source` ("kernels/exact_exp.clh") and sees what that includes.  Its
/// parameters are pairs
/// (__global const float*, int offset) for each argument and one for the
/// result; each work-item makes `lanes` results.
struct FloatProbe {
  std::string source;
  std::string text;
  std::string function;
  int lanes = 1;
  std::string options = "";
};

/// Results on the first OpenCL device for arguments of one length.
Result<std::vector<float>> RunProbe(
    const FloatProbe& probe, const std::vector<std::vector<float>>& arguments);

/// The number of results that differ in bits, all NaN being equal; the first
/// five are test failures that show their arguments.  On a device that does not
/// keep subnormal numbers, those and zeros are equal, and results of such
/// arguments are not compared.
int64_t Differences(const std::vector<std::vector<float>>& arguments,
                    const std::vector<float>& a, const std::vector<float>& b);

/// Zeros, infinities, NaN, powers of two and random bits: floats of every
/// exponent and sign.
std::vector<float> AnyFloats(size_t count, uint32_t seed);

/// Distance of `actual` from the reference in units in the last place of the
/// reference rounded to float; 0 where both are the same infinity or NaN.
double UlpError(float actual, double expected);

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_KERNELS_FLOAT_PROBE_H_
