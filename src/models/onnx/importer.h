// Turns the messages of an ONNX file into calls of node functions.
#ifndef TIM_MODELS_ONNX_IMPORTER_H_
#define TIM_MODELS_ONNX_IMPORTER_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "models/build/constant_budget.h"
#include "models/build/graph_builder.h"
#include "models/onnx/folder.h"
#include "models/onnx/messages.h"
#include "models/onnx/node.h"
#include "models/onnx/subgraphs.h"
#include "models/onnx/tensor_reader.h"
#include "tim/models/onnx.h"

namespace tim::models::onnx {

/// Meaning of a name.
struct Known {
  Value value;
  /// Made by a node that is not taken: what reads it is left out.
  bool is_refused = false;
  /// Not null: a sequence of tensors, and `value` is absent.
  std::shared_ptr<const std::vector<Value>> sequence = nullptr;
  /// Why there is no value; who reads it is refused.  Empty: there is one.
  std::string missing = {};

  static Known Refused() { return {{}, true, nullptr, {}}; }
  static Known Missing(std::string reason) {
    return {{}, false, nullptr, std::move(reason)};
  }
};

/// Attributes of a call, by name, for the nodes of a function.
using CallAttributes = std::map<std::string_view, AttributeMessage>;

/// Names of one graph or function while its nodes run.
struct Scope {
  /// The graph around a subgraph; null for the model's and for functions.
  Scope* outer = nullptr;
  const Opsets* opsets = nullptr;
  /// Attributes of the function that the nodes are in; null: in none.
  const CallAttributes* call = nullptr;
  /// "loop/3/", before the names of nodes.
  std::string prefix;
  std::map<std::string_view, Known> names;
  /// Initialisers that nobody has asked for yet.
  std::map<std::string_view, const TensorMessage*> tensors;
  std::map<std::string_view, const SparseMessage*> sparse_tensors;
};

/// A node with what its operands stand for.
struct Call {
  const NodeMessage& message;
  std::string label;  ///< As Refusal::node.
  Scope* scope;
  std::vector<Known> operands;
};

/// Imports one model.  Failures of Import() are of the whole file; nodes that
/// are not taken are in refusals().
class Importer {
 public:
  /// All arguments outlive the importer.
  Importer(const ModelMessage& model, const OnnxOptions& options,
           TensorReader* tensors, ConstantBudget* budget, GraphBuilder* builder,
           Folder* folder)
      : model_(model),
        options_(options),
        tensors_(tensors),
        budget_(budget),
        builder_(builder),
        folder_(folder) {}

  Status Import();
  const std::vector<Refusal>& refusals() const { return refusals_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  using Results = std::vector<Known>;

  // The model's inputs and outputs.
  Status AddInputs(Scope* scope);
  Status AddInput(const ValueMessage& input, Scope* scope,
                  std::vector<std::string>* open);
  Status AddOutputs(Scope* scope);
  Status CheckOptions() const;

  // Graphs, functions and their names.
  void AddInitializers(const GraphMessage& graph, Scope* scope) const;
  Result<std::vector<size_t>> Order(const GraphMessage& graph,
                                    const Scope& scope);
  Status RunNodes(const std::vector<NodeMessage>& nodes,
                  const std::vector<size_t>& order, Scope* scope);
  Status RunNode(const NodeMessage& node, size_t number, Scope* scope);
  Result<Known> Find(std::string_view name, Scope* scope);
  Result<Known> ReadInitializer(std::string_view name, Scope* scope);
  static bool Has(const Scope* scope, std::string_view name);
  /// Runs `graph` with `inputs` in a scope in that of `call`; its outputs.
  Result<Results> RunBody(const GraphMessage& graph, Results inputs,
                          const Call& call, const std::string& prefix);
  Result<Results> RunFunction(const FunctionMessage& function,
                              const Call& call);
  const FunctionMessage* FindFunction(const NodeMessage& node) const;

  // Nodes.
  Result<Results> Dispatch(const Call& call);
  Result<Results> RunOperator(const Call& call);
  Result<Node> MakeNode(const Call& call);
  Result<Attribute> Read(const AttributeMessage& message);
  Status Apply(Node* node);
  /// An operator of ai.onnx by itself, of opset 13.
  Result<Value> Make(const std::string& op, std::vector<Value> inputs,
                     std::map<std::string, Attribute> attributes);
  /// Asks the caller for a node that is not taken because of `refusal`.
  Status Supply(Node* node, const Status& refusal);
  void Refuse(const Call& call, const Status& status);
  /// Takes account of the constants that a node has made.
  Status SpendMade(const Node& node);

  // Control flow and sequences: control_flow.cc, repeat.cc, scan.cc,
  // sequences.cc.
  using Special = Result<Results> (Importer::*)(const Call& call);
  static Special FindSpecial(const NodeMessage& node);
  /// Whether anything here takes the operator.
  bool IsKnown(const NodeMessage& node) const;
  Result<Results> RunIf(const Call& call);
  /// An If whose condition is known when the model runs.
  Result<Results> ChooseBranch(const Call& call, const Value& condition);
  /// Both branches among the graph's nodes; `chosen`, a scalar, chooses between
  /// their results.
  Result<Results> RunBothBranches(const Call& call, const GraphMessage& first,
                                  const GraphMessage& second,
                                  const Value& chosen);
  /// Graphs inside of an operation, one of which runs.
  Result<Results> RunOneBranch(const Call& call, const GraphMessage& first,
                               const GraphMessage& second, const Value& chosen);
  Result<Results> RunLoop(const Call& call);
  /// What a Loop has before a trip.
  struct LoopState {
    int64_t trip = 0;
    Known goes_on;
    Results carried;
    /// By what is stacked: the slices of the trips before.
    std::vector<std::vector<Value>> stacked;
  };
  /// A Loop from `state` on whose trips are known when the model runs.
  Result<Results> Repeat(const Call& call, const GraphMessage& body,
                         const LoopState& state);
  /// The body of a While, whose operands the builder has: it makes the state,
  /// which becomes results, then slices.
  Result<Results> MakeTrip(const Call& call, const GraphMessage& body,
                           size_t carried, size_t scans);
  Status MakeTest(const Value& count);
  /// goes_on && counter < count, a scalar.
  Result<Value> GoesOn(const Value& counter, const Value& goes_on,
                       const Value& count);
  /// The slices of all trips, those of a While behind those before it.
  Result<Value> JoinStacks(const std::vector<Value>& before,
                           const Value& scanned);
  /// An output of the model: how many trips the loop of `call` has made, one
  /// more where it would have gone on.
  Status AddTrips(const Call& call, const Value& counter, const Value& goes_on);
  /// Stacked slices of a Loop's trips, behind what they carry.
  Status StackScans(const Call& call,
                    const std::vector<std::vector<Value>>& stacked,
                    Results* results);
  Result<Results> RunScan(const Call& call);
  Result<const GraphMessage*> BodyOf(const Call& call, const char* attribute);
  /// `values` along a new axis.
  Result<Value> Stack(const std::vector<Value>& values, int64_t axis);
  /// Part `index` along `axis`, without that axis.
  Result<Value> PartOf(const Value& value, int64_t axis, int64_t index);

  static Special FindSequence(std::string_view op);
  Result<Results> MakeSequence(const Call& call);
  Result<Results> ChangeSequence(const Call& call);
  Result<Results> ReadSequence(const Call& call);
  Result<Results> JoinSequence(const Call& call);
  Result<Results> SplitSequence(const Call& call);
  Result<Results> RunOptional(const Call& call);

  const ModelMessage& model_;
  const OnnxOptions& options_;
  TensorReader* tensors_;
  ConstantBudget* budget_;
  GraphBuilder* builder_;
  Folder* folder_;
  Subgraphs subgraphs_;
  std::map<const void*, std::vector<size_t>> orders_;
  std::vector<Refusal> refusals_;
  std::vector<std::string> warnings_;
  int64_t node_count_ = 0;
  int depth_ = 0;
  /// Outputs besides those of the file.
  std::vector<std::pair<std::string, Value>> trips_;
};

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_IMPORTER_H_
