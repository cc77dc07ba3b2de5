// Binary graphs that stay in the process: never written, and never read.
#ifndef TIM_VX_BINARY_LOCAL_BINARY_H_
#define TIM_VX_BINARY_LOCAL_BINARY_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "binary/blob.h"
#include "compiler/compiler.h"
#include "ir/op_registry.h"
#include "runtime/ready_graph.h"
#include "tim/vx/graph.h"
#include "tim/vx/operation.h"
#include "vx/binary/graph_binary.h"

namespace tim::vx {

/// A binary graph, and what runs it.
struct LocalBinary {
  binary::Blob blob;
  /// Without an executable: it is compiled when a graph with its operation is.
  /// Without a context: the executable has others, of other graphs.
  runtime::ReadyGraph ready;
};

/// What a LocalBinary is compiled for.
struct LocalTarget {
  /// Of built-in operators alone; must outlive what is compiled.
  const ir::OpRegistry& operators;
  compiler::CompileOptions options;
  runtime::Surroundings surroundings;  ///< Its operators do not matter.
  /// Of the same graph, for the same; null: it is still to be compiled.
  std::shared_ptr<const runtime::Executable> executable = nullptr;
};

/// What BinaryOf() gives, and fails where that does.
/// \param target null: it is not compiled yet.
Result<LocalBinary> LocalBinaryOf(
    const BinarySource& source,
    const std::vector<std::shared_ptr<Tensor>>& inputs,
    const std::vector<std::shared_ptr<Tensor>>& outputs,
    const LocalTarget* target);

/// Makes NBGs of such binary graphs.
class LocalNbg {
 public:
  static std::shared_ptr<Operation> Add(const std::shared_ptr<Graph>& graph,
                                        binary::Blob blob);
};

}  // namespace tim::vx

#endif  // TIM_VX_BINARY_LOCAL_BINARY_H_
