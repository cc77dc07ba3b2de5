// Functions that were captured, and programs made of them.
#ifndef TIM_VALUES_GRAPH_H_
#define TIM_VALUES_GRAPH_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tim/export.h"
#include "tim/values/device.h"
#include "tim/values/event.h"
#include "tim/values/mode.h"
#include "tim/values/node.h"
#include "tim/values/pattern.h"
#include "tim/values/types.h"
#include "tim/values/value.h"

namespace tim {
namespace values {

class Program;

namespace internal {
class GraphState;
class ProgramState;
}  // namespace internal

/// A node of a graph as a plan has it; `reason` says why other kernels were
/// not taken.  `measured_us` is -1 where nothing was measured.
struct NodeReport {
  std::string name;
  std::string op;
  std::string device;
  std::string kernel;
  std::string reason;
  MemoryEstimate memory = {};
  ComputeEstimate compute = {};
  double predicted_us = 0;
  double measured_us = -1;
};

struct ProgramOptions {
  /// Device by name, "" for the default one.
  std::string devices = {};
  /// "" where there is one device.
  std::string policy = {};
  /// Plans that are kept, one per specs of the inputs.
  int max_plans = 16;
  /// A host step beside another device is an error.
  bool strict = false;
  bool relaxed = false;
  /// Kernels' programs serve for many extents.
  bool many_shapes = false;
};

/// A function of values without its data.  Its extents, ranks and types may be
/// open.  One thread at a time while it is made, any thread afterwards.
class TIM_API Graph {
 public:
  Graph();
  /// A move copies: no handle is left without what it stood for.
  Graph(const Graph& other) = default;
  Graph& operator=(const Graph& other) = default;
  /// Calls `function` once with symbolic values.  What it uses of outside
  /// becomes a constant where it is one, else an input that is bound to the
  /// value.
  static Graph Capture(const Function& function,
                       const std::vector<Spec>& inputs,
                       const std::string& name = "");

  /// A further input.
  Value Input(const Spec& spec, const std::string& name = "");
  /// A further output.
  void Output(const Value& value);

  bool ok() const;
  std::string error() const;
  /// Level of knowledge: 0 where an input's type, rank or extent is unknown, 1
  /// where only a computed value's is, 2 where all are known.
  int Level() const;
  std::vector<Spec> InputSpecs() const;
  std::vector<Spec> OutputSpecs() const;
  /// The graph for these inputs; it shares the constants.
  Graph Specialize(const std::vector<Spec>& inputs) const;
  /// The graph as a function: in another graph that is being made it becomes
  /// one node of the graph's name.
  Outputs Call(const std::vector<Value>& inputs) const;

  Program Compile(const ProgramOptions& options = {}) const;
  MemoryEstimate EstimateMemory() const;
  ComputeEstimate EstimateCompute() const;
  double PredictMicroseconds(const Device& device = Device()) const;
  std::vector<NodeReport> Report(const Device& device = Device()) const;
  /// Values in the place of the outputs of a match's root, one for each.
  using Replacement = std::function<std::vector<Value>(const Match&)>;
  /// Calls `replacement` for each match, puts what it made in its place, and
  /// does so again, at most `max_rounds` times and until nothing matches.
  /// The number of replacements; -1 after an error, the graph is then as it
  /// was.  A replacement of another type or shape is left out, and
  /// LastError() tells which.
  int Replace(const Pattern& pattern, const Replacement& replacement,
              int max_rounds = 1);
  /// All matches, in topological order of their roots, without overlap.
  std::vector<Match> FindAll(const Pattern& pattern) const;

  /// Text with one line per value and node.
  std::string Dump() const;

 private:
  friend struct internal::Access;
  std::shared_ptr<internal::GraphState> state_;
};

/// A graph with plans for the inputs that it was given.  Any thread.
class TIM_API Program {
 public:
  Program() = default;
  bool ok() const;
  std::string error() const;
  /// Makes the plan for these inputs now; false where that fails, and
  /// LastError() says why.
  bool Prepare(const std::vector<Spec>& inputs);
  /// Enqueues a run and returns its outputs, which carry the run's event.
  std::vector<Value> Run(const std::vector<Value>& inputs) const;
  /// The outputs as dense bytes into the caller's memory, which must stay
  /// until the event.
  Event RunInto(const std::vector<Value>& inputs,
                const std::vector<void*>& outputs) const;
  CacheStats stats() const;
  /// The plans, with kernels and what was refused.
  std::string Explain() const;
  /// Reports per node, with the mean of `runs` measured runs.
  std::vector<NodeReport> Profile(const std::vector<Value>& inputs,
                                  int runs = 10) const;
  bool Save(const std::string& path) const;
  static Program Load(const std::string& path);

 private:
  friend struct internal::Access;
  std::shared_ptr<internal::ProgramState> state_;
};

}  // namespace values
}  // namespace tim

#endif  // TIM_VALUES_GRAPH_H_
