// Kernels of registered operations.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "graph_api/extended_operator.h"
#include "graph_api/op_context.h"
#include "ir/step.h"
#include "ir/typed_kernel.h"

namespace tim::graph {
namespace {

using OpPtr = std::shared_ptr<const ExtendedOp>;

Status CheckSizes(const ExtendedOp& op, const ir::NdRange& range) {
  for (int i = 0; i < range.dimensions; ++i) {
    const int64_t global = range.global[i];
    const int64_t local = range.local[i];
    if (global < 1) {
      return InvalidArgument(op.Key(), ": launch: global size ", i, " is ",
                             global);
    }
    if (local > 0 && global % local != 0) {
      return InvalidArgument(op.Key(), ": launch: global size ", i, " is ",
                             global, ", which is no multiple of ", local,
                             ", the local one");
    }
  }
  return OkStatus();
}

Result<LaunchChoice> ChooseLaunch(const ExtendedOp& op,
                                  const ir::KernelNode& node,
                                  const ir::DeviceInfo& device) {
  tim_graph_op_context context(op, CallbackRole::kLaunch, node.attributes());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const bool present = node.has_input(static_cast<int>(i));
    context.AddInput(present ? &node.inputs[i] : nullptr);
  }
  for (const ir::TensorDesc& output : node.outputs) {
    context.AddOutput(&output);
  }
  context.launch.device = &device;
  context.launch.range.global[0] =
      node.outputs[0].shape.NumElements().value_or(1);
  if (op.kernel.launch != nullptr) {
    TIM_RETURN_IF_ERROR(context.Call(op.kernel.launch));
  }
  TIM_RETURN_IF_ERROR(CheckSizes(op, context.launch.range));
  return std::move(context.launch);
}

Status Supports(const ExtendedOp& op, const ir::KernelNode& node,
                const ir::DeviceInfo& device) {
  const int version = node.anchor->schema->version;
  if (version != op.version) {
    return Unimplemented("the node is of version ", version);
  }
  return ChooseLaunch(op, node, device).status();
}

ir::UserTensorArg ArgumentOf(std::string name, const ir::TensorDesc& desc,
                             int operand, bool written) {
  ir::UserTensorArg argument;
  argument.operand = operand;
  argument.type = desc.type;
  argument.dims = desc.shape.dims();
  argument.written = written;
  argument.name = std::move(name);
  return argument;
}

ir::UserTensorArg AbsentArgument(std::string name, bool written) {
  ir::UserTensorArg argument;
  argument.operand = ir::kAbsentOperand;
  argument.written = written;
  argument.name = std::move(name);
  return argument;
}

// Arguments and operands of a step.
class Arguments {
 public:
  Arguments(ir::UserLaunch* launch, ir::LoweredStep* step)
      : launch_(*launch), step_(*step) {}

  // `desc` may be null.
  void Add(ir::LoweredOperand::Kind kind, int index,
           const ir::TensorDesc* desc) {
    const bool written = kind == ir::LoweredOperand::Kind::kOutput;
    std::string name = StrCat(written ? "output " : "input ", index);
    if (desc == nullptr) {
      launch_.arguments.emplace_back(AbsentArgument(std::move(name), written));
      return;
    }
    launch_.arguments.emplace_back(
        ArgumentOf(std::move(name), *desc,
                   static_cast<int>(step_.operands.size()), written));
    step_.operands.push_back({kind, index});
    step_.written.push_back(written);
  }

 private:
  ir::UserLaunch& launch_;
  ir::LoweredStep& step_;
};

Result<ir::Lowering> Lower(const ExtendedOp& op, const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  using Kind = ir::LoweredOperand::Kind;
  TIM_ASSIGN_OR_RETURN(LaunchChoice choice, ChooseLaunch(op, node, device));
  ir::UserLaunch launch;
  launch.text = op.kernel.source;
  launch.name = StrCat(op.Key(), " (", node.node->name, ")");
  launch.function = op.kernel.function;
  launch.options = op.kernel.options;
  if (!choice.options.empty()) {
    launch.options += (launch.options.empty() ? "" : " ") + choice.options;
  }
  launch.range = choice.range;
  ir::LoweredStep step;
  Arguments arguments(&launch, &step);
  const size_t inputs = std::max(node.inputs.size(), op.inputs.params.size());
  for (int i = 0; i < static_cast<int>(inputs); ++i) {
    arguments.Add(Kind::kInput, i,
                  node.has_input(i) ? &node.inputs[i] : nullptr);
  }
  const size_t outputs =
      std::max(node.outputs.size(), op.outputs.params.size());
  for (size_t i = 0; i < outputs; ++i) {
    const bool present = i < node.outputs.size() &&
                         node.outputs[i].type != ir::DataType::kUnknown;
    arguments.Add(Kind::kOutput, static_cast<int>(i),
                  present ? &node.outputs[i] : nullptr);
  }
  for (ir::UserScalarArg& scalar : choice.scalars) {
    launch.arguments.emplace_back(std::move(scalar));
  }
  step.action = std::move(launch);
  ir::Lowering lowering;
  lowering.steps.push_back(std::move(step));
  return lowering;
}

}  // namespace

ir::KernelDef KernelOf(const OpPtr& op, const std::string& operator_name) {
  ir::PlainKernel kernel;
  kernel.op = StrCat(op->domain, ".", operator_name);
  kernel.name = StrCat(kernel.op, "@", op->version);
  kernel.analyze = [op](const ir::KernelNode& node,
                        const ir::DeviceInfo& device) {
    return Supports(*op, node, device);
  };
  kernel.cost = [](const ir::KernelNode&, const ir::DeviceInfo& device) {
    return device.launch_us;
  };
  kernel.lower = [op](const ir::KernelNode& node,
                      const ir::DeviceInfo& device) {
    return Lower(*op, node, device);
  };
  return kernel;
}

}  // namespace tim::graph
