// Indices of a MaxPool: those of MaxpoolWithArgmax2, which pads nothing, count
// in the padded input and are counted anew in the input.
#include "models/onnx/ops/pools/greatest_places.h"

#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/operands.h"
#include "models/onnx/ops/pools/pool.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/maxpoolwithargmax2.h"
#include "tim/vx/ops/mod.h"

namespace tim::models::onnx {
namespace {

constexpr vx::DataType kIndex = vx::DataType::INT32;

Value Number(const GraphBuilder& builder, int64_t value) {
  return builder.ConstantOf<int32_t>({static_cast<int32_t>(value)}, {});
}

// a * by + b
Result<Value> Combined(GraphBuilder* builder, const Value& a, int64_t by,
                       const Value& b) {
  TIM_ASSIGN_OR_RETURN(
      const Value product,
      Binary<vx::ops::Multiply>(builder, kIndex, a, Number(*builder, by)));
  return Binary<vx::ops::Add>(builder, kIndex, product, b);
}

struct Image {
  int64_t height;
  int64_t width;
  int64_t top;
  int64_t left;
  int64_t padded_height;
  int64_t padded_width;
};

Result<Value> CountedAnew(GraphBuilder* builder, const Value& found,
                          const Image& image, IndexOrder order) {
  const auto parted = [&](const Value& index, int64_t by,
                          Value* rest) -> Result<Value> {
    TIM_ASSIGN_OR_RETURN(*rest, Binary<vx::ops::Mod>(builder, kIndex, index,
                                                     Number(*builder, by)));
    return Binary<vx::ops::Div>(builder, kIndex, index, Number(*builder, by));
  };
  Value x, y;
  TIM_ASSIGN_OR_RETURN(const Value rows, parted(found, image.padded_width, &x));
  TIM_ASSIGN_OR_RETURN(const Value planes,
                       parted(rows, image.padded_height, &y));
  TIM_ASSIGN_OR_RETURN(x, Binary<vx::ops::Sub>(builder, kIndex, x,
                                               Number(*builder, image.left)));
  TIM_ASSIGN_OR_RETURN(
      y, Binary<vx::ops::Sub>(builder, kIndex, y, Number(*builder, image.top)));
  const bool by_rows = order == IndexOrder::kRows;
  const Value& slow = by_rows ? y : x;
  const Value& fast = by_rows ? x : y;
  TIM_ASSIGN_OR_RETURN(
      const Value in_plane,
      Combined(builder, slow, by_rows ? image.width : image.height, fast));
  return Combined(builder, planes, image.width * image.height, in_plane);
}

}  // namespace

Result<GreatestPlaces> FindGreatest(GraphBuilder* builder, const Value& x,
                                    const Windows& windows, IndexOrder order) {
  if (windows.axes() > 2 || windows.Dilated() || !IsFloat(x.type)) {
    return Unimplemented(
        "output 1, Indices, of ", Describe(x), windows.Dilated() ? " with" : "",
        windows.Dilated() ? " dilations" : "",
        ", one or two spatial axes of a float type without dilations are "
        "taken");
  }
  const bool row = windows.axes() == 1;
  const Windows exact = WithExactEnds(windows);
  const Image image = {
      row ? 1 : exact.input[0],
      exact.input.back(),
      row ? 0 : exact.before[0],
      exact.before.back(),
      row ? 1 : exact.input[0] + exact.before[0] + exact.after[0],
      exact.input.back() + exact.before.back() + exact.after.back()};
  TIM_ASSIGN_OR_RETURN(
      Value padded,
      builder->Reshape(x, {x.dims[0], x.dims[1], image.height, image.width}));
  TIM_ASSIGN_OR_RETURN(
      padded, Padded(builder, padded, {0, 0, image.top, image.left},
                     {0, 0, image.padded_height - image.height - image.top,
                      image.padded_width - image.width - image.left},
                     -std::numeric_limits<float>::infinity()));
  TIM_RETURN_IF_ERROR(Product(padded.dims, 0, 4).status());
  const Dims dims = {x.dims[0], x.dims[1], row ? 1 : exact.output[0],
                     exact.output.back()};
  const std::array<uint32_t, 2> kernel = {
      static_cast<uint32_t>(exact.kernel.back()),
      row ? 1u : static_cast<uint32_t>(exact.kernel[0])};
  const std::array<uint32_t, 2> strides = {
      static_cast<uint32_t>(exact.strides.back()),
      row ? 1u : static_cast<uint32_t>(exact.strides[0])};
  TIM_ASSIGN_OR_RETURN(const std::vector<Value> found,
                       builder->AddAll<vx::ops::MaxpoolWithArgmax2>(
                           {padded},
                           std::vector<Wanted>{Wanted::Of(x.type, dims),
                                               Wanted::Of(kIndex, dims)},
                           vx::PadType::VALID, kernel, strides));
  TIM_ASSIGN_OR_RETURN(Value indices,
                       CountedAnew(builder, found[1], image, order));
  const Dims result = PooledDims(x, windows.output);
  GreatestPlaces places;
  TIM_ASSIGN_OR_RETURN(places.values, builder->Reshape(found[0], result));
  TIM_ASSIGN_OR_RETURN(indices, builder->Reshape(indices, result));
  TIM_ASSIGN_OR_RETURN(places.indices,
                       builder->Cast(indices, vx::DataType::INT64));
  return places;
}

}  // namespace tim::models::onnx
