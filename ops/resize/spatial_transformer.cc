// SpatialTransformer: images sampled under an affine map of coordinates.  Caffe
// SpatialTransformer.
//
// u = 2 x / n - 1 and v = 2 y / m - 1 are float32 numbers that the host makes;
//   in_y = (theta_11 v + theta_12 u + theta_13 + 1) / 2 * H
//   in_x = (theta_21 v + theta_22 u + theta_23 + 1) / 2 * W
// are rounded to float32 after every operation, from left to right.  Outside of
// [0, W) x [0, H) the result is 0; inside it is the blend (ops/resize/blend.h)
// of four elements, those beyond the image being 0.
#include <array>
#include <bit>
#include <cmath>

#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/doubts/codes.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/packed.h"
#include "ops/resize/blend.h"

namespace tim::ops {
namespace {

using ir::AttributeType;

enum Input { kImage, kTheta };

constexpr std::array<const char*, 6> kThetas = {"theta_1_1", "theta_1_2",
                                                "theta_1_3", "theta_2_1",
                                                "theta_2_2", "theta_2_3"};

bool IsConstant(const ir::AttributeMap& attributes, const char* theta) {
  return attributes.Bool(StrCat("has_", theta));
}

// Numbers that the tensor theta has for each batch.
int64_t ThetaLength(const ir::AttributeMap& attributes) {
  int64_t length = 0;
  for (const char* theta : kThetas) length += !IsConstant(attributes, theta);
  return length;
}

Status CheckTheta(const ir::InferContext& context) {
  const int64_t length = ThetaLength(context.attributes());
  if (length == 0) return OkStatus();
  if (!context.has_input(kTheta)) {
    return InvalidArgument("input 1, theta, is not bound, but ", length,
                           " of its numbers are no constants");
  }
  const ir::Shape& theta = context.shape(kTheta);
  if (!theta.ranked()) return OkStatus();
  const ir::Shape& image = context.shape(kImage);
  const int64_t batches = image.ranked() ? image[3] : ir::kUnknownDim;
  const int64_t found = theta.rank() == 2 ? theta[1] : 1;
  const bool fits = (theta.rank() == 1 || theta.rank() == 2) &&
                    (theta[0] == length || theta[0] == ir::kUnknownDim) &&
                    (found == 1 || found == batches ||
                     found == ir::kUnknownDim || batches == ir::kUnknownDim);
  if (fits) return OkStatus();
  return InvalidArgument("theta is ", theta.ToString(), ", expected [", length,
                         ", 1] or [", length, ", N] for the image ",
                         image.ToString());
}

Status Infer(ir::InferContext& context) {
  InferTypeFromInput(context);
  const ir::Shape& image = context.shape(kImage);
  if (image.ranked() && image.rank() != 4) {
    return InvalidArgument("the image ", image.ToString(), " has rank ",
                           image.rank(), ", expected [W, H, C, N]");
  }
  TIM_RETURN_IF_ERROR(CheckTheta(context));
  ir::Shape shape(std::vector<int64_t>(4, ir::kUnknownDim));
  if (image.ranked()) shape = image;
  constexpr std::array<const char*, 2> kSizes = {"output_w", "output_h"};
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t size = context.attributes().Int(kSizes[axis]);
    if (size < 0 || size > std::numeric_limits<int32_t>::max()) {
      return InvalidArgument("attribute '", kSizes[axis], "' is ", size,
                             ", expected 0 to 2147483647");
    }
    if (size > 0) shape.set_dim(axis, size);
  }
  context.outputs[0].desc.shape = shape;
  return OkStatus();
}

Status Check(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, kImage));
  if (ThetaLength(view.node.attributes) > 0) {
    TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, kTheta));
  }
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kOutput, 0));
  return CheckChannels(*view.outputs[0]);
}

// u of every x, or v of every y.
std::vector<float> UnitCoordinates(const ir::AttributeMap& attributes,
                                   int64_t size) {
  const bool align = attributes.Bool("align_corners") && size > 1;
  const auto divisor = static_cast<float>(align ? size - 1 : size);
  std::vector<float> out(size);
  for (int64_t i = 0; i < size; ++i) {
    out[i] = 2.0f * static_cast<float>(i) / divisor - 1.0f;
  }
  return out;
}

using Theta = std::array<float, 6>;

// Of every batch.
std::vector<Theta> ThetasOf(const ir::EvalContext& context, int64_t batches) {
  const ir::AttributeMap& attributes = context.attributes();
  const int64_t length = ThetaLength(attributes);
  std::vector<Theta> out(batches);
  for (int64_t n = 0; n < batches; ++n) {
    int64_t next = 0;
    for (size_t k = 0; k < kThetas.size(); ++k) {
      if (IsConstant(attributes, kThetas[k])) {
        out[n][k] = attributes.Float(kThetas[k]);
        continue;
      }
      const kernels::ElementReader theta(context.inputs[kTheta]);
      const bool shared =
          context.inputs[kTheta].desc->shape.NumElements() == length;
      out[n][k] = theta.Real((shared ? 0 : n * length) + next++);
    }
  }
  return out;
}

float Map(const float* row, float u, float v, int64_t extent) {
  const float s = row[0] * v + row[1] * u + row[2];
  return (s + 1.0f) * 0.5f * static_cast<float>(extent);
}

// Of the plane of the image that begins at `first`.
float Sample(const ir::Shape& image, int64_t first, float x, float y,
             const BlendReader& load) {
  const int64_t w = image[0];
  const int64_t h = image[1];
  if (!(x >= 0.0f && x < static_cast<float>(w) && y >= 0.0f &&
        y < static_cast<float>(h))) {
    return 0;
  }
  const auto left = static_cast<int64_t>(x);
  const auto top = static_cast<int64_t>(y);
  const auto cell = [&](int64_t column, int64_t row) {
    return column < w && row < h ? load(first + row * w + column) : 0.0f;
  };
  const BlendCells cells = {
      .x00 = cell(left, top),
      .x01 = cell(left + 1, top),
      .x10 = cell(left, top + 1),
      .x11 = cell(left + 1, top + 1),
  };
  return Blend(cells, x - std::floor(x), y - std::floor(y));
}

Status Eval(const ir::EvalContext& context) {
  const ir::ConstTensor& input = context.inputs[kImage];
  const ir::MutableTensor& output = context.outputs[0];
  const ir::Shape& image = input.desc->shape;
  const ir::Shape& shape = output.desc->shape;
  const std::vector<float> u = UnitCoordinates(context.attributes(), shape[0]);
  const std::vector<float> v = UnitCoordinates(context.attributes(), shape[1]);
  const std::vector<Theta> thetas = ThetasOf(context, image[3]);
  const BlendScale scale = BlendScaleOf(*input.desc, *output.desc);
  const BlendReader load(input, scale);
  BlendWriter writer(output, scale);
  int64_t o = 0;
  for (int64_t plane = 0; plane < image[2] * image[3]; ++plane) {
    const Theta& theta = thetas[plane / image[2]];
    const int64_t first = plane * image[0] * image[1];
    for (int64_t y = 0; y < shape[1]; ++y) {
      for (int64_t x = 0; x < shape[0]; ++x) {
        const float in_y = Map(&theta[0], u[x], v[y], image[1]);
        const float in_x = Map(&theta[3], u[x], v[y], image[0]);
        writer.Store(o++, Sample(image, first, in_x, in_y, load));
      }
    }
  }
  return OkStatus();
}

int64_t Scratch(const ir::NodeView& view) {
  const ir::Shape& output = view.outputs[0]->shape;
  return static_cast<int64_t>(sizeof(float)) *
         (output.DimOr1(0) + output.DimOr1(1) + 6 * output.DimOr1(3));
}

ir::OpSchema SpatialTransformerSchema() {
  ir::OpSchema schema = {
      .name = "SpatialTransformer",
      .inputs = {1, 2},
      .attributes = {{"output_h", AttributeType::kInt, int64_t{0}},
                     {"output_w", AttributeType::kInt, int64_t{0}},
                     {"align_corners", AttributeType::kBool, false}},
      .check = Check,
      .doubts = FirstCodes,
      .infer_shapes = Infer,
      .eval = Eval,
      .memory_estimate = Scratch,
      // Seven operations for each coordinate, seven for the blend.
      .compute_estimate = [](const ir::NodeView& view) {
        return ElementwiseEstimate(view, 21);
      }};
  for (const char* theta : kThetas) {
    schema.attributes.push_back(
        {StrCat("has_", theta), AttributeType::kBool, false});
    schema.attributes.push_back({theta, AttributeType::kFloat, 0.0});
  }
  return schema;
}

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo&) {
  return CheckKernelOperands(node);
}

// Rows {place in a batch's theta or -1, bits of the constant}, then the bits of
// u and v.
ir::PackedConstant PackMap(const ir::AttributeMap& attributes,
                           const ir::Shape& output) {
  std::vector<int32_t> words;
  int32_t next = 0;
  for (const char* theta : kThetas) {
    const bool constant = IsConstant(attributes, theta);
    words.push_back(constant ? -1 : next++);
    words.push_back(std::bit_cast<int32_t>(attributes.Float(theta)));
  }
  for (int axis = 0; axis < 2; ++axis) {
    for (const float value : UnitCoordinates(attributes, output[axis])) {
      words.push_back(std::bit_cast<int32_t>(value));
    }
  }
  return PackedTable("affine_map", std::move(words));
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const ir::AttributeMap& attributes = node.attributes();
  const ir::TensorDesc& from = node.inputs[kImage];
  const ir::TensorDesc& to = node.outputs[0];
  const int64_t length = ThetaLength(attributes);
  Launch launch("ops/resize/spatial_transformer.cl", "spatial_transformer");
  launch.Type("IN0", from).Type("OUT", to);
  launch.Input("x", node, kImage);
  if (length > 0) {
    const ir::TensorDesc& theta = node.inputs[kTheta];
    const bool shared = theta.shape.NumElements() == length;
    launch.Type("THETA", theta)
        .Input("theta", node, kTheta)
        .Int("theta_stride", shared ? 0 : length)
        .InputQuantization("theta", theta);
  }
  launch.Packed("map", PackMap(attributes, to.shape), 4)
      .Output("y", node, 0)
      .Int("w", from.shape[0])
      .Int("h", from.shape[1])
      .Int("channels", from.shape[2])
      .Int("batches", from.shape[3])
      .Int("out_w", to.shape[0])
      .Int("out_h", to.shape[1]);
  AddBlendArguments(BlendScaleOf(from, to), &launch);
  return launch.Tiles(device, to.shape.Product(0, 4)).Build();
}

ir::KernelDef SpatialTransformerKernel() {
  return ir::PlainKernel{.op = "tim.SpatialTransformer",
                         .name = "spatialtransformer",
                         .analyze = Supports,
                         .cost = CostAt(prices::kSpatialTransformer),
                         .lower = Lower};
}

}  // namespace

TIM_OPERATOR(spatial_transformer) {
  registry.Add(SpatialTransformerSchema());
  registry.Add(SpatialTransformerKernel());
}

}  // namespace tim::ops
