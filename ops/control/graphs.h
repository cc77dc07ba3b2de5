// Functions of If and While on the graphs among their attributes.
#ifndef TIM_OPS_CONTROL_GRAPHS_H_
#define TIM_OPS_CONTROL_GRAPHS_H_

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/op_schema.h"

namespace tim::ops {

/// The graph in an attribute, which Verify has seen.
const ir::Graph& GraphOf(const ir::Node& node, std::string_view attribute);
const ir::Value& OutputOf(const ir::Graph& graph, size_t index);

/// Most bytes that an evaluation holds besides its inputs and outputs.
int64_t EvalBytesOf(const ir::Graph& graph);

/// Error unless it is BOOL8 of one element, as far as it is known.
Status CheckCondition(const char* what, const ir::TensorDesc& desc);

/// Error unless two descriptions name the same type, shape, as far as they are
/// known, and quantization; kInvalidArgument has both.
Status CheckSame(const char* what, size_t index, const char* first,
                 const ir::TensorDesc& a, const char* second,
                 const ir::TensorDesc& b);

}  // namespace tim::ops

#endif  // TIM_OPS_CONTROL_GRAPHS_H_
