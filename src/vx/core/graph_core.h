// What a graph, its tensors and its operations share, so that they may be
// destroyed in any order.
#ifndef TIM_VX_CORE_GRAPH_CORE_H_
#define TIM_VX_CORE_GRAPH_CORE_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "tim/vx/compile_option.h"
#include "tim/vx/graph.h"
#include "vx/core/context_state.h"
#include "vx/core/host_memory.h"
#include "vx/core/kernel_files.h"
#include "vx/core/overrides.h"

namespace tim::vx {

class GraphDump;

struct GraphCore {
  std::string name;        ///< "g3": unique in the process.
  Graph* graph = nullptr;  ///< Null once the graph is destroyed.
  std::shared_ptr<const ContextState> context;
  CompileOption options;
  HostMemory memory;
  std::string error;  ///< Graph::ErrorMessage()
  /// Doubts that Compile() has said: the next one does not repeat them.
  std::set<std::string> known_doubts;
  /// Dump that the Compile that runs is written to; null: to nothing.
  std::shared_ptr<GraphDump> dump;
  /// The file that records it; empty before the first Compile, and where none
  /// is asked for.
  std::string record_path;
  /// Mistakes that were logged when a tensor was made or bound, and for which
  /// Compile() will fail.
  std::vector<std::string> logged;
  /// Who runs the graph tells its failures: none is logged.
  bool quiet = false;
  uint32_t next_tensor_id = 0;
  uint32_t last_uid = 0;  ///< Of operations.
  /// Composed operations under construction, outermost first: the last one
  /// owns what is created now.
  std::vector<uint32_t> scopes;
  Overrides overrides;
  /// Texts in place of those of custom operators; null where there are none.
  std::unique_ptr<KernelFiles> kernel_files;
  /// Set while replacements are made: new operations go here, not into
  /// OpVector().
  std::vector<std::shared_ptr<Operation>>* replacements = nullptr;
};

/// A graph that this library made, as what it consists of knows it.
class OwnGraph {
 public:
  virtual const std::shared_ptr<GraphCore>& core() const = 0;
  /// No device keeps an import of memory that a tensor has left.
  virtual void Release(const void* memory) = 0;

 protected:
  ~OwnGraph() = default;
};

/// The core of a graph that this library made, else null.
std::shared_ptr<GraphCore> CoreOf(Graph* graph);

/// Fail() for something that belongs to a graph, which the message names.
bool Fail(GraphCore& core, const Status& status);
/// The same of what no caller waits for, without a LastError(); `status`, which
/// names the graph then.
Status LogFailure(GraphCore& core, const Status& status);
/// Fail() of Compile(): one of `core.logged` is not logged again by the first
/// call that fails for it.
bool FailToCompile(GraphCore& core, const Status& status);

}  // namespace tim::vx

#endif  // TIM_VX_CORE_GRAPH_CORE_H_
