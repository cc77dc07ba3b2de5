// An operation of an application's own, for tests of registered kinds.
#ifndef TIM_TESTS_GRAPH_API_FANCY_NORM_H_
#define TIM_TESTS_GRAPH_API_FANCY_NORM_H_

#include <string>

#include "tim/graph/extension.hpp"

namespace tim::graph::testing {

/// "demo.<name>", with shapes and nothing that computes it: y = x /
/// sqrt(mean(x^2 over the last axis) + epsilon), of f32.
op_definition FancyNorm(const std::string& name);

// Members of it: op_definition::decompose and ::host.
status DecomposeFancyNorm(build_context& context);
status FancyNormOnHost(host_context& context);
/// Refuses a last axis of 5.
opencl_kernel FancyNormKernel();

}  // namespace tim::graph::testing

#endif  // TIM_TESTS_GRAPH_API_FANCY_NORM_H_
