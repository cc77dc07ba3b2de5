// OneHot, TopK and NonMaxSuppression of ONNX.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/onnx/ops/gathers/gathers.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/onehot.h"
#include "tim/vx/ops/simple_operations.h"
#include "tim/vx/ops/topk.h"

namespace tim::models::onnx::gathers {
namespace {

/// Operand `input`: a whole number of one element, from 1 to 2^31 - 1.
Result<int64_t> CountOperand(const Node& node, size_t input) {
  TIM_ASSIGN_OR_RETURN(const auto floats, node.ConstantFloats(input));
  if (floats.size() != 1 || !(floats[0] >= 0) || floats[0] > 2147483520.0f) {
    return InvalidArgument("operand ", input,
                           " is no single number from 0 to 2^31 - 128");
  }
  if (!IsFloat(node.inputs[input].type)) {
    TIM_ASSIGN_OR_RETURN(const auto values, node.ConstantInts(input));
    return values[0];
  }
  return static_cast<int64_t>(floats[0]);
}

/// Values that OneHot puts: they are attributes of float32 in the graph.
Result<std::vector<float>> OnOff(const Node& node) {
  TIM_ASSIGN_OR_RETURN(const auto values, node.ConstantFloats(2));
  if (values.size() != 2 ||
      node.inputs[2].quantization.Type() != vx::QuantType::NONE) {
    return InvalidArgument("operand 2 is ", Describe(node.inputs[2]),
                           ", expected two values without quantization");
  }
  if (IsInteger(node.inputs[2].type)) {
    TIM_ASSIGN_OR_RETURN(const auto integers, node.ConstantInts(2));
    constexpr int64_t kExact = 1 << 24;
    for (const int64_t value : integers) {
      if (value < -kExact || value > kExact) {
        return Unimplemented("operand 2 has the value ", value,
                             "; from -2^24 to 2^24 are taken");
      }
    }
  }
  return values;
}

/// The value x as one whose order is the other way round; twice it is x.
Result<Value> Mirrored(Node& node, const Value& value) {
  const Wanted like = Moved(value, value.dims);
  if (IsFloat(value.type))
    return node.builder->Add<vx::ops::Neg>({value}, like);
  // No integer overflows: -1 - x, and the largest - x of unsigned ones.
  HostArray from;
  const int64_t all_ones = -1;
  TIM_ASSIGN_OR_RETURN(from, FilledArray(value.type, {}, &all_ones));
  return node.builder->Add<vx::ops::Sub>({node.builder->Constant(from), value},
                                         like);
}

Result<int64_t> ReadK(const Node& node) {
  if (node.opset >= 10) return CountOperand(node, 1);
  return node.Int("k", -1);
}

}  // namespace

Status OneHot(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Value indices, NumberOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const int64_t depth, CountOperand(node, 1));
  TIM_ASSIGN_OR_RETURN(const auto values, OnOff(node));
  const int rank = indices.rank() + 1;
  TIM_ASSIGN_OR_RETURN(const int axis, node.Axis("axis", -1, rank));
  if (depth < 1) return InvalidArgument("operand 1, the depth, is ", depth);
  Dims dims = indices.dims;
  dims.insert(dims.begin() + axis, depth);
  const int64_t count = indices.ElementCount();
  Value narrow = indices;
  if (indices.constant != nullptr && indices.type == vx::DataType::INT64) {
    // Indices outside of 32 bits turn nothing on, as -1 - depth does.
    TIM_ASSIGN_OR_RETURN(auto wide, node.ConstantInts(0));
    std::vector<int32_t> clipped;
    for (const int64_t index : wide) {
      const bool inside = index >= -depth && index < depth;
      clipped.push_back(static_cast<int32_t>(inside ? index : -depth - 1));
    }
    narrow = node.builder->ConstantOf(clipped, indices.dims);
  } else if (indices.type != vx::DataType::INT64 &&
             indices.type != vx::DataType::INT32) {
    TIM_ASSIGN_OR_RETURN(narrow,
                         node.builder->Cast(indices, vx::DataType::INT32));
  }
  TIM_ASSIGN_OR_RETURN(const Value positive,
                       PositiveIndices(node, narrow, depth));
  if (count == 0) {
    return Unimplemented(
        "operand 0 has no elements; tensors of graphs have some");
  }
  const auto extent = static_cast<int32_t>(depth);
  return node.SetOutput(
      0,
      node.builder->Add<vx::ops::OneHot>(
          {positive}, Wanted::Of(node.inputs[2].type, std::move(dims)), extent,
          values[1], values[0], static_cast<int32_t>(GraphAxis(axis, rank))));
}

Status TopK(Node& node) {
  TIM_RETURN_IF_ERROR(
      CheckSpells(node, {{.operand = 1, .first = 10},
                         {.attribute = "k", .last = 9},
                         {.attribute = "largest", .first = 11},
                         {.attribute = "sorted", .first = 11}}));
  TIM_ASSIGN_OR_RETURN(const Value value, MovedOperand(node, 0, 1));
  TIM_ASSIGN_OR_RETURN(const int axis, node.Axis("axis", -1, value.rank()));
  TIM_ASSIGN_OR_RETURN(const int64_t k, ReadK(node));
  TIM_ASSIGN_OR_RETURN(const int64_t largest, node.Int("largest", 1));
  const bool quantized = value.quantization.Type() != vx::QuantType::NONE;
  if (!IsFloat(value.type) && !IsInteger(value.type)) {
    return Unimplemented("operand 0 is ", TypeText(value.type), "; floats and ",
                         "integers are taken");
  }
  if (quantized && largest == 0) {
    return Unimplemented(
        "attribute 'largest' is 0, and operand 0 is quantized: of ",
        "codes the greatest are taken");
  }
  if (k < 0 || k > value.dims[axis]) {
    return InvalidArgument("k is ", k, " of an axis of ", value.dims[axis],
                           " elements");
  }
  Dims dims = value.dims;
  dims[axis] = k;
  Value places;
  places.type = vx::DataType::INT64;
  if (k == 0) {
    TIM_RETURN_IF_ERROR(
        node.SetOutput(0, EmptyLike(node.builder, value, dims)));
    return node.SetOutput(1, EmptyLike(node.builder, places, dims));
  }
  Value ranked = value;
  if (largest == 0) {
    TIM_ASSIGN_OR_RETURN(ranked, Mirrored(node, value));
  }
  // Sorted elements are one of the orders that `sorted` 0 allows.
  TIM_ASSIGN_OR_RETURN(
      std::vector<Value> made,
      (node.builder->AddAll<vx::ops::Topk>(
          {ranked}, {Moved(value, dims), Wanted::Of(places.type, dims)},
          static_cast<uint32_t>(k),
          static_cast<int32_t>(GraphAxis(axis, value.rank())))));
  if (largest == 0) {
    TIM_ASSIGN_OR_RETURN(made[0], Mirrored(node, made[0]));
  }
  TIM_RETURN_IF_ERROR(node.SetOutput(0, made[0]));
  return node.SetOutput(1, made[1]);
}

Status NonMaxSuppression(Node&) {
  return Unimplemented(
      "how many boxes it selects follows from its inputs, and tensors of "
      "graphs have extents that are known; cut the model before it, and "
      "select boxes in the program");
}

}  // namespace tim::models::onnx::gathers
