// A custom operation frozen: what its kernels are and take, without its class.
#ifndef TIM_BINARY_USER_OPERATOR_H_
#define TIM_BINARY_USER_OPERATOR_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/attribute.h"
#include "ir/graph.h"
#include "ir/kernel_def.h"
#include "ir/op_registry.h"
#include "ir/tensor_desc.h"

namespace tim::binary {

struct UserOperator {
  std::string key;  ///< "user.HSwish#3@1"
  /// The operands that it was compiled for; nothing: absent.
  std::vector<std::optional<ir::TensorDesc>> inputs;
  std::vector<std::optional<ir::TensorDesc>> outputs;
  std::vector<std::pair<std::string, ir::AttributeType>> attributes;
  std::vector<ir::LoweredStep> steps;  ///< Users' launches, and copies.
  std::vector<ir::ScratchSpec> scratch;
  std::vector<std::shared_ptr<const ir::ConstantData>> tables;
  std::vector<ir::InPlacePair> in_place;
};

/// What a compilation would run for `node`, which has a user's kernel and
/// operands of known shape.  `registry` has that kernel.
Result<UserOperator> Freeze(const ir::Graph& graph, const ir::Node& node,
                            const ir::OpRegistry& registry);

/// Adds a schema and an OpenCL kernel, and returns the schema, whose name
/// begins with `prefix`: the frozen operators of all files in a registry have
/// different ones.  There is no `eval`.
const ir::OpSchema* Register(UserOperator frozen, const std::string& prefix,
                             ir::OpRegistry* registry);

}  // namespace tim::binary

#endif  // TIM_BINARY_USER_OPERATOR_H_
