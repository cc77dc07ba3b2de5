#include "tests/properties/node_case.h"

#include "ir/constant.h"
#include "ir/op_schema.h"

namespace tim::testing {
namespace {

ir::TensorDesc Undeclared(ir::TensorDesc desc) {
  desc.shape = ir::Shape();
  return desc;
}

Result<ir::Node> NodeOf(const NodeCase& node, const ir::OpRegistry& registry) {
  ir::Node out;
  out.name = node.op + "#0";
  out.schema = registry.Find(node.op);
  if (out.schema == nullptr) return NotFound("no operator ", node.op);
  out.attributes = node.attributes;
  TIM_RETURN_IF_ERROR(ir::CompleteAttributes(*out.schema, &out.attributes));
  return out;
}

}  // namespace

Result<TestNode> MakeNode(const NodeCase& node,
                          const ir::OpRegistry& registry) {
  std::vector<ir::TensorDesc> outputs;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    outputs.push_back(node.IsDeclared(i) ? node.outputs[i]
                                         : Undeclared(node.outputs[i]));
  }
  return MakeNode(node.op, node.attributes, node.inputs, outputs,
                  node.constants, registry);
}

Result<std::vector<ir::TensorDesc>> Infer(
    const NodeCase& node, const std::vector<ir::Shape>& input_shapes,
    const ir::OpRegistry& registry) {
  TIM_ASSIGN_OR_RETURN(const ir::Node made, NodeOf(node, registry));
  std::vector<ir::TensorDesc> descs;
  std::vector<std::shared_ptr<const ir::ConstantData>> constants;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    descs.push_back(node.inputs[i].value_or(ir::TensorDesc()));
    const auto constant = node.constants.find(static_cast<int>(i));
    const bool is_constant = constant != node.constants.end();
    if (!is_constant) descs.back().shape = input_shapes[i];
    constants.push_back(is_constant ? ir::MakeConstant(constant->second.bytes)
                                    : nullptr);
  }
  ir::InferContext context{made, {}, {}};
  for (size_t i = 0; i < descs.size(); ++i) {
    auto& input = context.inputs.emplace_back();
    if (!node.inputs[i]) continue;
    input = {&descs[i], constants[i].get(), false, constants[i] != nullptr};
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    auto& output = context.outputs.emplace_back();
    output.desc = Undeclared(node.outputs[i]);
    if (node.IsDeclared(i)) output.declared = &node.outputs[i].shape;
  }
  TIM_RETURN_IF_ERROR(made.schema->infer_shapes(context));
  std::vector<ir::TensorDesc> out;
  for (const auto& output : context.outputs) out.push_back(output.desc);
  return out;
}

std::vector<TensorData> CaseInputs(const NodeCase& node, std::mt19937& rng) {
  std::vector<TensorData> out;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const int index = static_cast<int>(i);
    if (!node.inputs[i] || node.constants.contains(index)) continue;
    const auto given = node.data.find(index);
    out.push_back(given != node.data.end()
                      ? given->second
                      : RandomTensor(*node.inputs[i], rng));
  }
  return out;
}

std::string Dump(const NodeCase& node) {
  std::string out =
      StrCat("  ", node.op, " ", node.attributes.ToString(), "\n");
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const int index = static_cast<int>(i);
    out += StrCat("  input ", i, ": ",
                  node.inputs[i] ? node.inputs[i]->ToString() : "absent",
                  node.constants.contains(index) ? " constant" : "",
                  node.data.contains(index) ? " of given values" : "", "\n");
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    out += StrCat("  output ", i, ": ", node.outputs[i].ToString(),
                  node.IsDeclared(i) ? " declared" : "", "\n");
  }
  return out;
}

Result<CaseView> CaseView::Create(const NodeCase& node,
                                  const ir::OpRegistry& registry) {
  CaseView out;
  TIM_ASSIGN_OR_RETURN(out.node_, NodeOf(node, registry));
  for (const auto& input : node.inputs) {
    out.inputs_.push_back(input ? &*input : nullptr);
  }
  for (const ir::TensorDesc& output : node.outputs) {
    out.outputs_.push_back(&output);
  }
  return out;
}

}  // namespace tim::testing
