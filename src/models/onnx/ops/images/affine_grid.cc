// AffineGrid of ONNX: a constant grid times the matrices.
#include <cstdint>
#include <vector>

#include "models/onnx/ops/images/images.h"
#include "models/onnx/ops/movement/moves.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/matmul.h"

namespace tim::models::onnx::images {
namespace {

/// Element `i` of `extent` that lie from -1 to 1.
float Place(int64_t i, int64_t extent, bool align_corners) {
  const auto at = static_cast<double>(i);
  const auto count = static_cast<double>(extent);
  if (!align_corners) return static_cast<float>((2 * at + 1) / count - 1);
  return extent == 1 ? 0.0f : static_cast<float>(2 * at / (count - 1) - 1);
}

/// Rows (x, y, 1), or (x, y, z, 1), for all elements of `extents`.
std::vector<float> Places(const std::vector<int64_t>& extents, int64_t count,
                          bool align_corners) {
  const size_t axes = extents.size();
  std::vector<float> places;
  places.reserve(static_cast<size_t>(count) * (axes + 1));
  for (int64_t element = 0; element < count; ++element) {
    int64_t rest = element;
    for (size_t axis = axes; axis-- > 0; rest /= extents[axis]) {
      places.push_back(
          Place(rest % extents[axis], extents[axis], align_corners));
    }
    places.push_back(1.0f);
  }
  return places;
}

}  // namespace

Status AffineGrid(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Value given, FloatOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const auto size, node.ConstantInts(1));
  TIM_ASSIGN_OR_RETURN(const int64_t align, node.Int("align_corners", 0));
  const auto axes = static_cast<int64_t>(size.size()) - 2;
  if ((axes != 2 && axes != 3) || given.rank() != 3 ||
      given.dims[0] != size[0] || given.dims[1] != axes ||
      given.dims[2] != axes + 1) {
    return InvalidArgument("operand 0 is ", Describe(given), " and the size ",
                           DimsText(size),
                           ", expected [N,2,3] and [N,C,H,W], "
                           "or [N,3,4] and [N,C,D,H,W]");
  }
  const std::vector<int64_t> extents(size.begin() + 2, size.end());
  for (const int64_t extent : extents) {
    if (extent < 1) return InvalidArgument("the size is ", DimsText(size));
  }
  TIM_ASSIGN_OR_RETURN(const int64_t count, Extent(extents, 0, extents.size()));
  if (count > kMostMadeBytes / 16) {
    return Unimplemented("a grid of ", count, " elements");
  }
  GraphBuilder* const builder = node.builder;
  TIM_ASSIGN_OR_RETURN(const Value theta, AsFloat(builder, given));
  const Value places = builder->ConstantOf(Places(extents, count, align != 0),
                                           {count, axes + 1});
  TIM_ASSIGN_OR_RETURN(const Value rows, builder->Add<vx::ops::Matmul>(
                                             {places, theta},
                                             Wanted::Of(vx::DataType::FLOAT32,
                                                        {size[0], count, axes}),
                                             false, true));
  Dims dims = {size[0]};
  dims.insert(dims.end(), extents.begin(), extents.end());
  dims.push_back(axes);
  TIM_ASSIGN_OR_RETURN(const Value made, builder->Reshape(rows, dims));
  return node.SetOutput(0, InTypeOf(builder, made, given));
}

}  // namespace tim::models::onnx::images
