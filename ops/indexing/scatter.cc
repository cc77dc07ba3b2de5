#include "ops/indexing/scatter.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tim::ops {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();

// NaN in either operand is the result of kMax and kMin, as of Maximum and
// Minimum.
float Combine(Reduction reduction, float old, float update) {
  switch (reduction) {
    case Reduction::kAdd:
      return old + update;
    case Reduction::kMul:
      return old * update;
    case Reduction::kMax:
      return old > update || std::isnan(old) ? old : update;
    case Reduction::kMin:
      return old < update || std::isnan(old) ? old : update;
    case Reduction::kNone:
      break;
  }
  return update;
}

int64_t Combine(Reduction reduction, int64_t old, int64_t update) {
  int64_t result = 0;
  switch (reduction) {
    case Reduction::kAdd:
      if (!__builtin_add_overflow(old, update, &result)) return result;
      return old < 0 ? kLeast : kGreatest;
    case Reduction::kMul:
      if (!__builtin_mul_overflow(old, update, &result)) return result;
      return (old < 0) != (update < 0) ? kLeast : kGreatest;
    case Reduction::kMax:
      return std::max(old, update);
    case Reduction::kMin:
      return std::min(old, update);
    case Reduction::kNone:
      break;
  }
  return update;
}

void Load(const kernels::ElementReader& reader, int64_t i, float* value) {
  *value = reader.Real(i);
}
void Load(const kernels::ElementReader& reader, int64_t i, int64_t* value) {
  *value = reader.Code(i);
}
void Store(int64_t i, float value, kernels::ElementWriter* writer) {
  writer->StoreReal(i, value);
}
void Store(int64_t i, int64_t value, kernels::ElementWriter* writer) {
  writer->StoreCode(i, value);
}

// The places of all updates, in their order.
std::vector<int64_t> PlacesOf(const ScatterOp& op, const ScatterShape& shape,
                              const ir::EvalContext& context) {
  const IndexReader indices(context.inputs[op.indices]);
  std::vector<int64_t> places;
  places.reserve(static_cast<size_t>(shape.updates));
  for (int64_t n = 0; n < shape.updates; ++n) {
    places.push_back(PlaceOf(indices, n, shape.coordinate, op.rule()));
  }
  return places;
}

// The output before the updates.
void Begin(const ScatterOp& op, int64_t count, const ir::EvalContext& context) {
  kernels::ElementWriter output(context.outputs[0]);
  if (op.data < 0) {
    for (int64_t i = 0; i < count; ++i) output.StoreReal(i, 0.0f);
    return;
  }
  kernels::ElementConverter converter(context.inputs[op.data],
                                      context.outputs[0]);
  for (int64_t i = 0; i < count; ++i) converter.Convert(i, i);
}

void Replace(const ScatterOp& op, const ScatterShape& shape,
             const ir::EvalContext& context) {
  const std::vector<int64_t> places = PlacesOf(op, shape, context);
  kernels::ElementConverter converter(context.inputs[op.updates],
                                      context.outputs[0]);
  for (int64_t n = 0; n < shape.updates; ++n) {
    if (places[n] == kNoPlace) continue;
    for (int64_t i = 0; i < shape.run; ++i) {
      converter.Convert(n * shape.run + i, places[n] * shape.run + i);
    }
  }
}

// T: float for real values, int64_t for plain integers.
template <typename T>
void Accumulate(const ScatterOp& op, const ScatterShape& shape,
                const ir::EvalContext& context) {
  const Reduction reduction = op.ReductionOf(context.attributes());
  const kernels::ElementReader updates(context.inputs[op.updates]);
  std::vector<T> values(shape.slices * shape.run);
  if (op.data >= 0) {
    const kernels::ElementReader data(context.inputs[op.data]);
    for (size_t i = 0; i < values.size(); ++i) Load(data, i, &values[i]);
  }
  const std::vector<int64_t> places = PlacesOf(op, shape, context);
  for (int64_t n = 0; n < shape.updates; ++n) {
    if (places[n] == kNoPlace) continue;
    for (int64_t i = 0; i < shape.run; ++i) {
      T update;
      Load(updates, n * shape.run + i, &update);
      T& value = values[places[n] * shape.run + i];
      value = Combine(reduction, value, update);
    }
  }
  kernels::ElementWriter output(context.outputs[0]);
  for (const int64_t place : places) {
    if (place == kNoPlace) continue;
    for (int64_t i = 0; i < shape.run; ++i) {
      Store(place * shape.run + i, values[place * shape.run + i], &output);
    }
  }
}

}  // namespace

ScatterShape ScatterShapeOf(const ir::Shape& output, const ir::Shape& indices) {
  const int length = static_cast<int>(CoordinateLength(indices));
  const int first = output.rank() - length;
  ScatterShape shape;
  shape.run = output.Product(0, first);
  shape.slices = output.Product(first, output.rank());
  shape.updates = ir::Shape(CoordinateDims(indices)).NumElements().value_or(0);
  for (int k = 0; k < length; ++k) {
    const int axis = output.rank() - 1 - k;
    shape.coordinate.push_back({output[axis], output.Product(first, axis)});
  }
  return shape;
}

bool IsPlainScatter(const ScatterOp& op, std::span<const ir::TensorDesc> inputs,
                    const ir::TensorDesc& output) {
  if (op.data >= 0 && !kernels::IsPlainInteger(inputs[op.data])) return false;
  return kernels::IsPlainInteger(inputs[op.updates]) &&
         kernels::IsPlainInteger(output);
}

Status EvalScatter(const ScatterOp& op, const ir::EvalContext& context) {
  const ir::TensorDesc& output = *context.outputs[0].desc;
  std::vector<ir::TensorDesc> inputs;
  for (const ir::ConstTensor& input : context.inputs) {
    inputs.push_back(*input.desc);
  }
  const ScatterShape shape =
      ScatterShapeOf(op.data < 0 ? ir::Shape(context.attributes().Ints("shape"))
                                 : inputs[op.data].shape,
                     inputs[op.indices].shape);
  Begin(op, shape.slices * shape.run, context);
  if (op.ReductionOf(context.attributes()) == Reduction::kNone) {
    Replace(op, shape, context);
  } else if (IsPlainScatter(op, inputs, output)) {
    Accumulate<int64_t>(op, shape, context);
  } else {
    Accumulate<float>(op, shape, context);
  }
  return OkStatus();
}

int64_t ScatterBytes(const ScatterOp& op, const ir::NodeView& view) {
  const ir::TensorDesc& output = *view.outputs[0];
  std::vector<ir::TensorDesc> inputs;
  for (const ir::TensorDesc* input : view.inputs) inputs.push_back(*input);
  const ScatterShape shape =
      ScatterShapeOf(output.shape, inputs[op.indices].shape);
  int64_t bytes = shape.updates * int64_t{sizeof(int64_t)};
  if (op.ReductionOf(view.node.attributes) != Reduction::kNone) {
    const bool plain = IsPlainScatter(op, inputs, output);
    bytes += shape.slices * shape.run *
             static_cast<int64_t>(plain ? sizeof(int64_t) : sizeof(float));
  }
  return bytes;
}

}  // namespace tim::ops
