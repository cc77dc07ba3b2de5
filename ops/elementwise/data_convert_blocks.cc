// DataConvert between a dense tensor and 8-bit codes in blocks of 16 channels:
// the ends of quantized networks, in one pass.
#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/elements/convert.h"
#include "ops/elements/operands.h"
#include "ops/launch/blocked.h"
#include "ops/launch/device_class.h"

namespace tim::ops {
namespace {

using kernels::ConvertRule;

// What may lie in blocks.
bool IsCode(const ir::TensorDesc& desc) {
  if (desc.type != ir::DataType::kInt8 && desc.type != ir::DataType::kUint8) {
    return false;
  }
  const int64_t zero = desc.quantized() ? desc.quantization.ZeroPoint() : 0;
  const ir::DataTypeInfo& info = ir::Info(desc.type);
  return zero >= info.min && zero <= info.max;
}

// [inner, channels, outer], with channels in blocks on one side.
struct Problem {
  ConvertRule rule = ConvertRule::kReal;
  int64_t inner = 1;
  int64_t channels = 1;
  int64_t outer = 1;
};

Result<Problem> Analyze(const ir::KernelNode& node,
                        const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  const ConvertRule rule = kernels::ConvertRuleOf(from, to);
  TIM_RETURN_IF_ERROR(CheckConvert(from, to, rule));
  if (rule != ConvertRule::kReal && rule != ConvertRule::kRequantize) {
    return Unimplemented("takes no elements that stay as they are");
  }
  for (const ir::TensorDesc* desc : {&from, &to}) {
    if (desc->type == ir::DataType::kBool8) {
      return Unimplemented("takes no bool8");
    }
    if (!FitsChannelBlocks(*desc)) {
      return Unimplemented(desc->ToString(),
                           " does not fit blocks of channels");
    }
  }
  if (!IsCode(from) && !IsCode(to)) {
    return Unimplemented("takes 8-bit codes on one side");
  }
  const int axis = ChannelBlocks().axis;
  const Problem out = {
      .rule = rule,
      .inner = from.shape.Product(0, axis),
      .channels = from.shape[axis],
      .outer = from.shape.Product(axis + 1, from.shape.rank())};
  if (out.inner >= kChannelBlock) return out;
  return Unimplemented("images of ", out.inner, " elements, takes 16 and more");
}

std::vector<ir::LayoutTuple> Layouts(const Problem&, const ir::KernelNode& node,
                                     const ir::DeviceInfo&) {
  const ir::Layout blocked = ChannelBlocks();
  const ir::Layout dense = ir::Layout::Dense();
  std::vector<ir::LayoutTuple> out;
  if (IsCode(node.outputs[0])) out.push_back({{dense}, {blocked}});
  if (IsCode(node.inputs[0])) out.push_back({{blocked}, {dense}});
  return out;
}

Result<ir::Lowering> Lower(const Problem& problem, const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  const auto& [rule, inner, channels, outer] = problem;
  const bool pack = to.layout.blocked();
  Launch launch("ops/elementwise/data_convert_blocks.cl",
                pack ? "convert_pack" : "convert_unpack");
  AddConvertOptions(from, to, rule, &launch);
  if (pack) launch.Option("-DPACK");
  launch.Input("x", node, 0)
      .Output("y", node, 0)
      .Int("inner", inner)
      .Int("channels", channels)
      .Int("outer", outer);
  AddConvertArguments(from, to, rule, &launch);
  const int64_t items =
      CeilDiv(inner, 16) * CeilDiv(channels, kChannelBlock) * outer;
  return launch.Tiles(device, items).Build();
}

ir::KernelDef DataConvertBlocksKernel() {
  return ir::TypedKernel<Problem>{.op = "tim.DataConvert",
                                  .name = "data_convert_blocks",
                                  .analyze = Analyze,
                                  .layouts = Layouts,
                                  .cost = CostAt(prices::kDataConvertBlocks),
                                  .lower = Lower};
}

}  // namespace

TIM_OPERATOR(data_convert_blocks) { registry.Add(DataConvertBlocksKernel()); }

}  // namespace tim::ops
