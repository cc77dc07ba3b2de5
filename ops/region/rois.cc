#include "ops/region/rois.h"

#include <cmath>

#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"

namespace tim::ops {

Status InferRois(RoiSize size, int64_t row, ir::InferContext& context) {
  InferTypeFromInput(context);
  const ir::Shape& features = context.shape(kFeatures);
  const ir::Shape& rois = context.shape(kRois);
  if (features.ranked() && features.rank() != 4) {
    return InvalidArgument("the features ", features.ToString(), " have rank ",
                           features.rank(), ", expected [W, H, C, N]");
  }
  const bool wrong_row =
      rois.ranked() &&
      (rois.rank() != 2 || (rois[0] != row && rois[0] != ir::kUnknownDim));
  if (wrong_row) {
    return InvalidArgument("the regions are ", rois.ToString(), ", expected [",
                           row, ", R]");
  }
  context.outputs[0].desc.shape =
      ir::Shape({size.width, size.height,
                 features.ranked() ? features[2] : ir::kUnknownDim,
                 rois.ranked() ? rois[1] : ir::kUnknownDim});
  return OkStatus();
}

Status CheckRoiTypes(const ir::NodeView& view) {
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    TIM_RETURN_IF_ERROR(
        CheckNumber(view, Operand::kInput, static_cast<int>(i)));
  }
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kOutput, 0));
  return CheckChannels(*view.outputs[0]);
}

Status CheckRatio(const ir::AttributeMap& attributes, const char* name) {
  const float value = attributes.Float(name);
  if (value > 0.0f && std::isfinite(value)) return OkStatus();
  return InvalidArgument("attribute '", name, "' is ", value,
                         ", expected a number above 0");
}

RoiShape RoiShapeOf(const ir::Shape& features, const ir::Shape& output) {
  return {.w = features[0],
          .h = features[1],
          .channels = features[2],
          .batches = features[3],
          .out_w = output[0],
          .out_h = output[1],
          .rois = output[3]};
}

RoiBin RoiBinOf(const RoiShape& shape, int64_t element) {
  RoiBin bin;
  bin.x = element % shape.out_w;
  bin.y = element / shape.out_w % shape.out_h;
  const int64_t plane = element / shape.out_w / shape.out_h;
  bin.channel = plane % shape.channels;
  bin.roi = plane / shape.channels;
  return bin;
}

int64_t RoiPlane(const RoiShape& shape, int64_t batch, int64_t channel) {
  if (batch < 0 || batch >= shape.batches) return -1;
  return (batch * shape.channels + channel) * shape.h * shape.w;
}

void AddRoiArguments(const RoiShape& shape, Launch* launch) {
  launch->Int("w", shape.w)
      .Int("h", shape.h)
      .Int("channels", shape.channels)
      .Int("batches", shape.batches)
      .Int("out_w", shape.out_w)
      .Int("out_h", shape.out_h)
      .Int("roi_count", shape.rois);
}

}  // namespace tim::ops
