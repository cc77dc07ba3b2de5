// What makes an operation an NBG: a binary graph, and tensors for its states.
#ifndef TIM_VX_BINARY_BINARY_OPERATOR_H_
#define TIM_VX_BINARY_BINARY_OPERATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "binary/blob.h"
#include "binary/graph_body.h"
#include "ir/graph.h"
#include "ir/op_registry.h"
#include "vx/tensor/tensor_impl.h"

namespace tim::vx {

class OpImpl;

class BinaryOperator {
 public:
  explicit BinaryOperator(binary::Blob blob) : blob_(std::move(blob)) {}
  /// Its states begin with what the original's hold now.
  BinaryOperator(const BinaryOperator& original);
  BinaryOperator& operator=(const BinaryOperator&) = delete;

  const binary::Blob& blob() const { return blob_; }

  /// A composite node of the binary graph without operands: a schema of its own
  /// in `registry` checks those, and its custom operations are there, too.  The
  /// first call makes the states' tensors, in the graph of `operation`.
  Result<ir::Node> MakeNode(const OpImpl& operation,
                            const ir::OpRegistry& operators,
                            ir::OpRegistry* registry);

  /// Makes the states' tensors, where they are not made yet.
  Status MakeStates(const OpImpl& operation,
                    const std::vector<binary::BodyState>& states);

  /// By operand of that node, the states last; null where it has none.  After
  /// MakeNode() or MakeStates().
  std::vector<std::shared_ptr<Tensor>> Inputs(const OpImpl& operation) const;
  std::vector<std::shared_ptr<Tensor>> Outputs(const OpImpl& operation) const;

 private:
  struct State {
    std::shared_ptr<TensorImpl> tensor;
    int64_t bytes = 0;
    bool written = false;
  };

  Status CheckBound(const OpImpl& operation) const;

  const binary::Blob blob_;
  std::vector<State> states_;
  /// Of a clone: what its states begin with; empty: with the binary graph's.
  std::vector<std::vector<std::byte>> content_;
};

/// Takes the checks of MakeNode() out of a graph, in bodies too: what remains
/// can be written.
ir::Graph WithoutChecks(const ir::Graph& graph);

}  // namespace tim::vx

#endif  // TIM_VX_BINARY_BINARY_OPERATOR_H_
