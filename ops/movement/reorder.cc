// Reorder: the same elements in another layout.  The compiler inserts it where
// a consumer does not take the layout of a producer, and where the memory of a
// graph's input or output is strided; users cannot make it.
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/launch.h"
#include "ops/movement/strided.h"
#include "ops/movement/transpose.h"

namespace tim::ops {
namespace {

constexpr int kChannelAxis = 2;

// Bits of the real value 0.
int64_t ZeroOf(const ir::TensorDesc& desc) {
  return desc.quantized() ? desc.quantization.ZeroPoint() : 0;
}

Status Check(const ir::NodeView& view) {
  const ir::TensorDesc& input = *view.inputs[0];
  const ir::TensorDesc& output = *view.outputs[0];
  if (ir::SameElements(input, output)) return OkStatus();
  return InvalidArgument("the output is ", output.ToString(),
                         ", expected the elements of the input, ",
                         input.ToString());
}

Status CheckLayout(const char* operand, const ir::TensorDesc& desc) {
  const ir::Layout& layout = desc.layout;
  if (layout.dense()) return OkStatus();
  if (layout.strided()) return ir::ByteSize(desc).status();
  if (!layout.blocked() || layout.axis >= desc.shape.rank()) {
    return Unimplemented(operand, " is ", desc.ToString(),
                         ", expected dense, blocked or strided");
  }
  if (BitsTypeName(desc.type) == nullptr) {
    return Unimplemented(operand, " is ", desc.ToString(),
                         ": 4-bit elements cannot lie in blocks");
  }
  return OkStatus();
}

// Where the elements of a dense or blocked tensor lie.
class Positions {
 public:
  explicit Positions(const ir::TensorDesc& desc) {
    if (!desc.layout.blocked()) return;
    block_ = desc.layout.block;
    inner_ = desc.shape.Product(0, desc.layout.axis);
    channels_ = desc.shape[desc.layout.axis];
    blocks_ = CeilDiv(channels_, block_);
  }
  /// Of the element that is number i of the dense tensor.
  int64_t operator()(int64_t i) const {
    if (block_ == 0) return i;
    const int64_t row = i / inner_;
    const int64_t channel = row % channels_;
    const int64_t block = row / channels_ * blocks_ + channel / block_;
    return (block * inner_ + i % inner_) * block_ + channel % block_;
  }

 private:
  int64_t block_ = 0;
  int64_t inner_ = 1;
  int64_t channels_ = 1;
  int64_t blocks_ = 1;
};

template <typename Bits>
void Move(const ir::ConstTensor& input, const ir::MutableTensor& output,
          int64_t count) {
  const Positions from(*input.desc);
  const Positions to(*output.desc);
  const auto* in = static_cast<const std::byte*>(input.data);
  auto* out = static_cast<std::byte*>(output.data);
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(out + to(i) * sizeof(Bits), in + from(i) * sizeof(Bits),
                sizeof(Bits));
  }
}

template <typename Bits>
void Fill(const ir::MutableTensor& output, int64_t count) {
  const auto zero = static_cast<Bits>(ZeroOf(*output.desc));
  auto* out = static_cast<std::byte*>(output.data);
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(out + i * sizeof(Bits), &zero, sizeof(Bits));
  }
}

template <typename Bits>
Status EvalBits(const ir::EvalContext& context) {
  const ir::ConstTensor& input = context.inputs[0];
  const ir::MutableTensor& output = context.outputs[0];
  TIM_ASSIGN_OR_RETURN(const int64_t elements,
                       ir::PhysicalElements(*output.desc));
  const int64_t count = output.desc->shape.NumElements().value_or(0);
  if (elements > count) Fill<Bits>(output, elements);
  Move<Bits>(input, output, count);
  return OkStatus();
}

Status Eval(const ir::EvalContext& context) {
  const ir::TensorDesc& input = *context.inputs[0].desc;
  const ir::TensorDesc& output = *context.outputs[0].desc;
  TIM_RETURN_IF_ERROR(CheckLayout("the input", input));
  TIM_RETURN_IF_ERROR(CheckLayout("the output", output));
  if (input.layout.strided() || output.layout.strided()) {
    if (!input.layout.dense() && !output.layout.dense()) {
      return Unimplemented("from ", input.ToString(), " to ", output.ToString(),
                           ": strided memory becomes dense, or is made of it");
    }
    CopyStrided(context.inputs[0], context.outputs[0]);
    return OkStatus();
  }
  if (input.layout == output.layout) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(output));
    std::memcpy(context.outputs[0].data, context.inputs[0].data, bytes);
    return OkStatus();
  }
  switch (ir::Info(output.type).bits) {
    case 8:
      return EvalBits<uint8_t>(context);
    case 16:
      return EvalBits<uint16_t>(context);
    case 32:
      return EvalBits<uint32_t>(context);
    default:
      return EvalBits<uint64_t>(context);
  }
}

ir::ComputeEstimate Estimate(const ir::NodeView& view) {
  return ElementwiseEstimate(view, 0);
}

ir::OpSchema ReorderSchema() {
  return {.name = "Reorder",
          .inputs = {1, 1},
          .check = Check,
          .infer_shapes = InferSameAsInput,
          .eval = Eval,
          .memory_estimate = NoScratch,
          .compute_estimate = Estimate,
          .permute_rule = KeepAttributes};
}

constexpr int64_t kBlocks[] = {1, 8, 16};  // 1: dense

ir::Layout LayoutOf(int64_t block) {
  return block == 1 ? ir::Layout::Dense()
                    : ir::Layout::Blocked(kChannelAxis, block);
}

int64_t BlockOf(const ir::Layout& layout) {
  return layout.blocked() ? layout.block : 1;
}

// The strided operand of a Reorder between strided and dense memory, else null.
const ir::TensorDesc* StridedOf(const ir::KernelNode& node) {
  const ir::TensorDesc& input = node.inputs[0];
  const ir::TensorDesc& output = node.outputs[0];
  if (input.layout.strided()) return output.layout.dense() ? &input : nullptr;
  return output.layout.strided() && input.layout.dense() ? &output : nullptr;
}

// Dimensions that the kernels of strided memory count through; tensors have no
// more than the second.
constexpr size_t kFewDims = 4;
constexpr size_t kManyDims = 8;
static_assert(kManyDims >= ir::kMaxRank);

Status SupportsStrided(const ir::TensorDesc& desc) {
  if (BitsTypeName(desc.type) == nullptr) {
    return Unimplemented(ir::ToString(desc.type), " has no kernel");
  }
  const auto elements = ir::PhysicalElements(desc);
  if (!elements.ok() || *elements > ir::kMostKernelElements ||
      desc.shape.NumElements().value_or(0) > ir::kMostKernelElements) {
    return Unimplemented("more elements than 32 bits count");
  }
  return OkStatus();
}

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo&) {
  if (const ir::TensorDesc* strided = StridedOf(node)) {
    return SupportsStrided(*strided);
  }
  const ir::TensorDesc& desc = node.inputs[0];
  if (BitsTypeName(desc.type) == nullptr) {
    return Unimplemented(ir::ToString(desc.type), " has no kernel");
  }
  if (desc.shape.rank() != 3 && desc.shape.rank() != 4) {
    return Unimplemented("rank ", desc.shape.rank(), ", takes 3 and 4");
  }
  ir::TensorDesc blocked = desc;
  blocked.layout = LayoutOf(16);
  const auto elements = ir::PhysicalElements(blocked);
  if (!elements.ok() || *elements > std::numeric_limits<int32_t>::max() - 256) {
    return Unimplemented("more elements than 32 bits count");
  }
  return OkStatus();
}

std::vector<ir::LayoutTuple> Layouts(const ir::KernelNode& node,
                                     const ir::DeviceInfo&) {
  if (StridedOf(node) != nullptr) {
    return {{{node.inputs[0].layout}, {node.outputs[0].layout}}};
  }
  std::vector<ir::LayoutTuple> out;
  for (const int64_t from : kBlocks) {
    for (const int64_t to : kBlocks) {
      if (from != to) out.push_back({{LayoutOf(from)}, {LayoutOf(to)}});
    }
  }
  return out;
}

enum class Path : uint8_t { kPack, kUnpack, kGeneral };

Path PathOf(const ir::KernelNode& node) {
  const int64_t from = BlockOf(node.inputs[0].layout);
  const int64_t to = BlockOf(node.outputs[0].layout);
  if (node.inputs[0].shape.Product(0, kChannelAxis) < 16) return Path::kGeneral;
  if (from == 1 && to == 16) return Path::kPack;
  if (from == 16 && to == 1) return Path::kUnpack;
  return Path::kGeneral;
}

double Cost(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  const bool tiles =
      StridedOf(node) == nullptr && PathOf(node) != Path::kGeneral;
  return ElementwiseCost(node, device,
                         tiles ? prices::kReorderTiles : prices::kReorder);
}

// Axes as LowerTiles() wants them, where strided memory has its axes exchanged:
// rows of the one side are columns of the other.  Else none.
std::vector<Axis> ExchangedAxes(const ir::KernelNode& node,
                                const ir::TensorDesc& strided) {
  const std::vector<int64_t>& strides = strided.layout.strides;
  const std::vector<int64_t> dense = ir::DenseStrides(strided.shape);
  const bool gathers = node.inputs[0].layout.strided();
  const auto& from = gathers ? strides : dense;
  const auto& to = gathers ? dense : strides;
  std::vector<int> order;
  for (int i = 0; i < strided.shape.rank(); ++i) {
    if (strided.shape[i] > 1) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return to[static_cast<size_t>(a)] < to[static_cast<size_t>(b)];
  });
  std::vector<Axis> axes =
      JoinAxes(ir::Permuted(strided.shape.dims(), order),
               {ir::Permuted(from, order), ir::Permuted(to, order)});
  if (axes.size() < 2 || axes[0].strides[1] != 1) return {};
  const auto fastest = std::min_element(
      axes.begin() + 1, axes.end(),
      [](const Axis& a, const Axis& b) { return a.strides[0] < b.strides[0]; });
  if (fastest->strides[0] != 1) return {};
  std::rotate(axes.begin() + 1, fastest, fastest + 1);
  return axes;
}

Result<ir::Lowering> LowerStrided(const ir::KernelNode& node,
                                  const ir::TensorDesc& strided,
                                  const ir::DeviceInfo& device) {
  const std::vector<Axis> exchanged = ExchangedAxes(node, strided);
  if (!exchanged.empty()) {
    return LowerTiles({.axes = exchanged}, node, device);
  }
  std::vector<StridedDim> dims = MergedDims(strided);
  const bool few = dims.size() <= kFewDims;
  dims.resize(few ? kFewDims : kManyDims);
  const bool gathers = node.inputs[0].layout.strided();
  const int64_t count = strided.shape.NumElements().value_or(0);
  Launch launch(
      "ops/movement/reorder.cl",
      StrCat(gathers ? "reorder_gather" : "reorder_scatter", few ? "" : "8"));
  launch.Option(StrCat("-DT=", BitsTypeName(strided.type)))
      .Input("in", node, 0)
      .Output("out", node, 0)
      .Int("count", count);
  for (size_t i = 0; i + 1 < dims.size(); ++i) {
    launch.Int(StrCat("extent", i), dims[i].extent);
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    launch.Int(StrCat("stride", i), dims[i].stride);
  }
  return launch.Tiles(device, count).Build();
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  if (const ir::TensorDesc* strided = StridedOf(node)) {
    return LowerStrided(node, *strided, device);
  }
  const ir::Shape& shape = node.inputs[0].shape;
  const int64_t inner = shape.Product(0, kChannelAxis);
  const int64_t channels = shape[kChannelAxis];
  const int64_t outer = shape.Product(kChannelAxis + 1, shape.rank());
  const int64_t from = BlockOf(node.inputs[0].layout);
  const int64_t to = BlockOf(node.outputs[0].layout);
  const Path path = PathOf(node);
  Launch launch("ops/movement/reorder.cl", path == Path::kPack ? "reorder_pack"
                                           : path == Path::kUnpack
                                               ? "reorder_unpack"
                                               : "reorder");
  launch.Option(StrCat("-DT=", BitsTypeName(node.inputs[0].type)))
      .Input("in", node, 0)
      .Output("out", node, 0)
      .Int("inner", inner)
      .Int("channels", channels)
      .Int("outer", outer);
  if (path == Path::kGeneral) launch.Int("in_block", from).Int("out_block", to);
  if (path != Path::kUnpack) launch.Int("zero", ZeroOf(node.outputs[0]));
  const int64_t items =
      path == Path::kGeneral
          ? inner * CeilDiv(channels, to) * outer
          : CeilDiv(inner, 16) * CeilDiv(channels, 16) * outer;
  return launch.Tiles(device, items).Build();
}

ir::KernelDef ReorderKernel() {
  return ir::PlainKernel{.op = "tim.Reorder",
                         .name = "reorder",
                         .analyze = Supports,
                         .layouts = Layouts,
                         .cost = Cost,
                         .lower = Lower};
}

}  // namespace

TIM_OPERATOR(reorder) {
  registry.Add(ReorderSchema());
  registry.Add(ReorderKernel());
}

}  // namespace tim::ops
