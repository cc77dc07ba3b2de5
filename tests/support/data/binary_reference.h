// Operators of two inputs with broadcasting: nodes, shapes, a reference.
#ifndef TIM_TESTS_SUPPORT_DATA_BINARY_REFERENCE_H_
#define TIM_TESTS_SUPPORT_DATA_BINARY_REFERENCE_H_

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/support/kernels/kernel_runner.h"

namespace tim::testing {

/// y = op(a, b); the shape of `y` is inferred.
Result<TestNode> MakeBinary(const std::string& op, const ir::TensorDesc& a,
                            const ir::TensorDesc& b, ir::TensorDesc y,
                            const ir::AttributeMap& attributes = {});

/// A shape that broadcasts to `shape`: some extents are 1, and slow ones may be
/// missing.
std::vector<int64_t> Shrink(std::vector<int64_t> shape, std::mt19937& rng);

/// Real results for the node's inputs; NaN as the code 0 where the output holds
/// integers.
std::vector<double> BinaryReference(
    const TestNode& node, const std::vector<TensorData>& inputs,
    const std::function<double(double, double)>& formula);

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_DATA_BINARY_REFERENCE_H_
