// Convolutions of 8-bit codes, as exact integers.
#include "models/onnx/ops/convolutions/integer_convolution.h"

#include <algorithm>
#include <cstddef>

#include "models/onnx/ops/codes.h"
#include "models/onnx/ops/compose.h"
#include "tim/vx/ops/elementwise.h"

namespace tim::models::onnx {
namespace {

using vx::DataType;

// Taps [begin, end) of the window at `place` that lie inside of the input.
struct Taps {
  int64_t begin = 0;
  int64_t end = 0;
};

Taps InsideTaps(const Windows& windows, size_t axis, int64_t place) {
  const int64_t first = place * windows.strides[axis] - windows.before[axis];
  const int64_t step = windows.dilations[axis];
  const auto ceil_div = [step](int64_t cells) {
    return cells <= 0 ? 0 : (cells + step - 1) / step;
  };
  const int64_t kernel = windows.kernel[axis];
  const int64_t begin = std::min(ceil_div(-first), kernel);
  const int64_t end = std::min(ceil_div(windows.input[axis] - first), kernel);
  return {begin, std::max(begin, end)};
}

// Sums over the channels of one output channel, and over all taps before (kh,
// kw) in both axes: [Kh + 1, Kw + 1].
template <typename T>
std::vector<int32_t> TapSums(const T* weights, int64_t channels, int64_t height,
                             int64_t width) {
  const auto row = static_cast<size_t>(width + 1);
  std::vector<int32_t> sums(static_cast<size_t>(height + 1) * row, 0);
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t kh = 0; kh < height; ++kh) {
      for (int64_t kw = 0; kw < width; ++kw) {
        sums[static_cast<size_t>(kh + 1) * row + static_cast<size_t>(kw + 1)] +=
            *weights++;
      }
    }
  }
  for (size_t i = row; i < sums.size(); ++i) {
    if (i % row != 0) sums[i] += sums[i - 1];
  }
  for (size_t i = row; i < sums.size(); ++i) sums[i] += sums[i - row];
  return sums;
}

template <typename T>
std::vector<int32_t> InsideSumsOf(const HostArray& weights,
                                  const Windows& windows) {
  const int64_t height = windows.kernel[0];
  const int64_t width = windows.kernel[1];
  const auto row = static_cast<size_t>(width + 1);
  std::vector<int32_t> result;
  const T* of_channel = static_cast<const T*>(weights.data.get());
  for (int64_t o = 0; o < weights.dims[0]; ++o) {
    const std::vector<int32_t> sums =
        TapSums(of_channel, weights.dims[1], height, width);
    of_channel += weights.dims[1] * height * width;
    const auto before = [&](int64_t kh, int64_t kw) {
      return sums[static_cast<size_t>(kh) * row + static_cast<size_t>(kw)];
    };
    for (int64_t y = 0; y < windows.output[0]; ++y) {
      const Taps h = InsideTaps(windows, 0, y);
      for (int64_t x = 0; x < windows.output[1]; ++x) {
        const Taps w = InsideTaps(windows, 1, x);
        result.push_back(before(h.end, w.end) - before(h.begin, w.end) -
                         before(h.end, w.begin) + before(h.begin, w.begin));
      }
    }
  }
  return result;
}

// The zero point times the sums of weights, which broadcasts to the result.
Result<Value> ShareOfZero(GraphBuilder* builder, const Convolution& it,
                          const Value& zero) {
  const HostArray& weights = *it.weights.constant;
  std::vector<int32_t> sums = InsideSums(weights, it.windows);
  Dims dims = {1, weights.dims[0], it.windows.output[0], it.windows.output[1]};
  const bool has_pads =
      std::any_of(it.windows.before.begin(), it.windows.before.end(),
                  [](int64_t pad) { return pad != 0; }) ||
      std::any_of(it.windows.after.begin(), it.windows.after.end(),
                  [](int64_t pad) { return pad != 0; });
  if (!has_pads) {
    // All places of a channel have the same.
    const auto places = static_cast<size_t>(dims[2] * dims[3]);
    for (size_t o = 0; o < static_cast<size_t>(dims[1]); ++o) {
      sums[o] = sums[o * places];
    }
    sums.resize(static_cast<size_t>(dims[1]));
    dims[2] = dims[3] = 1;
  }
  TIM_ASSIGN_OR_RETURN(const Value plain, Unlabelled(builder, zero));
  TIM_ASSIGN_OR_RETURN(Value factor, builder->Cast(plain, DataType::INT32));
  TIM_ASSIGN_OR_RETURN(factor, builder->Reshape(factor, {}));
  return Binary<vx::ops::Multiply>(builder, DataType::INT32, factor,
                                   builder->ConstantOf(sums, dims));
}

}  // namespace

std::vector<int32_t> InsideSums(const HostArray& weights,
                                const Windows& windows) {
  switch (weights.type) {
    case DataType::INT8:
      return InsideSumsOf<int8_t>(weights, windows);
    case DataType::UINT8:
      return InsideSumsOf<uint8_t>(weights, windows);
    default:
      return InsideSumsOf<int16_t>(weights, windows);
  }
}

Result<Value> IntegerConvolution(GraphBuilder* builder, const Convolution& it,
                                 const Value& zero) {
  constexpr DataType kSum = DataType::INT32;
  Convolution sums = it;
  const std::vector<Value> pieces = BytePieces(*builder, it.weights);
  if (it.windows.axes() != 2 || !IsByte(it.x.type) || pieces.empty()) {
    TIM_ASSIGN_OR_RETURN(sums.x, Centered(builder, it.x, zero));
    return Convolve(builder, sums, kSum);
  }
  TIM_ASSIGN_OR_RETURN(sums.x, Unlabelled(builder, it.x));
  TIM_ASSIGN_OR_RETURN(const Value product,
                       SumOverPieces(builder, pieces, [&](const Value& piece) {
                         sums.weights = piece;
                         return Convolve(builder, sums, kSum);
                       }));
  if (zero.IsAbsent()) return product;
  TIM_ASSIGN_OR_RETURN(const Value share, ShareOfZero(builder, it, zero));
  return Binary<vx::ops::Sub>(builder, kSum, product, share);
}

}  // namespace tim::models::onnx
