// Operands and attributes of recurrent nodes, and the parts that directions and
// gates have of them.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/onnx/ops/operands.h"
#include "models/onnx/ops/recurrent/recurrent.h"
#include "tim/vx/ops/reverse.h"
#include "tim/vx/ops/split.h"

namespace tim::models::onnx {
namespace {

namespace ops = vx::ops;

Status CheckDims(const Value& value, size_t input, const Dims& expected) {
  if (value.dims == expected) return OkStatus();
  return InvalidArgument("operand ", input, " is ", Describe(value),
                         ", expected [", StrJoin(expected, ","), "]");
}

/// Operand `input` with `expected` extents; absent where the node has none.
Result<Value> Optional(Node& node, size_t input, const Dims& expected) {
  if (!node.Has(input)) return Value();
  TIM_ASSIGN_OR_RETURN(Value value, FloatOperand(node, input));
  TIM_RETURN_IF_ERROR(SameType(node.inputs[0], value));
  TIM_RETURN_IF_ERROR(CheckDims(value, input, expected));
  return value;
}

/// Lengths of sequences; absent where all are as long as operand 0.
Result<Value> LengthsOf(const Node& node, int64_t steps, int64_t batch) {
  if (!node.Has(4)) return Value();
  const Value& lengths = node.inputs[4];
  TIM_RETURN_IF_ERROR(CheckDims(lengths, 4, {batch}));
  if (lengths.type != vx::DataType::INT32) {
    return InvalidArgument("operand 4 (sequence_lens) is ", Describe(lengths),
                           ", expected int32");
  }
  if (lengths.constant == nullptr) return lengths;
  TIM_ASSIGN_OR_RETURN(const std::vector<int64_t> known, node.ConstantInts(4));
  bool all_whole = true;
  for (const int64_t length : known) {
    if (length < 1 || length > steps) {
      return InvalidArgument("operand 4 (sequence_lens) has a length of ",
                             length, ", expected 1 to ", steps);
    }
    all_whole = all_whole && length == steps;
  }
  return all_whole ? Value() : lengths;
}

Status CheckNames(const Node& node) {
  for (const auto& [name, value] : node.attributes) {
    bool is_known = name == "input_forget" &&
                    (node.op == "LSTM" || node.op == "DynamicQuantizeLSTM");
    is_known |= name == "linear_before_reset" && node.op == "GRU";
    for (const char* known :
         {"activation_alpha", "activation_beta", "activations", "clip",
          "direction", "hidden_size", "layout"}) {
      is_known |= name == known;
    }
    if (!is_known) {
      return Unimplemented("attribute '", name, "', which is not known");
    }
  }
  return OkStatus();
}

/// Directions, clip and layout.
Result<RecurrentNode> ReadForm(Node& node) {
  TIM_RETURN_IF_ERROR(CheckNames(node));
  RecurrentNode made;
  TIM_ASSIGN_OR_RETURN(const std::string direction,
                       node.Text("direction", "forward"));
  if (direction != "forward" && direction != "reverse" &&
      direction != "bidirectional") {
    return InvalidArgument("attribute 'direction' is '", direction,
                           "'; 'forward', 'reverse' and 'bidirectional' are "
                           "taken");
  }
  made.directions = direction == "bidirectional" ? 2 : 1;
  made.is_reverse = direction == "reverse";
  TIM_ASSIGN_OR_RETURN(const int64_t layout, node.Int("layout", 0));
  if (layout != 0 && layout != 1) {
    return InvalidArgument("attribute 'layout' is ", layout,
                           ", neither 0 nor 1");
  }
  made.layer.time_major = layout == 0;
  TIM_ASSIGN_OR_RETURN(made.layer.clip, node.Float("clip", 0));
  if (!(made.layer.clip >= 0)) {
    return InvalidArgument("attribute 'clip' is ", made.layer.clip,
                           "; 0 and more are taken");
  }
  TIM_ASSIGN_OR_RETURN(const int64_t resets_after,
                       node.Int("linear_before_reset", 0));
  made.layer.resets_after = resets_after != 0;
  TIM_ASSIGN_OR_RETURN(const int64_t couples, node.Int("input_forget", 0));
  made.layer.couples = couples != 0;
  made.layer.wants_sequence = node.Wants(0);
  return made;
}

/// The states of direction `index`: axis 0 or, of layout 1, axis 1.
Result<Value> StateOf(Node& node, const RecurrentNode& whole,
                      const Value& states, int index) {
  if (states.IsAbsent()) return states;
  const RecurrentLayer& layer = whole.layer;
  const Dims dims = {layer.batch, layer.units};
  if (whole.directions == 1) return node.builder->Reshape(states, dims);
  Dims part = states.dims;
  part[layer.time_major ? 0 : 1] = 1;
  const uint32_t axis = layer.time_major ? 2 : 1;
  const Wanted wanted = Wanted::Of(states.type, part);
  TIM_ASSIGN_OR_RETURN(
      const std::vector<Value> parts,
      node.builder->AddAll<ops::Split>({states}, {wanted, wanted}, axis,
                                       std::vector<uint32_t>{1, 1}));
  return node.builder->Reshape(parts[index], dims);
}

}  // namespace

Result<RecurrentNode> ReadRecurrent(
    Node& node, int gates, const std::vector<ActivationKind>& defaults) {
  TIM_ASSIGN_OR_RETURN(RecurrentNode made, ReadForm(node));
  RecurrentLayer& layer = made.layer;
  TIM_ASSIGN_OR_RETURN(layer.x, FloatOperand(node, 0));
  const Value& r = node.inputs[2];
  if (layer.x.rank() != 3 || r.rank() != 3) {
    return InvalidArgument("operands 0 and 2 are ", Describe(layer.x), " and ",
                           Describe(r), "; ranks of 3 are taken");
  }
  if (layer.x.ElementCount() < 1 || r.ElementCount() < 1) {
    return InvalidArgument("operands 0 and 2 are ", Describe(layer.x), " and ",
                           Describe(r), "; neither may be empty");
  }
  layer.gates = gates;
  layer.steps = layer.x.dims[layer.time_major ? 0 : 1];
  layer.batch = layer.x.dims[layer.time_major ? 1 : 0];
  const bool coded = node.op == "DynamicQuantizeLSTM";
  layer.units = r.dims[coded ? 1 : 2];
  TIM_ASSIGN_OR_RETURN(const int64_t hidden,
                       node.Int("hidden_size", layer.units));
  if (hidden != layer.units) {
    return InvalidArgument("attribute 'hidden_size' is ", hidden,
                           ", but operand 2 has ", layer.units, " units");
  }
  const int64_t units = layer.units;
  const int64_t directions = made.directions;
  if (coded) {
    TIM_RETURN_IF_ERROR(ReadCodes(node, &made));
  } else {
    TIM_ASSIGN_OR_RETURN(layer.r,
                         Optional(node, 2, {directions, gates * units, units}));
    TIM_ASSIGN_OR_RETURN(
        layer.w,
        Optional(node, 1, {directions, gates * units, layer.x.dims[2]}));
    if (layer.w.IsAbsent()) return InvalidArgument("operand 1 is absent");
  }
  TIM_ASSIGN_OR_RETURN(layer.b,
                       Optional(node, 3, {directions, 2 * gates * units}));
  TIM_ASSIGN_OR_RETURN(layer.lengths,
                       LengthsOf(node, layer.steps, layer.batch));
  const Dims states = layer.time_major ? Dims{directions, layer.batch, units}
                                       : Dims{layer.batch, directions, units};
  TIM_ASSIGN_OR_RETURN(layer.h, Optional(node, 5, states));
  if (gates == 4) {
    TIM_ASSIGN_OR_RETURN(layer.c, Optional(node, 6, states));
    TIM_ASSIGN_OR_RETURN(layer.p, Optional(node, 7, {directions, 3 * units}));
  }
  TIM_ASSIGN_OR_RETURN(layer.activations,
                       ActivationsOf(node, defaults, made.directions));
  made.activations = defaults.size();
  return made;
}

Result<Value> ReversedSteps(Node& node, const RecurrentLayer& layer,
                            const Value& x) {
  const int32_t axis = layer.time_major ? 2 : 1;
  return node.builder->Add<ops::Reverse>({x}, Wanted::Of(x.type, x.dims),
                                         std::vector<int32_t>{axis});
}

Result<RecurrentLayer> LayerOf(Node& node, const RecurrentNode& whole,
                               int index, bool is_reverse) {
  RecurrentLayer layer = whole.layer;
  const auto part = [&](Value* value, const Dims& dims) -> Status {
    if (value->IsAbsent()) return OkStatus();
    TIM_ASSIGN_OR_RETURN(const std::vector<Value> parts,
                         Parts(node, *value, whole.directions, dims));
    *value = parts[index];
    return OkStatus();
  };
  const int64_t rows = layer.gates * layer.units;
  TIM_RETURN_IF_ERROR(TakeCodes(node, whole, index, &layer));
  TIM_RETURN_IF_ERROR(part(&layer.w, {rows, layer.x.dims[2]}));
  TIM_RETURN_IF_ERROR(part(&layer.r, {rows, layer.units}));
  TIM_RETURN_IF_ERROR(part(&layer.b, {2 * rows}));
  TIM_RETURN_IF_ERROR(part(&layer.p, {3 * layer.units}));
  TIM_ASSIGN_OR_RETURN(layer.h, StateOf(node, whole, layer.h, index));
  TIM_ASSIGN_OR_RETURN(layer.c, StateOf(node, whole, layer.c, index));
  const auto first =
      whole.layer.activations.begin() + index * whole.activations;
  layer.activations.assign(first, first + whole.activations);
  layer.is_reverse = is_reverse;
  if (is_reverse) {
    TIM_ASSIGN_OR_RETURN(layer.x, ReversedSteps(node, layer, layer.x));
  }
  return layer;
}

Result<std::vector<Value>> Parts(Node& node, const Value& value, int64_t count,
                                 const Dims& dims) {
  if (count == 1) {
    TIM_ASSIGN_OR_RETURN(Value whole, node.builder->Reshape(value, dims));
    return std::vector<Value>{std::move(whole)};
  }
  std::vector<Value> parts;
  if (value.constant != nullptr) {
    const HostArray& array = *value.constant;
    const size_t bytes = array.bytes / count;
    const auto* const begin = static_cast<const char*>(array.data.get());
    for (int64_t i = 0; i < count; ++i) {
      HostArray part;
      part.type = array.type;
      part.dims = dims;
      part.bytes = bytes;
      part.data = std::shared_ptr<const void>(array.data, begin + i * bytes);
      parts.push_back(node.builder->Constant(std::move(part), value.name));
    }
    return parts;
  }
  Dims rows = dims;
  rows.insert(rows.begin(), count);
  TIM_ASSIGN_OR_RETURN(Value split, node.builder->Reshape(value, rows));
  rows[0] = 1;
  const std::vector<Wanted> wanted(count, Wanted::Of(value.type, rows));
  TIM_ASSIGN_OR_RETURN(parts,
                       node.builder->AddAll<ops::Split>(
                           {split}, wanted, static_cast<uint32_t>(dims.size()),
                           std::vector<uint32_t>(count, 1)));
  for (Value& part : parts) {
    TIM_ASSIGN_OR_RETURN(part, node.builder->Reshape(part, dims));
  }
  return parts;
}

}  // namespace tim::models::onnx
