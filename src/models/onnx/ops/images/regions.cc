// RoiAlign and MaxRoiPool of ONNX.  The samples of RoiAlign are products of a
// row's and a column's weights, so that a region is two products of matrices.
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "models/onnx/ops/gathers/gathers.h"
#include "models/onnx/ops/images/formula.h"
#include "models/onnx/ops/images/images.h"
#include "models/onnx/ops/movement/moves.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/gather.h"
#include "tim/vx/ops/matmul.h"
#include "tim/vx/ops/roi_pool.h"

namespace tim::models::onnx::images {
namespace {

/// Elements of the largest tensor between.
constexpr int64_t kMostElements = int64_t{1} << 26;
constexpr float kLargest = std::numeric_limits<float>::max();

/// Attributes of RoiAlign, and its operands' extents.
struct Regions {
  int64_t count = 0;
  int64_t pooled[2] = {1, 1};  ///< Height, width.
  int64_t samples = 0;         ///< In a bin along an axis; 0: by its size.
  float scale = 1;
  bool half_pixel = false;
};

Result<Regions> ReadRegions(const Node& node) {
  Regions regions;
  const Value& rois = node.inputs[1];
  TIM_ASSIGN_OR_RETURN(regions.pooled[0], node.Int("output_height", 1));
  TIM_ASSIGN_OR_RETURN(regions.pooled[1], node.Int("output_width", 1));
  TIM_ASSIGN_OR_RETURN(regions.samples, node.Int("sampling_ratio", 0));
  TIM_ASSIGN_OR_RETURN(regions.scale, node.Float("spatial_scale", 1));
  TIM_ASSIGN_OR_RETURN(const std::string mode, node.Text("mode", "avg"));
  TIM_ASSIGN_OR_RETURN(
      const std::string coordinates,
      node.Text("coordinate_transformation_mode",
                node.opset < 16 ? "output_half_pixel" : "half_pixel"));
  if (mode != "avg") {
    return Unimplemented("attribute 'mode' is '", mode, "'; avg is taken");
  }
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel") {
    return InvalidArgument("attribute 'coordinate_transformation_mode' is '",
                           coordinates, "'");
  }
  regions.half_pixel = coordinates == "half_pixel";
  if (rois.rank() != 2 || rois.dims[1] != 4 || node.inputs[2].rank() != 1 ||
      node.inputs[2].dims[0] != rois.dims[0]) {
    return InvalidArgument("operands 1 and 2 are ", Describe(rois), " and ",
                           Describe(node.inputs[2]),
                           ", expected [R,4] and [R]");
  }
  regions.count = rois.dims[0];
  constexpr int64_t kMost = 1 << 12;
  if (regions.pooled[0] < 1 || regions.pooled[0] > kMost ||
      regions.pooled[1] < 1 || regions.pooled[1] > kMost ||
      regions.samples < 0 || regions.samples > kMost) {
    return InvalidArgument(
        "attributes 'output_height', 'output_width' and 'sampling_ratio' are ",
        regions.pooled[0], ", ", regions.pooled[1], " and ", regions.samples,
        "; at most ", kMost, " are taken");
  }
  return regions;
}

std::vector<float> Counted(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

/// Weights [R, bins, extent] of an axis: means over the samples of a bin that
/// runs from corner `low` to corner `high` [R].
Result<Value> Weights(const Regions& regions, const Formula& low,
                      const Formula& high, int64_t bins, int64_t extent) {
  GraphBuilder* const builder = low.builder();
  const int64_t count = regions.count;
  // Regions as long as the image have this many samples in a bin.
  const int64_t most =
      regions.samples > 0 ? regions.samples : (extent + 1 + bins) / bins;
  if (count > kMostElements / bins / most / extent) {
    return Unimplemented(count, " regions of ", bins, " bins, ", most,
                         " samples each, of an axis of ", extent);
  }
  const float half = regions.half_pixel ? 0.5f : 0.0f;
  const Formula start = low * regions.scale - half;
  Formula length = high * regions.scale - half - start;
  if (!regions.half_pixel) length = length.Clip(1, kLargest);
  const Formula bin =
      (length / static_cast<float>(bins)).Reshape({count, 1, 1});
  const Formula place = Formula::Of(builder, Counted(bins), {1, bins, 1});
  const Formula sample = Formula::Of(builder, Counted(most), {1, 1, most});
  const Formula samples =
      regions.samples > 0
          ? Formula::Of(builder, {static_cast<float>(most)}, {1, 1, 1})
          : bin.Ceil().Clip(0, static_cast<float>(most));
  const Formula divisor = samples.Clip(1, kLargest);
  const Formula at = start.Reshape({count, 1, 1}) + bin * place +
                     (sample + 0.5f) * bin / divisor;
  const auto last = static_cast<float>(extent);
  Formula counts = (-1.0f <= at) && (at <= last);
  if (regions.samples == 0) counts = counts && (sample < samples);
  const Formula factor = counts.AsFactor() / divisor;
  const Formula element =
      Formula::Of(builder, Counted(extent), {1, 1, 1, extent});
  const Formula distance =
      (at.Clip(0, last - 1).Reshape({count, bins, most, 1}) - element).Abs();
  const Formula near = (distance * -1.0f + 1.0f).Clip(0, 1);
  return (near * factor.Reshape({count, bins, most, 1})).SumAlong(2).result();
}

/// The features that regions lie in: [1, C, H, W], or each its own.
Result<Value> Features(Node& node, const Value& features, int64_t count) {
  if (features.dims[0] == 1) return features;
  TIM_ASSIGN_OR_RETURN(const Value batches,
                       gathers::IndexOperand(node, 2, features.dims[0]));
  Dims dims = features.dims;
  dims[0] = count;
  return node.builder->Add<vx::ops::Gather>(
      {features, batches}, Moved(features, dims), GraphAxis(0, 4));
}

Status CheckSize(int64_t count, const Dims& dims, const Regions& regions) {
  const int64_t each = dims[0] == 1 ? regions.pooled[0] : dims[2];
  int64_t size = 1;
  for (const int64_t extent : {count, dims[1], each, dims[3]}) {
    if (extent > kMostElements / size) {
      return Unimplemented(count, " regions of ", DimsText(dims),
                           ", which would need more than 2^26 elements "
                           "between");
    }
    size *= extent;
  }
  return OkStatus();
}

}  // namespace

Status RoiAlign(Node& node) {
  TIM_RETURN_IF_ERROR(CheckSpells(
      node, {{.attribute = "coordinate_transformation_mode", .first = 16}}));
  TIM_ASSIGN_OR_RETURN(const Value given, FloatOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const Value corners, FloatOperand(node, 1));
  TIM_RETURN_IF_ERROR(gathers::IndexOperand(node, 2, -1).status());
  TIM_ASSIGN_OR_RETURN(const Regions regions, ReadRegions(node));
  if (given.rank() != 4 || given.ElementCount() == 0 || regions.count == 0) {
    return InvalidArgument("operand 0 is ", Describe(given), ", for ",
                           regions.count, " regions");
  }
  const Dims dims = given.dims;
  TIM_RETURN_IF_ERROR(CheckSize(regions.count, dims, regions));
  GraphBuilder* const builder = node.builder;
  TIM_ASSIGN_OR_RETURN(const Value image, AsFloat(builder, given));
  TIM_ASSIGN_OR_RETURN(const Value rois, AsFloat(builder, corners));
  const Formula table(builder, rois);
  const Dims list = {regions.count};
  const auto corner = [&](int i) { return table.Range(1, i, 1).Reshape(list); };
  TIM_ASSIGN_OR_RETURN(
      const Value columns,
      Weights(regions, corner(0), corner(2), regions.pooled[1], dims[3]));
  TIM_ASSIGN_OR_RETURN(const Value rows, Weights(regions, corner(1), corner(3),
                                                 regions.pooled[0], dims[2]));
  if (regions.samples == 0 && node.warnings != nullptr) {
    node.warnings->push_back(
        StrCat("RoiAlign '", node.name,
               "': regions that are longer than the image are sampled as often "
               "as those as long as it"));
  }
  TIM_ASSIGN_OR_RETURN(const Value features,
                       Features(node, image, regions.count));
  TIM_ASSIGN_OR_RETURN(
      const Value row_weights,
      builder->Reshape(rows, {regions.count, 1, regions.pooled[0], dims[2]}));
  TIM_ASSIGN_OR_RETURN(const Value column_weights,
                       builder->Reshape(columns, {regions.count, 1,
                                                  regions.pooled[1], dims[3]}));
  TIM_ASSIGN_OR_RETURN(
      const Value bands,
      builder->Add<vx::ops::Matmul>(
          {row_weights, features},
          Wanted::Of(vx::DataType::FLOAT32,
                     {regions.count, dims[1], regions.pooled[0], dims[3]}),
          false, false));
  TIM_ASSIGN_OR_RETURN(const Value made,
                       builder->Add<vx::ops::Matmul>(
                           {bands, column_weights},
                           Wanted::Of(vx::DataType::FLOAT32,
                                      {regions.count, dims[1],
                                       regions.pooled[0], regions.pooled[1]}),
                           false, true));
  return node.SetOutput(0, InTypeOf(builder, made, given));
}

Status MaxRoiPool(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Value features, FloatOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const Value rois, FloatOperand(node, 1));
  TIM_ASSIGN_OR_RETURN(const auto shape, node.Ints("pooled_shape"));
  TIM_ASSIGN_OR_RETURN(const float scale, node.Float("spatial_scale", 1));
  if (features.rank() != 4 || rois.rank() != 2 || rois.dims[1] != 5) {
    return InvalidArgument("operands are ", Describe(features), " and ",
                           Describe(rois), ", expected rank 4 and [R,5]");
  }
  constexpr int64_t kMost = 1 << 16;
  if (shape.size() != 2 || shape[0] < 1 || shape[0] > kMost || shape[1] < 1 ||
      shape[1] > kMost || !(scale > 0)) {
    return InvalidArgument("attributes 'pooled_shape' and 'spatial_scale' are ",
                           DimsText(shape), " and ", scale);
  }
  const std::array<uint32_t, 2> size = {static_cast<uint32_t>(shape[1]),
                                        static_cast<uint32_t>(shape[0])};
  return node.SetOutput(
      0, node.builder->Add<vx::ops::RoiPool>(
             {features, rois},
             Wanted::Of(features.type,
                        {rois.dims[0], features.dims[1], shape[0], shape[1]}),
             vx::PoolType::MAX, scale, size));
}

}  // namespace tim::models::onnx::images
