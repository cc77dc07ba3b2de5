// The object that callbacks of registered operations work with.
#ifndef TIM_GRAPH_API_OP_CONTEXT_H_
#define TIM_GRAPH_API_OP_CONTEXT_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph_api/extended_op.h"
#include "graph_api/lower_ops.h"
#include "graph_api/op.h"
#include "ir/attribute.h"
#include "ir/device_info.h"
#include "ir/step.h"
#include "ir/tensor_desc.h"
#include "tim/graph/c_extension.h"

namespace tim::graph {

/// The callback that a context is for.
enum class CallbackRole { kInferShapes, kDecompose, kHost, kLaunch };
/// "infer_shapes"
const char* ToString(CallbackRole role);

/// Ops and tensors that a decomposition has added so far.
struct Decomposition {
  std::vector<Op> ops = {};  ///< That passed CheckOp().
  std::vector<LogicalTensor> constants = {};
  KnownInputs contents = {};  ///< Of the constants.
  size_t next_id = 0;         ///< Of a tensor.
};

/// Sizes and arguments of a launch.
struct LaunchChoice {
  const ir::DeviceInfo* device = nullptr;
  ir::NdRange range = {};
  std::string options = {};
  std::vector<ir::UserScalarArg> scalars = {};
};

/// The description of an operand, and back.  Absent: of no type.
LogicalTensor DescribedAs(size_t id, const ir::TensorDesc* desc,
                          bool is_scalar = false);
Types TypesOf(const std::vector<LogicalTensor>& tensors);

}  // namespace tim::graph

/// Arguments of one call, on its thread.
struct tim_graph_op_context {
  tim_graph_op_context(const tim::graph::ExtendedOp& called,
                       tim::graph::CallbackRole its_role,
                       const tim::ir::AttributeMap& attributes);

  /// Inputs first; absent: null.  Inputs that are left out are absent, too.
  void AddInput(const tim::ir::TensorDesc* desc, bool is_scalar = false);
  void AddOutput(const tim::ir::TensorDesc* desc);

  /// Calls `callback` with this.  A failure has the callback's message.
  tim::Status Call(tim_graph_op_callback_t callback);

  const tim::graph::ExtendedOp& op;
  const tim::graph::CallbackRole role;
  std::map<std::string, tim::graph::AttributeValue> attributes;
  std::string message = {};
  /// Ids are numbers of operands, the outputs' behind the inputs'.
  std::vector<tim::graph::LogicalTensor> inputs = {};
  std::vector<tim::graph::LogicalTensor> outputs = {};
  std::vector<const void*> input_data = {};  ///< Of host.
  std::vector<void*> output_data = {};
  tim::graph::Decomposition decomposition = {};
  tim::graph::LaunchChoice launch = {};
};

#endif  // TIM_GRAPH_API_OP_CONTEXT_H_
