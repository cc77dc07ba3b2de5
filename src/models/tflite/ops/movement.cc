// Operators that join, permute and pad tensors.
#include "models/tflite/node.h"
#include "tim/vx/ops/concat.h"
#include "tim/vx/ops/pad.h"
#include "tim/vx/ops/pad_v2.h"
#include "tim/vx/ops/stack.h"

namespace tim::models::tflite {
namespace {

namespace ops = vx::ops;

Status Transpose(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  TIM_ASSIGN_OR_RETURN(const auto listed, node.ConstantInts(1));
  const int rank = node.inputs[0].rank();
  std::vector<int> order;
  std::vector<bool> seen(static_cast<size_t>(rank));
  for (const int64_t axis : listed) {
    TIM_ASSIGN_OR_RETURN(const int positive, node.Axis("input 1", axis, rank));
    if (!seen[positive]) order.push_back(positive);
    seen[positive] = true;
  }
  if (static_cast<int>(order.size()) != rank || order.size() != listed.size()) {
    return node.Refuse("input 1", "[", StrJoin(listed, ","),
                       "] is no order of ", rank, " axes");
  }
  return node.SetOutput(0, node.Permuted(node.inputs[0], order));
}

Status Concatenation(Node& node) {
  const size_t count = node.inputs.size();
  TIM_RETURN_IF_ERROR(node.Expect(count, 4096));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Concatenation>());
  if (count == 0) return node.Refuse("inputs", "there are none");
  const int rank = node.inputs[0].rank();
  TIM_ASSIGN_OR_RETURN(const int axis,
                       node.Axis("axis", options->axis(), rank));
  std::vector<Value> parts;
  for (const Value& input : node.inputs) {
    if (input.rank() == rank && input.dims[axis] == 0) continue;
    parts.push_back(input);
  }
  if (parts.empty()) return node.Refuse("inputs", "none has an element");
  if (parts.size() == 1 && count > 1 &&
      parts[0].quantization == node.declared[0].quantization) {
    return node.SetActivated(0, parts[0], options->activation());
  }
  return node.SetActivated(
      0,
      node.builder().Add<ops::Concat>(
          parts, node.WantedOf(0), static_cast<uint32_t>(GraphAxis(axis, rank)),
          static_cast<int>(parts.size())),
      options->activation());
}

Status Pack(Node& node) {
  const size_t count = node.inputs.size();
  TIM_RETURN_IF_ERROR(node.Expect(count, 4096));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Pack>());
  if (count == 0) return node.Refuse("inputs", "there are none");
  const int rank = node.inputs[0].rank();
  TIM_ASSIGN_OR_RETURN(const int axis,
                       node.Axis("axis", options->axis(), rank + 1));
  Dims dims = node.inputs[0].dims;
  for (const Value& input : node.inputs) {
    if (input.dims != dims) {
      return node.Refuse("inputs", Describe(input), " beside ",
                         Describe(node.inputs[0]));
    }
  }
  dims.insert(dims.begin() + axis, static_cast<int64_t>(count));
  if (rank == 0) {
    // The graph's scalars have rank 1.
    return node.SetOutput(0, node.builder().Add<ops::Concat>(
                                 node.inputs, node.WantedOf(0, dims),
                                 uint32_t{0}, static_cast<int>(count)));
  }
  return node.SetOutput(
      0, node.builder().Add<ops::Stack>(node.inputs, node.WantedOf(0, dims),
                                        static_cast<uint32_t>(rank - axis),
                                        static_cast<int>(count)));
}

struct Edges {
  std::vector<uint32_t> front;
  std::vector<uint32_t> back;
};

// Input 1: [rank, 2].
Result<Edges> EdgesOf(Node& node) {
  TIM_ASSIGN_OR_RETURN(const auto listed, node.ConstantInts(1));
  const size_t rank = node.inputs[0].dims.size();
  if (listed.size() != 2 * rank || rank == 0) {
    return node.Refuse("input 1", listed.size(), " counts of rank ", rank);
  }
  Edges edges;
  for (size_t i = rank; i-- > 0;) {
    for (const int64_t count : {listed[2 * i], listed[2 * i + 1]}) {
      if (count < 0 || count > INT32_MAX) {
        return node.Refuse("input 1", "axis ", i, " gets ", count,
                           " elements more");
      }
    }
    edges.front.push_back(static_cast<uint32_t>(listed[2 * i]));
    edges.back.push_back(static_cast<uint32_t>(listed[2 * i + 1]));
  }
  return edges;
}

Status Pad(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  TIM_ASSIGN_OR_RETURN(const Edges edges, EdgesOf(node));
  return node.SetOutput(
      0, node.builder().Add<ops::Pad>({node.inputs[0]}, node.WantedOf(0),
                                      edges.front, edges.back, 0));
}

Status PadV2(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(3, 3));
  TIM_ASSIGN_OR_RETURN(const Edges edges, EdgesOf(node));
  TIM_ASSIGN_OR_RETURN(const auto padding, node.ConstantFloats(2));
  if (padding.size() != 1) {
    return node.Refuse("input 2", "it has ", padding.size(),
                       " elements, not 1");
  }
  return node.SetOutput(
      0, node.builder().Add<ops::PadV2>({node.inputs[0]}, node.WantedOf(0),
                                        edges.front, edges.back, padding[0]));
}

Status MirrorPad(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::MirrorPad>());
  TIM_ASSIGN_OR_RETURN(const Edges edges, EdgesOf(node));
  if (options->mode() != fbs::MirrorMode::REFLECT &&
      options->mode() != fbs::MirrorMode::SYMMETRIC) {
    return node.Refuse("mode", "number ", static_cast<int>(options->mode()));
  }
  const auto mode = options->mode() == fbs::MirrorMode::REFLECT
                        ? ops::Pad::PAD_MODE_REFLECT
                        : ops::Pad::PAD_MODE_SYMMETRIC;
  return node.SetOutput(
      0, node.builder().Add<ops::Pad>({node.inputs[0]}, node.WantedOf(0),
                                      edges.front, edges.back, 0, mode));
}

}  // namespace

void AddMovement(OperatorTable* table) {
  OperatorTable& to = *table;
  to["TRANSPOSE"] = Transpose;
  to["CONCATENATION"] = Concatenation;
  to["PACK"] = Pack;
  to["PAD"] = Pad;
  to["PADV2"] = PadV2;
  to["MIRROR_PAD"] = MirrorPad;
}

}  // namespace tim::models::tflite
