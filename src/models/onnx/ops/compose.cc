// Operations that nodes of several families are composed of.
#include "models/onnx/ops/compose.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "tim/vx/ops/activations.h"
#include "tim/vx/ops/pad_v2.h"
#include "tim/vx/ops/slice.h"

namespace tim::models::onnx {
namespace {

constexpr int64_t kMostExtent = std::numeric_limits<int32_t>::max();

template <typename T>
std::vector<T> Reversed(const Dims& values) {
  std::vector<T> out;
  for (auto value = values.rbegin(); value != values.rend(); ++value) {
    out.push_back(static_cast<T>(*value));
  }
  return out;
}

// Constants that are made of an extent.
Status CheckMade(int64_t count) {
  constexpr int64_t kMost = int64_t{1} << 26;
  if (count >= 0 && count <= kMost) return OkStatus();
  return Unimplemented("a constant of ", count, " elements, at most ", kMost,
                       " are made");
}

bool AllAre(const Dims& values, int64_t value) {
  return std::all_of(values.begin(), values.end(),
                     [&](int64_t each) { return each == value; });
}

}  // namespace

Value ScalarOf(const GraphBuilder& builder, float value) {
  return builder.ConstantOf<float>({value}, {});
}

Result<Value> FilledVector(const GraphBuilder& builder, float value,
                           int64_t count) {
  TIM_RETURN_IF_ERROR(CheckMade(count));
  return builder.ConstantOf(
      std::vector<float>(static_cast<size_t>(count), value), {count});
}

Result<Value> CountingVector(const GraphBuilder& builder, int64_t count) {
  TIM_RETURN_IF_ERROR(CheckMade(count));
  std::vector<int32_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return builder.ConstantOf(numbers, {count});
}

Result<Value> Scaled(GraphBuilder* builder, const Value& x, float a, float b) {
  if (a == 1.0f && b == 0.0f) return x;
  return Unary<vx::ops::Linear>(builder, x, a, b);
}

Result<Value> Padded(GraphBuilder* builder, const Value& x, const Dims& before,
                     const Dims& after, float fill) {
  if (AllAre(before, 0) && AllAre(after, 0)) return x;
  Dims dims = x.dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (before[i] < 0 || after[i] < 0 || before[i] > kMostExtent ||
        after[i] > kMostExtent) {
      return InvalidArgument("pads of ", before[i], " and ", after[i],
                             " along axis ", i, ", expected 0 to ",
                             kMostExtent);
    }
    dims[i] += before[i] + after[i];
  }
  return builder->Add<vx::ops::PadV2>(
      {x}, Wanted::Of(x.type, dims, x.quantization), Reversed<uint32_t>(before),
      Reversed<uint32_t>(after), fill);
}

Result<Value> Sliced(GraphBuilder* builder, const Value& x, const Dims& starts,
                     const Dims& extents, const Dims& steps) {
  const Dims step = steps.empty() ? Dims(x.dims.size(), 1) : steps;
  if (AllAre(starts, 0) && AllAre(step, 1) && extents == x.dims) return x;
  Dims lengths;
  for (size_t i = 0; i < extents.size(); ++i) {
    lengths.push_back((extents[i] - 1) * step[i] + 1);
    if (extents[i] < 1 || starts[i] < 0 || starts[i] + lengths[i] > x.dims[i] ||
        x.dims[i] > kMostExtent) {
      return InvalidArgument("elements ", starts[i], " to ",
                             starts[i] + lengths[i], " of ", x.dims[i],
                             " along axis ", i);
    }
  }
  return builder->Add<vx::ops::Slice>(
      {x}, Wanted::Of(x.type, extents, x.quantization), uint32_t{0},
      Reversed<int32_t>(starts), Reversed<int32_t>(lengths),
      Reversed<int32_t>(step));
}

Result<int64_t> Product(const Dims& dims, size_t begin, size_t end) {
  int64_t product = 1;
  for (size_t i = begin; i < end; ++i) {
    if (dims[i] < 0 || (dims[i] > 0 && product > kMostExtent / dims[i])) {
      return Unimplemented("more than ", kMostExtent, " elements along axes ",
                           begin, " to ", end - 1);
    }
    product *= dims[i];
  }
  return product;
}

}  // namespace tim::models::onnx
