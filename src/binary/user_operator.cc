// Custom operations frozen, and the operators that are made of them again.
#include "binary/user_operator.h"

#include <limits>
#include <span>
#include <string_view>

#include "ir/op_schema.h"
#include "ir/user_operator.h"

namespace tim::binary {
namespace {

std::vector<std::optional<ir::TensorDesc>> DescsOf(
    const ir::Graph& graph, const std::vector<ir::ValueId>& operands) {
  std::vector<std::optional<ir::TensorDesc>> descs;
  for (const ir::ValueId id : operands) {
    auto& desc = descs.emplace_back();
    if (id != ir::kNone) desc = graph.value(id).desc;
  }
  return descs;
}

// Limits are those of the device that runs it.
ir::DeviceInfo AnyDevice() {
  ir::DeviceInfo device;
  device.kind = "opencl";
  device.name = "any device";
  device.max_allocation_bytes = std::numeric_limits<int64_t>::max();
  return device;
}

Result<std::shared_ptr<const ir::ConstantData>> TableOf(
    const ir::PackedConstant& packed) {
  std::vector<std::byte> bytes(static_cast<size_t>(packed.bytes));
  TIM_RETURN_IF_ERROR(packed.pack(bytes));
  return ir::MakeConstant(bytes);
}

// "HSwish#3" of "user.HSwish#3@1".
std::string NameIn(std::string_view key) {
  const size_t dot = key.find('.');
  const size_t at = key.rfind('@');
  const size_t begin = dot == std::string_view::npos ? 0 : dot + 1;
  const size_t end =
      at == std::string_view::npos || at < begin ? key.size() : at;
  return std::string(key.substr(begin, end - begin));
}

Status CheckOperand(const std::optional<ir::TensorDesc>& frozen,
                    const ir::TensorDesc* given, int index) {
  if (!frozen && given == nullptr) return OkStatus();
  if (frozen && given != nullptr && frozen->type == given->type &&
      frozen->shape == given->shape) {
    return OkStatus();
  }
  return InvalidArgument("input ", index, " is ",
                         given != nullptr ? given->ToString() : "absent",
                         "; the binary graph's operator was compiled for ",
                         frozen ? frozen->ToString() : "none");
}

Status Infer(const UserOperator& frozen, ir::InferContext& context) {
  if (context.inputs.size() != frozen.inputs.size() ||
      context.outputs.size() != frozen.outputs.size()) {
    return InvalidArgument("it has ", context.inputs.size(), " inputs and ",
                           context.outputs.size(), " outputs; it was compiled ",
                           "for ", frozen.inputs.size(), " and ",
                           frozen.outputs.size());
  }
  for (size_t i = 0; i < frozen.inputs.size(); ++i) {
    TIM_RETURN_IF_ERROR(CheckOperand(frozen.inputs[i], context.inputs[i].desc,
                                     static_cast<int>(i)));
  }
  for (size_t i = 0; i < frozen.outputs.size(); ++i) {
    if (frozen.outputs[i]) context.outputs[i].desc = *frozen.outputs[i];
  }
  return OkStatus();
}

}  // namespace

Result<UserOperator> Freeze(const ir::Graph& graph, const ir::Node& node,
                            const ir::OpRegistry& registry) {
  const ir::OpSchema& schema = *node.schema;
  const ir::DeviceInfo device = AnyDevice();
  const auto kernels =
      registry.Kernels(StrCat(schema.domain, ".", schema.name), device.kind);
  if (kernels.empty()) {
    return TIM_INTERNAL("operation ", node.name, " has no kernel");
  }
  const ir::KernelNode view = ir::MakeKernelNode(graph, node);
  TIM_ASSIGN_OR_RETURN(const ir::KernelProblem problem,
                       ir::Analyze(*kernels[0], view, device));
  TIM_ASSIGN_OR_RETURN(ir::Lowering lowering,
                       kernels[0]->lower(problem, view, device));
  UserOperator frozen;
  frozen.key = schema.Key();
  frozen.inputs = DescsOf(graph, node.inputs);
  frozen.outputs = DescsOf(graph, node.outputs);
  for (const ir::AttributeSpec& spec : schema.attributes) {
    frozen.attributes.emplace_back(spec.name, spec.type);
  }
  frozen.steps = std::move(lowering.steps);
  frozen.scratch = std::move(lowering.scratch);
  frozen.in_place = std::move(lowering.in_place);
  for (const ir::PackedConstant& packed : lowering.packed) {
    TIM_ASSIGN_OR_RETURN(auto table, TableOf(packed));
    frozen.tables.push_back(std::move(table));
  }
  return frozen;
}

const ir::OpSchema* Register(UserOperator given, const std::string& prefix,
                             ir::OpRegistry* registry) {
  auto frozen = std::make_shared<const UserOperator>(std::move(given));
  const int inputs = static_cast<int>(frozen->inputs.size());
  const int outputs = static_cast<int>(frozen->outputs.size());
  std::vector<ir::AttributeSpec> attributes;
  for (const auto& [attribute, type] : frozen->attributes) {
    attributes.push_back({.name = attribute, .type = type});
  }
  return ir::AddUserOperator(
      {.name = prefix + NameIn(frozen->key),
       .inputs = {0, inputs},
       .outputs = {0, outputs},
       .attributes = std::move(attributes),
       .infer_shapes =
           [frozen](ir::InferContext& context) {
             return Infer(*frozen, context);
           },
       .steps = [frozen](const ir::KernelNode&) -> Result<ir::UserSteps> {
         return ir::UserSteps{.steps = frozen->steps,
                              .scratch = frozen->scratch,
                              .tables = frozen->tables,
                              .in_place = frozen->in_place};
       }},
      registry);
}

}  // namespace tim::binary
