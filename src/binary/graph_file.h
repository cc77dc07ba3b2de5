// A graph as bytes: operators by key, attributes, tensors, and the content of
// constants and states.
#ifndef TIM_BINARY_GRAPH_FILE_H_
#define TIM_BINARY_GRAPH_FILE_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "binary/encoding.h"
#include "ir/graph.h"
#include "ir/op_registry.h"

namespace tim::binary {

/// Ids are counted anew, without gaps.  The same graph gives the same bytes.
/// Fails where graphs are nested too deeply.
/// \param registry where operators with users' kernels are to be frozen, that
/// which has them, and the graph's types and shapes are inferred; null: they
/// are named like others.
Result<Encoding> EncodeGraph(const ir::Graph& graph,
                             const ir::OpRegistry* registry = nullptr);
Result<std::vector<std::byte>> WriteGraph(const ir::Graph& graph);

struct ReadOptions {
  /// Keeps the bytes, in which constants are then used; null: they are copied.
  std::shared_ptr<const void> keeper = nullptr;
  /// Where frozen operators are registered, under names that begin with
  /// `prefix`; null: a file that has some is refused.
  ir::OpRegistry* user_operators = nullptr;
  std::string prefix = {};
};

/// The graph that WriteGraph was given, with complete attributes, and operators
/// of `registry`, which must outlive it.  Bytes of any content and alignment:
/// what is not such a graph is refused (GraphReader says what is checked), in
/// time and memory that grow with their number (kMaxGrowth).
Result<ir::Graph> ReadGraph(std::span<const std::byte> bytes,
                            const ir::OpRegistry& registry,
                            const ReadOptions& options = {});

}  // namespace tim::binary

#endif  // TIM_BINARY_GRAPH_FILE_H_
