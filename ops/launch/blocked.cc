#include "ops/launch/blocked.h"

#include <array>
#include <memory>
#include <utility>

#include "ops/launch/launch.h"

namespace tim::ops {
namespace {

// One element of the type and quantization of another tensor.
class Single {
 public:
  explicit Single(const ir::TensorDesc& desc) : desc_(desc) {
    desc_.shape = ir::Shape({1});
    desc_.layout = ir::Layout::Dense();
  }

  // False where no code has the real value 0.
  bool SetZero() {
    if (!desc_.quantized()) return true;  // made of zero bytes
    if (desc_.quantization.per_channel()) return false;
    const int64_t zero = desc_.quantization.ZeroPoint();
    const ir::DataTypeInfo& info = ir::Info(desc_.type);
    if (zero < info.min || zero > info.max) return false;
    kernels::ElementWriter(Mutable()).StoreCode(0, zero);
    return true;
  }

  bool IsZero() const {
    const kernels::ElementReader reader(Const());
    if (!desc_.quantized()) return reader.Real(0) == 0.0f;
    return reader.Code(0) == desc_.quantization.ZeroPoint();
  }

  ir::ConstTensor Const() const { return {&desc_, bytes_.data()}; }
  ir::MutableTensor Mutable() { return {&desc_, bytes_.data()}; }

 private:
  ir::TensorDesc desc_;
  std::array<std::byte, 8> bytes_ = {};
};

bool EvalSingle(const ir::Node& node, std::span<const ir::ConstTensor> inputs,
                Single& result) {
  const ir::MutableTensor output = result.Mutable();
  return node.schema->eval({node, inputs, {&output, 1}}).ok();
}

}  // namespace

ir::Layout ChannelBlocks() { return ir::Layout::Blocked(2, kChannelBlock); }

bool FitsChannelBlocks(const ir::TensorDesc& desc) {
  if (desc.shape.rank() != 4 || ir::Info(desc.type).bits < 8) return false;
  ir::TensorDesc blocked = desc;
  blocked.layout = ChannelBlocks();
  return CheckElementCount(blocked).ok();
}

ir::LayoutTuple SameLayouts(const ir::KernelNode& node,
                            const ir::Layout& layout) {
  return {std::vector<ir::Layout>(node.inputs.size(), layout),
          std::vector<ir::Layout>(node.outputs.size(), layout)};
}

bool KeepsZero(const ir::KernelNode& node) {
  std::vector<Single> singles;
  for (const ir::TensorDesc& input : node.inputs) singles.emplace_back(input);
  for (size_t i = 0; i < singles.size(); ++i) {
    if (node.has_input(static_cast<int>(i)) && !singles[i].SetZero()) {
      return false;
    }
  }
  const auto value = [&](int input) {
    return node.has_input(input) ? singles[input].Const() : ir::ConstTensor();
  };
  std::vector<ir::ConstTensor> inputs;
  for (size_t i = 0; i < node.anchor->inputs.size(); ++i) {
    inputs.push_back(value(static_cast<int>(i)));
  }
  auto running = std::make_unique<Single>(node.anchor_output);
  if (!EvalSingle(*node.anchor, inputs, *running)) return false;
  for (const ir::EpilogueStep& step : node.epilogue) {
    inputs.clear();
    for (const int operand : step.operands) {
      inputs.push_back(operand == ir::kRunning ? running->Const()
                                               : value(operand));
    }
    auto next = std::make_unique<Single>(step.result);
    if (!EvalSingle(*step.node, inputs, *next)) return false;
    running = std::move(next);
  }
  return running->IsZero();
}

bool KeepsTail(const ir::KernelNode& node) {
  return node.outputs[0].shape[2] % kChannelBlock == 0 || KeepsZero(node);
}

bool ConversionKeepsZero(const ir::TensorDesc& from, const ir::TensorDesc& to,
                         kernels::ConvertRule rule) {
  Single zero(from);
  Single result(to);
  if (!zero.SetZero()) return false;
  kernels::ElementConverter(zero.Const(), result.Mutable(), rule).Convert(0, 0);
  return result.IsZero();
}

std::vector<ir::LayoutTuple> UnaryLayouts(const ir::KernelNode& node,
                                          const ir::DeviceInfo&) {
  std::vector<ir::LayoutTuple> out = {ir::DenseLayouts(node)};
  if (FitsChannelBlocks(node.inputs[0]) && FitsChannelBlocks(node.outputs[0]) &&
      KeepsTail(node)) {
    out.push_back(SameLayouts(node, ChannelBlocks()));
  }
  return out;
}

}  // namespace tim::ops
