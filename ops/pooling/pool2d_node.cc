#include "ops/pooling/pool2d_node.h"

#include <algorithm>
#include <limits>

#include "base/checked_math.h"
#include "ops/elements/shapes.h"
#include "ops/launch/blocked.h"

namespace tim::ops {
namespace {

// Sums of this many codes fit 32 bits, whatever the zero point of 8 bits.
constexpr int64_t kMostCells = int64_t{1} << 22;

int64_t ZeroOf(const ir::TensorDesc& desc) {
  return desc.quantized() ? desc.quantization.ZeroPoint() : 0;
}

Status CheckPositions(const char* name, const PoolAxis& axis) {
  // With room for one tile beyond the end.
  constexpr int64_t kTile = 64;
  const double last = static_cast<double>(axis.output + kTile) *
                          static_cast<double>(axis.stride) +
                      static_cast<double>(axis.kernel);
  const double end = static_cast<double>(axis.input) + axis.back;
  if (std::max(last, end) <= std::numeric_limits<int32_t>::max())
    return OkStatus();
  return Unimplemented("positions along ", name, " do not fit 32 bits");
}

}  // namespace

PoolType PoolTypeOf(const ir::AttributeMap& attributes) {
  return static_cast<PoolType>(attributes.Int("type"));
}

Result<PoolShape> PoolShapeOf(const ir::AttributeMap& attributes,
                              const ir::Shape& input, const ir::Shape& output) {
  TIM_ASSIGN_OR_RETURN(const PoolWindows2d windows, PoolWindowsOf(attributes));
  return PoolShape{.w = PoolAxisOf(windows.w, input[0], output[0]),
                   .h = PoolAxisOf(windows.h, input[1], output[1]),
                   .planes = input.Product(2, input.rank())};
}

Result<PoolProblem> PoolProblemOf(const ir::KernelNode& node) {
  const ir::TensorDesc& input = node.inputs[0];
  const ir::TensorDesc& output = node.outputs[0];
  TIM_ASSIGN_OR_RETURN(
      const PoolShape shape,
      PoolShapeOf(node.attributes(), input.shape, output.shape));
  return PoolProblem{.type = PoolTypeOf(node.attributes()),
                     .scale = PoolScaleOf(input, output),
                     .shape = shape};
}

Status CheckPool2dSizes(const PoolShape& shape) {
  TIM_RETURN_IF_ERROR(CheckPositions("W", shape.w));
  return CheckPositions("H", shape.h);
}

Status CheckNoL2(const PoolProblem& problem) {
  if (problem.type != PoolType::kL2) return OkStatus();
  return Unimplemented("takes no L2 pooling");
}

Status CheckPoolCodes(const ir::TensorDesc& desc) {
  if (desc.type != ir::DataType::kInt8 && desc.type != ir::DataType::kUint8) {
    return Unimplemented(ir::ToString(desc.type),
                         ", takes int8 and uint8 only");
  }
  const ir::DataTypeInfo& info = ir::Info(desc.type);
  if (ZeroOf(desc) < info.min || ZeroOf(desc) > info.max) {
    return Unimplemented("a zero point, ", ZeroOf(desc), ", that is no code");
  }
  return OkStatus();
}

Status CheckCodeSums(const PoolShape& shape) {
  if (shape.w.kernel <= kMostCells / shape.h.kernel) return OkStatus();
  return Unimplemented("windows of ", shape.w.kernel, "x", shape.h.kernel,
                       ", takes at most ", kMostCells, " cells");
}

std::vector<ir::LayoutTuple> BlockedPoolLayouts(const PoolProblem& problem,
                                                const ir::KernelNode& node,
                                                const ir::DeviceInfo&) {
  const ir::Layout blocked = ChannelBlocks();
  std::vector<ir::LayoutTuple> tuples = {{{blocked}, {blocked}}};
  const auto& [type, scale, shape] = problem;
  if (shape.w.output == 1 && shape.h.output == 1 &&
      node.outputs[0].shape[2] % kChannelBlock == 0) {
    tuples.push_back({{blocked}, {ir::Layout::Dense()}});
  }
  return tuples;
}

int64_t BlockPlanes(const PoolProblem& problem, const ir::KernelNode& node) {
  const int64_t channels = node.inputs[0].shape[2];
  return problem.shape.planes / channels * CeilDiv(channels, kChannelBlock);
}

void AddColumnOptions(const PoolShape& shape, int64_t tile, Launch* launch) {
  // Columns of a tile that the registers of AVX-512 hold.
  constexpr int64_t kMostColumns = 24;
  if ((tile - 1) * shape.w.stride + shape.w.kernel > kMostColumns) return;
  launch->Option(StrCat("-DKERNEL_W=", shape.w.kernel))
      .Option(StrCat("-DSTRIDE_W=", shape.w.stride));
}

void AddPoolOptions(const ir::KernelNode& node, const PoolProblem& problem,
                    Launch* launch) {
  const ir::TensorDesc& input = node.inputs[0];
  launch->Option(StrCat("-DPOOL=", static_cast<int>(problem.type)));
  if (ir::IsFloat(input.type)) return;
  if (problem.type == PoolType::kMax &&
      ir::SameElements(input, node.outputs[0])) {
    launch->Option("-DSAME");
  }
  // Results are differences of codes, below 2^9.
  if (problem.scale.multiplier < 0x1p12f) launch->Option("-DBOUNDED");
}

Launch::Fields PoolSizes(const PoolShape& shape) {
  Launch::Fields fields = {{"w", shape.w.input},
                           {"h", shape.h.input},
                           {"planes", shape.planes},
                           {"left", shape.w.pad},
                           {"top", shape.h.pad}};
  for (const auto& [suffix, axis] :
       {std::pair("_w", shape.w), std::pair("_h", shape.h)}) {
    fields.emplace_back(StrCat("out", suffix), axis.output);
    fields.emplace_back(StrCat("kernel", suffix), axis.kernel);
    fields.emplace_back(StrCat("stride", suffix), axis.stride);
    // No window ends beyond 32 bits.
    fields.emplace_back(StrCat("padded", suffix),
                        std::min<int64_t>(axis.input + axis.back,
                                          std::numeric_limits<int32_t>::max()));
  }
  return fields;
}

void AddPoolResult(const ir::KernelNode& node, const PoolProblem& problem,
                   Launch* launch) {
  const auto& [type, scale, shape] = problem;
  const auto window = static_cast<float>(shape.w.kernel * shape.h.kernel);
  launch->Float("window", window)
      .Float("inverse_window", 1.0f / window)
      .Int("in_zero", ZeroOf(node.inputs[0]))
      .Float("multiplier", scale.multiplier)
      .Int("zero", ZeroOf(node.outputs[0]));
}

ir::ComputeEstimate Pool2dEstimate(const ir::NodeView& view) {
  const auto windows = PoolWindowsOf(view.node.attributes);
  if (!windows.ok()) return {};
  const auto extent = [&](const PoolWindow& window, int axis) {
    const ir::Shape& input = view.inputs[0]->shape;
    const int64_t cells =
        input.rank() > axis ? std::min(window.kernel, input[axis]) : 1;
    return static_cast<double>(cells);
  };
  return ElementwiseEstimate(view,
                             extent(windows->w, 0) * extent(windows->h, 1));
}

}  // namespace tim::ops
