// What operators over regions of interest share: features [W, H, C, N], rows of
// numbers for each region, and a result [width, height, C, R].
#ifndef TIM_OPS_REGION_ROIS_H_
#define TIM_OPS_REGION_ROIS_H_

#include <cstdint>
#include <string>

#include "ir/kernel_def.h"
#include "ir/op_schema.h"
#include "ops/launch/launch.h"

namespace tim::ops {

enum RoiInput { kFeatures, kRois, kRoiBatches };

/// Bins of the result along W and H.
struct RoiSize {
  int64_t width = 1;
  int64_t height = 1;
};

/// Checks ranks and the row length of the regions, and makes the result's
/// shape.
Status InferRois(RoiSize size, int64_t row, ir::InferContext& context);

/// Float and integer types.
Status CheckRoiTypes(const ir::NodeView& view);

/// Attribute `name` is finite and above 0.
Status CheckRatio(const ir::AttributeMap& attributes, const char* name);

struct RoiShape {
  int64_t w = 1;
  int64_t h = 1;
  int64_t channels = 1;
  int64_t batches = 1;
  int64_t out_w = 1;
  int64_t out_h = 1;
  int64_t rois = 1;

  int64_t outputs() const { return out_w * out_h * channels * rois; }
};
RoiShape RoiShapeOf(const ir::Shape& features, const ir::Shape& output);

/// Element of the result: bin (x, y) of a channel of a region.
struct RoiBin {
  int64_t x = 0;
  int64_t y = 0;
  int64_t channel = 0;
  int64_t roi = 0;
};
RoiBin RoiBinOf(const RoiShape& shape, int64_t element);

/// Element that the plane of a batch and a channel begins with; -1 where there
/// is no such batch.
int64_t RoiPlane(const RoiShape& shape, int64_t batch, int64_t channel);

/// TIM_ROI_PARAMETERS of ops/region/rois.clh.
void AddRoiArguments(const RoiShape& shape, Launch* launch);

}  // namespace tim::ops

#endif  // TIM_OPS_REGION_ROIS_H_
