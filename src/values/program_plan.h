// A graph compiled for one set of inputs.
#ifndef TIM_VALUES_PROGRAM_PLAN_H_
#define TIM_VALUES_PROGRAM_PLAN_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "runtime/compiled_graph.h"
#include "tim/values/graph.h"
#include "values/device_state.h"
#include "values/value_state.h"

namespace tim::values::internal {

/// An input as a plan takes it.
struct PortSpec {
  TensorSpec spec;
  ir::Layout layout;  ///< On the program's device.
};

/// Where outputs leave a run.
enum class OutputPlace {
  kDevice,  ///< Where they are made, in the layout that they have there.
  kHost,    ///< Dense, in memory of the caller.
};

class ProgramPlan {
 public:
  /// Compiles `graph`, whose inputs get these specs.
  /// \param operators of the graph; null: those that are known.
  static Result<std::shared_ptr<ProgramPlan>> Create(
      ir::Graph graph, const std::vector<PortSpec>& inputs, OutputPlace place,
      const ProgramOptions& program_options, const DeviceState& device,
      const std::shared_ptr<const ir::OpRegistry>& operators);

  /// What an output of the graph is.
  struct Source {
    enum class Kind { kComputed, kInput, kConstant };
    Kind kind = Kind::kComputed;
    size_t index = 0;  ///< Of the plan's outputs, or of the graph's inputs.
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
