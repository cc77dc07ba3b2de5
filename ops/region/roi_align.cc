// RoiAlign: the mean of bilinear samples of every bin of a region.  NNAPI
// ROI_ALIGN; ONNX RoiAlign (output_half_pixel, avg, spatial_scale = 1 / ratio).
//
// Coordinates are float32 (roi_samples.h).  A sample whose truncated coordinate
// is below -1 or beyond the extent adds 0 and counts; the neighbours of the
// others are clamped to the features.  Blends (ops/resize/blend.h), of integers
// of code - zero point, are added in float32 row by row, and divided by the
// number of samples.
#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/doubts/codes.h"
#include "ops/elements/data_layout.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/indexing/indices.h"
#include "ops/region/roi_samples.h"
#include "ops/region/rois.h"
#include "ops/resize/blend.h"

namespace tim::ops {
namespace {

using ir::AttributeType;

Result<int64_t> SizeOf(const ir::AttributeMap& attributes, const char* name) {
  const int64_t size = attributes.Int(name);
  if (size >= 1 && size <= std::numeric_limits<int32_t>::max()) return size;
  return InvalidArgument("attribute '", name, "' is ", size,
                         ", expected 1 to 2147483647");
}

Status Infer(ir::InferContext& context) {
  const ir::AttributeMap& attributes = context.attributes();
  RoiSize size;
  TIM_ASSIGN_OR_RETURN(size.width, SizeOf(attributes, "output_width"));
  TIM_ASSIGN_OR_RETURN(size.height, SizeOf(attributes, "output_height"));
  TIM_RETURN_IF_ERROR(CheckRatio(attributes, "width_ratio"));
  TIM_RETURN_IF_ERROR(CheckRatio(attributes, "height_ratio"));
  TIM_RETURN_IF_ERROR(InferRois(size, 4, context));
  const auto rois = context.shape(kRois).NumElements();
  const auto batches = context.shape(kRoiBatches).NumElements();
  if (!rois || !batches || *batches * 4 == *rois) return OkStatus();
  return InvalidArgument(
      "the batch indices ", context.shape(kRoiBatches).ToString(),
      " are not one for each of the regions ", context.shape(kRois).ToString());
}

// Samples in a bin along an axis; below 1: as many as fit.
int SamplesOf(const ir::AttributeMap& attributes, const char* name) {
  return static_cast<int>(
      std::clamp<int64_t>(attributes.Int(name), 0, kMostRoiSamples));
}

Status CheckRoiAlign(const ir::NodeView& view) {
  for (const char* name : {"width_sample_num", "height_sample_num"}) {
    const int64_t samples = view.node.attributes.Int(name);
    if (samples <= kMostRoiSamples) continue;
    return InvalidArgument("attribute '", name, "' is ", samples,
                           ", expected at most ", kMostRoiSamples);
  }
  return CheckRoiTypes(view);
}

// The sum of a bin's samples of the plane that begins at `first`.
float SumOf(const RoiSamples& across, const RoiSamples& down, int64_t first,
            const BlendReader& load) {
  float sum = 0;
  for (int iy = down.FirstBeyond(false); iy < down.FirstBeyond(true); ++iy) {
    if (!down.IsInside(down.At(iy))) continue;
    const RoiSample y = down.SampleOf(down.At(iy));
    const int64_t lower = first + int64_t{y.lower} * across.extent;
    const int64_t upper = first + int64_t{y.upper} * across.extent;
    const int end = across.FirstBeyond(true);
    for (int ix = across.FirstBeyond(false); ix < end; ++ix) {
      if (!across.IsInside(across.At(ix))) continue;
      const RoiSample x = across.SampleOf(across.At(ix));
      const BlendCells cells = {
          .x00 = load(lower + x.lower),
          .x01 = load(lower + x.upper),
          .x10 = load(upper + x.lower),
          .x11 = load(upper + x.upper),
      };
      sum += Blend(cells, x.weight, y.weight);
    }
  }
  return sum;
}

Status Eval(const ir::EvalContext& context) {
  const ir::AttributeMap& attributes = context.attributes();
  const ir::ConstTensor& features = context.inputs[kFeatures];
  const ir::MutableTensor& output = context.outputs[0];
  const RoiShape shape = RoiShapeOf(features.desc->shape, output.desc->shape);
  const BlendScale scale = BlendScaleOf(*features.desc, *output.desc);
  const BlendReader load(features, scale);
  BlendWriter writer(output, scale);
  const kernels::ElementReader rois(context.inputs[kRois]);
  const IndexReader batches(context.inputs[kRoiBatches]);
  const auto samples = [&](const char* axis, float low, float high,
                           int64_t index, int64_t bins, int64_t extent) {
    return RoiSamplesOf(
        low, high, attributes.Float(StrCat(axis, "_ratio")),
        static_cast<int>(index), static_cast<int>(bins),
        SamplesOf(attributes, StrCat(axis, "_sample_num").c_str()),
        static_cast<int>(extent));
  };
  for (int64_t o = 0; o < shape.outputs(); ++o) {
    const RoiBin bin = RoiBinOf(shape, o);
    const int64_t plane = RoiPlane(shape, batches(bin.roi), bin.channel);
    if (plane < 0) {
      writer.Store(o, 0.0f);
      continue;
    }
    const int64_t roi = 4 * bin.roi;
    const RoiSamples across =
        samples("width", rois.Real(roi), rois.Real(roi + 2), bin.x, shape.out_w,
                shape.w);
    const RoiSamples down =
        samples("height", rois.Real(roi + 1), rois.Real(roi + 3), bin.y,
                shape.out_h, shape.h);
    const float count =
        static_cast<float>(across.count) * static_cast<float>(down.count);
    writer.Store(o, SumOf(across, down, plane, load) / count);
  }
  return OkStatus();
}

// Seven operations and a sum for each sample; two by two where their number
// depends on the regions.
ir::ComputeEstimate Estimate(const ir::NodeView& view) {
  const auto samples = [&](const char* name) {
    const int count = SamplesOf(view.node.attributes, name);
    return count < 1 ? 2.0 : static_cast<double>(count);
  };
  return ElementwiseEstimate(
      view, 8 * samples("width_sample_num") * samples("height_sample_num"));
}

ir::OpSchema RoiAlignSchema() {
  return {.name = "RoiAlign",
          .inputs = {3, 3},
          .attributes = {{"output_height"},
                         {"output_width"},
                         {"height_ratio", AttributeType::kFloat},
                         {"width_ratio", AttributeType::kFloat},
                         {"height_sample_num", AttributeType::kInt, int64_t{0}},
                         {"width_sample_num", AttributeType::kInt, int64_t{0}},
                         DataLayoutSpec("layout", DataLayout::kWhcn)},
          .check = CheckRoiAlign,
          .doubts = FirstCodes,
          .infer_shapes = Infer,
          .eval = Eval,
          .memory_estimate = NoScratch,
          .compute_estimate = Estimate,
          .layout_rule = DataLayoutRule("layout")};
}

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo&) {
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  return CheckKernelIndices(node.inputs[kRoiBatches]);
}

// Channels that a work-item makes.
int64_t ChannelsAtOnce(const ir::DeviceInfo& device) {
  return device.device_class == ir::DeviceClass::kCpu ? 16 : 1;
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const ir::AttributeMap& attributes = node.attributes();
  const ir::TensorDesc& from = node.inputs[kFeatures];
  const ir::TensorDesc& to = node.outputs[0];
  const RoiShape shape = RoiShapeOf(from.shape, to.shape);
  const float width_ratio = attributes.Float("width_ratio");
  const float height_ratio = attributes.Float("height_ratio");
  const int64_t channels = ChannelsAtOnce(device);
  Launch launch("ops/region/roi_align.cl", "roialign");
  launch.Option(StrCat("-DCHANNELS=", channels));
  launch.Type("IN0", from).Type("OUT", to).Type("ROI", node.inputs[kRois]);
  AddIndexOptions(node.inputs[kRoiBatches], {}, &launch);
  launch.Input("x", node, kFeatures)
      .Input("rois", node, kRois)
      .Input("batch_of", node, kRoiBatches)
      .Output("y", node, 0);
  AddRoiArguments(shape, &launch);
  launch.InputQuantization("roi", node.inputs[kRois])
      .InputQuantization("index", node.inputs[kRoiBatches])
      .Float("width_ratio", width_ratio)
      .Float("width_inverse", 1.0f / width_ratio)
      .Float("height_ratio", height_ratio)
      .Float("height_inverse", 1.0f / height_ratio)
      .Float("out_w_inverse", 1.0f / static_cast<float>(shape.out_w))
      .Float("out_h_inverse", 1.0f / static_cast<float>(shape.out_h))
      .Int("width_samples", SamplesOf(attributes, "width_sample_num"))
      .Int("height_samples", SamplesOf(attributes, "height_sample_num"));
  AddBlendArguments(BlendScaleOf(from, to), &launch);
  return launch
      .Tiles(device, shape.outputs() / shape.channels *
                         CeilDiv(shape.channels, channels))
      .Build();
}

ir::KernelDef RoiAlignKernel() {
  return ir::PlainKernel{.op = "tim.RoiAlign",
                         .name = "roialign",
                         .analyze = Supports,
                         .cost = CostAt(prices::kRoiAlign),
                         .lower = Lower};
}

}  // namespace

TIM_OPERATOR(roi_align) {
  registry.Add(RoiAlignSchema());
  registry.Add(RoiAlignKernel());
}

}  // namespace tim::ops
