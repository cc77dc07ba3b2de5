// Operations of this API become nodes of the inner graph.
//
// Dims, strides, axes and permutations are turned from the order of this API
// (last one contiguous) into the inner one (first one contiguous) in
// lowering.cc, and nowhere else: what records hand over is in the API's order.
#ifndef TIM_GRAPH_API_LOWERING_H_
#define TIM_GRAPH_API_LOWERING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph_api/op.h"
#include "ir/attribute.h"
#include "ir/data_type.h"
#include "ir/graph.h"
#include "ir/tensor_desc.h"

namespace tim::graph {

/// A value of the graph that is built; its extents are known.
struct Tensor {
  ir::ValueId id = ir::kNone;
  Dims dims = {};  ///< Empty: a scalar.
  ir::DataType type = ir::DataType::kUnknown;

  explicit operator bool() const { return id != ir::kNone; }
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
};

/// Type and quantization of a node's output; unknown: what the operator infers,
/// or the first input's.  The axis of a per-channel quantization is the API's.
struct Wanted {
  ir::DataType type = ir::DataType::kUnknown;
  ir::Quantization quantization = {};
};

/// Builds the nodes of one op after the other in one graph.
class Lowering {
 public:
  explicit Lowering(ir::Graph* graph) : graph_(graph) {}

  /// Operand `index` of the op that is being lowered; absent: false.  Float
  /// operands are as OpDef::moves_elements and takes_half say.
  Tensor input(size_t index) const;
  /// Declared type of output `index` ("as the node should make it").
  ir::DataType output_type(size_t index) const;
  bool wants_output(size_t index) const;
  void SetOutput(size_t index, Tensor tensor);

  /// A node of the built-in operator "tim.<op>", or of the registered one whose
  /// name `op` is with its domain, with one output, whose shape the operator
  /// infers.  Attributes are those of its schema, in its own
  /// order: use InnerAxis() and Reversed() for axes and lists.
  /// kInvalidArgument where operands break its rules.
  Result<Tensor> Add(std::string_view op, const std::vector<Tensor>& inputs,
                     ir::AttributeMap attributes = {},
                     const Wanted& wanted = {});
  /// The same with several outputs; the last ones may be left out.
  Result<std::vector<Tensor>> AddMany(std::string_view op,
                                      const std::vector<Tensor>& inputs,
                                      ir::AttributeMap attributes,
                                      const std::vector<Wanted>& wanted);

  /// Constants, of float32 or int32; as many values as `dims` have elements.
  Result<Tensor> Constant(const Floats& values, const Dims& dims);
  Result<Tensor> Constant(const std::vector<int32_t>& values, const Dims& dims);
  /// `value` everywhere.
  Result<Tensor> Filled(double value, const Dims& dims,
                        ir::DataType type = ir::DataType::kFloat32);

  // Each returns its argument where there is nothing to do.
  Result<Tensor> Reshape(const Tensor& tensor, const Dims& dims);
  /// Dim i of the result is dim order[i] of `tensor`.
  Result<Tensor> Transpose(const Tensor& tensor,
                           const std::vector<int64_t>& order);
  /// To nearest even; integers saturate.
  Result<Tensor> Cast(const Tensor& tensor, ir::DataType type);
  /// Repeats extents of 1 until they are those of `dims`, aligned at the last.
  Result<Tensor> Broadcast(const Tensor& tensor, const Dims& dims);

  ir::Graph& graph() { return *graph_; }

 private:
  friend class OpLowering;  // lowering.cc

  ir::Graph* graph_;
  const Op* op_ = nullptr;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
  std::vector<ir::DataType> output_types_;
};

/// Axis of the API to axis of the inner graph and back.
inline int64_t InnerAxis(int64_t axis, int64_t rank) { return rank - 1 - axis; }
inline std::vector<int64_t> Reversed(const std::vector<int64_t>& list) {
  return {list.rbegin(), list.rend()};
}
/// Axis from -rank to rank - 1, made positive.  kInvalidArgument else.
Result<int64_t> PositiveAxis(int64_t axis, int64_t rank);

/// f16 -> kFloat16 and so on; kUnknown where the inner graph has none.
ir::DataType InnerType(tim_graph_data_type_t type);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_LOWERING_H_
