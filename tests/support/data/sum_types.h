// Type combinations of convolutions, FullyConnected and Matmul for their tests.
#ifndef TIM_TESTS_SUPPORT_DATA_SUM_TYPES_H_
#define TIM_TESTS_SUPPORT_DATA_SUM_TYPES_H_

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "ir/tensor_desc.h"
#include "tests/support/data/test_tensor.h"

namespace tim::testing {

enum class Quantized : uint8_t { kNo, kPerTensor, kPerChannel, kFixed };

struct SumType {
  ir::DataType type = ir::DataType::kFloat32;
  Quantized quantized = Quantized::kNo;
};

enum class BiasKind : uint8_t {
  kFloat32,
  kFloat16,
  kInt32,       ///< Scale = input * weights, per channel where these are.
  kInt32Own,    ///< A scale and zero point of its own.
  kInt32Plain,  ///< Not quantized.
  kInt64,       ///< Not quantized.
};

struct SumTypes {
  std::string name;
  SumType input;
  SumType weights;
  SumType output;
  std::vector<BiasKind> biases = {};  ///< One is drawn, or none.
};

/// Every combination of conv2d, fullyconnected that has a kernel.
std::vector<SumTypes> KernelSumTypes();
/// Combinations that only eval takes.
std::vector<SumTypes> EvalSumTypes();

/// Descriptions with random quantization, such that sums of `terms` products
/// of random codes spread over the range of the output.  The output's shape is
/// unknown.
struct SumOperands {
  ir::TensorDesc input;
  ir::TensorDesc weights;
  std::optional<ir::TensorDesc> bias;
  ir::TensorDesc output;
};
struct SumSizes {
  std::vector<int64_t> input;
  std::vector<int64_t> weights;
  int weights_axis = 0;  ///< Of per-channel quantization.
  int64_t channels = 1;
  int64_t terms = 1;
};
SumOperands RandomSumOperands(const SumTypes& types, const SumSizes& sizes,
                              std::mt19937& rng);

/// The bias is large enough to be seen and does not drown the sums.
TensorData RandomBias(const SumOperands& operands, int64_t terms,
                      std::mt19937& rng);

/// Real values of the bias as sums see it: an integer bias without quantization
/// counts in units of the sum.  Empty where there is none.
std::vector<double> BiasReals(const SumOperands& operands,
                              const std::vector<TensorData>& inputs);

/// Sums of real values, and the greatest sum of magnitudes among them.
struct RealSums {
  std::vector<double> values;
  double magnitude = 0;
  void Add(double sum, double sum_of_magnitudes);
};
/// Ok where every element of `actual` is its sum rounded to its type: within
/// the errors of float32 sums and of a bias in whole units of the sum.
Status CheckRealSums(const SumOperands& operands, const RealSums& expected,
                     const TensorData& actual);

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_DATA_SUM_TYPES_H_
