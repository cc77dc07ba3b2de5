// What of a client's graph was taken, as it was then.
#ifndef TIM_VX_GRAPH_GRAPH_REVISION_H_
#define TIM_VX_GRAPH_GRAPH_REVISION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "vx/core/graph_core.h"
#include "vx/graph/effective_operations.h"
#include "vx/lowering/lowering.h"

namespace tim::vx {

class GraphRevision {
 public:
  GraphRevision() = default;
  /// Begins before code of the user is called, which may change the graph.
  /// \param io INPUT and OUTPUT tensors that there are.
  GraphRevision(const GraphCore& core, size_t io);

  /// \param operations OpVector(), where what is compiled has replacements.
  /// Those of graphs inside are taken, too.
  void Take(const Operations& operations, const LoweredGraph& lowered);

  /// Nothing that was taken has changed.
  bool IsCurrent(const GraphCore& core, const Operations& operations,
                 size_t io) const;

 private:
  bool HasOperations(const Operations& operations) const;

  bool has_graphs_ = false;  ///< Operations have graphs inside.
  std::vector<std::pair<std::shared_ptr<Operation>, uint64_t>> operations_;
  std::vector<std::pair<std::shared_ptr<TensorImpl>, uint64_t>> tensors_;
  size_t io_ = 0;
  /// Of the graph's overrides and of its context's.
  std::pair<uint64_t, uint64_t> overrides_;
  uint32_t device_id_ = 0;
};

}  // namespace tim::vx

#endif  // TIM_VX_GRAPH_GRAPH_REVISION_H_
