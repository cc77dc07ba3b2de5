// Lets sums of products read the codes of their factors and of their bias.
#include "compiler/quantization/fold_sum.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "ir/node_descs.h"
#include "ir/op_schema.h"

namespace tim::compiler {
namespace {

using ir::kNone;
using ir::Node;
using ir::ValueId;

constexpr int kBias = 2;
// How far the scales of equal units are apart, for sums as well.
constexpr double kEqualScales = 1e-5;
// Its fast kernels are for float32: on codes it takes many times as long.
constexpr std::string_view kOfFloats = "tim.Conv3d@1";

// The codes that are made of the value; kNone where something else is, too.
ValueId CodesMadeOf(const Conversions& conversions, ValueId id) {
  while (!IsCodes(conversions.Desc(id))) {
    if (const auto quantize = conversions.QuantizeOf(id)) {
      return quantize->codes;
    }
    const Node* reader = conversions.OnlyReader(id);
    if (reader == nullptr || reader->composite) return kNone;
    const ir::OpSchema& schema = *reader->schema;
    if (!schema.pointwise && !schema.element_map) return kNone;
    id = reader->outputs[0];
  }
  return id;
}

// The bias has the units of the products, or codes of `to` that are no finer:
// sums round another bias to whole units.
bool TakesBias(const Conversions& conversions, const Node& node,
               const ir::Quantization& to) {
  if (node.inputs.size() <= kBias || node.inputs[kBias] == kNone) return true;
  const ir::TensorDesc& bias = conversions.Desc(node.inputs[kBias]);
  const ir::Quantization& input = conversions.Desc(node.inputs[0]).quantization;
  const ir::Quantization& weights =
      conversions.Desc(node.inputs[1]).quantization;
  const size_t channels = std::max<size_t>(
      {1, weights.scales.size(), bias.quantization.scales.size()});
  for (int64_t i = 0; i < static_cast<int64_t>(channels); ++i) {
    const double unit = double{input.Scale()} * weights.Scale(i);
    const bool is_exact =
        bias.quantized() &&
        std::abs(bias.quantization.Scale(i) - unit) <= kEqualScales * unit;
    if (!is_exact && to.Scale() < unit) return false;
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
  if (changed.schema->Key() == kOfFloats) return false;
  const ValueId codes = CodesMadeOf(*conversions, changed.outputs[0]);
  if (codes == kNone) return false;
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
      !HasWeights(*conversions, changed) ||
      !TakesBias(*conversions, changed,
                 conversions->Desc(codes).quantization) ||
      !conversions->Takes(changed)) {
    return false;
  }
  conversions->Read(id, changed.inputs);
  return true;
}

}  // namespace tim::compiler
