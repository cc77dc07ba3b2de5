// What rules of gradients (OpSchema::vjp) are written with: formulas of
// operators, one after the other, in the graph of the node.
#ifndef TIM_OPS_GRADIENTS_VJP_BUILDER_H_
#define TIM_OPS_GRADIENTS_VJP_BUILDER_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/op_schema.h"

namespace tim::ops {

using VjpRule = Result<std::vector<ir::ValueId>> (*)(const ir::VjpContext&);

/// Adds nodes for the gradient of one node.  Once one has failed, later calls
/// do nothing and return kNone; Finish() tells the failure.  Axes and extents
/// are in the order of ir::Shape.
class VjpBuilder {
 public:
  using Value = ir::ValueId;
  using Axes = std::vector<int64_t>;

  explicit VjpBuilder(const ir::VjpContext& context);

  // ---- The node.
  Value In(int index) const { return node_.inputs[index]; }
  bool HasIn(int index) const;
  Value Out(int index = 0) const { return node_.outputs[index]; }
  int inputs() const { return static_cast<int>(node_.inputs.size()); }
  int outputs() const { return static_cast<int>(node_.outputs.size()); }
  /// The cotangent of an output; zeros where nothing depends on it.
  Value Cotangent(int index = 0);
  bool Wanted(int index) const { return context_.wanted[index]; }
  const ir::AttributeMap& attributes() const { return node_.attributes; }
  const ir::Node& node() const { return node_; }

  /// Input `index` has this cotangent, brought to its shape by sums over axes
  /// along which it was broadcast.
  void SetBroadcast(int index, Value cotangent);
  /// Input `index` has this cotangent, whose elements are in its order.
  void Set(int index, Value cotangent);
  /// The cotangents, or the failure.
  Result<std::vector<ir::ValueId>> Finish();

  // ---- Failures.
  bool ok() const { return status_.ok(); }
  void Fail(const Status& status);
  /// The value of a call that may fail.
  template <typename T>
  T Try(Result<T> result) {
    if (ok() && !result.ok()) Fail(result.status());
    return ok() ? *std::move(result) : T();
  }

  // ---- Values.
  ir::Shape ShapeOf(Value value) const;
  ir::DataType TypeOf(Value value) const;
  /// The same number everywhere, of rank 0.
  Value Number(double value, ir::DataType type);
  Value Constant(const std::vector<float>& values, const ir::Shape& shape,
                 ir::DataType type);
  Value Filled(double value, const ir::Shape& shape, ir::DataType type);

  // ---- Operators.
  /// The operator "tim.<op>", of one output.
  Value Op(std::string_view op, std::vector<Value> inputs,
           ir::AttributeMap attributes = {}, const ir::TensorDesc& output = {});
  std::vector<Value> OpOfMany(std::string_view op, std::vector<Value> inputs,
                              ir::AttributeMap attributes, int outputs);

  Value Add(Value a, Value b) { return Op("Add", {a, b}); }
  Value Sub(Value a, Value b) { return Op("Sub", {a, b}); }
  Value Multiply(Value a, Value b) { return Op("Multiply", {a, b}); }
  Value Div(Value a, Value b) { return Op("Div", {a, b}); }
  Value Neg(Value x) { return Op("Neg", {x}); }
  Value Square(Value x) { return Op("Square", {x}); }
  /// a * x + b
  Value Linear(Value x, double a, double b);
  Value Scale(Value x, double factor);
  /// Comparisons with a number.
  Value Greater(Value x, double limit);
  Value GreaterOrEqual(Value x, double limit);
  Value Less(Value x, double limit);
  Value Select(Value condition, Value a, Value b) {
    return Op("Select", {condition, a, b});
  }
  /// x where the condition holds, else 0.
  Value Where(Value condition, Value x);
  /// Values or truth values as `type`.
  Value Cast(Value x, ir::DataType type);

  // ---- Operators that have nothing to do for some operands, which are then
  // the result.
  /// Sums along axes, which stay with an extent of 1.
  Value Sum(Value x, const Axes& axes);
  Value Mean(Value x, const Axes& axes);
  /// Sums along axes, which go.
  Value SumAway(Value x, const Axes& axes);
  /// Sums along the axes where `shape` has 1 and x more; of x's rank.
  Value SumTo(Value x, const ir::Shape& shape);
  Value Reshape(Value x, const ir::Shape& shape);
  /// Axis i of the result is axis perm[i] of x.
  Value Transpose(Value x, const Axes& perm);
  Value Broadcast(Value x, const ir::Shape& shape);
  /// Zeros in front and behind along each axis; negative: elements go.
  Value Pad(Value x, const Axes& front, const Axes& back);
  /// `length` elements from `start` on along each axis.
  Value Slice(Value x, const Axes& start, const Axes& length);
  /// Zeros behind each element along the first axes, so that these are
  /// steps[i] times as long.
  Value Spread(Value x, const Axes& steps);

 private:
  Value WithRankOf(Value x, Value like);
  Value Reduce(std::string_view op, Value x, const Axes& axes,
               bool keep_dims = true);
  Value Compare(std::string_view op, Value x, double limit);

  ir::VjpContext context_;
  ir::Node node_;  // A copy: nodes are added while it is read.
  std::vector<Value> results_;
  Status status_ = OkStatus();
};

/// All axes of `rank` but `kept`.
VjpBuilder::Axes AxesBut(int rank, int kept);

}  // namespace tim::ops

#endif  // TIM_OPS_GRADIENTS_VJP_BUILDER_H_
