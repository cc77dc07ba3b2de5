// Graphs while they are made, and what is known of their values.
#ifndef TIM_VALUES_GRAPH_STATE_H_
#define TIM_VALUES_GRAPH_STATE_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/pattern.h"
#include "ir/replacement.h"
#include "tim/values/graph.h"
#include "values/node_state.h"
#include "values/value_state.h"
#include "values/variable_state.h"

namespace tim::values::internal {

/// A graph of values, and what is known of it.  Used by one thread at a time
/// while it is made, by any thread afterwards.
class GraphState : public std::enable_shared_from_this<GraphState> {
 public:
  explicit GraphState(std::string name) : graph_(std::move(name)) {}
  /// The graph of values that computes what `graph` does, with its names and
  /// constants: one without states that was inferred, whose operators all are
  /// known to the process.
  static Result<std::shared_ptr<GraphState>> Import(const ir::Graph& graph);

  const std::string& name() const { return graph_.name(); }
  Value AddInput(const Spec& spec, const std::string& name);
  void AddOutput(const Value& value);
  /// Adds the node.
  Outputs Record(const std::shared_ptr<const NodeState>& node,
                 const std::vector<Value>& inputs,
                 const std::vector<Token>& after);
  /// The variable's value at this point of the graph, and a new one for what
  /// follows.
  Value ReadVariable(const std::shared_ptr<VariableState>& variable);
  Status AssignVariable(const std::shared_ptr<VariableState>& variable,
                        const Value& value);

  /// The first failure.
  const Status& status() const { return status_; }
  void Fail(const Status& status);
  /// The name of the value's node.
  std::string NameOf(ir::ValueId id) const;
  void SetName(ir::ValueId id, const std::string& name);

  int Level() const;
  std::vector<TensorSpec> InputSpecs() const { return SpecsOf(inputs_); }
  std::vector<TensorSpec> OutputSpecs() const { return SpecsOf(outputs_); }
  /// The same graph for these inputs, with what follows from them.
  Result<std::shared_ptr<GraphState>> Specialize(
      const std::vector<Spec>& inputs) const;

  /// The graph as it was recorded: its inputs, those that are bound to values
  /// of outside, and the variables that it reads; its outputs, and the new
  /// values of the variables that it writes.  Only what is declared has types
  /// and extents.
  std::shared_ptr<const ir::Graph> Snapshot() const;
  /// The same, which takes the order before it as its last input where it has
  /// ordered effects.
  ir::Graph Part() const;
  /// The same with all that is known.
  ir::Graph Known() const;
  /// The same as one node of its name.
  std::shared_ptr<const NodeState> AsNode() const;

  /// The value, and the operator of a node, of the graph.
  Value ValueOf(ir::ValueId id);
  Node NodeOf(ir::NodeId id) const;
  /// Puts what `replace` makes in the place of matches (ir::ReplaceMatches).
  Result<ir::ReplaceReport> Replace(
      const ir::Pattern& pattern,
      const std::function<std::vector<Value>(const ir::PatternMatch&)>& replace,
      int max_rounds);

  /// Values of outside, in the order of the inputs that they are bound to.
  std::vector<Value> ClosedOver() const;
  struct State {
    std::shared_ptr<VariableState> variable;
    ir::ValueId read = ir::kNone;     ///< The value before a run.
    ir::ValueId current = ir::kNone;  ///< What reads see now.
    bool written() const { return current != read; }
  };
  const std::vector<State>& states() const { return states_; }
  /// Schemas of nodes that no registry of the process has.
  const OwnSchemas& own() const { return own_; }
  /// True where the graph has ordered effects: its last output is then the
  /// value that the next ordered node waits for.
  bool ordered() const { return order_ != ir::kNone; }
  size_t input_count() const { return inputs_.size(); }
  size_t output_count() const { return outputs_.size(); }

 private:
  struct Closed {
    ir::ValueId id = ir::kNone;
    Value value;
  };

  // `ids`: values of `graph` that are there already, and then its outputs.
  Status ImportNode(const ir::Graph& graph, const ir::Node& source,
                    std::map<ir::ValueId, ir::ValueId>* ids);
  ir::ValueId OrderBefore();
  Result<std::vector<ir::ValueId>> AddNode(
      const std::shared_ptr<const NodeState>& node,
      const std::vector<ir::ValueId>& inputs);
  Result<std::vector<ir::ValueId>> IdsOf(const std::vector<Value>& values);
  Result<ir::ValueId> IdOf(const Value& value);
  // Whether a value from outside is of `other`, or of a graph that needs it.
  bool Needs(const GraphState& other) const;
  ir::ValueId AddValue(const TensorSpec& spec, ir::Role role,
                       const std::string& name);
  ir::ValueId AddConstant(const TensorSpec& spec,
                          std::shared_ptr<const ir::ConstantData> data,
                          const std::string& name);
  Value MakeSymbolic(ir::ValueId id);
  ir::Graph WithPorts() const;
  static ir::Graph WithoutGaps(ir::Graph graph);
  // Nodes of the match with an order among their operands, in it.
  Result<std::vector<ir::NodeId>> OrderedOf(
      const ir::PatternMatch& match) const;
  // Puts nodes from `first` on into `order`, that of effects, behind those of
  // the match.
  void AddEffects(const ir::PatternMatch& match, ir::NodeId first,
                  std::vector<ir::NodeId>* order) const;
  void SetEffectOrder(std::vector<ir::NodeId> order, ir::Graph* graph);
  Result<ir::Replacement> ReplacementOf(
      const ir::PatternMatch& match, const std::vector<ir::ValueId>& live,
      const std::function<std::vector<Value>(const ir::PatternMatch&)>&
          replace);
  std::vector<ir::ValueId> Held() const;
  void SetHeld(const std::vector<ir::ValueId>& held, size_t states);
  void ForgetUnused();
  void FillKnown(ir::ValueId first, ir::Graph* graph) const;
  void FillDeclared(ir::Graph* graph) const;
  State& StateFor(const std::shared_ptr<VariableState>& variable);
  std::vector<TensorSpec> SpecsOf(const std::vector<ir::ValueId>& ids) const;

  ir::Graph graph_;                // without inputs and outputs
  std::vector<TensorSpec> specs_;  // known facts, by value
  std::vector<std::shared_ptr<const NodeState>> nodes_;  // by node
  std::vector<ir::ValueId> inputs_;
  std::vector<ir::ValueId> outputs_;
  std::vector<Closed> closed_;
  std::vector<State> states_;
  OwnSchemas own_;
  ir::ValueId order_start_ = ir::kNone;  // what the first ordered node awaits
  ir::ValueId order_ = ir::kNone;        // of the last ordered node
  // Values of outside that are in it already.
  std::map<std::shared_ptr<ValueState>, ir::ValueId> outside_;
  Status status_;
  mutable std::mutex mutex_;  // of as_node_
  mutable std::shared_ptr<const NodeState> as_node_;
};

/// The type of values that say what ordered nodes wait for.
TensorSpec OrderSpec();

/// The graph that records a call of these operands; null: none does.
std::shared_ptr<GraphState> GraphFor(const NodeState& node,
                                     const std::vector<Value>& inputs);
/// The graph of this thread's innermost Capture(); null outside of one.
std::shared_ptr<GraphState> CapturingGraph();

/// Fails the graph that the symbolic value is of.
Status ForceSymbolic(const ValueState& value);
void NameInGraph(const ValueState& value, const std::string& name);

/// A scope in which `graph` is CapturingGraph() of this thread.
class CaptureScope {
 public:
  explicit CaptureScope(std::shared_ptr<GraphState> graph);
  ~CaptureScope();
  CaptureScope(const CaptureScope&) = delete;
  CaptureScope& operator=(const CaptureScope&) = delete;
};

}  // namespace tim::values::internal

#endif  // TIM_VALUES_GRAPH_STATE_H_
