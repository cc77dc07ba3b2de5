// Softmax along one axis.  ONNX Softmax, TFLite SOFTMAX.
//
// Every step is rounded to float32, in this order: d = x - max; t = d * k with
// k = beta * 1.44269504 (log2 e); e = 2^t, correctly rounded; S = sum of e from
// left to right; r = 1 / S, correctly rounded; y = e * r.  Clients compare the
// result with ==, so kernels make the same bits.
#include <algorithm>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "kernels/elements.h"
#include "kernels/exact_exp2.h"
#include "ops/doubts/codes.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/launch.h"
#include "ops/normalization/normalization_rules.h"
#include "ops/normalization/parameters.h"
#include "ops/normalization/softmax_node.h"

namespace tim::ops {
namespace {

bool IsNumber(ir::DataType type) {
  return ir::IsFloat(type) || ir::IsInteger(type);
}

Status Check(const ir::NodeView& view) {
  if (!IsNumber(view.inputs[0]->type)) {
    return InvalidArgument("the input is ", ir::ToString(view.inputs[0]->type),
                           ", expected a float or integer type");
  }
  if (!IsNumber(view.outputs[0]->type)) {
    return InvalidArgument("the output is ",
                           ir::ToString(view.outputs[0]->type),
                           ", expected a float or integer type");
  }
  return OkStatus();
}

// One row: elements first, first + stride, …
class Row {
 public:
  Row(const kernels::ElementReader& input, int64_t first, int64_t stride,
      int64_t count)
      : input_(input), first_(first), stride_(stride), count_(count) {}

  void Softmax(float k, kernels::ElementWriter* output) const {
    float largest = input_.Real(first_);
    for (int64_t i = 1; i < count_; ++i) {
      const float x = input_.Real(Index(i));
      if (x > largest) largest = x;
    }
    const auto power = [&](int64_t i) {
      return kernels::Exp2((input_.Real(Index(i)) - largest) * k);
    };
    float sum = 0.0f;
    for (int64_t i = 0; i < count_; ++i) sum += power(i);
    const float reciprocal = 1.0f / sum;
    for (int64_t i = 0; i < count_; ++i) {
      output->StoreReal(Index(i), power(i) * reciprocal);
    }
  }

 private:
  int64_t Index(int64_t i) const { return first_ + i * stride_; }

  const kernels::ElementReader& input_;
  int64_t first_;
  int64_t stride_;
  int64_t count_;
};

Status Eval(const ir::EvalContext& context) {
  TIM_ASSIGN_OR_RETURN(
      const SoftmaxProblem problem,
      SoftmaxProblemOf(context.attributes(), context.inputs[0].desc->shape));
  const kernels::ElementReader input(context.inputs[0]);
  kernels::ElementWriter output(context.outputs[0]);
  const auto& [inner, count, outer, k] = problem;
  if (count == 0) return OkStatus();
  for (int64_t slice = 0; slice < outer; ++slice) {
    for (int64_t row = 0; row < inner; ++row) {
      const int64_t first = slice * count * inner + row;
      Row(input, first, inner, count).Softmax(k, &output);
    }
  }
  return OkStatus();
}

// Two powers of about 50 operations each.
ir::ComputeEstimate Estimate(const ir::NodeView& view) {
  return ElementwiseEstimate(view, 100);
}

ir::OpSchema SoftmaxSchema() {
  return {.name = "Softmax",
          .inputs = {1, 1},
          .attributes = {{"beta", ir::AttributeType::kFloat},
                         {"axis", ir::AttributeType::kInt}},
          .check = Check,
          .doubts = FirstCodes,
          .infer_shapes = InferAlongAxis,
          .eval = Eval,
          .memory_estimate = NoScratch,
          .compute_estimate = Estimate,
          .sliced_inputs = SliceBesideAxis("axis"),
          .permute_rule = MoveAxis("axis"),
          .vjp = SoftmaxVjp};
}

Result<SoftmaxProblem> Analyze(const ir::KernelNode& node,
                               const ir::DeviceInfo&) {
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  return SoftmaxProblemOf(node.attributes(), node.inputs[0].shape);
}

// The functions of ops/normalization/softmax.cl, and softmax_bytes.cl.
enum class Variant { kRow, kRows, kLanes, kBytes };

bool IsByte(const ir::TensorDesc& desc) {
  return desc.type == ir::DataType::kUint8 || desc.type == ir::DataType::kInt8;
}

Variant ChooseVariant(const SoftmaxProblem& shape, const ir::KernelNode& node,
                      const ir::DeviceInfo& device) {
  // Long rows keep 16 lanes busy by themselves, short ones in sixteens.
  constexpr int64_t kLongRow = 64;
  // Enough sixteens for every core to have its part of them.
  const int64_t many_rows = int64_t{64} * device.compute_units;
  if (shape.inner != 1) return Variant::kLanes;
  if (device.device_class == ir::DeviceClass::kCpu && IsByte(node.inputs[0]) &&
      IsByte(node.outputs[0])) {
    return Variant::kBytes;
  }
  if (shape.count < kLongRow && shape.outer >= shape.count)
    return Variant::kLanes;
  return shape.outer >= many_rows &&
                 node.outputs[0].type == ir::DataType::kFloat32
             ? Variant::kRows
             : Variant::kRow;
}

// Rows that a work-item of softmax_bytes makes: as many for each core, in
// sixteens where there are enough, and most of them by tables that it has.
int64_t PieceOf(int64_t rows, const ir::DeviceInfo& device) {
  constexpr int64_t kItemsPerUnit = 16;
  const int64_t units = device.compute_units;
  const int64_t items =
      std::min(AlignUp(CeilDiv(rows, 16), units), kItemsPerUnit * units);
  const int64_t piece = CeilDiv(rows, items);
  return piece <= 16 ? piece : AlignUp(piece, 16);
}

Result<ir::Lowering> LowerBytes(const SoftmaxProblem& shape,
                                const ir::KernelNode& node,
                                const ir::DeviceInfo& device) {
  const int64_t piece = PieceOf(shape.outer, device);
  return Launch("ops/normalization/softmax_bytes.cl", "softmax_bytes")
      .Type("IN", node.inputs[0])
      .Type("OUT", node.outputs[0])
      .Input("in", node, 0)
      .Output("out", node, 0)
      .InPlace(node, 0)
      .Int("count", shape.count)
      .Int("rows", shape.outer)
      .Int("piece", piece)
      .Float("k", shape.k)
      .Float("tolerance",
             SoftmaxTolerance(shape, node.inputs[0], node.outputs[0]))
      .InputQuantization("in", node.inputs[0])
      .OutputQuantization("out", node.outputs[0])
      .Global(CeilDiv(shape.outer, piece))
      .Local(1)
      .Build();
}

Result<ir::Lowering> Lower(const SoftmaxProblem& shape,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const Variant variant = ChooseVariant(shape, node, device);
  if (variant == Variant::kBytes) return LowerBytes(shape, node, device);
  const bool rows = shape.inner == 1;
  const int64_t lanes = rows ? shape.outer : shape.inner;
  Launch launch("ops/normalization/softmax.cl",
                variant == Variant::kRow    ? "softmax_row"
                : variant == Variant::kRows ? "softmax_rows"
                                            : "softmax_lanes");
  launch.Type("IN", node.inputs[0]).Type("OUT", node.outputs[0]);
  launch.Input("in", node, 0)
      .Output("out", node, 0)
      .InPlace(node, 0)
      .Int("count", shape.count);
  if (variant == Variant::kLanes) launch.Int("stride", shape.inner);
  launch.Int("rows", lanes);
  if (variant == Variant::kLanes) {
    launch.Int("row_step", rows ? shape.count : 1)
        .Int("slice_step", shape.count * shape.inner);
  }
  launch.Float("k", shape.k)
      .InputQuantization("in", node.inputs[0])
      .OutputQuantization("out", node.outputs[0]);
  if (variant == Variant::kRow) return launch.Tiles(device, lanes).Build();
  return launch.Tiles(device, CeilDiv(lanes, 16), rows ? 1 : shape.outer)
      .Build();
}

double Cost(const SoftmaxProblem& shape, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  const bool bytes = ChooseVariant(shape, node, device) == Variant::kBytes;
  // Processors with VNNI have all of AVX-512 that estimates need.
  return ElementwiseCost(node, device,
                         !bytes            ? prices::kSoftmax
                         : device.has_vnni ? prices::kSoftmaxBytesAvx512
                                           : prices::kSoftmaxBytes);
}

ir::KernelDef SoftmaxKernel() {
  return ir::TypedKernel<SoftmaxProblem>{.op = "tim.Softmax",
                                         .name = "softmax",
                                         .analyze = Analyze,
                                         .cost = Cost,
                                         .lower = Lower};
}

}  // namespace

TIM_OPERATOR(softmax) {
  registry.Add(SoftmaxSchema());
  registry.Add(SoftmaxKernel());
}

}  // namespace tim::ops
