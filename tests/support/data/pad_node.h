// Nodes of Pad and PadV2 for their tests.
#ifndef TIM_TESTS_SUPPORT_DATA_PAD_NODE_H_
#define TIM_TESTS_SUPPORT_DATA_PAD_NODE_H_

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "tests/support/kernels/kernel_runner.h"

namespace tim::testing {

/// Values of `pad_mode`.
enum PadMode : int64_t { kConstant, kEdge, kSymmetric, kReflect };

/// Elements added along every axis.
struct PadCounts {
  std::vector<int64_t> front;
  std::vector<int64_t> back;
};

/// Pad where the constant is an integer, PadV2 where it is a float.
inline Result<TestNode> Pad(const ir::TensorDesc& from, const PadCounts& counts,
                            const ir::Attribute& constant, PadMode mode,
                            ir::TensorDesc to) {
  to.shape = ir::Shape();
  const bool integer = std::holds_alternative<int64_t>(constant);
  return MakeNode(integer ? "tim.Pad" : "tim.PadV2",
                  {{"front_size", counts.front},
                   {"back_size", counts.back},
                   {"const_val", constant},
                   {"pad_mode", int64_t{mode}}},
                  {from}, {to});
}

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_DATA_PAD_NODE_H_
