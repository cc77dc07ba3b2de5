// A graph and its last run in one file, for people who repeat it elsewhere.
#ifndef TIM_VX_GRAPH_GRAPH_RECORD_H_
#define TIM_VX_GRAPH_GRAPH_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "binary/record_file.h"
#include "runtime/port_binding.h"
#include "vx/binary/graph_binary.h"
#include "vx/core/graph_core.h"
#include "vx/tensor/tensor_impl.h"

namespace tim::vx {

/// Whether TIMCL_RECORD asks for a record of the graph.
bool IsRecorded(const GraphCore& core);

/// The run goes on without: a warning, once for each reason.
void WarnNotRecorded(const std::string& graph, const Status& reason);

/// The file of one Compile, as docs/record.md tells it.  Each time it is
/// written as a whole.  What cannot be written is a warning, and ends the
/// record, not what is recorded.
class GraphRecord {
 public:
  using Tensors = std::vector<std::shared_ptr<Tensor>>;

  /// Writes what Compile is given, and what it has warned of within a
  /// LogCapture of this thread; `io` are the INPUT and OUTPUT tensors.  Null
  /// where nothing can be recorded.
  static std::shared_ptr<GraphRecord> Begin(GraphCore& core,
                                            const BinarySource& source,
                                            const Tensors& io,
                                            const Devices& devices);

  /// Writes of what Compile has warned since, and why it has failed.
  void EndCompile(const Status& status);
  /// Whether runs are to be recorded, too.
  bool has_runs() const { return has_runs_; }

  /// Writes what the run will read, states too, and gives its number.  While
  /// no other run is in flight; `tensors` are those of the memory, which is
  /// copied.
  uint64_t BeginRun(const BinarySource& source,
                    const std::vector<std::shared_ptr<TensorImpl>>& tensors,
                    std::span<const runtime::PortMemory> memory);
  /// Writes how the run has ended, what it wrote, and of what it warned within
  /// a LogCapture of this thread, where it is the last one.  Any thread.
  void EndRun(uint64_t run, const Status& status,
              const std::vector<std::shared_ptr<TensorImpl>>& tensors,
              std::span<const runtime::PortMemory> memory);

 private:
  GraphRecord(const GraphCore& core, const Tensors& io);
  Status Encode(const BinarySource& source, States states);
  /// Record of what is known so far, in place of what the file has.
  void Write();
  void Keep(const Status& status);

  const std::string graph_;
  const std::string path_;
  Tensors inputs_;
  Tensors outputs_;
  bool has_runs_ = false;
  std::mutex mutex_;  // of all that follows
  std::unique_ptr<GraphBinary> binary_;
  binary::Record record_;
  std::vector<std::vector<std::byte>> read_;  // by the run, for `record_`
  std::vector<std::string> of_compile_;       // messages
  Status status_;                             // the first failure
};

}  // namespace tim::vx

#endif  // TIM_VX_GRAPH_GRAPH_RECORD_H_
