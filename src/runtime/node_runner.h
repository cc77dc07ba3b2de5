// A runner of single nodes, each compiled at its first call and kept.
#ifndef TIM_RUNTIME_NODE_RUNNER_H_
#define TIM_RUNTIME_NODE_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/compiler.h"
#include "ir/graph.h"
#include "runtime/prepared_node.h"
#include "runtime/work_stream.h"

namespace tim::runtime {

/// An operand of a node that runs at once.
struct NodeOperand {
  bool present = true;
  /// Type, shape, quantization, and the layout in memory.
  ir::TensorDesc desc = {};
  bool is_scalar = false;
  /// Memory of one of the runner's streams; null where it is a constant.
  std::shared_ptr<SharedMemory> memory = nullptr;
  /// Content that never changes: kernels may prepare it.
  std::shared_ptr<const ir::ConstantData> constant = nullptr;
};

/// A node and its operands.
struct NodeCall {
  std::string name;  ///< Name in messages.
  const ir::OpSchema* schema = nullptr;
  /// A graph that runs as one node, in place of an operator.
  std::shared_ptr<const ir::Composite> composite = nullptr;
  const ir::AttributeMap* attributes = nullptr;  ///< Every one has a value.
  std::span<const NodeOperand> inputs;
  /// Declared facts of the outputs: type, quantization, shape.
  std::span<const ir::TensorDesc> outputs;
  /// Outputs are dense and on the runner's device, else as they are made.
  bool dense = false;
  /// Registry that has the schemas; null: the known operators.
  std::shared_ptr<const ir::OpRegistry> operators = nullptr;
};

/// Counts since the start.
struct NodeRunnerStats {
  int64_t hits = 0;
  int64_t misses = 0;
  int64_t kept = 0;
  int64_t evictions = 0;
  double compile_ms = 0;
};

struct NodeRunnerOptions {
  bool strict = false;
  size_t max_nodes = 2048;
};

/// A cache of compiled nodes that runs them on streams.  Any thread.
class NodeRunner {
 public:
  NodeRunner(WorkStreams streams, std::shared_ptr<device::BinaryStore> store,
             const NodeRunnerOptions& options);

  const WorkStreams& streams() const { return streams_; }
  /// The stream of the preferred device.
  const std::shared_ptr<WorkStream>& stream() const { return streams_.back(); }
  const std::shared_ptr<device::BinaryStore>& store() const { return store_; }

  struct Run {
    std::vector<NodeResult> results;
    /// Reasons for host steps beside another device; empty: there are none.
    std::string host_steps;
  };
  /// Enqueues the node.  kFailedPrecondition where the extents of an output
  /// depend on the content of operands that are no constants.
  Result<Run> Call(const NodeCall& call);

  /// The compiled node, which is not run.
  Result<std::shared_ptr<PreparedNode>> Prepare(const NodeCall& call);

  NodeRunnerStats stats() const;
  /// Forgets all nodes.
  void Clear();

 private:
  // Objects whose addresses are in the key are kept with it, so that no other
  // object can have the address.
  struct Entry {
    std::string key;
    std::shared_ptr<PreparedNode> node;
    ir::AttributeMap attributes;
    std::shared_ptr<const ir::Composite> composite;
    std::shared_ptr<const ir::OpRegistry> operators;
  };

  std::shared_ptr<PreparedNode> Find(const std::string& key);
  void Insert(Entry entry);
  Result<std::shared_ptr<PreparedNode>> Compile(const NodeCall& call) const;

  const WorkStreams streams_;
  const std::shared_ptr<device::BinaryStore> store_;
  const NodeRunnerOptions options_;
  mutable std::mutex mutex_;
  std::list<Entry> nodes_;  // the one used last is the first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key_;
  NodeRunnerStats stats_;
};

/// A graph of the one node, its present operands that are no constants its
/// inputs, in their order.
Result<ir::Graph> GraphOf(const NodeCall& call);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_NODE_RUNNER_H_
