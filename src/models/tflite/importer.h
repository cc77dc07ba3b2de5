// A subgraph of a .tflite file as a graph.
#ifndef TIM_MODELS_TFLITE_IMPORTER_H_
#define TIM_MODELS_TFLITE_IMPORTER_H_

#include <memory>
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
  const fbs::Subgraph* subgraph_ = nullptr;
  std::vector<Known> tensors_;
  bool reads_lost_ = false;  ///< The operator at hand reads a kLost tensor.
};

}  // namespace tim::models::tflite

#endif  // TIM_MODELS_TFLITE_IMPORTER_H_
