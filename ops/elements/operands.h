// Checks of operands and costs that element-by-element operators share.
#ifndef TIM_OPS_ELEMENTS_OPERANDS_H_
#define TIM_OPS_ELEMENTS_OPERANDS_H_

#include <string>

#include "ir/kernel_def.h"
#include "ir/op_schema.h"
#include "ops/launch/prices.h"

namespace tim::ops {

enum class Operand : uint8_t { kInput, kOutput };

/// A float or integer type other than uint64: "input 0 is bool8, expected …".
Status CheckNumber(const ir::NodeView& view, Operand operand, int index);

/// The same or bool8.
Status CheckNumberOrBool(const ir::NodeView& view, Operand operand, int index);

/// bool8 or int8 without quantization: 0 is false.
Status CheckTruth(const ir::NodeView& view, Operand operand, int index);

/// Any known type.
Status CheckKnownType(const ir::NodeView& view, Operand operand, int index);

/// An output quantized per channel has as many scales as channels: one that
/// takes over the input's may have other channels than that.
Status CheckChannels(const ir::TensorDesc& output);

/// Kernels are named like their operators, in lower case.
std::string LowerCase(std::string text);

/// Microseconds of a kernel for its operator's work.
double ElementwiseCost(const ir::KernelNode& node, const ir::DeviceInfo& device,
                       const Price& price);

/// ElementwiseCost() as the `cost` of a kernel, whatever its problem is.
class CostAt {
 public:
  explicit CostAt(const Price& price) : price_(price) {}

  double operator()(const ir::KernelNode& node,
                    const ir::DeviceInfo& device) const {
    return ElementwiseCost(node, device, price_);
  }
  template <typename Problem>
  double operator()(const Problem&, const ir::KernelNode& node,
                    const ir::DeviceInfo& device) const {
    return ElementwiseCost(node, device, price_);
  }

 private:
  Price price_;
};

}  // namespace tim::ops

#endif  // TIM_OPS_ELEMENTS_OPERANDS_H_
