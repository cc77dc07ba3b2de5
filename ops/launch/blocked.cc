#include "ops/launch/blocked.h"

#include <array>

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
  const size_t count = node.anchor->inputs.size();
  std::vector<Single> singles;
  for (size_t i = 0; i < count; ++i) singles.emplace_back(node.inputs[i]);
  std::vector<ir::ConstTensor> inputs;
  for (size_t i = 0; i < count; ++i) {
    if (node.has_input(static_cast<int>(i)) && !singles[i].SetZero()) {
      return false;
    }
    inputs.push_back(node.has_input(static_cast<int>(i)) ? singles[i].Const()
                                                         : ir::ConstTensor());
  }
  Single result(node.anchor_output);
  const ir::MutableTensor output = result.Mutable();
  const ir::EvalContext context{*node.anchor, inputs, {&output, 1}};
  return node.anchor->schema->eval(context).ok() && result.IsZero();
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
      KeepsZero(node)) {
    out.push_back(SameLayouts(node, ChannelBlocks()));
  }
  return out;
}

}  // namespace tim::ops
