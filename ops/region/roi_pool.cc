// RoiPool: the greatest element of every bin of a region.  ONNX MaxRoiPool;
// Caffe ROIPooling.
//
// With corners r = round(coordinate * scale), halves away from zero, saturated
// to +-2^30, and length = max(r2 - r1 + 1, 1), bin i of n covers
//   [floor(i * length / n) + r1, ceil((i + 1) * length / n) + r1)
// in exact integers, clipped to the features.  Elements are compared as they
// are stored, and the greatest is moved as DataConvert does; an empty bin, and
// a region of a batch that is not there, give 0.
#include <cmath>

#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/doubts/codes.h"
#include "ops/elements/convert.h"
#include "ops/elements/data_layout.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/pooling/greatest.h"
#include "ops/pooling/pooling.h"
#include "ops/region/rois.h"

namespace tim::ops {
namespace {

using ir::AttributeType;
using Ints = std::vector<int64_t>;

Status Infer(ir::InferContext& context) {
  const ir::AttributeMap& attributes = context.attributes();
  const Ints& size = attributes.Ints("size");
  const auto legal = [](int64_t extent) {
    return extent >= 1 && extent <= std::numeric_limits<int32_t>::max();
  };
  if (size.size() != 2 || !legal(size[0]) || !legal(size[1])) {
    return InvalidArgument("attribute 'size' is [", StrJoin(size, ", "),
                           "], expected a width and a height of 1 to "
                           "2147483647");
  }
  TIM_RETURN_IF_ERROR(CheckRatio(attributes, "scale"));
  return InferRois({.width = size[0], .height = size[1]}, 5, context);
}

Status CheckRoiPool(const ir::NodeView& view) {
  const int64_t type = view.node.attributes.Int("type");
  if (type != static_cast<int64_t>(PoolType::kMax)) {
    return InvalidArgument("attribute 'type' is ", type, ", expected max (0)");
  }
  return CheckRoiTypes(view);
}

int64_t Corner(float coordinate, float scale) {
  const float at = std::round(coordinate * scale);
  if (std::isnan(at)) return 0;
  return static_cast<int64_t>(std::clamp(at, -0x1p30f, 0x1p30f));
}

// Bin `index` of `bins` along an axis of the features.
PoolCells BinOf(int64_t from, int64_t to, int64_t index, int64_t bins,
                int64_t extent) {
  const int64_t length = std::max<int64_t>(to - from + 1, 1);
  const int64_t begin = index * length / bins + from;
  const int64_t end = ((index + 1) * length + bins - 1) / bins + from;
  return {std::clamp<int64_t>(begin, 0, extent),
          std::clamp<int64_t>(end, 0, extent)};
}

Status Eval(const ir::EvalContext& context) {
  const ir::ConstTensor& features = context.inputs[kFeatures];
  const ir::MutableTensor& output = context.outputs[0];
  const float scale = context.attributes().Float("scale");
  const RoiShape shape = RoiShapeOf(features.desc->shape, output.desc->shape);
  const kernels::ElementReader rois(context.inputs[kRois]);
  GreatestElement greatest(features);
  kernels::ElementConverter converter(features, output);
  kernels::ElementWriter writer(output);
  for (int64_t o = 0; o < shape.outputs(); ++o) {
    const RoiBin bin = RoiBinOf(shape, o);
    const auto real = [&](int64_t k) { return rois.Real(5 * bin.roi + k); };
    const int64_t batch =
        std::isnan(real(0)) ? -1 : kernels::FloatToInt64(std::trunc(real(0)));
    const int64_t plane = RoiPlane(shape, batch, bin.channel);
    if (plane >= 0) {
      const PoolCells across =
          BinOf(Corner(real(1), scale), Corner(real(3), scale), bin.x,
                shape.out_w, shape.w);
      const PoolCells down =
          BinOf(Corner(real(2), scale), Corner(real(4), scale), bin.y,
                shape.out_h, shape.h);
      for (int64_t y = down.first; y < down.last; ++y) {
        for (int64_t x = across.first; x < across.last; ++x) {
          greatest.Add(plane + y * shape.w + x);
        }
      }
    }
    const int64_t best = greatest.Take();
    if (best >= 0) {
      converter.Convert(best, o);
    } else {
      writer.StoreReal(o, 0.0f);
    }
  }
  return OkStatus();
}

// A comparison for each element of a bin, of regions as large as the features.
ir::ComputeEstimate Estimate(const ir::NodeView& view) {
  const ir::Shape& features = view.inputs[kFeatures]->shape;
  const ir::Shape& output = view.outputs[0]->shape;
  double cells = 1;
  for (int axis = 0; axis < 2; ++axis) {
    cells *= std::max(1.0, static_cast<double>(features[axis]) /
                               static_cast<double>(output[axis]));
  }
  return ElementwiseEstimate(view, cells);
}

ir::OpSchema RoiPoolSchema() {
  return {
      .name = "RoiPool",
      .inputs = {2, 2},
      .attributes = {{"type",
                      AttributeType::kInt,
                      int64_t{0},
                      {{"max", 0}, {"avg", 1}, {"l2", 2}, {"avg_android", 3}}},
                     {"scale", AttributeType::kFloat},
                     {"size", AttributeType::kInts},
                     DataLayoutSpec("layout", DataLayout::kWhcn)},
      .check = CheckRoiPool,
      .doubts = FirstCodes,
      .infer_shapes = Infer,
      .eval = Eval,
      .memory_estimate = NoScratch,
      .compute_estimate = Estimate,
      .layout_rule = DataLayoutRule("layout")};
}

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo&) {
  return CheckKernelOperands(node);
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const ir::TensorDesc& from = node.inputs[kFeatures];
  const ir::TensorDesc& to = node.outputs[0];
  const RoiShape shape = RoiShapeOf(from.shape, to.shape);
  const kernels::ConvertRule rule = kernels::ConvertRuleOf(from, to);
  Launch launch("ops/region/roi_pool.cl", "roipool");
  launch.Type("CELL", from)
      .Type("ROI", node.inputs[kRois])
      .Option(StrCat("-DWORD=", BitsType(to.type)));
  AddConvertOptions(from, to, rule, &launch);
  launch.Input("x", node, kFeatures)
      .Input("rois", node, kRois)
      .Output("y", node, 0);
  AddRoiArguments(shape, &launch);
  launch.InputQuantization("roi", node.inputs[kRois])
      .Float("spatial_scale", node.attributes().Float("scale"))
      .Long("zero_bits", RealBits(to, 0.0f));
  AddConvertArguments(from, to, rule, &launch);
  return launch.Tiles(device, shape.outputs()).Build();
}

ir::KernelDef RoiPoolKernel() {
  return ir::PlainKernel{.op = "tim.RoiPool",
                         .name = "roipool",
                         .analyze = Supports,
                         .cost = CostAt(prices::kRoiPool),
                         .lower = Lower};
}

}  // namespace

TIM_OPERATOR(roi_pool) {
  registry.Add(RoiPoolSchema());
  registry.Add(RoiPoolKernel());
}

}  // namespace tim::ops
