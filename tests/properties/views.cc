// What a schema says of its results' bytes: is_view, is_identity,
// in_place_offsets, element_map.
#include <algorithm>

#include "ir/element_map/compose.h"
#include "ir/op_schema.h"
#include "kernels/elements.h"
#include "tests/properties/properties.h"

namespace tim::testing {
namespace {

bool Says(const std::function<bool(const ir::NodeView&)>& facet,
          const ir::NodeView& view) {
  return facet && facet(view);
}

// The inputs' bytes at the offsets, one after the other, are those of output 0.
bool AreConcatenated(const std::vector<int64_t>& offsets,
                     const std::vector<const TensorData*>& inputs,
                     const TensorData& output) {
  int64_t end = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr && offsets[i] == -1) continue;
    if (inputs[i] == nullptr || offsets[i] != end) return false;
    const auto& bytes = inputs[i]->bytes;
    const auto size = static_cast<int64_t>(bytes.size());
    if (end + size > static_cast<int64_t>(output.bytes.size()) ||
        !std::equal(bytes.begin(), bytes.end(), output.bytes.begin() + end)) {
      return false;
    }
    end += size;
  }
  return end == static_cast<int64_t>(output.bytes.size());
}

// Every output that lies in input 0 has its bytes there.
bool AreParts(const std::vector<int64_t>& offsets, const TensorData& input,
              const std::vector<TensorData>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (offsets[i] < 0) continue;
    const auto& bytes = outputs[i].bytes;
    const auto end = static_cast<int64_t>(bytes.size()) + offsets[i];
    if (end > static_cast<int64_t>(input.bytes.size()) ||
        !std::equal(bytes.begin(), bytes.end(),
                    input.bytes.begin() + offsets[i])) {
      return false;
    }
  }
  return true;
}

// The bytes of an element like those of `desc` that is zero.
std::vector<std::byte> ZeroOf(const ir::TensorDesc& desc) {
  ir::TensorDesc single = desc;
  single.shape = ir::Shape({1});
  int64_t bits = 0;
  kernels::ElementWriter({&single, &bits}).StoreReal(0, 0.0f);
  const auto* bytes = reinterpret_cast<const std::byte*>(&bits);
  return {bytes, bytes + ir::Info(desc.type).bits / 8};
}

// The map is one, and where nothing is converted the output has the input's
// elements where it says so.
Status IsElementMap(const ir::ElementMap& map, const TensorData& input,
                    const TensorData& output) {
  const int64_t count = output.desc.shape.NumElements().value_or(0);
  if (!ir::IsWellFormed(map) || ir::ElementCount(map) != count ||
      !ir::StaysInside(map, input.desc.shape.NumElements().value_or(0))) {
    return InvalidArgument("element_map does not fit the operands");
  }
  if (!ir::SameElements(input.desc, output.desc) ||
      ir::Info(output.desc.type).bits < 8 ||
      (output.desc.quantized() && output.desc.quantization.per_channel())) {
    return OkStatus();
  }
  const std::vector<std::byte> zero = ZeroOf(output.desc);
  const auto size = static_cast<int64_t>(zero.size());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t source = ir::SourceOf(map, i);
    const std::byte* expected =
        source < 0 ? zero.data() : input.bytes.data() + source * size;
    if (std::equal(expected, expected + size,
                   output.bytes.begin() + i * size)) {
      continue;
    }
    return InvalidArgument("element_map says that element ", i,
                           " of output 0 is element ", source,
                           " of input 0, which it is not");
  }
  return OkStatus();
}

// Data of every operand; null where absent.
std::vector<const TensorData*> OperandData(
    const NodeCase& node, const std::vector<TensorData>& variable) {
  std::vector<const TensorData*> out;
  size_t next = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const auto constant = node.constants.find(static_cast<int>(i));
    out.push_back(!node.inputs[i]                    ? nullptr
                  : constant != node.constants.end() ? &constant->second
                                                     : &variable[next++]);
  }
  return out;
}

}  // namespace

Status ViewsAgree(const Described& described, const NodeCase& node,
                  CaseRng& rng) {
  TIM_ASSIGN_OR_RETURN(const CaseView made,
                       CaseView::Create(node, described.registry));
  const ir::OpSchema& schema = made.schema();
  const bool is_view = Says(schema.is_view, made.view());
  const bool is_identity = Says(schema.is_identity, made.view());
  ir::InPlaceOffsets offsets;
  if (schema.in_place_offsets) offsets = schema.in_place_offsets(made.view());
  std::optional<ir::ElementMap> map;
  if (schema.element_map) map = schema.element_map(made.view());
  if (!is_view && !is_identity && !map && offsets.inputs.empty() &&
      offsets.outputs.empty()) {
    return OkStatus();
  }
  TIM_ASSIGN_OR_RETURN(const TestNode test_node,
                       MakeNode(node, described.registry));
  const auto variable = CaseInputs(node, rng.engine());
  const auto inputs = OperandData(node, variable);
  TIM_ASSIGN_OR_RETURN(const auto outputs, Eval(test_node, variable));
  if ((is_view || is_identity) && inputs[0]->bytes != outputs[0].bytes) {
    return InvalidArgument(is_view ? "is_view" : "is_identity",
                           " holds, but output 0 has other bytes than input 0");
  }
  if (is_identity && inputs[0]->desc.shape != outputs[0].desc.shape) {
    return InvalidArgument(
        "is_identity holds, but output 0 has another shape than input 0");
  }
  if (map) TIM_RETURN_IF_ERROR(IsElementMap(*map, *inputs[0], outputs[0]));
  if (!offsets.inputs.empty() &&
      !AreConcatenated(offsets.inputs, inputs, outputs[0])) {
    return InvalidArgument("in_place_offsets are [",
                           StrJoin(offsets.inputs, ", "),
                           "], but output 0 has not the inputs' bytes there");
  }
  if (!offsets.outputs.empty() &&
      !AreParts(offsets.outputs, *inputs[0], outputs)) {
    return InvalidArgument("in_place_offsets are [",
                           StrJoin(offsets.outputs, ", "),
                           "], but input 0 has not the outputs' bytes there");
  }
  return OkStatus();
}

}  // namespace tim::testing
