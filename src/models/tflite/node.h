// One operator of a TFLite model while it becomes operations.
#ifndef TIM_MODELS_TFLITE_NODE_H_
#define TIM_MODELS_TFLITE_NODE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "models/build/constant_budget.h"
#include "models/build/graph_builder.h"
#include "models/build/value.h"
#include "models/tflite/reader.h"

namespace tim::models::tflite {

/// A variable of a model, by the name that its handles share.
struct Resource {
  Value initial;  ///< Absent until a subgraph that runs once has set it.
  Value state;    ///< The VARIABLE of the graph; absent: not used yet.
  Value current;  ///< Value that a reader at this place of the model sees.
};

/// State that the operators of one import share.
class Workspace {
 public:
  static constexpr int64_t kMostOutputElements = int64_t{1} << 28;

  /// Both outlive it.
  Workspace(const File& of, GraphBuilder* builder)
      : file(&of), builder_(builder), budget_(of.size()) {}

  GraphBuilder& builder() { return *builder_; }
  /// Operations go to another graph from now on; the builder before.
  GraphBuilder* SetBuilder(GraphBuilder* builder) {
    return std::exchange(builder_, builder);
  }

  /// Takes account of memory for a constant.
  Status Spend(int64_t bytes) { return budget_.Spend(bytes); }

  /// A constant that is made of another one, once: `make()` gives the array.
  /// `how` names what it does.
  template <typename Make>
  Result<std::shared_ptr<const HostArray>> Derived(
      const std::shared_ptr<const HostArray>& from, const std::string& how,
      const Make& make) {
    Entry& entry = derived_[{from.get(), how}];
    if (entry.made == nullptr) {
      TIM_RETURN_IF_ERROR(Spend(2 * static_cast<int64_t>(from->bytes)));
      TIM_ASSIGN_OR_RETURN(HostArray made, make(*from));
      entry.from = from;
      entry.made = std::make_shared<const HostArray>(std::move(made));
    }
    return entry.made;
  }

  /// The same for an output, of which graphs have memory from the start.
  Status SpendOutput(int64_t elements) {
    elements_left_ -= elements;
    if (elements >= 0 && elements_left_ >= 0) return OkStatus();
    return InvalidArgument("the outputs have more than ", kMostOutputElements,
                           " elements");
  }

  const File* const file;
  std::vector<std::string> warnings;
  std::map<std::string, Resource> resources;
  /// A run may choose the results of other operators than those at hand.
  bool is_conditional = false;
  /// States of tensors that are variables, and what the run leaves in them.
  struct Update {
    Value state;
    Value next;
  };
  std::vector<Update> updates;

 private:
  struct Entry {
    std::shared_ptr<const HostArray> from;  ///< Keeps the key.
    std::shared_ptr<const HostArray> made;
  };
  GraphBuilder* builder_;
  ConstantBudget budget_;
  int64_t elements_left_ = kMostOutputElements;
  std::map<std::pair<const HostArray*, std::string>, Entry> derived_;
};

/// An operator, its operands and where its operations go.  Functions that take
/// an operator read it, add operations by builder() and set all outputs; a
/// failure by Refuse() names the option or operand.
class Node {
 public:
  std::string name;  ///< "#12", its number in the subgraph.
  std::string op;    ///< "CONV_2D"
  const fbs::Operator* table = nullptr;
  std::vector<Value> inputs;
  /// Types, names and quantizations of the outputs in the file; their dims are
  /// not believed.
  std::vector<Value> declared;
  /// Variables that operands are handles of, by name; else empty.
  std::vector<std::string> resource_names;
  std::vector<Value> outputs;  ///< Set by the operator's function.
  /// The variable that output 0 is a handle of; not empty: there is no value.
  std::string handle;
  std::string about;  ///< The option or operand that Refuse() was told.
  Workspace* workspace = nullptr;

  GraphBuilder& builder() const { return workspace->builder(); }

  /// The options; those that the format has by default where the file has
  /// none.  Fails where they are another operator's.
  template <typename Table>
  Result<const Table*> Options() {
    if (table->options_type() == fbs::OptionsTraits<Table>::enum_value &&
        table->options() != nullptr) {
      return static_cast<const Table*>(table->options());
    }
    if (table->options() == nullptr) return Defaults<Table>();
    return Refuse("options", "they are those of another operator");
  }

  /// A failure about an option or operand.
  template <typename... Args>
  Status Refuse(const std::string& what, const Args&... reason) {
    about = what;
    return Unimplemented(reason...);
  }

  bool Has(size_t input) const {
    return input < inputs.size() && !inputs[input].IsAbsent();
  }
  /// Fails unless there are so many inputs, the first `needed` of them not
  /// absent, and `results` outputs.
  Status Expect(size_t needed, size_t most, size_t results = 1);
  /// Input `index` as a constant, its integers or floats.
  Result<std::vector<int64_t>> ConstantInts(size_t index);
  Result<std::vector<float>> ConstantFloats(size_t index);
  /// One integer of a constant operand.
  Result<int64_t> ConstantInt(size_t index);
  /// Constants of integers with scales, of operators on floats: as floats.
  /// Other values as they are.
  Result<Value> AsFloat(const Value& value);
  /// AsFloat() where the operator's activations, `of`, are floats.  Weights
  /// that are UINT8 beside these are INT8: files from before the format had
  /// that type say so.
  Result<Value> WeightsFor(const Value& of, const Value& weights);
  /// `value` with axes permuted, a constant at once.
  Result<Value> Permuted(const Value& value, const std::vector<int>& order);
  /// An axis as the file has it.
  Result<int> Axis(const std::string& what, int64_t axis, int rank);
  /// Fails unless the input has the rank.
  Status ExpectRank(size_t input, int rank);

  /// Type and quantization of output `index`; extents are inferred.
  Wanted WantedOf(size_t index) const;
  Wanted WantedOf(size_t index, Dims dims) const;

  /// Makes `made` output `index`, or returns its failure.
  Status SetOutput(size_t index, Result<Value> made);
  /// The same behind an activation that the operator ends with.
  Status SetActivated(size_t index, Result<Value> made,
                      fbs::Activation activation);

 private:
  // A table without fields: all of them have their defaults.
  template <typename Table>
  static const Table* Defaults() {
    alignas(8) static constexpr uint8_t kEmpty[] = {4, 0, 4, 0, 4, 0, 0, 0};
    return reinterpret_cast<const Table*>(kEmpty + 4);
  }
};

/// Turns an operator into operations.
using NodeFunction = Status (*)(Node& node);

/// Operators by their names in the format, filled by the functions below.
using OperatorTable = std::map<std::string, NodeFunction>;

// Each stands in a file of its own, src/models/tflite/ops/<family>.cc.
void AddActivations(OperatorTable* table);   // RELU6, TANH, PRELU, SOFTMAX ...
void AddConvolutions(OperatorTable* table);  // CONV_2D, CONV_3D ...
void AddPools(OperatorTable* table);     // AVERAGE_POOL_2D, RESIZE_BILINEAR ...
void AddProducts(OperatorTable* table);  // FULLY_CONNECTED, BATCH_MATMUL
void AddElementwise(OperatorTable* table);  // ADD, EXP, LESS, CAST ...
void AddReductions(OperatorTable* table);   // MEAN, ARG_MAX, TOPK_V2 ...
void AddShapes(OperatorTable* table);       // RESHAPE, SHAPE, FILL ...
void AddMovement(OperatorTable* table);     // CONCATENATION, PAD, PACK ...
void AddSlices(OperatorTable* table);       // SLICE, STRIDED_SLICE, SPLIT ...
void AddGathers(OperatorTable* table);      // GATHER, ONE_HOT, SELECT ...
void AddSequences(OperatorTable* table);    // REVERSE_SEQUENCE, SEGMENT_SUM ...
void AddListings(OperatorTable* table);     // SPARSE_TO_DENSE, UNIQUE ...
void AddDiagonals(OperatorTable* table);    // MATRIX_DIAG, MATRIX_SET_DIAG
void AddTransposed(OperatorTable* table);   // TRANSPOSE_CONV ...
void AddRecurrent(OperatorTable* table);    // RNN, SVDF ...
void AddLstm(OperatorTable* table);  // LSTM, BIDIRECTIONAL_SEQUENCE_LSTM ...
void AddVariables(OperatorTable* table);  // VAR_HANDLE, CALL_ONCE ...
void AddDetection(OperatorTable* table);  // NON_MAX_SUPPRESSION_V4 ...

/// All of the above.
const OperatorTable& Operators();

}  // namespace tim::models::tflite

#endif  // TIM_MODELS_TFLITE_NODE_H_
