// Conversions of codes are moved to the operators that compute and taken into
// them.
#include "graph_api/fold_quantization.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "graph_api/expand_channels.h"
#include "ir/op_schema.h"
#include "ops/builtin.h"

namespace tim::graph {
namespace {

using ir::DataType;
using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::TensorDesc;
using ir::ValueId;

constexpr std::string_view kConvert = "DataConvert";
// Operators of one operand that move its elements.
constexpr std::array<std::string_view, 2> kMovers = {"Transpose", "Reshape"};
// Operators that take codes on both sides, or on none, beside those whose
// schemas say more.
constexpr std::array<std::string_view, 2> kGatherers = {"Pool2d", "Concat"};
// Operators of one operand whose results are codes of its own scale, with which
// they do to codes what they do to real values.
constexpr std::array<std::string_view, 2> kLimiters = {"Relu", "Clip"};
// Products of two operands, of scales for all.
constexpr std::array<std::string_view, 1> kProducts = {"Matmul"};

template <size_t n>
bool IsOneOf(const Node& node, const std::array<std::string_view, n>& names) {
  return node.schema->domain == "tim" &&
         std::find(names.begin(), names.end(), node.schema->name) !=
             names.end();
}

bool IsCodes(const TensorDesc& desc) {
  return desc.quantized() &&
         (desc.type == DataType::kInt8 || desc.type == DataType::kUint8);
}
bool IsPerTensor(const TensorDesc& desc) {
  return IsCodes(desc) && !desc.quantization.per_channel();
}

class Folding {
 public:
  explicit Folding(Graph* graph) : graph_(*graph) {}

  Status Run(FoldedQuantization* folded);

 private:
  const TensorDesc& Desc(ValueId id) const { return graph_.value(id).desc; }
  const TensorDesc& Out(const Node& node) const {
    return Desc(node.outputs[0]);
  }
  bool IsConvert(const Node& node) const;
  // The DataConvert to float32 that makes the value; else null.
  const Node* DequantizeOf(ValueId id) const;
  // The DataConvert to codes of one scale that alone reads the value.
  const Node* QuantizeOf(ValueId id) const;
  const Node* OnlyReader(ValueId id) const;
  bool IsConstant(ValueId id) const;

  void AddConvert(ValueId from, ValueId to);
  bool Sink(NodeId id);
  bool Hoist(NodeId id);
  bool HoistLimits(NodeId id);
  std::optional<int> MovedAxis(const Node& mover, int axis) const;

  bool Check(const Node& node) const;
  bool WriteCodes(NodeId id);
  bool ReadCodes(NodeId id);
  bool ReachesQuantize(ValueId id) const;
  bool FoldSum(NodeId id);
  bool FoldGatherer(NodeId id);
  bool HasWeights(const Node& node, const TensorDesc& weights) const;

  Graph& graph_;
  const ir::OpSchema* convert_ = nullptr;
  ir::AttributeMap convert_attributes_;
};

bool Folding::IsConvert(const Node& node) const {
  return node.schema->domain == "tim" && node.schema->name == kConvert;
}

const Node* Folding::DequantizeOf(ValueId id) const {
  if (id == ir::kNone || Desc(id).type != DataType::kFloat32) return nullptr;
  const NodeId producer = graph_.value(id).producer;
  if (producer == ir::kNone) return nullptr;
  const Node& node = graph_.node(producer);
  return IsConvert(node) && IsCodes(Desc(node.inputs[0])) ? &node : nullptr;
}

const Node* Folding::OnlyReader(ValueId id) const {
  const ir::Value& value = graph_.value(id);
  if (value.uses.size() != 1 || graph_.IsLiveOut(id)) return nullptr;
  return &graph_.node(value.uses[0].node);
}

const Node* Folding::QuantizeOf(ValueId id) const {
  if (Desc(id).type != DataType::kFloat32) return nullptr;
  const Node* reader = OnlyReader(id);
  return reader != nullptr && IsConvert(*reader) && IsPerTensor(Out(*reader))
             ? reader
             : nullptr;
}

// Through nodes of one operand.
bool Folding::IsConstant(ValueId id) const {
  for (;;) {
    const ir::Value& value = graph_.value(id);
    if (value.role == ir::Role::kConstant) return true;
    if (value.producer == ir::kNone) return false;
    const Node& node = graph_.node(value.producer);
    if (node.inputs.size() != 1) return false;
    id = node.inputs[0];
  }
}

void Folding::AddConvert(ValueId from, ValueId to) {
  Node node;
  node.schema = convert_;
  node.attributes = convert_attributes_;
  node.name = StrCat("fold/DataConvert#", graph_.node_id_limit());
  node.inputs = {from};
  node.outputs = {to};
  graph_.AddNode(std::move(node));
}

// Axis of the mover's output that is the axis of its input.
std::optional<int> Folding::MovedAxis(const Node& mover, int axis) const {
  const ir::Shape& from = Desc(mover.inputs[0]).shape;
  const ir::Shape& to = Out(mover).shape;
  if (mover.schema->name == "Transpose") {
    const std::vector<int64_t>& perm = mover.attributes.Ints("perm");
    const auto found = std::find(perm.begin(), perm.end(), axis);
    if (found == perm.end()) return std::nullopt;
    return static_cast<int>(found - perm.begin());
  }
  int64_t before = 1;
  for (int i = 0; i < axis; ++i) before *= from[i];
  int64_t stride = 1;
  for (int i = 0; i < to.rank(); ++i) {
    if (stride == before && to[i] == from[axis]) return i;
    stride *= to[i];
  }
  return std::nullopt;
}

// Dequantize -> mover: the mover moves codes.
bool Folding::Sink(NodeId id) {
  const Node& mover = graph_.node(id);
  const Node* convert = DequantizeOf(mover.inputs[0]);
  if (convert == nullptr) return false;
  const ValueId codes = convert->inputs[0];
  const ValueId real = mover.outputs[0];
  TensorDesc desc = Desc(codes);
  if (desc.quantization.per_channel()) {
    const auto axis = MovedAxis(mover, desc.quantization.axis);
    if (!axis) return false;
    desc.quantization.axis = *axis;
  }
  desc.shape = Desc(real).shape;
  const ValueId moved = graph_.AddValue(desc);
  graph_.value(moved).is_scalar = graph_.value(real).is_scalar;
  graph_.SetInput(id, 0, codes);
  graph_.SetOutput(id, 0, moved);
  AddConvert(moved, real);
  return true;
}

// Mover -> Quantize: the mover moves codes.
bool Folding::Hoist(NodeId id) {
  const Node& mover = graph_.node(id);
  const Node* convert = QuantizeOf(mover.outputs[0]);
  if (convert == nullptr) return false;
  const ValueId real = mover.inputs[0];
  const ValueId result = convert->outputs[0];
  const ValueId dropped = mover.outputs[0];
  TensorDesc desc = Desc(result);
  desc.shape = Desc(real).shape;
  const ValueId codes = graph_.AddValue(desc);
  graph_.value(codes).is_scalar = graph_.value(real).is_scalar;
  graph_.RemoveNode(convert->id);
  graph_.SetOutput(id, 0, result);
  graph_.RemoveValue(dropped);
  graph_.SetInput(id, 0, codes);
  AddConvert(real, codes);
  return true;
}

// Sum -> limits -> Quantize: the sum writes codes, which then have limits.
bool Folding::HoistLimits(NodeId id) {
  const Node& node = graph_.node(id);
  const NodeId producer = graph_.value(node.inputs[0]).producer;
  if (producer == ir::kNone || OnlyReader(node.inputs[0]) == nullptr) {
    return false;
  }
  // Others than these have a kernel for the limits and the codes together.
  const Node& sum = graph_.node(producer);
  const bool sums = sum.schema->sum_channels != nullptr ||
                    IsOneOf(sum, kProducts) ||
                    (sum.schema->pointwise && sum.schema->pointwise->is_sum);
  return sums && Hoist(id);
}

// The operator takes these types.
bool Folding::Check(const Node& node) const {
  if (node.schema->check == nullptr) return true;
  std::vector<const TensorDesc*> inputs;
  std::vector<const TensorDesc*> outputs;
  for (const ValueId id : node.inputs) {
    inputs.push_back(id == ir::kNone ? nullptr : &Desc(id));
  }
  for (const ValueId id : node.outputs) {
    outputs.push_back(id == ir::kNone ? nullptr : &Desc(id));
  }
  return node.schema->check({node, inputs, outputs}).ok();
}

// The node writes the codes that Quantize makes of its output.
bool Folding::WriteCodes(NodeId id) {
  const Node* convert = QuantizeOf(graph_.node(id).outputs[0]);
  if (convert == nullptr) return false;
  Node changed = graph_.node(id);
  changed.outputs[0] = convert->outputs[0];
  if (!Check(changed)) return false;
  const ValueId dropped = graph_.node(id).outputs[0];
  graph_.RemoveNode(convert->id);
  graph_.SetOutput(id, 0, changed.outputs[0]);
  graph_.RemoveValue(dropped);
  return true;
}

// A node that works element by element reads codes of one scale.  Of two such
// operands it may compute in units of codes, which is for codes alone.
bool Folding::ReadCodes(NodeId id) {
  Node changed = graph_.node(id);
  int codes = 0;
  bool any = false;
  for (ValueId& input : changed.inputs) {
    if (input == ir::kNone) continue;
    const Node* convert = DequantizeOf(input);
    if (convert != nullptr && IsPerTensor(Desc(convert->inputs[0]))) {
      input = convert->inputs[0];
      any = true;
    }
    if (IsCodes(Desc(input))) ++codes;
  }
  if (!any || (codes > 1 && !IsCodes(Out(changed))) || !Check(changed)) {
    return false;
  }
  for (size_t i = 0; i < changed.inputs.size(); ++i) {
    graph_.SetInput(id, static_cast<int>(i), changed.inputs[i]);
  }
  return true;
}

// Nothing but codes is made of the value.
bool Folding::ReachesQuantize(ValueId id) const {
  for (;;) {
    if (IsCodes(Desc(id))) return true;
    if (QuantizeOf(id) != nullptr) return true;
    const Node* reader = OnlyReader(id);
    if (reader == nullptr) return false;
    const bool passes =
        reader->schema->pointwise.has_value() || IsOneOf(*reader, kMovers);
    if (!passes) return false;
    id = reader->outputs[0];
  }
}

bool Folding::HasWeights(const Node& node, const TensorDesc& weights) const {
  const std::vector<int32_t>& zeros = weights.quantization.zero_points;
  if (!std::all_of(zeros.begin(), zeros.end(),
                   [](int32_t zero) { return zero == 0; })) {
    return false;
  }
  if (!weights.quantization.per_channel()) return true;
  if (node.schema->sum_channels == nullptr) return false;
  std::vector<const TensorDesc*> inputs;
  for (const ValueId id : node.inputs) {
    inputs.push_back(id == ir::kNone ? nullptr : &Desc(id));
  }
  const TensorDesc* output = &Out(node);
  const auto channels = node.schema->sum_channels({node, inputs, {&output, 1}});
  return channels && channels->weights_axis == weights.quantization.axis;
}

bool Folding::FoldSum(NodeId id) {
  const Node& node = graph_.node(id);
  const Node* data = DequantizeOf(node.inputs[0]);
  const Node* factor = DequantizeOf(node.inputs[1]);
  if (data == nullptr || factor == nullptr ||
      !IsPerTensor(Desc(data->inputs[0])) ||
      !HasWeights(node, Desc(factor->inputs[0])) ||
      !ReachesQuantize(node.outputs[0])) {
    return false;
  }
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] != ir::kNone && !IsConstant(node.inputs[i])) {
      return false;
    }
  }
  Node changed = node;
  changed.inputs[0] = data->inputs[0];
  changed.inputs[1] = factor->inputs[0];
  if (!Check(changed)) return false;
  graph_.SetInput(id, 0, changed.inputs[0]);
  graph_.SetInput(id, 1, changed.inputs[1]);
  WriteCodes(id);
  return true;
}

bool Folding::FoldGatherer(NodeId id) {
  const Node& node = graph_.node(id);
  const Node* convert = QuantizeOf(node.outputs[0]);
  if (convert == nullptr) return false;
  Node changed = node;
  for (ValueId& input : changed.inputs) {
    const Node* source = DequantizeOf(input);
    if (source == nullptr || !IsPerTensor(Desc(source->inputs[0]))) {
      return false;
    }
    input = source->inputs[0];
  }
  changed.outputs[0] = convert->outputs[0];
  if (!Check(changed)) return false;
  for (size_t i = 0; i < changed.inputs.size(); ++i) {
    graph_.SetInput(id, static_cast<int>(i), changed.inputs[i]);
  }
  return WriteCodes(id);
}

Status Folding::Run(FoldedQuantization* folded) {
  convert_ = ops::BuiltinOperators().Find("tim.DataConvert");
  if (convert_ == nullptr) return TIM_INTERNAL("no tim.DataConvert");
  TIM_RETURN_IF_ERROR(ir::CompleteAttributes(*convert_, &convert_attributes_));
  TIM_ASSIGN_OR_RETURN(const std::vector<NodeId> all,
                       graph_.TopologicalOrder());
  for (const NodeId id : all) {
    if (IsOneOf(graph_.node(id), kMovers)) Sink(id);
  }
  for (auto id = all.rbegin(); id != all.rend(); ++id) {
    if (graph_.HasNode(*id) && IsOneOf(graph_.node(*id), kMovers)) Hoist(*id);
  }
  for (const NodeId id : all) {
    if (graph_.HasNode(id) && IsOneOf(graph_.node(id), kLimiters)) {
      folded->elements += HoistLimits(id) ? 1 : 0;
    }
  }
  for (const NodeId id : all) {
    if (!graph_.HasNode(id)) continue;
    const Node& node = graph_.node(id);
    const bool product = IsOneOf(node, kProducts);
    if (node.schema->sum_channels != nullptr || product) {
      folded->sums += FoldSum(id) ? 1 : 0;
    } else if (node.schema->pointwise.has_value()) {
      const bool writes = WriteCodes(id);
      const bool reads = ReadCodes(id);
      folded->elements += writes || reads ? 1 : 0;
    } else if (IsOneOf(node, kGatherers)) {
      folded->elements += FoldGatherer(id) ? 1 : 0;
    }
  }
  for (const NodeId id : graph_.NodeIds()) {
    const Node& node = graph_.node(id);
    if (!IsConvert(node)) continue;
    const ValueId from = node.inputs[0];
    const bool channels = Desc(from).quantization.per_channel() ||
                          Out(node).quantization.per_channel();
    if (channels && !IsConstant(from)) {
      TIM_RETURN_IF_ERROR(ExpandChannels(&graph_, id));
    }
  }
  return OkStatus();
}

}  // namespace

Result<FoldedQuantization> FoldQuantization(Graph* graph) {
  FoldedQuantization folded;
  TIM_RETURN_IF_ERROR(Folding(graph).Run(&folded));
  return folded;
}

}  // namespace tim::graph
