// A graph in static single assignment form: every value has one producer.
//
// Plain data with consistent def-use and use-def chains: all edits go through
// Graph, which keeps both sides in step.  One thread at a time.
#ifndef TIM_IR_GRAPH_H_
#define TIM_IR_GRAPH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/attribute.h"
#include "ir/constant.h"
#include "ir/tensor_desc.h"

namespace tim::ir {

struct OpSchema;
class Graph;

using ValueId = int32_t;
using NodeId = int32_t;
inline constexpr int32_t kNone = -1;  ///< No value, no node, absent operand.

enum class Role : uint8_t {
  kTransient,
  kInput,
  kConstant,
  kState,  ///< Persists between runs; reads see the value before this run.
};

struct Use {
  NodeId node = kNone;
  int index = 0;  ///< Which input of the node.
  bool operator==(const Use&) const = default;
};

struct Value {
  ValueId id = kNone;
  std::string name;
  TensorDesc desc;
  Role role = Role::kTransient;
  bool is_scalar = false;  ///< Rank 0 to shape inference, [1] in memory.
  /// The shape in `desc` was given by the user and rules (design.md: the
  /// declared output), else it is found by inference.
  bool shape_declared = false;
  /// Before inference, of a value without a declared shape: the one that it
  /// gets where the operator's has as many elements.  Unknown: none.
  Shape preferred_shape;
  /// kConstant; of a kState, where it is known, the content before the first
  /// run, which compilation leaves alone.
  std::shared_ptr<const ConstantData> constant;
  NodeId producer = kNone;
  int producer_index = 0;
  std::vector<Use> uses;
};

/// The body graph of a node: body inputs and outputs correspond by position to
/// the node's, as many as it has; kNone for an input that the body does not
/// read and for an output that the node does not want.  An operand that is
/// absent is absent for all that read it in the body.  `name` is what a kernel
/// claims it by ("tim.RNNCell").
struct Composite;

struct Node {
  NodeId id = kNone;
  std::string name;  ///< Instance name for messages: "Conv2d#3".
  const OpSchema* schema = nullptr;
  AttributeMap attributes;
  std::vector<ValueId> inputs;   ///< kNone = optional input absent.
  std::vector<ValueId> outputs;  ///< kNone = optional output not wanted.
  std::shared_ptr<const Composite> composite;  ///< Set on composite nodes.
  /// Where it must run, as an index of the devices it is compiled for; -1: on
  /// the one where the graph is fastest.
  int device = -1;
};

class Graph {
 public:
  Graph();
  explicit Graph(std::string name);
  Graph(const Graph& other);
  Graph& operator=(const Graph& other);
  Graph(Graph&& other) noexcept;
  Graph& operator=(Graph&& other) noexcept;
  ~Graph();

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  ValueId AddValue(TensorDesc desc, Role role = Role::kTransient,
                   std::string name = "");
  ValueId AddConstant(TensorDesc desc, std::shared_ptr<const ConstantData> data,
                      std::string name = "");
  NodeId AddNode(Node node);
  /// Removes a node; its outputs lose their producer.
  void RemoveNode(NodeId id);
  /// Removes a value that nothing produces, uses or returns.
  void RemoveValue(ValueId id);
  void SetInput(NodeId node, int index, ValueId value);
  void SetOutput(NodeId node, int index, ValueId value);
  /// Every use of `from`, graph outputs included, becomes a use of `to`, or
  /// absent where `to` is kNone.
  void ReplaceUses(ValueId from, ValueId to);

  /// Graph inputs in the order that the user sees.
  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }
  void AddInput(ValueId value) { inputs_.push_back(value); }
  void AddOutput(ValueId value) { outputs_.push_back(value); }
  void SetGraphInput(int index, ValueId value) { inputs_[index] = value; }
  void SetGraphOutput(int index, ValueId value) { outputs_[index] = value; }
  bool IsOutput(ValueId value) const;

  /// A write to a state: after a run the state `state` holds `value`.
  struct StateUpdate {
    ValueId state = kNone;
    ValueId value = kNone;
  };
  const std::vector<StateUpdate>& state_updates() const {
    return state_updates_;
  }
  void AddStateUpdate(ValueId state, ValueId value) {
    state_updates_.push_back({state, value});
  }
  void SetStateUpdate(int index, ValueId value) {
    state_updates_[index].value = value;
  }
  /// A graph output or a state update needs the value.
  bool IsLiveOut(ValueId value) const;

  bool HasNode(NodeId id) const;
  bool HasValue(ValueId id) const;
  const Node& node(NodeId id) const { return *nodes_[id]; }
  Node& node(NodeId id) { return *nodes_[id]; }
  const Value& value(ValueId id) const { return *values_[id]; }
  Value& value(ValueId id) { return *values_[id]; }

  /// Ids of what exists, ascending.
  std::vector<NodeId> NodeIds() const;
  std::vector<ValueId> ValueIds() const;
  int node_id_limit() const { return static_cast<int>(nodes_.size()); }
  int value_id_limit() const { return static_cast<int>(values_.size()); }

  /// Producers before consumers, ties by id.  Fails on a cycle, naming it.
  Result<std::vector<NodeId>> TopologicalOrder() const;

  /// Both chains agree, every id exists: an internal error where not.
  Status CheckChains() const;

  /// One line per value and node, bodies indented.
  std::string Dump() const;

 private:
  void RemoveUse(ValueId value, Use use);

  std::string name_;
  std::vector<std::unique_ptr<Node>> nodes_;  // null = removed
  std::vector<std::unique_ptr<Value>> values_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  std::vector<StateUpdate> state_updates_;
};

struct Composite {
  std::string name;
  Graph body;
  /// Fused nodes: the body node whose kernels may take the whole; else kNone.
  NodeId anchor = kNone;
  /// A graph that was compiled before: what is doubtful in it was said then.
  bool was_compiled = false;
};

/// The graphs inside of a node: its body, and those among its attributes.
std::vector<const Graph*> NestedGraphs(const Node& node);

}  // namespace tim::ir

#endif  // TIM_IR_GRAPH_H_
