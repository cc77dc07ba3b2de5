// Gradients of graphs against central differences of their host references.
#ifndef TIM_TESTS_GRADIENTS_GRADIENT_CHECK_H_
#define TIM_TESTS_GRADIENTS_GRADIENT_CHECK_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ir/attribute.h"
#include "ir/graph.h"

namespace tim::testing {

/// An input of a test graph and the values that it gets.
struct GradientInput {
  ir::Shape shape = {};
  double low = -2;  ///< Values lie between the two, no two of them equal and,
  double high = 2;  ///< where there is room, none near a multiple of 1 / 32.
  std::vector<float> values = {};  ///< Instead.
  bool wanted = true;              ///< Its gradient is checked.
  ir::DataType type = ir::DataType::kFloat32;
  bool is_scalar = false;
};

/// A node of "tim.<op>" over these inputs.
struct GradientCase {
  std::string op;
  std::vector<GradientInput> inputs;
  ir::AttributeMap attributes = {};
  int outputs = 1;
  /// How often it is differentiated: 2 checks the gradient's gradient too.
  int order = 2;
  ir::Shape declared = {};  ///< Of output 0, where it is ranked.
};

/// Values of floats for inputs of graphs: seeded by `seed`.
std::vector<float> SpacedValues(const GradientInput& input, uint32_t seed);

/// The graph of one node, whose outputs are the graph's.
ir::Graph GraphOf(const GradientCase& node);

/// float32 results of the inferred graph for float32 inputs, by eval.
std::vector<std::vector<float>> EvaluateFloats(
    const ir::Graph& graph, const std::vector<std::vector<float>>& inputs);

/// Success where Vjp of the graph agrees with central differences of step
/// 2^-7 within 2 % of each gradient's largest entry, `order` times.
::testing::AssertionResult GradientsAgree(const GradientCase& node);

}  // namespace tim::testing

#endif  // TIM_TESTS_GRADIENTS_GRADIENT_CHECK_H_
