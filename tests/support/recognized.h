// What the rules of operators make of a graph.
#ifndef TIM_TESTS_SUPPORT_RECOGNIZED_H_
#define TIM_TESTS_SUPPORT_RECOGNIZED_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/passes/passes.h"
#include "ops/builtin.h"
#include "tests/support/data/network.h"
#include "tests/support/data/test_tensor.h"
#include "tests/support/status_macros.h"

namespace tim::testing {

/// Operators after the pass, in order; the graph computes the same as before.
inline std::vector<std::string> Recognized(
    Network network, const compiler::CompileOptions& options = {}) {
  compiler::Module module(network.graph(), ops::BuiltinOperators(), options);
  EXPECT_OK(compiler::Verify(module));
  EXPECT_OK(compiler::InferShapes(module));
  EXPECT_OK(compiler::Simplify(module));
  const std::vector<TensorData> inputs =
      RandomInputs(module.graph, network.rng());
  const auto expected = Evaluated(module.graph, inputs);
  EXPECT_OK(expected);
  EXPECT_OK(compiler::Recognize(module));
  EXPECT_OK(module.graph.CheckChains());
  const auto found = Evaluated(module.graph, inputs);
  EXPECT_OK(found);
  if (expected.ok() && found.ok()) {
    for (size_t i = 0; i < expected->size(); ++i) {
      EXPECT_OK(CompareTensors((*expected)[i], (*found)[i],
                               {.absolute = 2e-6, .relative = 1e-5}));
    }
  }
  std::vector<std::string> names;
  const auto order = module.graph.TopologicalOrder();
  EXPECT_OK(order);
  for (const ir::NodeId id : *order) {
    names.push_back(module.graph.node(id).schema->name);
  }
  return names;
}

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_RECOGNIZED_H_
