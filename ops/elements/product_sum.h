// Sums of products and what becomes of them, for convolutions, FullyConnected
// and Matmul; C++ twin of kernels/product_sum.clh.
//
// Integer domain (both factors are integers):
//   sum    = exact sum of (input - zero) * (weight - zero)
//   total  = sum + bias in units of s_in * s_w
//   result = clamp(round(float(total) * M + zero_out)),
//            M = float(double(s_in) * s_w / s_out);
//            float types: float(total) * float(double(s_in) * s_w);
//            where nothing is quantized: the total itself, saturated
// Float domain: real values summed in float in the order of the formula, the
// bias added last, then rounded to the output.
//
// A bias whose scale equals s_in * s_w (relative 1e-5), or an integer bias
// without quantization, adds its code (minus its zero point).  Any other adds
// rint(real * float(1 / (double(s_in) * s_w))).
#ifndef TIM_OPS_ELEMENTS_PRODUCT_SUM_H_
#define TIM_OPS_ELEMENTS_PRODUCT_SUM_H_

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "ir/kernel_def.h"
#include "ir/op_schema.h"
#include "kernels/elements.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"
#include "ops/launch/prices.h"

namespace tim::ops {

/// What the operator reads and writes.
struct SumDescs {
  const ir::TensorDesc* input = nullptr;
  const ir::TensorDesc* weights = nullptr;
  const ir::TensorDesc* bias = nullptr;  ///< Null where absent.
  const ir::TensorDesc* output = nullptr;
};
/// Operands 0, 1, (2) and output 0.
SumDescs DescsOf(const ir::EvalContext& context);
SumDescs DescsOf(const ir::NodeView& view);
SumDescs DescsOf(const ir::KernelNode& node);
/// Whether the anchor itself (not its epilogue) has input `index`.
bool AnchorHasInput(const ir::KernelNode& node, int index);
/// Where the anchor's bias is in KernelNode::inputs; -1 if it has none.
inline int BiasOf(const ir::KernelNode& node) {
  return AnchorHasInput(node, 2) ? 2 : -1;
}

/// Types that the operators of this rule take: 4, 8 and 16-bit integers,
/// float16, bfloat16, float32 (and what `more` lists) as factors, the same and
/// int32 as results; float32, float16, int32, int64 as bias.  Weights may be
/// quantized per channel along one of `weight_axes`, the bias along axis 0.
Status CheckSumTypes(const SumDescs& descs,
                     std::initializer_list<int> weight_axes,
                     std::initializer_list<ir::DataType> more = {});
/// The scales of weights and bias are one or one for each channel, the bias
/// has `channels` elements.  Unknown extents pass.
Status CheckSumChannels(const SumDescs& descs, int64_t channels);

enum class SumKind : uint8_t {
  kFloat,
  kInt,   ///< Proven to fit 32 bits.
  kLong,  ///< 64 bits.
  kWide,  ///< More: int32 times int32.
};
/// How a sum of `terms` products must be kept.
SumKind SumKindOf(const SumDescs& descs, int64_t terms);

__extension__ using Int128 = __int128;
/// The greatest distance of a code of an integer type from its zero point.
Int128 MaxMagnitude(const ir::TensorDesc& desc);

/// Both factors and the result are integers without quantization.
bool IsPlainSum(const SumDescs& descs);

/// A row of the table of kernels/product_sum.clh.
struct ChannelRule {
  float factor = 1.0f;
  int32_t weight_zero = 0;
  float bias_scale = 1.0f;
  int32_t bias_zero = 0;
  float bias_inverse = 0.0f;
};
ChannelRule RuleOf(const SumDescs& descs, int64_t channel);

/// What each channel of the bias, whose elements are `bias`, adds to an integer
/// sum.
std::vector<int64_t> BiasUnits(const SumDescs& descs,
                               const ir::ConstTensor& bias, int64_t channels);

/// sum + a * b in the type of the sum.
inline float AddProduct(float sum, float a, float b) { return sum + a * b; }
inline int64_t AddProduct(int64_t sum, int64_t a, int64_t b) {
  return sum + a * b;
}
inline Int128 AddProduct(Int128 sum, int64_t a, int64_t b) {
  return sum + Int128{a} * b;
}

/// Stores the results of `eval`.
class SumWriter {
 public:
  SumWriter(const ir::EvalContext& context, int64_t channels);
  /// `index`: element of the output.
  void Store(int64_t index, int64_t channel, float sum);
  void Store(int64_t index, int64_t channel, Int128 sum);
  void Store(int64_t index, int64_t channel, int64_t sum) {
    Store(index, channel, static_cast<Int128>(sum));
  }

 private:
  std::vector<float> factors_;
  std::vector<float> bias_reals_;  // Of each channel; empty without bias.
  std::vector<int64_t> bias_units_;
  bool plain_;
  bool float_output_;
  float output_zero_;
  kernels::ElementWriter writer_;
};

/// All elements of a tensor as codes minus zero points, or as real values.
std::vector<int64_t> CenteredCodes(const ir::ConstTensor& tensor);
std::vector<float> RealValues(const ir::ConstTensor& tensor);

/// Calls body(input, weights, zero): the factors of a sum of `terms` products
/// and the value that the sum starts with, in the type to sum in.
template <typename Body>
void WithFactors(const ir::EvalContext& context, int64_t terms, Body body) {
  const ir::ConstTensor& input = context.inputs[0];
  const ir::ConstTensor& weights = context.inputs[1];
  switch (SumKindOf(DescsOf(context), terms)) {
    case SumKind::kFloat:
      return body(RealValues(input), RealValues(weights), 0.0f);
    case SumKind::kWide:
      return body(CenteredCodes(input), CenteredCodes(weights), Int128{0});
    default:
      return body(CenteredCodes(input), CenteredCodes(weights), int64_t{0});
  }
}
/// Bytes that WithFactors allocates.
int64_t FactorBytes(const ir::NodeView& view);

/// 2 * terms operations for each output element; operands read once.
ir::ComputeEstimate SumEstimate(const ir::NodeView& view, double terms);
/// Microseconds of the anchor, a sum of `terms` products for each element of
/// its output, by a kernel with this price.
double SumCost(const ir::KernelNode& node, int64_t terms,
               const ir::DeviceInfo& device, const Price& price);

/// Ok, or that an operand of the anchor is not float32.
Status CheckFloat32(const ir::KernelNode& node);

/// Ok, or why a kernel of product_sum.clh cannot run the node.
Status CheckSumKernel(const ir::KernelNode& node, int64_t terms);
/// The -D options of product_sum.clh.
void AddSumOptions(const ir::KernelNode& node, int64_t terms, Launch* launch);
/// The packed table with a row for each channel.
ir::PackedConstant ChannelTable(const SumDescs& descs, int64_t channels);
/// These options, and the parameters of a kernel that finishes each sum by
/// itself: input, weights, channels, (bias), (add), output, the quantization of
/// input and output, low, high.
void AddSumOperands(const ir::KernelNode& node, const Epilogue& epilogue,
                    int64_t terms, int64_t channels, Launch* launch);

}  // namespace tim::ops

#endif  // TIM_OPS_ELEMENTS_PRODUCT_SUM_H_
