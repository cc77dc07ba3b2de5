// One element-wise node of ONNX, and numbers that its tests share.
#ifndef TIM_TESTS_MODELS_ELEMENTWISE_RUNNER_H_
#define TIM_TESTS_MODELS_ELEMENTWISE_RUNNER_H_

#include <limits>
#include <string>

#include "tests/models/node_runner.h"

namespace tim::models::onnx {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

inline NodeRunner Elementwise(const std::string& op, int opset = 20) {
  return NodeRunner(AddElementwise, op, opset);
}

}  // namespace tim::models::onnx

#endif  // TIM_TESTS_MODELS_ELEMENTWISE_RUNNER_H_
