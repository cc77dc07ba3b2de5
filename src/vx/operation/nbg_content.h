// What makes an operation an NBG: a binary graph, and tensors for its states.
#ifndef TIM_VX_OPERATION_NBG_CONTENT_H_
#define TIM_VX_OPERATION_NBG_CONTENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "binary/blob.h"
#include "binary/graph_body.h"
#include "vx/tensor/tensor_impl.h"

namespace tim::vx {

class NbgContent {
 public:
  using Tensors = std::vector<std::shared_ptr<Tensor>>;

  explicit NbgContent(binary::Blob blob) : blob_(std::move(blob)) {}
  /// Its states begin with what the original's hold now.
  NbgContent(const NbgContent& original);
  NbgContent(NbgContent&&) = default;
  NbgContent& operator=(NbgContent&&) = default;

  const binary::Blob& blob() const { return blob_; }

  /// The first call makes the states' tensors, in the graph `core`; their names
  /// begin with `owner`, the operation's.
  Status MakeStates(const std::shared_ptr<GraphCore>& core,
                    const std::string& owner,
                    const std::vector<binary::BodyState>& states);

  /// Tensors by operand of the operation's node: what is bound, null where the
  /// binary graph does not use it, and the states last.  After MakeStates().
  Tensors Inputs(const Tensors& bound) const;
  Tensors Outputs(const Tensors& bound) const;

 private:
  struct State {
    std::shared_ptr<TensorImpl> tensor;
    int64_t bytes = 0;
    bool written = false;
  };

  binary::Blob blob_;
  std::vector<State> states_;
  /// Bytes that a clone's states begin with; empty: with the binary graph's.
  std::vector<std::vector<std::byte>> content_;
};

}  // namespace tim::vx

#endif  // TIM_VX_OPERATION_NBG_CONTENT_H_
