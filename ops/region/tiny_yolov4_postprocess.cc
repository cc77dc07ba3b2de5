// TinyYolov4Postprocess: boxes and confidences of both heads of a YOLOv4-tiny
// network; the formulas stand with the public class.
//
// Everything is float32, each operation rounded; sigmoid and exp are those of
// kernels/exact_exp.h.
#include <array>
#include <bit>

#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "kernels/elements.h"
#include "kernels/exact_exp.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/launch.h"
#include "ops/launch/packed.h"

namespace tim::ops {
namespace {

constexpr int64_t kClasses = 80;
constexpr int64_t kBox = 4;
constexpr int64_t kAnchors = 3;
constexpr int64_t kChannels = kBox + 1 + kClasses;  // Of an anchor.

struct Head {
  int input;
  int grid;
  float stride;
  std::array<float, 2 * kAnchors> anchors;  // {width, height} of each.
};
// In the order of their rows.
constexpr std::array<Head, 2> kHeads = {{
    {1, 3, 16.0f, {23, 27, 37, 58, 81, 82}},
    {0, 2, 32.0f, {81, 82, 135, 169, 344, 319}},
}};

Status CheckShape(const ir::InferContext& context, int input,
                  const ir::Shape& expected) {
  const ir::Shape& found = context.shape(input);
  if (!found.ranked()) return OkStatus();
  bool fits = found.rank() == expected.rank();
  for (int axis = 0; fits && axis < expected.rank(); ++axis) {
    fits = found[axis] == expected[axis] || found[axis] == ir::kUnknownDim ||
           expected[axis] == ir::kUnknownDim;
  }
  if (fits) return OkStatus();
  return InvalidArgument("input ", input, " is ", found.ToString(),
                         ", expected ", expected.ToString());
}

// Of the coarse head, from whatever is known of one of the inputs.
int64_t CoarseExtent(const ir::InferContext& context, int axis) {
  // The coarse head and its grid, the fine ones.
  for (const int input : {0, 2, 1, 3}) {
    const ir::Shape& shape = context.shape(input);
    if (!shape.ranked() || shape.rank() <= axis) continue;
    if (shape[axis] == ir::kUnknownDim) continue;
    return input % 2 == 0 ? shape[axis] : shape[axis] / 2;
  }
  return ir::kUnknownDim;
}

Status Infer(ir::InferContext& context) {
  constexpr int64_t kAny = ir::kUnknownDim;
  const int64_t w = CoarseExtent(context, 0);
  const int64_t h = CoarseExtent(context, 1);
  for (const Head& head : kHeads) {
    const int64_t times = head.input == 0 ? 1 : 2;
    const int64_t head_w = w == kAny ? kAny : w * times;
    const int64_t head_h = h == kAny ? kAny : h * times;
    TIM_RETURN_IF_ERROR(
        CheckShape(context, head.input,
                   ir::Shape({head_w, head_h, kAnchors * kChannels, 1})));
    TIM_RETURN_IF_ERROR(
        CheckShape(context, head.grid, ir::Shape({head_w, head_h, 2})));
  }
  const int64_t rows = w == kAny || h == kAny ? kAny : kAnchors * 5 * w * h;
  for (int i = 0; i < 2; ++i) {
    InferTypeFromInput(context, i);
    context.outputs[i].desc.shape =
        ir::Shape({i == 0 ? kClasses : kBox, rows, 1});
  }
  return OkStatus();
}

Status Check(const ir::NodeView& view) {
  for (int i = 0; i < 4; ++i) {
    TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, i));
  }
  for (int i = 0; i < 2; ++i) {
    TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kOutput, i));
    TIM_RETURN_IF_ERROR(CheckChannels(*view.outputs[i]));
  }
  return OkStatus();
}

float Center(float t, float grid, float stride) {
  return (kernels::Sigmoid(t) * 1.05f - 0.025f + grid) * stride;
}

// Writes the rows of a head, the first of which is `row`.
void EvalHead(const ir::EvalContext& context, const Head& head, int64_t row) {
  const ir::ConstTensor& input = context.inputs[head.input];
  const int64_t cells = input.desc->shape[0] * input.desc->shape[1];
  const kernels::ElementReader reader(input);
  const kernels::ElementReader grid(context.inputs[head.grid]);
  kernels::ElementWriter confidences(context.outputs[0]);
  kernels::ElementWriter boxes(context.outputs[1]);
  for (int64_t anchor = 0; anchor < kAnchors; ++anchor) {
    for (int64_t cell = 0; cell < cells; ++cell, ++row) {
      const auto t = [&](int64_t channel) {
        return reader.Real((anchor * kChannels + channel) * cells + cell);
      };
      const float objectness = kernels::Sigmoid(t(kBox));
      for (int64_t c = 0; c < kClasses; ++c) {
        confidences.StoreReal(row * kClasses + c,
                              objectness * kernels::Sigmoid(t(kBox + 1 + c)));
      }
      const float* size = &head.anchors[2 * anchor];
      const std::array<float, kBox> box = {
          Center(t(0), grid.Real(cell), head.stride),
          Center(t(1), grid.Real(cells + cell), head.stride),
          kernels::Exp(t(2)) * size[0],
          kernels::Exp(t(3)) * size[1],
      };
      for (int64_t k = 0; k < kBox; ++k) {
        boxes.StoreReal(row * kBox + k, box[k]);
      }
    }
  }
}

int64_t RowsOf(const ir::Shape& head) { return kAnchors * head[0] * head[1]; }

Status Eval(const ir::EvalContext& context) {
  int64_t row = 0;
  for (const Head& head : kHeads) {
    EvalHead(context, head, row);
    row += RowsOf(context.inputs[head.input].desc->shape);
  }
  return OkStatus();
}

// Of a row: sigmoids of four operations and a product for each class, and 24
// operations besides.
ir::ComputeEstimate Estimate(const ir::NodeView& view) {
  ir::ComputeEstimate estimate = ElementwiseEstimate(view, 0);
  const auto rows = static_cast<double>(view.outputs[0]->shape[1]);
  estimate.flops = rows * (5.0 * kClasses + 24.0);
  return estimate;
}

ir::OpSchema TinyYolov4PostprocessSchema() {
  return {.name = "TinyYolov4Postprocess",
          .inputs = {4, 4},
          .outputs = {2, 2},
          .check = Check,
          .infer_shapes = Infer,
          .eval = Eval,
          .memory_estimate = NoScratch,
          .compute_estimate = Estimate};
}

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo&) {
  return CheckKernelOperands(node);
}

Status LowerHead(const ir::KernelNode& node, const Head& head, int64_t row,
                 const ir::DeviceInfo& device, ir::Lowering* lowering) {
  const ir::TensorDesc& input = node.inputs[head.input];
  const ir::TensorDesc& grid = node.inputs[head.grid];
  std::vector<int32_t> anchors;
  for (const float extent : head.anchors) {
    anchors.push_back(std::bit_cast<int32_t>(extent));
  }
  Launch launch("ops/region/tiny_yolov4_postprocess.cl", "tiny_yolov4_head");
  launch.Type("IN0", input)
      .Type("GRID", grid)
      .Type("OUT", node.outputs[0])
      .Type("BOX", node.outputs[1]);
  launch.Input("x", node, head.input)
      .Input("grid", node, head.grid)
      .Packed("anchors", PackedTable("anchors", std::move(anchors)), 4)
      .Output("y", node, 0)
      .Output("box", node, 1)
      .Int("cells", input.shape[0] * input.shape[1])
      .Int("first_row", row)
      .Float("cell_size", head.stride)
      .InputQuantization("x", input)
      .InputQuantization("grid", grid)
      .OutputQuantization("y", node.outputs[0])
      .OutputQuantization("box", node.outputs[1]);
  return launch.Tiles(device, RowsOf(input.shape)).AppendTo(lowering);
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  ir::Lowering lowering;
  int64_t row = 0;
  for (const Head& head : kHeads) {
    TIM_RETURN_IF_ERROR(LowerHead(node, head, row, device, &lowering));
    row += RowsOf(node.inputs[head.input].shape);
  }
  return lowering;
}

ir::KernelDef TinyYolov4PostprocessKernel() {
  return ir::PlainKernel{.op = "tim.TinyYolov4Postprocess",
                         .name = "tinyyolov4postprocess",
                         .analyze = Supports,
                         .cost = CostAt(prices::kTinyYolov4Postprocess),
                         .lower = Lower};
}

}  // namespace

TIM_OPERATOR(tiny_yolov4_postprocess) {
  registry.Add(TinyYolov4PostprocessSchema());
  registry.Add(TinyYolov4PostprocessKernel());
}

}  // namespace tim::ops
