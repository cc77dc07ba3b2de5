// A subgraph of a .tflite file as a graph.
#ifndef TIM_MODELS_TFLITE_IMPORTER_H_
#define TIM_MODELS_TFLITE_IMPORTER_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "models/tflite/node.h"
#include "models/tflite/ports.h"
#include "models/tflite/reader.h"
#include "tim/models/tflite.h"

namespace tim::models::tflite {

/// Walks the operators of a subgraph in their order, which the format says is
/// one of execution.  What is refused is collected: later operators see values
/// of the extents that the file declares, so that they are looked at, too.
class Importer {
 public:
  /// All arguments outlive it.
  Importer(const File& file, const TfliteOptions& options,
           GraphBuilder* builder, Model* model);

  /// Builds the graph and fills model->refusals and warnings.  Fails where the
  /// file contradicts itself or the options do not fit it.
  Status Run();

 private:
  Status CheckOptions() const;
  Status AddInputs();
  Status AddOutputs();
  Status AddOperator(const fbs::Operator& table, int number);
  /// Reads the operands and calls the operator's function.
  Status Convert(Node* node);
  Status ReadOperands(Node* node);
  /// The value of a tensor that an operator reads.
  Result<Value> ValueOf(int tensor);
  Result<Value> StateOf(int tensor);
  Status Store(const Node& node);
  void StandIn(const fbs::Operator& table);
  std::string NameOf(int tensor) const;

  // Control flow, in control_flow.cc.
  static bool IsControlFlow(const std::string& op);
  Status ConvertControlFlow(Node* node);
  Status Branch(Node* node);
  /// 0 where there is no such subgraph.
  size_t OperatorsOf(int64_t subgraph) const;
  /// Both branches among the graph's operators; `is_so` chooses between their
  /// results.
  Status RunBothBranches(Node* node, const fbs::If& options, const Value& is_so,
                         const std::vector<Value>& inputs);
  /// Graphs inside of an operation, one of which runs.
  Status RunOneBranch(Node* node, const fbs::If& options, const Value& is_so,
                      const std::vector<Value>& inputs);
  Status Loop(Node* node);
  /// A loop from `state` on whose trips are known when the model runs.
  Status Repeat(Node* node, const fbs::While& options,
                const std::vector<Value>& state);
  /// Subgraph `number` as the graph of `builder`, on `inputs`: values of it or
  /// of the graph around it.
  Result<std::vector<Value>> Build(Node* node, int64_t number,
                                   const std::vector<Value>& inputs,
                                   GraphBuilder* builder);
  /// The operators of a subgraph as if they stood at the place of `node`, on
  /// `inputs`, and what they make.
  Result<std::vector<Value>> Inline(Node* node, int64_t subgraph,
                                    const std::vector<Value>& inputs);
  Result<std::vector<Value>> Walk(Node* node, const std::vector<Value>& inputs);

  /// A tensor while the operators are walked.
  struct Known {
    enum class State { kNo, kYes, kLost } state = State::kNo;
    Value value;
    std::string resource;  ///< The variable that it is a handle of.
  };

  const File& file_;
  const TfliteOptions& options_;
  Model* model_;
  Workspace workspace_;
  Signature signature_;
  /// The subgraph at hand; while one is inlined, that one.
  const fbs::Subgraph* subgraph_ = nullptr;
  std::vector<Known> tensors_;
  std::string path_;  ///< "#3/" inside of what operator 3 calls.
  int depth_ = 0;
  std::set<const fbs::Subgraph*> counted_;
  std::map<const fbs::Tensor*, Value>
      constants_;            ///< Constants of inlined subgraphs.
  int64_t operators_left_;   ///< Operators that may be inlined.
  bool reads_lost_ = false;  ///< The operator at hand reads a kLost tensor.
};

}  // namespace tim::models::tflite

#endif  // TIM_MODELS_TFLITE_IMPORTER_H_
