// Finds conversions of codes around operators, and removes those that operators
// take over.
#include "compiler/quantization/conversions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/node_descs.h"
#include "ir/op_schema.h"

namespace tim::compiler {

using ir::DataType;
using ir::kNone;
using ir::Node;
using ir::TensorDesc;
using ir::ValueId;

bool IsCodes(const TensorDesc& desc) {
  return desc.quantized() &&
         (desc.type == DataType::kInt8 || desc.type == DataType::kUint8);
}

bool IsPerTensor(const TensorDesc& desc) {
  return IsCodes(desc) && !desc.quantization.per_channel();
}

bool IsSymmetric(const ir::Quantization& quantization) {
  const std::vector<int32_t>& zeros = quantization.zero_points;
  return std::all_of(zeros.begin(), zeros.end(),
                     [](int32_t zero) { return zero == 0; });
}

namespace {

bool IsFoldable(const Node& node) {
  return !node.composite && node.schema->Key() == "tim.DataConvert@1" &&
         node.attributes.Bool("foldable");
}

// `units` are those of `codes` before their zero point is added.
bool IsWithoutZeroPoint(const TensorDesc& units, const TensorDesc& codes) {
  return units.quantized() && IsSymmetric(units.quantization) &&
         (units.type == DataType::kInt16 || units.type == DataType::kInt32) &&
         units.quantization.kind == codes.quantization.kind &&
         units.quantization.scales == codes.quantization.scales &&
         units.quantization.fl == codes.quantization.fl;
}

}  // namespace

bool Conversions::IsConversion(const Node& node) const {
  if (!IsFoldable(node)) return false;
  const TensorDesc& from = Desc(node.inputs[0]);
  const TensorDesc& to = Desc(node.outputs[0]);
  return (from.quantized() && to.type == DataType::kFloat32) ||
         (from.type == DataType::kFloat32 && to.quantized());
}

ValueId Conversions::SourceOf(ValueId id) const {
  if (id == kNone || Desc(id).type != DataType::kFloat32) return kNone;
  const ir::NodeId producer = graph_.value(id).producer;
  if (producer == kNone) return kNone;
  const Node& node = graph_.node(producer);
  return IsConversion(node) ? node.inputs[0] : kNone;
}

std::optional<Quantize> Conversions::QuantizeOf(ValueId id) const {
  if (id == kNone || Desc(id).type != DataType::kFloat32) return std::nullopt;
  const Node* first = OnlyReader(id);
  if (first == nullptr || !IsConversion(*first)) return std::nullopt;
  const Node* last = OnlyReader(first->outputs[0]);
  if (last == nullptr || !IsFoldable(*last) ||
      !IsWithoutZeroPoint(Desc(first->outputs[0]), Desc(last->outputs[0]))) {
    last = first;
  }
  const ValueId codes = last->outputs[0];
  if (!IsPerTensor(Desc(codes))) return std::nullopt;
  return Quantize{first->id, last->id, codes};
}

const Node* Conversions::OnlyReader(ValueId id) const {
  const ir::Value& value = graph_.value(id);
  if (value.uses.size() != 1 || graph_.IsLiveOut(id)) return nullptr;
  return &graph_.node(value.uses[0].node);
}

bool Conversions::IsConstant(ValueId id) const {
  for (;;) {
    const ir::Value& value = graph_.value(id);
    if (value.role == ir::Role::kConstant) return true;
    if (value.producer == kNone) return false;
    const Node& node = graph_.node(value.producer);
    if (node.inputs.size() != 1) return false;
    id = node.inputs[0];
  }
}

bool Conversions::Takes(const Node& node) const {
  return node.schema->check == nullptr ||
         node.schema->check(ir::NodeDescs(graph_, node).view()).ok();
}

void Conversions::Remove(const Quantize& quantize) {
  const ValueId units = graph_.node(quantize.first).outputs[0];
  graph_.RemoveNode(quantize.last);
  if (quantize.first == quantize.last) return;
  graph_.RemoveNode(quantize.first);
  graph_.RemoveValue(units);
}

bool Conversions::WriteCodes(ir::NodeId id) {
  Node changed = graph_.node(id);
  std::vector<Quantize> quantizes;
  for (ValueId& output : changed.outputs) {
    const auto quantize = output == kNone ? std::nullopt : QuantizeOf(output);
    if (!quantize) return false;
    output = quantize->codes;
    quantizes.push_back(*quantize);
  }
  if (!Takes(changed)) return false;
  for (size_t i = 0; i < quantizes.size(); ++i) {
    const ValueId real = graph_.node(id).outputs[i];
    Remove(quantizes[i]);
    graph_.SetOutput(id, static_cast<int>(i), quantizes[i].codes);
    graph_.RemoveValue(real);
  }
  return true;
}

void Conversions::Read(ir::NodeId id, const std::vector<ValueId>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    graph_.SetInput(id, static_cast<int>(i), inputs[i]);
  }
}

}  // namespace tim::compiler
