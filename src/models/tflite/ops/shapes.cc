// Operators about shapes, and tensors made of numbers.
#include <algorithm>
#include <cmath>

#include "base/checked_math.h"
#include "models/tflite/node.h"
#include "tim/vx/ops/broadcast.h"
#include "tim/vx/ops/simple_operations.h"
#include "tim/vx/ops/tile.h"

namespace tim::models::tflite {
namespace {

namespace ops = vx::ops;

// The value in other extents, in the output's quantization.
Status SetReshaped(Node& node, const Value& value, const Dims& dims) {
  const Value& declared = node.declared[0];
  if (value.constant != nullptr ||
      value.quantization == declared.quantization ||
      declared.quantization.Type() == vx::QuantType::NONE) {
    return node.SetOutput(0, node.builder().Reshape(value, dims));
  }
  TIM_ASSIGN_OR_RETURN(
      const Value converted,
      node.builder().Add<ops::DataConvert>({value}, node.WantedOf(0)));
  return node.SetOutput(0, node.builder().Reshape(converted, dims));
}

Status Reshape(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 2));
  std::vector<int64_t> shape;
  std::string whose = "input 1";
  if (node.Has(1)) {
    TIM_ASSIGN_OR_RETURN(shape, node.ConstantInts(1));
  } else {
    whose = "new_shape";
    TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Reshape>());
    for (const int32_t extent : Items(options->shape())) {
      shape.push_back(extent);
    }
  }
  const Value& input = node.inputs[0];
  // Old files write a scalar's shape as [0].
  if (shape.size() == 1 && shape[0] == 0 && input.ElementCount() == 1) {
    shape.clear();
  }
  int64_t known = 1;
  int64_t* open = nullptr;
  for (int64_t& extent : shape) {
    if (extent == -1 && open == nullptr) {
      open = &extent;
      continue;
    }
    const auto product = CheckedMul(known, extent);
    if (extent < 1 || !product) {
      return node.Refuse(whose, "extents [", StrJoin(shape, ","), "]");
    }
    known = *product;
  }
  const int64_t count = input.ElementCount();
  if (open != nullptr && count % known == 0) {
    *open = count / known;
    known = count;
  }
  if (known != count) {
    return node.Refuse(whose, "extents [", StrJoin(shape, ","), "] for ",
                       Describe(input),
                       "; a shape that the file fixes does not follow inputs "
                       "of another size");
  }
  return SetReshaped(node, input, shape);
}

Status Squeeze(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Squeeze>());
  const Value& input = node.inputs[0];
  const auto listed = Items(options->axes());
  std::vector<bool> goes(input.dims.size());
  for (size_t i = 0; listed.empty() && i < goes.size(); ++i) {
    goes[i] = input.dims[i] == 1;
  }
  for (const int32_t axis : listed) {
    TIM_ASSIGN_OR_RETURN(const int positive,
                         node.Axis("squeeze_dims", axis, input.rank()));
    if (input.dims[positive] != 1) {
      return node.Refuse("squeeze_dims", "axis ", axis, " of ",
                         Describe(input));
    }
    goes[positive] = true;
  }
  Dims dims;
  for (size_t i = 0; i < goes.size(); ++i) {
    if (!goes[i]) dims.push_back(input.dims[i]);
  }
  return SetReshaped(node, input, dims);
}

Status ExpandDims(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  TIM_ASSIGN_OR_RETURN(const int64_t listed, node.ConstantInt(1));
  const Value& input = node.inputs[0];
  TIM_ASSIGN_OR_RETURN(const int axis,
                       node.Axis("input 1", listed, input.rank() + 1));
  Dims dims = input.dims;
  dims.insert(dims.begin() + axis, 1);
  return SetReshaped(node, input, dims);
}

// Extents of a tensor that is made, from 1 on.
Result<Dims> WholeDims(Node& node, size_t operand) {
  TIM_ASSIGN_OR_RETURN(const auto dims, node.ConstantInts(operand));
  for (const int64_t extent : dims) {
    if (extent >= 1 && extent <= INT32_MAX && dims.size() <= 8) continue;
    return node.Refuse(StrCat("input ", operand), "extents [",
                       StrJoin(dims, ","), "]");
  }
  return dims;
}

// `value` repeated to `dims`.
Status SetBroadcast(Node& node, const Value& value, const Dims& dims) {
  if (dims.empty()) {
    return node.SetOutput(0, node.builder().Reshape(value, dims));
  }
  const vx::ShapeType shape = GraphShape(dims);
  return node.SetOutput(
      0, node.builder().Add<ops::Broadcast>({value}, node.WantedOf(0, dims),
                                            std::vector<uint32_t>(shape)));
}

Status BroadcastTo(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  TIM_ASSIGN_OR_RETURN(const Dims dims, WholeDims(node, 1));
  TIM_ASSIGN_OR_RETURN(const Dims both,
                       BroadcastDims(node.inputs[0].dims, dims));
  if (both != dims) {
    return node.Refuse("input 1", "[", StrJoin(dims, ","), "] for ",
                       Describe(node.inputs[0]));
  }
  return SetBroadcast(node, node.inputs[0], dims);
}

Status Fill(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  TIM_ASSIGN_OR_RETURN(const Dims dims, WholeDims(node, 0));
  if (node.inputs[1].ElementCount() != 1) {
    return node.Refuse("input 1", Describe(node.inputs[1]), ", not one number");
  }
  return SetBroadcast(node, node.inputs[1], dims);
}

Status Tile(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  TIM_ASSIGN_OR_RETURN(const auto listed, node.ConstantInts(1));
  const size_t rank = node.inputs[0].dims.size();
  if (listed.size() != rank || rank == 0) {
    return node.Refuse("input 1", listed.size(), " multiples of rank ", rank);
  }
  std::vector<int32_t> multiples;
  for (size_t i = rank; i-- > 0;) {
    if (listed[i] < 1 || listed[i] > INT32_MAX) {
      return node.Refuse("input 1", "multiples [", StrJoin(listed, ","), "]");
    }
    multiples.push_back(static_cast<int32_t>(listed[i]));
  }
  return node.SetOutput(0, node.builder().Add<ops::Tile>(
                               {node.inputs[0]}, node.WantedOf(0), multiples));
}

// Integers are folded before, see fold.h.
Status Range(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(3, 3));
  std::vector<float> numbers;
  for (size_t i = 0; i < 3; ++i) {
    TIM_ASSIGN_OR_RETURN(const auto number, node.ConstantFloats(i));
    if (number.size() != 1) {
      return node.Refuse(StrCat("input ", i), "it has ", number.size(),
                         " elements, not 1");
    }
    numbers.push_back(number[0]);
  }
  const double count =
      std::ceil((static_cast<double>(numbers[1]) - numbers[0]) / numbers[2]);
  if (!(count >= 1 && count <= (1 << 24)) ||
      node.declared[0].type != vx::DataType::FLOAT32) {
    return node.Refuse("inputs", "from ", numbers[0], " to ", numbers[1],
                       " by ", numbers[2]);
  }
  TIM_RETURN_IF_ERROR(node.workspace->Spend(static_cast<int64_t>(count) * 4));
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = numbers[0] + static_cast<float>(i) * numbers[2];
  }
  const auto extent = static_cast<int64_t>(values.size());
  return node.SetOutput(0, node.builder().ConstantOf(values, {extent}));
}

// Operators that fold.h takes: this says why one was not.
Status Unfolded(Node& node) {
  return node.Refuse("", "it is taken where its operands are constants");
}

}  // namespace

void AddShapes(OperatorTable* table) {
  OperatorTable& to = *table;
  to["RESHAPE"] = Reshape;
  to["SQUEEZE"] = Squeeze;
  to["EXPAND_DIMS"] = ExpandDims;
  to["BROADCAST_TO"] = BroadcastTo;
  to["FILL"] = Fill;
  to["TILE"] = Tile;
  to["RANGE"] = Range;
  to["SHAPE"] = Unfolded;
  to["RANK"] = Unfolded;
  to["BROADCAST_ARGS"] = Unfolded;
}

}  // namespace tim::models::tflite
