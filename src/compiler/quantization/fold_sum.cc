// Lets sums of products read the codes of their factors and of their bias.
#include "compiler/quantization/fold_sum.h"

#include <string_view>

#include "ir/node_descs.h"
#include "ir/op_schema.h"

namespace tim::compiler {
namespace {

using ir::kNone;
using ir::Node;
using ir::ValueId;

constexpr int kBias = 2;
// Its fast kernels are for float32: on codes it takes many times as long.
constexpr std::string_view kOfFloats = "tim.Conv3d@1";

// Nothing but codes is made of the value.
bool ReachesQuantize(const Conversions& conversions, ValueId id) {
  while (!IsCodes(conversions.Desc(id)) && !conversions.QuantizeOf(id)) {
    const Node* reader = conversions.OnlyReader(id);
    if (reader == nullptr || reader->composite) return false;
    const ir::OpSchema& schema = *reader->schema;
    if (!schema.pointwise && !schema.element_map) return false;
    id = reader->outputs[0];
  }
  return true;
}

// The weights' zero points are 0, and their scales are of the channels of
// `node`, which is the sum of these codes.
bool HasWeights(Conversions& conversions, const Node& node) {
  const ir::Quantization& weights =
      conversions.Desc(node.inputs[1]).quantization;
  if (!IsSymmetric(weights)) return false;
  if (!weights.per_channel()) return true;
  const ir::NodeDescs descs(conversions.graph(), node);
  const auto channels = node.schema->sum_channels(descs.view());
  return channels && channels->weights_axis == weights.axis;
}

}  // namespace

bool IsSumOfProducts(const Node& node) {
  return !node.composite && node.schema->sum_channels != nullptr;
}

bool ReadFactors(Conversions* conversions, ir::NodeId id) {
  Node changed = conversions->graph().node(id);
  if (changed.schema->Key() == kOfFloats ||
      !ReachesQuantize(*conversions, changed.outputs[0])) {
    return false;
  }
  for (int i = 0; i < static_cast<int>(changed.inputs.size()); ++i) {
    ValueId& input = changed.inputs[i];
    if (input == kNone) continue;
    if (i > 0 && !conversions->IsConstant(input)) return false;
    const ValueId source = conversions->SourceOf(input);
    if (i >= kBias) {
      const bool is_wide = source != kNone && conversions->Desc(source).type ==
                                                  ir::DataType::kInt32;
      if (is_wide) input = source;
      continue;
    }
    if (source == kNone || !IsCodes(conversions->Desc(source))) return false;
    input = source;
  }
  if (!IsPerTensor(conversions->Desc(changed.inputs[0])) ||
      !HasWeights(*conversions, changed) || !conversions->Takes(changed)) {
    return false;
  }
  conversions->Read(id, changed.inputs);
  return true;
}

}  // namespace tim::compiler
