// Operations of a model's nodes, with the shapes of what they make.
#ifndef TIM_MODELS_BUILD_GRAPH_BUILDER_H_
#define TIM_MODELS_BUILD_GRAPH_BUILDER_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "models/build/source_recorder.h"
#include "models/build/value.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/operation.h"
#include "tim/vx/tensor.h"

namespace tim::models {

/// A result that an operation is to make.
struct Wanted {
  /// UNKNOWN: what the operation infers.  INT64: an INT32 of the graph that is
  /// INT64 in the model.
  vx::DataType type = vx::DataType::UNKNOWN;
  vx::Quantization quantization = {};
  /// With `has_dims`: the model's extents, where the graph's shape does not
  /// tell them (scalars), or where the operation's layout argument makes
  /// inference wrong.
  Dims dims = {};
  bool has_dims = false;

  static Wanted Any() { return {}; }
  static Wanted Of(vx::DataType type) { return {type, {}, {}, false}; }
  static Wanted Of(vx::DataType type, Dims dims,
                   vx::Quantization quantization = {}) {
    return {type, std::move(quantization), std::move(dims), true};
  }
  /// Type and quantization of `value`, extents inferred.
  static Wanted Like(const Value& value) {
    return {value.type, value.quantization, {}, false};
  }
};

/// Builds one graph.  One thread.
class GraphBuilder {
 public:
  /// \param recorder writes the same graph as C++; may be null.
  /// \param context of the graph, for graphs inside of it; may be null.
  explicit GraphBuilder(std::shared_ptr<vx::Graph> graph,
                        SourceRecorder* recorder = nullptr,
                        std::shared_ptr<vx::Context> context = nullptr);

  /// False: Inner() fails, or no program could be written of what it makes.
  bool TakesInner() const {
    return context_ != nullptr && recorder_ == nullptr;
  }
  /// Whether the graph is inside of an operation.
  bool is_inner() const { return is_inner_; }
  /// A builder of a graph that will be inside of an operation of this one's
  /// graph, of which no program is written.  It takes values of this builder,
  /// too: they become operands.
  Result<GraphBuilder> Inner() const;
  /// An INPUT of a graph inside that stands for `value` of the graph around it.
  Result<Value> AddOperand(const Value& value);
  /// Operands of `other`, a second graph inside of the same operation, which
  /// this one does not have yet: both then have the same, in the same order.
  Status AddOperandsOf(const GraphBuilder& other);
  /// Values of the graph around, in the order of the INPUTs, and what stands
  /// for them inside.
  struct Operand {
    Value outside;
    Value inside;
    bool read = false;  ///< Made where it was read, and not by AddOperand().
  };
  const std::vector<Operand>& operands() const { return operands_; }
  /// An OUTPUT of a graph inside, of the type that the value has in graphs.
  Status AddResult(const Value& value);

  /// ops::If of this graph over two graphs inside of it, which get each other's
  /// operands and the values that they made as results: of equal types, extents
  /// and quantization, one by one.
  /// \param condition a BOOL8 of one element.
  Result<std::vector<Value>> AddIf(const Value& condition,
                                   GraphBuilder* then_graph,
                                   const std::vector<Value>& then_values,
                                   GraphBuilder* else_graph,
                                   const std::vector<Value>& else_values);

  const std::shared_ptr<vx::Graph>& graph() const { return graph_; }

  /// Whose operations are added from now on: what messages and profiles call
  /// them.
  void SetNode(const std::string& name) { node_ = name; }
  /// The value's name in the model, which its tensor gets too.
  void SetName(Value* value, const std::string& name) const;
  /// Codes of an INPUT that nobody reads yet get a meaning.
  void SetQuantization(Value* input,
                       const vx::Quantization& quantization) const;

  /// An INPUT; an INT64 one is cast to INT32 at once, and its Port is INT64.
  Result<Value> AddInput(const std::string& name, vx::DataType type,
                         const Dims& dims,
                         const vx::Quantization& quantization = {});
  /// A VARIABLE, for what one run leaves for the next.  It begins as
  /// `initial`, where that is not null, else as zeros.
  Result<Value> AddState(const std::string& name, vx::DataType type,
                         const Dims& dims,
                         const vx::Quantization& quantization = {},
                         const HostArray* initial = nullptr);
  /// A run leaves `next` in `state`; who reads `state` in the same run sees
  /// what was there before.  `next` may be the state itself or a constant.
  Status SetState(const Value& state, const Value& next);
  /// `value` becomes an output of the graph, at the end of building: an
  /// operation that does nothing writes a tensor of its own.  It may be an
  /// input or a constant, and several outputs may be one value.
  Status AddOutput(const std::string& name, const Value& value);
  /// A constant: no tensor yet, no copy.
  Value Constant(HostArray array, const std::string& name = "",
                 const vx::Quantization& quantization = {}) const;
  template <typename T>
  Value ConstantOf(const std::vector<T>& values, Dims dims) const {
    return Constant(ArrayOf(values, std::move(dims)));
  }
  /// The value's tensor; makes that of a constant, once, sharing its data.
  /// Fails where an INT64 constant does not fit 32 bits, where the extents are
  /// more than 8 or one is 0, and for an absent value.
  Result<std::shared_ptr<vx::Tensor>> TensorOf(const Value& value);

  /// Adds Op(args...) over `inputs` (absent ones become placeholders) and
  /// infers what it makes.  Errors are those of the operator.
  template <typename Op, typename... Args>
  Result<std::vector<Value>> AddAll(const std::vector<Value>& inputs,
                                    const std::vector<Wanted>& wanted,
                                    const Args&... args) {
    TIM_RETURN_IF_ERROR(MakeTensors(inputs));
    return Finish(graph_->CreateOperation<Op>(args...), inputs, wanted,
                  recorder_ == nullptr ? std::string() : CallText<Op>(args...));
  }
  /// The same, for an operation with one result.
  template <typename Op, typename... Args>
  Result<Value> Add(const std::vector<Value>& inputs, const Wanted& wanted,
                    const Args&... args) {
    TIM_ASSIGN_OR_RETURN(
        std::vector<Value> made,
        (AddAll<Op, Args...>(inputs, std::vector<Wanted>{wanted}, args...)));
    return std::move(made[0]);
  }

  /// AddAll() for an operation that the caller has just made, the graph's last
  /// one.  \param call what CallText() would be, for a recorder; empty: there
  /// can be no program.
  Result<std::vector<Value>> AddMade(
      const std::shared_ptr<vx::Operation>& operation,
      const std::vector<Value>& inputs, const std::vector<Wanted>& wanted,
      const std::string& call = "");

  /// The same elements in other extents; no operation where they are equal or
  /// the value is constant.
  Result<Value> Reshape(const Value& value, const Dims& dims);
  /// Result axis i is axis permutation[i] of the model's order.
  Result<Value> Transpose(const Value& value,
                          const std::vector<int>& permutation);
  /// As ops::Cast: truncates and saturates; to BOOL8: is not 0.  No operation
  /// between INT32 and INT64, and for a constant integer that becomes an
  /// integer which holds it.
  Result<Value> Cast(const Value& value, vx::DataType type);

  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }

 private:
  struct Constants;

  /// The tensor in this graph of a value that may be of the graph around it.
  Result<std::shared_ptr<vx::Tensor>> OwnTensorOf(const Value& value);
  Status MakeTensors(const std::vector<Value>& inputs);
  Result<std::shared_ptr<vx::Tensor>> MakeTensor(const vx::TensorSpec& spec,
                                                 bool is_scalar);
  Result<std::shared_ptr<vx::Tensor>> MakeConstant(const vx::TensorSpec& spec,
                                                   const HostArray& array);
  Result<std::vector<Value>> Finish(
      const std::shared_ptr<vx::Operation>& operation,
      const std::vector<Value>& inputs, const std::vector<Wanted>& wanted,
      const std::string& call);

  std::shared_ptr<vx::Graph> graph_;
  SourceRecorder* recorder_;
  std::string node_;
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
  /// Tensors of constants, by their data.
  std::shared_ptr<Constants> constants_;
  std::shared_ptr<vx::Context> context_;
  bool is_inner_ = false;
  std::set<const vx::Tensor*> own_;  ///< Of a graph inside: its tensors.
  std::vector<Operand> operands_;
};

}  // namespace tim::models

#endif  // TIM_MODELS_BUILD_GRAPH_BUILDER_H_
