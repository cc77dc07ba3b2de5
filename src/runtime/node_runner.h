// Runs single nodes at once, each compiled the first time that it comes.
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
  /// With the layout that it has in memory.
  ir::TensorDesc desc = {};
  bool is_scalar = false;
  /// Of the runner's streams; null where it is a constant.
  std::shared_ptr<SharedMemory> memory = nullptr;
  /// Content that never changes: kernels may prepare it.
  std::shared_ptr<const ir::ConstantData> constant = nullptr;
};

struct NodeCall {
  std::string name;  ///< For messages.
  const ir::OpSchema* schema = nullptr;
  /// In place of an operator: a graph that runs as one node.
  std::shared_ptr<const ir::Composite> composite = nullptr;
  const ir::AttributeMap* attributes = nullptr;  ///< Complete.
  std::span<const NodeOperand> inputs;
  /// Of the outputs what is declared: type, quantization, shape.
  std::span<const ir::TensorDesc> outputs;
  /// Outputs are dense and on the runner's device, else as they are made.
  bool dense = false;
  /// What it is made of; null: operators that are known.
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

/// Any thread.
class NodeRunner {
 public:
  NodeRunner(WorkStreams streams, std::shared_ptr<device::BinaryStore> store,
             const NodeRunnerOptions& options);

  const WorkStreams& streams() const { return streams_; }
  /// That of the device that runs what may run anywhere.
  const std::shared_ptr<WorkStream>& stream() const { return streams_.back(); }
  const std::shared_ptr<device::BinaryStore>& store() const { return store_; }

  struct Run {
    std::vector<NodeResult> results;
    /// Why the host took part beside another device; empty: it did not.
    std::string host_steps;
  };
  /// Enqueues it.  kFailedPrecondition where the extents of an output depend on
  /// the content of operands that are no constants.
  Result<Run> Call(const NodeCall& call);

  /// The decision for the node, which is not run.
  Result<std::shared_ptr<PreparedNode>> Prepare(const NodeCall& call);

  NodeRunnerStats stats() const;
  /// Forgets all nodes.
  void Clear();

 private:
  // What a key names by its address stays as long as the entry.
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
