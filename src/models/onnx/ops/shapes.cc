// Operators whose results are known when a model is read: extents, constants,
// ranges.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "models/onnx/element_type.h"
#include "models/onnx/operator_families.h"
#include "models/onnx/ops/operands.h"

namespace tim::models::onnx {
namespace {

using vx::DataType;

Status SetConstant(Node& node, HostArray array) {
  return node.SetOutput(0, node.builder->Constant(std::move(array)));
}

/// The model's extents of operand 0; quantization does not matter.
Result<Dims> Extents(const Node& node) {
  if (!node.Has(0)) return InvalidArgument("operand 0 is absent");
  return node.inputs[0].dims;
}

/// Extents from `start` up to `end`; both count from the end where negative,
/// and are limited to the rank.
Status Shape(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Dims dims, Extents(node));
  const auto rank = static_cast<int64_t>(dims.size());
  TIM_ASSIGN_OR_RETURN(int64_t start, node.Int("start", 0));
  TIM_ASSIGN_OR_RETURN(int64_t end, node.Int("end", rank));
  if (start < 0) start = start < -rank ? 0 : start + rank;
  if (end < 0) end = end < -rank ? 0 : end + rank;
  start = std::min(start, rank);
  end = std::max(start, std::min(end, rank));
  const std::vector<int64_t> taken(dims.begin() + start, dims.begin() + end);
  return SetConstant(node, ArrayOf(taken, {end - start}));
}

Status Size(Node& node) {
  TIM_RETURN_IF_ERROR(Extents(node).status());
  const std::vector<int64_t> count = {node.inputs[0].ElementCount()};
  return SetConstant(node, ArrayOf(count, {}));
}

/// The array of one of the attributes that Constant may have.
Result<HostArray> ConstantArray(const Node& node, const std::string& form) {
  if (form == "value") {
    const auto* array = std::get_if<HostArray>(&node.attributes.at(form));
    if (array != nullptr) return *array;
    return InvalidArgument("attribute 'value' is no tensor");
  }
  if (form == "value_int") {
    TIM_ASSIGN_OR_RETURN(const int64_t value, node.Int(form, 0));
    return ArrayOf(std::vector<int64_t>{value}, {});
  }
  if (form == "value_float") {
    TIM_ASSIGN_OR_RETURN(const float value, node.Float(form, 0));
    return ArrayOf(std::vector<float>{value}, {});
  }
  if (form == "value_ints") {
    TIM_ASSIGN_OR_RETURN(const std::vector<int64_t> values, node.Ints(form));
    return ArrayOf(values, {static_cast<int64_t>(values.size())});
  }
  if (form == "value_floats") {
    TIM_ASSIGN_OR_RETURN(const std::vector<float> values, node.FloatList(form));
    return ArrayOf(values, {static_cast<int64_t>(values.size())});
  }
  return Unimplemented("attribute '", form,
                       "' is not taken; value, value_int, value_ints, "
                       "value_float and value_floats are");
}

Status Constant(Node& node) {
  if (node.attributes.size() != 1) {
    return InvalidArgument(node.attributes.size(),
                           " attributes give the value, expected 1");
  }
  TIM_ASSIGN_OR_RETURN(HostArray array,
                       ConstantArray(node, node.attributes.begin()->first));
  return SetConstant(node, std::move(array));
}

Status CheckExtents(const Dims& dims) {
  for (const int64_t extent : dims) {
    if (extent < 0) {
      return InvalidArgument("operand 0 has the extent ", extent,
                             ", which is negative");
    }
  }
  return OkStatus();
}

/// The attribute `value`, an element; float32 0 where there is none.
Status ConstantOfShape(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Dims dims, node.ConstantInts(0));
  TIM_RETURN_IF_ERROR(CheckExtents(dims));
  HostArray element = ArrayOf(std::vector<float>{0}, {1});
  if (node.HasAttribute("value")) {
    const auto* array = std::get_if<HostArray>(&node.attributes.at("value"));
    if (array == nullptr || array->ElementCount() != 1) {
      return InvalidArgument("attribute 'value' is no tensor of one element");
    }
    element = *array;
  }
  if (element.type == DataType::INT4 || element.type == DataType::UINT4) {
    return Unimplemented("attribute 'value' is ", TypeText(element.type),
                         "; types of 8 bits and more are taken");
  }
  TIM_ASSIGN_OR_RETURN(HostArray filled,
                       FilledArray(element.type, dims, element.data.get()));
  return SetConstant(node, std::move(filled));
}

/// The number of elements of a range; -1 where it has too many.
int64_t RangeCount(double start, double limit, double delta) {
  const double count = std::ceil((limit - start) / delta);
  if (!(count > 0)) return 0;
  return count <= static_cast<double>(kMostMadeBytes / 8)
             ? static_cast<int64_t>(count)
             : -1;
}

Status TooLong() {
  return Unimplemented("a range of more than ", kMostMadeBytes / 8,
                       " elements");
}

/// start + i * delta, of integers.
template <typename T>
Status IntRange(Node& node) {
  int64_t bounds[3];
  for (size_t i = 0; i < 3; ++i) {
    TIM_ASSIGN_OR_RETURN(const std::vector<int64_t> values,
                         node.ConstantInts(i));
    if (values.size() != 1) {
      return InvalidArgument("operand ", i, " has ", values.size(),
                             " elements, expected 1");
    }
    bounds[i] = values[0];
  }
  const auto [start, limit, delta] = bounds;
  if (delta == 0) return InvalidArgument("operand 2 (delta) is 0");
  // Differences of distant bounds overflow 64 bits: doubles tell that there
  // are too many elements, and close bounds are counted exactly.
  int64_t count =
      RangeCount(static_cast<double>(start), static_cast<double>(limit),
                 static_cast<double>(delta));
  int64_t distance = 0;
  if (count < 0 || __builtin_sub_overflow(limit, start, &distance)) {
    return TooLong();
  }
  count = 0;
  if ((distance > 0) == (delta > 0) && distance != 0) {
    count = distance / delta + (distance % delta != 0 ? 1 : 0);
  }
  std::vector<T> values(count);
  for (int64_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>(start + i * delta);
  }
  return SetConstant(node, ArrayOf(values, {count}));
}

Status FloatRange(Node& node) {
  float bounds[3];
  for (size_t i = 0; i < 3; ++i) {
    TIM_ASSIGN_OR_RETURN(const std::vector<float> values,
                         node.ConstantFloats(i));
    if (values.size() != 1) {
      return InvalidArgument("operand ", i, " has ", values.size(),
                             " elements, expected 1");
    }
    if (!std::isfinite(values[0])) {
      return InvalidArgument("operand ", i, " is not finite");
    }
    bounds[i] = values[0];
  }
  const auto [start, limit, delta] = bounds;
  if (delta == 0) return InvalidArgument("operand 2 (delta) is 0");
  const int64_t count = RangeCount(start, limit, delta);
  if (count < 0) return TooLong();
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) {
    values[i] = start + static_cast<float>(i) * delta;
  }
  return SetConstant(node, ArrayOf(values, {count}));
}

Status Range(Node& node) {
  for (size_t i = 0; i < 3; ++i) {
    if (!node.Has(i)) return InvalidArgument("operand ", i, " is absent");
    TIM_RETURN_IF_ERROR(SameType(node.inputs[0], node.inputs[i]));
  }
  switch (node.inputs[0].type) {
    case DataType::INT16:
      return IntRange<int16_t>(node);
    case DataType::INT32:
      return IntRange<int32_t>(node);
    case DataType::INT64:
      return IntRange<int64_t>(node);
    case DataType::FLOAT32:
      return FloatRange(node);
    default:
      return Unimplemented("operand 0 is ", TypeText(node.inputs[0].type),
                           "; float32, int16, int32 and int64 are taken");
  }
}

/// The bytes of 1 in `type`.
Result<std::vector<unsigned char>> OneOf(DataType type) {
  if (type == DataType::FLOAT32) {
    const float one = 1;
    std::vector<unsigned char> bytes(sizeof(one));
    std::memcpy(bytes.data(), &one, sizeof(one));
    return bytes;
  }
  if (type == DataType::FLOAT16) return std::vector<unsigned char>{0x00, 0x3C};
  if (!IsInteger(type) && !IsBool(type)) {
    return Unimplemented("a matrix of ", TypeText(type));
  }
  std::vector<unsigned char> bytes(ByteSizeOf(type, {1}));
  const uint64_t one = 1;
  std::memcpy(bytes.data(), &one, bytes.size());
  return bytes;
}

/// 1 on diagonal `k` of a matrix with the extents of operand 0, else 0.
Status EyeLike(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Dims dims, Extents(node));
  if (dims.size() != 2) {
    return InvalidArgument("operand 0 is ", Describe(node.inputs[0]),
                           ", no matrix");
  }
  TIM_ASSIGN_OR_RETURN(const int64_t diagonal, node.Int("k", 0));
  DataType type = node.inputs[0].type;
  if (node.HasAttribute("dtype")) {
    TIM_ASSIGN_OR_RETURN(const int64_t number, node.Int("dtype", 0));
    auto named = DataTypeOf(number);
    if (!named.ok()) return named.status().WithContext("attribute 'dtype'");
    type = *named;
  }
  TIM_ASSIGN_OR_RETURN(const std::vector<unsigned char> one, OneOf(type));
  const std::vector<unsigned char> zero(one.size());
  TIM_ASSIGN_OR_RETURN(HostArray zeros, FilledArray(type, dims, zero.data()));
  if (zeros.bytes == 0) return SetConstant(node, std::move(zeros));
  const auto memory =
      std::make_shared<std::vector<int64_t>>(zeros.bytes / 8 + 1);
  auto* const target = reinterpret_cast<unsigned char*>(memory->data());
  for (int64_t row = 0; row < dims[0]; ++row) {
    // Rows that the diagonal does not reach, however far away it is.
    if (diagonal < -row || diagonal >= dims[1] - row) continue;
    const int64_t at = row * dims[1] + row + diagonal;
    std::memcpy(target + at * one.size(), one.data(), one.size());
  }
  zeros.data = std::shared_ptr<const void>(memory, memory->data());
  return SetConstant(node, std::move(zeros));
}

/// Whether an element is not 0; -0.0 is.
Result<std::vector<bool>> Truths(const HostArray& array) {
  std::vector<bool> truths;
  if (IsFloat(array.type)) {
    TIM_ASSIGN_OR_RETURN(const std::vector<float> values, Floats(array));
    for (const float value : values) truths.push_back(value != 0);
    return truths;
  }
  TIM_ASSIGN_OR_RETURN(const std::vector<int64_t> values, Integers(array));
  for (const int64_t value : values) truths.push_back(value != 0);
  return truths;
}

/// Indices of what is not 0: a row for each axis, a column for each element.
Status NonZero(Node& node) {
  if (!node.Has(0) || node.inputs[0].constant == nullptr) {
    return Unimplemented(
        "operand 0 must be known when the model is loaded: how many elements "
        "the result has follows from it");
  }
  const Dims& dims = node.inputs[0].dims;
  TIM_ASSIGN_OR_RETURN(const std::vector<bool> truths,
                       Truths(*node.inputs[0].constant));
  const int64_t count = std::count(truths.begin(), truths.end(), true);
  const auto rank = static_cast<int64_t>(dims.size());
  std::vector<int64_t> indices(rank * count);
  int64_t column = 0;
  for (size_t i = 0; i < truths.size(); ++i) {
    if (!truths[i]) continue;
    auto rest = static_cast<int64_t>(i);
    for (int64_t axis = rank - 1; axis >= 0; --axis) {
      indices[axis * count + column] = rest % dims[axis];
      rest /= dims[axis];
    }
    ++column;
  }
  return SetConstant(node, ArrayOf(indices, {rank, count}));
}

Status Random(Node& node) {
  return Unimplemented(node.op,
                       " gives other numbers in each run; give its results as "
                       "an input of the model");
}

}  // namespace

void AddShapes(OperatorTable* table) {
  const auto add = [table](const char* op, NodeFunction function,
                           int first = 1) {
    table->Add("", op, first, function);
  };
  add("Shape", Strict<Shape, 1, "start", "end">);
  add("Size", Strict<Size, 1>);
  add("Constant", Constant);
  add("ConstantOfShape", Strict<ConstantOfShape, 1, "value">, 9);
  add("Range", Strict<Range, 3>, 11);
  add("EyeLike", Strict<EyeLike, 1, "dtype", "k">, 9);
  add("NonZero", Strict<NonZero, 1>, 9);
  for (const char* op : {"RandomNormal", "RandomNormalLike", "RandomUniform",
                         "RandomUniformLike", "Multinomial", "Bernoulli"}) {
    add(op, Random);
  }
}

}  // namespace tim::models::onnx
