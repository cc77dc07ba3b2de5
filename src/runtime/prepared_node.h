// A node that was compiled once, to run at once and often.
#ifndef TIM_RUNTIME_PREPARED_NODE_H_
#define TIM_RUNTIME_PREPARED_NODE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/compiler.h"
#include "ir/graph.h"
#include "ir/op_registry.h"
#include "runtime/executable.h"
#include "runtime/ready_graph.h"
#include "runtime/work_stream.h"

namespace tim::runtime {

/// The streams of a runner: that of the host first, then that of the device
/// that is preferred, where it is another one.
using WorkStreams = std::vector<std::shared_ptr<WorkStream>>;

/// An output of a node: memory of a device in the layout of `desc`.
struct NodeResult {
  ir::TensorDesc desc;
  bool is_scalar = false;
  std::shared_ptr<SharedMemory> memory;
};

/// Steps of a graph, most often of one node.  Any thread; runs are enqueued one
/// after the other.
class PreparedNode {
 public:
  /// \param graph whose inputs and outputs are where `options` say.
  /// \param scalars per output whether it has rank 0.
  static Result<std::shared_ptr<PreparedNode>> Create(
      const compiler::InferredGraph& graph, compiler::CompileOptions options,
      const Surroundings& surroundings, std::vector<bool> scalars);

  /// Enqueues a run.  `inputs` are memory of the ports' devices, their content
  /// made by earlier work of the streams or complete.
  Result<std::vector<NodeResult>> Run(
      std::span<const std::shared_ptr<SharedMemory>> inputs,
      const WorkStreams& streams);

  const ir::Plan& plan() const { return executable_->plan(); }
  /// True where the host does a step beside another device.
  bool uses_host() const { return uses_host_; }

 private:
  struct Operand {
    ir::SlotKind kind = ir::SlotKind::kArena;
    int index = 0;
    int64_t offset = 0;
    int64_t bytes = 0;
  };
  struct Launch {
    int device = 0;
    const PreparedGroup* ready = nullptr;
    size_t first = 0;  ///< In operands_.
    size_t count = 0;
  };
  /// Memory of one run.
  struct Memory;

  PreparedNode() = default;
  void AddOperands(const PreparedGroup& ready);
  Status Allocate(const WorkStreams& streams, Memory* run) const;
  Status EnqueueAll(const WorkStreams& streams, device::Stream& stream,
                    Memory& run) const;
  Status EnqueueOne(const Launch& launch, device::Stream& stream,
                    Memory& run) const;

  std::shared_ptr<const Executable> executable_;
  std::vector<PreparedGroup> prepared_;
  std::vector<Launch> launches_;
  std::vector<Operand> operands_;
  std::vector<bool> scalars_;
  std::vector<int64_t> output_bytes_;
  bool uses_host_ = false;
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_PREPARED_NODE_H_
