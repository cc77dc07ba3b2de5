// Contexts of several fake devices, and what became of their graphs.
#ifndef TIM_TESTS_DEVICES_FAKE_CONTEXT_H_
#define TIM_TESTS_DEVICES_FAKE_CONTEXT_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/policy.h"
#include "device/host/host_device.h"
#include "runtime/device_set.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/context_impl.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {

/// A device per option, "fake:0" and so on, behind the host.
struct FakeSet {
  explicit FakeSet(const std::vector<FakeOptions>& options) {
    devices.push_back(device::CreateHostDevice());
    specs.push_back("host");
    for (const FakeOptions& one : options) {
      specs.push_back(StrCat("fake:", fakes.size()));
      fakes.push_back(std::make_shared<FakeDevice>(one));
      devices.push_back(fakes.back());
    }
  }

  /// \param links empty: assumed figures.
  std::shared_ptr<vx::Context> ContextWith(
      const std::string& policy = "", compiler::LinkTable links = {}) const {
    auto parsed = compiler::ParsePolicy(policy);
    EXPECT_TRUE(parsed.ok()) << parsed.status().message();
    vx::ContextOptions options;
    options.division = {.specs = specs, .policy = *parsed, .links = links};
    return vx::CreateContext(devices, std::move(options));
  }

  std::vector<std::shared_ptr<FakeDevice>> fakes;
  device::Devices devices;
  std::vector<std::string> specs;
};

inline const ir::Partition& PartitionOf(const vx::Graph& graph) {
  static const ir::Partition none;
  const ir::Plan* plan = vx::CompiledPlan(graph);
  return plan != nullptr ? plan->notes.partition : none;
}

/// Indices of devices that parts of the graph are on, in order of the parts.
inline std::vector<int> DevicesOf(const vx::Graph& graph) {
  std::vector<int> devices;
  for (const ir::PartitionPart& part : PartitionOf(graph).parts) {
    devices.push_back(part.device);
  }
  return devices;
}

/// The prediction of a compared plan; below 0 where there is none.
inline double PredictedUs(const vx::Graph& graph, const std::string& plan) {
  for (const ir::ComparedPlan& one : PartitionOf(graph).compared) {
    if (one.plan == plan) return one.predicted_us;
  }
  return -1;
}

inline double ChosenUs(const vx::Graph& graph) {
  return PredictedUs(graph, PartitionOf(graph).chosen);
}

/// A chain of `length` operations on `input`, the last one to an OUTPUT; a name
/// is "Tanh" or "Sigmoid".
template <typename Op>
std::shared_ptr<vx::Tensor> AddChain(vx::Graph& graph,
                                     std::shared_ptr<vx::Tensor> input,
                                     int length) {
  const auto shape = input->GetShape();
  for (int i = 0; i < length; ++i) {
    auto output = graph.CreateTensor(
        Floats(shape, i + 1 == length ? vx::TensorAttribute::OUTPUT
                                      : vx::TensorAttribute::TRANSIENT));
    (*graph.CreateOperation<Op>()).BindInput(input).BindOutput(output);
    input = output;
  }
  return input;
}

}  // namespace tim::testing

#endif  // TIM_TESTS_DEVICES_FAKE_CONTEXT_H_
