// Pooling in double, written from the formula, and what its tests share.
#ifndef TIM_TESTS_SUPPORT_DATA_POOL2D_REFERENCE_H_
#define TIM_TESTS_SUPPORT_DATA_POOL2D_REFERENCE_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "ir/attribute.h"
#include "ir/tensor_desc.h"

namespace tim::testing {

enum PoolKind : int64_t {
  kMax = 0,
  kAvg = 1,
  kL2 = 2,
  kAvgAndroid = 3,
  kAvgPadded = 4,
};
enum PaddingKind : int64_t { kNone = -1, kAuto = 0, kValid = 1, kSame = 2 };

inline constexpr float kLowest = std::numeric_limits<float>::lowest();

/// Windows along one axis, as the specification states them.
struct PoolAxis {
  int64_t input = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t front = 0;
  int64_t back = 0;  ///< For kAvgPadded.
  int64_t output = 1;
};

/// Windows over each [w.input, h.input] plane of `input`; `lowest` is the
/// maximum of a window that lies in the padding alone.
std::vector<double> PoolReference(PoolKind type, const PoolAxis& w,
                                  const PoolAxis& h,
                                  const std::vector<double>& input,
                                  double lowest);

/// Attributes of explicit windows.
ir::AttributeMap PoolAttributes(PoolKind type,
                                const std::vector<int64_t>& ksize,
                                const std::vector<int64_t>& stride,
                                const std::vector<int64_t>& pad = {0, 0, 0, 0});

/// The same without a shape, so that it is inferred.
ir::TensorDesc Undeclared(ir::TensorDesc desc);

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_DATA_POOL2D_REFERENCE_H_
