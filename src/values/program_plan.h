// A graph compiled for one set of inputs.
#ifndef TIM_VALUES_PROGRAM_PLAN_H_
#define TIM_VALUES_PROGRAM_PLAN_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "runtime/compiled_graph.h"
#include "runtime/shared_arenas.h"
#include "tim/values/graph.h"
#include "values/device_state.h"
#include "values/value_state.h"

namespace tim::values::internal {

/// An input as a plan takes it.
struct PortSpec {
  TensorSpec spec;
  ir::Layout layout;     ///< The layout on the program's device.
  bool on_host = false;  ///< On the host instead, and dense.
};

/// Memory that outputs of a run are in.
enum class OutputPlace {
  kDevice,  ///< Memory of the device that makes them, in its layout.
  kHost,    ///< Memory of the caller, dense.
};

class ProgramPlan {
 public:
  /// Compiles `graph`, whose inputs get these specs.
  /// \param operators of the graph; null: those that are known.
  /// \param arenas of its runs; null: it has its own.
  static Result<std::shared_ptr<ProgramPlan>> Create(
      const ir::Graph& graph, const std::vector<PortSpec>& inputs,
      OutputPlace place, const ProgramOptions& program_options,
      const DeviceState& device,
      const std::shared_ptr<const ir::OpRegistry>& operators,
      const std::shared_ptr<runtime::SharedArenas>& arenas);
  /// The plan that Create() would prepare; none where nothing is computed.
  static Result<std::optional<ir::Plan>> Compile(
      const ir::Graph& graph, const std::vector<PortSpec>& inputs,
      OutputPlace place, const ProgramOptions& program_options,
      const DeviceState& device,
      const std::shared_ptr<const ir::OpRegistry>& operators);

  /// The origin of an output of the graph: a step of the plan, an input that
  /// is passed through, or a constant.
  struct Source {
    enum class Kind { kComputed, kInput, kConstant };
    Kind kind = Kind::kComputed;
    size_t index = 0;  ///< Index of a plan's output, or of a graph's input.
    TensorSpec spec = {};
    std::shared_ptr<const ir::ConstantData> constant = nullptr;
  };
  const std::vector<Source>& sources() const { return sources_; }
  /// Null where nothing is computed.
  runtime::CompiledGraph* compiled() const { return compiled_.get(); }
  /// Graph inputs that the plan has, in its order.
  const std::vector<size_t>& inputs() const { return inputs_; }

  std::string Explain() const;

 private:
  void FindSources(const ir::Graph& graph);

  std::unique_ptr<runtime::CompiledGraph> compiled_;
  std::vector<Source> sources_;
  std::vector<size_t> inputs_;
};

/// The graph for these inputs, inferred; kInvalidArgument where extents that a
/// plan needs are not known then.
Result<compiler::InferredGraph> InferFor(
    ir::Graph graph, const std::vector<PortSpec>& inputs,
    const compiler::CompileOptions& options);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_PROGRAM_PLAN_H_
