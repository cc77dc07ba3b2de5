// Convolutions of 8-bit codes for the tests of their kernels.
#ifndef TIM_TESTS_OPS_CONVOLUTION_I8_CODE_CONVOLUTIONS_H_
#define TIM_TESTS_OPS_CONVOLUTION_I8_CODE_CONVOLUTIONS_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/support/data/conv2d_attributes.h"
#include "tests/support/kernels/kernel_runner.h"

namespace tim::testing {

/// Extents and attributes of a Conv2d.
struct CodeConvolution {
  std::vector<int64_t> input;   ///< W, H, C, N
  std::vector<int64_t> kernel;  ///< W, H, Ic, Oc
  int64_t padding = kSame;
  std::vector<int64_t> pad = {0, 0, 0, 0};
  std::vector<int64_t> stride = {1, 1};
  std::vector<int64_t> dilation = {1, 1};
  int64_t multiplier = 0;

  ir::AttributeMap attributes() const {
    return Conv2dAttributes(padding, pad, stride, dilation, multiplier);
  }
  int64_t outputs() const {
    return multiplier > 0 ? input[2] * multiplier : kernel[3];
  }
};

/// Types and quantization of its operands.
struct CodeTypes {
  ir::DataType input = ir::DataType::kUint8;
  int32_t input_zero = 7;
  ir::DataType weights = ir::DataType::kInt8;
  int32_t weights_zero = 0;
  ir::DataType output = ir::DataType::kUint8;
  int32_t output_zero = 100;
  bool per_channel = false;
  bool bias = true;

  std::string ToString() const;
};

/// As clients of NPUs have them.
inline constexpr CodeTypes kUnsignedCodes = {.input = ir::DataType::kUint8,
                                             .input_zero = 131,
                                             .weights = ir::DataType::kUint8,
                                             .weights_zero = 117,
                                             .output = ir::DataType::kUint8,
                                             .output_zero = 90};
/// With weights per channel.
inline constexpr CodeTypes kSignedCodes = {.input = ir::DataType::kInt8,
                                           .input_zero = -5,
                                           .weights = ir::DataType::kInt8,
                                           .weights_zero = 0,
                                           .output = ir::DataType::kInt8,
                                           .output_zero = 3,
                                           .per_channel = true};

/// Input, weights and output each of uint8 and int8; with weights per tensor
/// and a bias, or per channel without.
std::vector<CodeTypes> AllCodeTypes();
/// Zero points at the limits of their types.
std::vector<CodeTypes> ExtremeZeroPoints();

ir::TensorDesc WeightsOf(const CodeConvolution& convolution,
                         const CodeTypes& types);
/// Of a shape that is to be inferred, in whose range the results of random
/// codes spread, some beyond it.
ir::TensorDesc OutputOf(const CodeConvolution& convolution,
                        const CodeTypes& types);

/// With random weights over the whole range, and a bias.
Result<TestNode> NodeOf(const CodeConvolution& convolution,
                        const CodeTypes& types, std::mt19937& rng);
/// The same of another operator with such operands.
Result<TestNode> NodeOf(const std::string& op,
                        const ir::AttributeMap& attributes,
                        const CodeConvolution& convolution,
                        const CodeTypes& types, const ir::TensorDesc& output,
                        std::mt19937& rng);

/// Dynamic fixed point, 20 to 24 channels.
Result<TestNode> FixedPointNode(std::mt19937& rng);

/// Devices with each form of the products that this one has.
std::vector<ir::DeviceInfo> DotForms();
/// The same for kernels for GPUs.
std::vector<ir::DeviceInfo> WordForms();

/// Fails where a kernel refuses the node, or gives other codes than eval in one
/// of its layouts, twice.
Status CheckCodes(const TestNode& node, const std::string& kernel,
                  const ir::DeviceInfo& device, std::mt19937& rng);
/// The same in every form.
Status CheckCodes(const TestNode& node, const std::string& kernel,
                  std::mt19937& rng);

/// Limits of random convolutions.
struct MostExtents {
  int64_t groups = 1;
  int64_t inputs = 1;   ///< Channels of a group.
  int64_t outputs = 1;  ///< Likewise.
};
/// Of one kernel, convolutions of random extents, padding, strides, dilations
/// and types; or whose output has declared extents; `seed` as of SeededRng.
Status CheckRandomExtents(const std::string& kernel,
                          const ir::DeviceInfo& device, const MostExtents& most,
                          uint32_t seed);
Status CheckDeclaredExtents(const std::string& kernel,
                            const ir::DeviceInfo& device, uint32_t seed);
/// Of one kernel with each operator that sets limits behind the convolution, on
/// all of `devices`.
Status CheckFusedLimits(const CodeConvolution& convolution,
                        const std::string& kernel,
                        const std::vector<ir::DeviceInfo>& devices,
                        uint32_t seed);
/// Of one kernel where all codes of input and weights are at a limit of their
/// types, on all of `devices`.
Status CheckExtremeCodes(const CodeConvolution& convolution,
                         const std::string& kernel,
                         const std::vector<ir::DeviceInfo>& devices);
/// A sum that just fits 32 bits, by the weights that there are, is made; one
/// that may not is refused.
Status CheckLargeSums(const std::string& kernel,
                      const std::vector<ir::DeviceInfo>& devices);

}  // namespace tim::testing

#endif  // TIM_TESTS_OPS_CONVOLUTION_I8_CODE_CONVOLUTIONS_H_
