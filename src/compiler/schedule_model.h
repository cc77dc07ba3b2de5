// A model of a graph on several devices: what a division would take.
#ifndef TIM_COMPILER_SCHEDULE_MODEL_H_
#define TIM_COMPILER_SCHEDULE_MODEL_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "base/status.h"
#include "compiler/module.h"

namespace tim::compiler {

/// Devices of the model's nodes, by place in topological order.
using DeviceMap = std::vector<int>;

struct Prediction {
  double makespan_us = 0;  ///< From the first step to the last output.
  double busiest_us = 0;   ///< Work of the device or link that has most.
  double sum_us = 0;       ///< All work.

  /// The figure that an objective makes least.
  double Of(Objective objective) const {
    if (objective == Objective::kThroughput) return busiest_us;
    return objective == Objective::kSerial ? sum_us : makespan_us;
  }
};

/// Costs of all nodes on all devices, as the kernels tell them, and of moves.
/// Queues are in order: a device does one step after another, a copy by the
/// device that it comes from or goes to, and a link one copy after another.
class ScheduleModel {
 public:
  static constexpr double kImpossible = std::numeric_limits<double>::infinity();

  /// Asks every kernel; an error where a node can run nowhere.
  static Result<ScheduleModel> Create(const Module& module);

  size_t size() const { return nodes_.size(); }
  int devices() const { return devices_; }
  ir::NodeId id(size_t node) const { return nodes_[node].id; }
  /// Microseconds; kImpossible where the device does not run it.
  double Cost(size_t node, int device) const {
    return nodes_[node].costs[static_cast<size_t>(device)];
  }
  /// It takes no time on any device: a view.
  bool IsFree(size_t node) const { return nodes_[node].free; }
  /// Nodes that make what it reads, and nodes that read what it makes, each
  /// once.
  const std::vector<size_t>& Producers(size_t node) const {
    return nodes_[node].producers;
  }
  const std::vector<size_t>& Readers(size_t node) const {
    return nodes_[node].readers;
  }
  /// No state is used both up to this node, in topological order, and behind
  /// it.
  bool MayEndStage(size_t node) const { return nodes_[node].ends_stage; }
  /// Bytes that `reader` reads of what `producer` makes.
  double SharedBytes(size_t producer, size_t reader) const;
  /// The device on which it costs least; the host where there is no other.
  int Cheapest(size_t node) const;

  Prediction Predict(const DeviceMap& map) const;
  /// Each node, in a good order, to the device where it ends first.
  DeviceMap ListSchedule() const;

  /// Constants of the nodes on a device and the largest operands of one node,
  /// in bytes: an estimate of what the device must hold.
  int64_t Bytes(const DeviceMap& map, int device) const;
  int64_t ConstantBytes(size_t node) const {
    return nodes_[node].constant_bytes;
  }

 private:
  struct ModelNode {
    ir::NodeId id = ir::kNone;
    std::vector<double> costs;  // by device
    bool free = false;
    bool ends_stage = true;
    std::vector<size_t> inputs;   // values, each once
    std::vector<size_t> outputs;  // values
    std::vector<size_t> producers;
    std::vector<size_t> readers;
    std::vector<size_t> constants;  // indices of constants_
    int64_t constant_bytes = 0;
    int64_t operand_bytes = 0;
  };
  struct ModelValue {
    double bytes = 0;
    int home = -1;  // device of a graph input or state; -1: a node makes it
    bool is_input = false;
    int target = -1;  // device where a graph output is wanted; -1: it is none
    std::vector<size_t> readers;
  };
  class Run;

  Status AddNodes(const Module& module);
  void AddOperands(const Module& module, const ir::Node& node);
  size_t ValueOf(const Module& module, ir::ValueId id);
  void CloseStages(const Module& module);
  void RankNodes();
  double MeanTransfer(double bytes) const;

  int devices_ = 0;
  LinkTable links_;
  std::vector<bool> imports_;  // by device: reads inputs where they are
  std::vector<ModelNode> nodes_;
  std::vector<ModelValue> values_;
  std::vector<size_t> value_index_;  // by value id
  std::vector<size_t> node_index_;   // by node id
  std::vector<int64_t> constants_;   // bytes
  std::vector<size_t> order_;        // of the nodes, by rank
};

}  // namespace tim::compiler

#endif  // TIM_COMPILER_SCHEDULE_MODEL_H_
