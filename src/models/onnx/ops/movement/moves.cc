// Moves of elements as operations of a graph: ranges, chosen elements, joins.
#include "models/onnx/ops/movement/moves.h"

#include <algorithm>
#include <utility>

#include "base/checked_math.h"
#include "base/str_cat.h"
#include "tim/vx/ops/concat.h"
#include "tim/vx/ops/gather.h"
#include "tim/vx/ops/reverse.h"
#include "tim/vx/ops/simple_operations.h"
#include "tim/vx/ops/slice.h"

namespace tim::models::onnx {

Result<Value> MovedOperand(const Node& node, size_t input) {
  if (!node.Has(input)) return InvalidArgument("operand ", input, " is absent");
  const Value& value = node.inputs[input];
  const vx::QuantType type = value.quantization.Type();
  if (type == vx::QuantType::SYMMETRIC_PER_CHANNEL ||
      type == vx::QuantType::ASYMMETRIC_PER_CHANNEL) {
    return Unimplemented("operand ", input,
                         " has a scale per channel; one scale is taken");
  }
  return value;
}

Result<Value> MovedOperand(const Node& node, size_t input, int least) {
  TIM_ASSIGN_OR_RETURN(Value value, MovedOperand(node, input));
  if (value.rank() >= least) return value;
  return InvalidArgument("operand ", input, " has rank ", value.rank(),
                         ", expected at least ", least);
}

Result<int64_t> Extent(const Dims& dims, size_t begin, size_t end) {
  int64_t product = 1;
  for (size_t i = begin; i < end; ++i) {
    const auto next = CheckedMul(product, dims[i]);
    if (!next) {
      return InvalidArgument("the extents ", DimsText(dims), " are too large");
    }
    product = *next;
  }
  return product;
}

std::string DimsText(const Dims& dims) {
  return StrCat("[", StrJoin(dims, ","), "]");
}

Result<Value> EmptyLike(GraphBuilder* builder, const Value& value, Dims dims) {
  HostArray array;
  array.type = value.type;
  array.dims = std::move(dims);
  array.data = std::make_shared<int64_t>(0);
  return builder->Constant(std::move(array), "", value.quantization);
}

Value ZeroLike(GraphBuilder* builder, const Value& value) {
  HostArray array;
  array.type = value.type;
  array.bytes = static_cast<size_t>(ByteSizeOf(value.type, {}));
  array.data = std::make_shared<int64_t>(0);
  return builder->Constant(std::move(array), "", value.quantization);
}

Value BoolConstant(GraphBuilder* builder, const std::vector<uint8_t>& values,
                   Dims dims) {
  HostArray array = ArrayOf(values, std::move(dims));
  array.type = vx::DataType::BOOL8;
  return builder->Constant(std::move(array));
}

Result<Value> TakeRanges(GraphBuilder* builder, const Value& value,
                         const std::vector<AxisRange>& ranges) {
  const int rank = value.rank();
  Dims dims;
  std::vector<int32_t> first(rank), length(rank), step(rank), reversed;
  bool whole = true, stepped = false;
  for (int axis = 0; axis < rank; ++axis) {
    const AxisRange& range = ranges[axis];
    dims.push_back(range.count);
    whole = whole && range.count == value.dims[axis];
    if (range.count == 0) continue;
    const int at = GraphAxis(axis, rank);
    const bool backwards = range.step < 0 && range.count > 1;
    const int64_t stride =
        range.count == 1 ? 1 : (backwards ? -range.step : range.step);
    const int64_t last = range.first + (range.count - 1) * range.step;
    first[at] = static_cast<int32_t>(backwards ? last : range.first);
    length[at] = static_cast<int32_t>((range.count - 1) * stride + 1);
    step[at] = static_cast<int32_t>(stride);
    stepped = stepped || stride != 1;
    if (backwards) reversed.push_back(at);
  }
  if (std::count(dims.begin(), dims.end(), 0) != 0) {
    return EmptyLike(builder, value, std::move(dims));
  }
  Value made = value;
  if (!whole) {
    const auto all = static_cast<uint32_t>(rank);
    if (stepped) {
      TIM_ASSIGN_OR_RETURN(
          made, builder->Add<vx::ops::Slice>({value}, Moved(value, dims), all,
                                             first, length, step));
    } else {
      TIM_ASSIGN_OR_RETURN(
          made, builder->Add<vx::ops::Slice>({value}, Moved(value, dims), all,
                                             first, length));
    }
  }
  if (reversed.empty()) return made;
  return builder->Add<vx::ops::Reverse>({made}, Moved(value, dims), reversed);
}

Result<Value> TakeIndices(GraphBuilder* builder, const Value& value, int axis,
                          const std::vector<int64_t>& indices) {
  Dims dims = value.dims;
  dims[axis] = static_cast<int64_t>(indices.size());
  if (std::count(dims.begin(), dims.end(), 0) != 0) {
    return EmptyLike(builder, value, std::move(dims));
  }
  const int64_t step = indices.size() > 1 ? indices[1] - indices[0] : 1;
  bool regular = step != 0;
  for (size_t i = 1; i < indices.size() && regular; ++i) {
    regular = indices[i] - indices[i - 1] == step;
  }
  if (regular) {
    std::vector<AxisRange> ranges;
    for (const int64_t extent : value.dims) ranges.push_back({0, extent, 1});
    ranges[axis] = {indices[0], dims[axis], step};
    return TakeRanges(builder, value, ranges);
  }
  const std::vector<int32_t> narrow(indices.begin(), indices.end());
  const Value places = builder->ConstantOf(narrow, {dims[axis]});
  return builder->Add<vx::ops::Gather>({value, places}, Moved(value, dims),
                                       GraphAxis(axis, value.rank()));
}

Result<Value> Join(GraphBuilder* builder, const std::vector<Value>& values,
                   int axis) {
  if (values.size() == 1) return values[0];
  Dims dims = values[0].dims;
  for (size_t i = 1; i < values.size(); ++i) {
    const auto sum = CheckedAdd(dims[axis], values[i].dims[axis]);
    if (!sum) return InvalidArgument("extents along the axis are too large");
    dims[axis] = *sum;
  }
  return builder->Add<vx::ops::Concat>(
      values, Moved(values[0], dims),
      static_cast<uint32_t>(GraphAxis(axis, values[0].rank())),
      static_cast<int>(values.size()));
}

Result<Value> AsFloat(GraphBuilder* builder, const Value& value) {
  if (value.type == vx::DataType::FLOAT32) return value;
  return builder->Add<vx::ops::DataConvert>(
      {value}, Wanted::Of(vx::DataType::FLOAT32, value.dims));
}

Result<Value> InTypeOf(GraphBuilder* builder, const Value& value,
                       const Value& like) {
  if (like.type == vx::DataType::FLOAT32) return value;
  return builder->Add<vx::ops::DataConvert>({value}, Moved(like, value.dims));
}

Status CheckSpells(const Node& node, std::initializer_list<Spell> spells) {
  for (const Spell& spell : spells) {
    if (node.opset >= spell.first && node.opset <= spell.last) continue;
    const bool is_operand = spell.attribute == nullptr;
    if (is_operand ? !node.Has(spell.operand)
                   : !node.HasAttribute(spell.attribute)) {
      continue;
    }
    const std::string name = is_operand
                                 ? StrCat("operand ", spell.operand)
                                 : StrCat("attribute '", spell.attribute, "'");
    return InvalidArgument(name, " is there, which ", node.op,
                           " does not have at opset ", node.opset);
  }
  return OkStatus();
}

Result<int64_t> PositiveIndex(int64_t index, int64_t extent) {
  if (index >= -extent && index < extent) {
    return index < 0 ? index + extent : index;
  }
  return InvalidArgument("index ", index, " is outside of an axis of ", extent,
                         " elements");
}

}  // namespace tim::models::onnx
