// Fourier transforms, as products with matrices of cosines and sines.
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "models/onnx/operator_families.h"
#include "models/onnx/ops/operands.h"
#include "models/onnx/ops/signals/signals.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/fullyconnected.h"
#include "tim/vx/ops/signal_frame.h"
#include "tim/vx/ops/split.h"

namespace tim::models::onnx {
namespace {

namespace ops = vx::ops;
using vx::DataType;

/// A transform of vectors.
struct Transform {
  int64_t length = 0;  ///< Elements; those that x lacks are 0.
  int64_t bins = 0;    ///< Numbers of the result.
  bool is_inverse = false;
};

/// Bound of a matrix that is made.
constexpr int64_t kMostMatrixElements = kMostMadeBytes / 4;

/// Rows are the real and imaginary part of each bin, columns those parts of
/// `count` elements that are `parts` numbers each: 1, real, or 2.
Result<Value> MatrixOf(Node& node, const Transform& transform, int64_t count,
                       int64_t parts) {
  if (transform.bins > kMostMatrixElements / (2 * parts * count)) {
    return Unimplemented("a transform of ", count, " elements to ",
                         transform.bins, ", which is too large for a matrix");
  }
  const double sign = transform.is_inverse ? 1 : -1;
  const double scale =
      transform.is_inverse ? 1.0 / static_cast<double>(transform.length) : 1;
  const int64_t columns = count * parts;
  std::vector<float> values(2 * transform.bins * columns);
  for (int64_t bin = 0; bin < transform.bins; ++bin) {
    float* const real = values.data() + 2 * bin * columns;
    float* const imaginary = real + columns;
    for (int64_t i = 0; i < count; ++i) {
      // The angle's multiples of a turn are left out in integers.
      const int64_t step = bin * i % transform.length;
      const double angle = 2 * std::numbers::pi * static_cast<double>(step) /
                           static_cast<double>(transform.length);
      const auto cosine = static_cast<float>(scale * std::cos(angle));
      const auto sine = static_cast<float>(scale * sign * std::sin(angle));
      real[i * parts] = cosine;
      imaginary[i * parts] = sine;
      if (parts == 1) continue;
      real[i * parts + 1] = -sine;
      imaginary[i * parts + 1] = cosine;
    }
  }
  return node.builder->ConstantOf(values, {2 * transform.bins, columns});
}

/// `x`, {..., count, parts}, transformed: {..., bins, 2}.
Result<Value> Transformed(Node& node, const Value& x,
                          const Transform& transform, DataType type) {
  const int rank = x.rank();
  const int64_t count = x.dims[rank - 2];
  const int64_t parts = x.dims[rank - 1];
  TIM_ASSIGN_OR_RETURN(const Value matrix,
                       MatrixOf(node, transform, count, parts));
  const int64_t rows = x.ElementCount() / (count * parts);
  TIM_ASSIGN_OR_RETURN(Value flat,
                       node.builder->Reshape(x, {rows, count * parts}));
  TIM_ASSIGN_OR_RETURN(
      Value product,
      node.builder->Add<ops::FullyConnected>(
          {flat, matrix}, Wanted::Of(type, {rows, 2 * transform.bins}), 0u));
  Dims dims = x.dims;
  dims[rank - 2] = transform.bins;
  dims[rank - 1] = 2;
  return node.builder->Reshape(product, dims);
}

/// The first `count` elements of `axis`.
Result<Value> Beginning(Node& node, const Value& x, int axis, int64_t count) {
  Dims first = x.dims;
  first[axis] = count;
  Dims rest = x.dims;
  rest[axis] -= count;
  TIM_ASSIGN_OR_RETURN(
      std::vector<Value> parts,
      node.builder->AddAll<ops::Split>(
          {x}, {Wanted::Of(x.type, first), Wanted::Of(x.type, rest)},
          static_cast<uint32_t>(GraphAxis(axis, x.rank())),
          std::vector<uint32_t>{static_cast<uint32_t>(first[axis]),
                                static_cast<uint32_t>(rest[axis])}));
  return std::move(parts[0]);
}

/// Operand `input`, one integer from 1 to 2^31 - 1.
Result<int64_t> PositiveInt(const Node& node, size_t input) {
  TIM_ASSIGN_OR_RETURN(const std::vector<int64_t> values,
                       node.ConstantInts(input));
  if (values.size() == 1 && values[0] > 0 &&
      values[0] <= std::numeric_limits<int32_t>::max()) {
    return values[0];
  }
  return InvalidArgument("operand ", input, " is [", StrJoin(values, ","),
                         "]; one integer from 1 on is taken");
}

/// Operand 0, whose last axis has the parts of numbers.
Result<Value> Signal(Node& node, int least_rank) {
  TIM_ASSIGN_OR_RETURN(Value x, FloatOperand(node, 0));
  const int rank = x.rank();
  if (rank >= least_rank && x.ElementCount() > 0 && x.dims.back() <= 2) {
    return x;
  }
  return InvalidArgument("operand 0 is ", Describe(x), "; a rank of ",
                         least_rank,
                         " or more is taken, with 1 or 2 parts of numbers "
                         "along the last axis");
}

/// The axis: an attribute, since opset 20 an operand.
Result<int> TransformAxis(const Node& node, int rank) {
  int64_t axis = 1;
  if (node.opset < 20) {
    TIM_ASSIGN_OR_RETURN(axis, node.Int("axis", 1));
  } else {
    if (node.HasAttribute("axis")) {
      return InvalidArgument("attribute 'axis' is operand 2 since opset 20");
    }
    axis = -2;
    if (node.Has(2)) {
      TIM_ASSIGN_OR_RETURN(const std::vector<int64_t> given,
                           node.ConstantInts(2));
      if (given.size() != 1) {
        return InvalidArgument("operand 2 (axis) has ", given.size(),
                               " elements, expected 1");
      }
      axis = given[0];
    }
  }
  TIM_ASSIGN_OR_RETURN(const int positive, PositiveAxis(axis, rank));
  if (positive < rank - 1) return positive;
  return InvalidArgument("axis ", axis, " has the parts of numbers");
}

Status Dft(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, Signal(node, 2));
  const int rank = x.rank();
  TIM_ASSIGN_OR_RETURN(const int axis, TransformAxis(node, rank));
  TIM_ASSIGN_OR_RETURN(const int64_t inverse, node.Int("inverse", 0));
  TIM_ASSIGN_OR_RETURN(const int64_t onesided, node.Int("onesided", 0));
  if (inverse != 0 && onesided != 0) {
    return Unimplemented("attributes 'inverse' and 'onesided' at once");
  }
  Transform transform;
  transform.length = x.dims[axis];
  if (node.Has(1)) {
    TIM_ASSIGN_OR_RETURN(transform.length, PositiveInt(node, 1));
  }
  transform.bins = onesided != 0 ? transform.length / 2 + 1 : transform.length;
  transform.is_inverse = inverse != 0;
  const DataType type = x.type;
  if (transform.length < x.dims[axis]) {
    TIM_ASSIGN_OR_RETURN(x, Beginning(node, x, axis, transform.length));
  }
  // The axis goes before the parts of numbers, and back.
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[axis], order[rank - 2]);
  if (axis != rank - 2) {
    TIM_ASSIGN_OR_RETURN(x, node.builder->Transpose(x, order));
  }
  TIM_ASSIGN_OR_RETURN(Value made, Transformed(node, x, transform, type));
  if (axis == rank - 2) return node.SetOutput(0, std::move(made));
  return node.SetOutput(0, node.builder->Transpose(made, order));
}

/// The frame's length: operand 3, else that of the window, operand 2.
Result<int64_t> FrameLength(const Node& node) {
  if (node.Has(3)) return PositiveInt(node, 3);
  if (node.Has(2) && node.inputs[2].rank() == 1 && node.inputs[2].dims[0] > 0) {
    return node.inputs[2].dims[0];
  }
  return InvalidArgument(
      "operands 2 (window) and 3 (frame_length) are absent: one of them tells "
      "how long frames are");
}

Status Stft(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, Signal(node, 3));
  if (x.rank() != 3) {
    return InvalidArgument("operand 0 is ", Describe(x),
                           "; a rank of 3 is taken");
  }
  TIM_ASSIGN_OR_RETURN(const int64_t step, PositiveInt(node, 1));
  TIM_ASSIGN_OR_RETURN(const int64_t length, FrameLength(node));
  TIM_ASSIGN_OR_RETURN(const int64_t onesided, node.Int("onesided", 1));
  if (length > x.dims[1]) {
    return InvalidArgument("a frame of ", length, " elements; operand 0 has ",
                           x.dims[1]);
  }
  const DataType type = x.type;
  const int64_t frames = (x.dims[1] - length) / step + 1;
  TIM_ASSIGN_OR_RETURN(
      x,
      node.builder->Add<ops::SignalFrame>(
          {x}, Wanted::Of(type, {x.dims[0], frames, length, x.dims[2]}),
          static_cast<uint32_t>(length), static_cast<uint32_t>(step), 0u, 1u));
  if (node.Has(2)) {
    TIM_ASSIGN_OR_RETURN(Value window, FloatOperand(node, 2));
    if (window.dims != Dims{length}) {
      return InvalidArgument("operand 2 (window) is ", Describe(window),
                             ", expected [", length, "]");
    }
    TIM_ASSIGN_OR_RETURN(window, node.builder->Reshape(window, {length, 1}));
    TIM_ASSIGN_OR_RETURN(
        x, Broadcasting<ops::Multiply>(node, x, window, DataType::FLOAT32));
  }
  Transform transform;
  transform.length = length;
  transform.bins = onesided != 0 ? length / 2 + 1 : length;
  return node.SetOutput(0, Transformed(node, x, transform, type));
}

}  // namespace

void AddTransforms(OperatorTable* table) {
  table->Add("", "DFT", 17, Strict<Dft, 3, "axis", "inverse", "onesided">);
  table->Add("", "STFT", 17, Strict<Stft, 4, "onesided">);
}

void AddSignals(OperatorTable* table) {
  AddSignalWindows(table);
  AddTransforms(table);
}

}  // namespace tim::models::onnx
