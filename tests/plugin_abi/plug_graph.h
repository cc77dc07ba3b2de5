// Graphs of the library's operators and plug-ins', and runs of them.
#ifndef TIM_TESTS_PLUGIN_ABI_PLUG_GRAPH_H_
#define TIM_TESTS_PLUGIN_ABI_PLUG_GRAPH_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/links.h"
#include "device/device.h"
#include "ir/graph.h"
#include "ir/op_registry.h"
#include "runtime/ready_graph.h"

namespace tim::testing {

using Floats = std::vector<float>;
using Operators = std::shared_ptr<const ir::OpRegistry>;

/// Operators that are known now.
Operators Known();

/// Values are float32.
class PlugGraph {
 public:
  explicit PlugGraph(Operators operators)
      : operators_(std::move(operators)), graph_("graph") {}

  ir::ValueId Input(ir::Shape shape);
  /// Elements that look random and are the same in every run.
  ir::ValueId Constant(ir::Shape shape);
  /// Adds a node, and gives its only output.
  ir::ValueId Op(const std::string& op, std::vector<ir::ValueId> inputs,
                 ir::AttributeMap attributes = {});
  void Output(ir::ValueId value) { graph_.AddOutput(value); }

  ir::Graph& graph() { return graph_; }
  const Operators& operators() const { return operators_; }

 private:
  const Operators operators_;
  ir::Graph graph_;
};

/// Two convolutions with an addition around them: five nodes on a device
/// without fusions.
PlugGraph ResNetBlock(Operators operators);

/// Elements between -1 and 1 that look random.
Floats SomeFloats(size_t count, uint32_t seed = 1);

/// A store in memory that counts what had to be built.
class MapStore final : public device::BinaryStore {
 public:
  std::optional<std::string> Load(std::string_view key) override {
    const std::lock_guard lock(mutex);
    const auto found = content.find(std::string(key));
    if (found == content.end()) return std::nullopt;
    return found->second;
  }
  void Store(std::string_view key, std::string_view bytes) override {
    const std::lock_guard lock(mutex);
    content[std::string(key)] = bytes;
  }
  void CountBuild() override { ++builds; }

  std::mutex mutex;
  std::map<std::string, std::string> content;
  std::atomic<int> builds = 0;
};

/// Compiles for the devices, of which the first is the host.
/// \param links those of CompileOptionsFor() where it has no devices.
Result<runtime::ReadyGraph> Ready(
    const PlugGraph& graph, const device::Devices& devices, bool strict = false,
    std::shared_ptr<device::BinaryStore> store = nullptr,
    const compiler::LinkTable& links = {});

/// The outputs, one behind the other, of a run with these inputs.
Result<Floats> Run(runtime::ReadyGraph& ready,
                   const std::vector<Floats>& inputs);

/// The same of the graph on the host alone.
Floats Expected(const PlugGraph& graph, const std::vector<Floats>& inputs);

/// Number of steps of the plan that are of this type.
template <typename Action>
int CountSteps(const ir::Plan& plan) {
  int count = 0;
  for (const ir::Step& step : plan.steps) {
    count += std::holds_alternative<Action>(step.action) ? 1 : 0;
  }
  return count;
}

/// Elements that are equal within 1e-4.
void ExpectClose(const Floats& actual, const Floats& expected);

/// A plug-in's file that the build made.
std::string LibraryPath(const std::string& name);

/// The host and device `number` of a plug-in's kind.
Result<device::Devices> HostAnd(const std::string& kind, int number = 0);

}  // namespace tim::testing

#endif  // TIM_TESTS_PLUGIN_ABI_PLUG_GRAPH_H_
