// A partition that was compiled for shapes and an engine.
#ifndef TIM_GRAPH_API_COMPILED_PARTITION_H_
#define TIM_GRAPH_API_COMPILED_PARTITION_H_

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "graph_api/constant_plans.h"
#include "graph_api/engine.h"
#include "graph_api/op.h"
#include "graph_api/scratchpad.h"
#include "graph_api/stream.h"
#include "graph_api/tensor.h"
#include "tim/graph/c_memory.h"

namespace tim::graph {

/// Tensors of one execute, as clients hand them over: matched to ports by id,
/// and most quickly in the ports' order.
using ClientTensors = std::span<const const_tim_graph_tensor_t>;

/// Does not change; any thread, with a stream each.
class CompiledPartition {
 public:
  struct Parts {
    size_t partition = 0;  ///< Its id.
    PlanSource source;
    tim_graph_fpmath_mode_t fpmath_mode = tim_graph_fpmath_mode_strict;
    /// Of an execute, by port; 0 where it has no elements.
    std::vector<int64_t> input_bytes = {};
    std::vector<int64_t> output_bytes = {};
    std::vector<size_t> constants = {};  ///< See ConstantPlans.
    std::vector<tim_graph_inplace_pair_t> in_place = {};
    /// Null: there is nothing to do, or it depends on constants.
    std::shared_ptr<Runnable> plan = nullptr;
    bool has_work = false;
  };

  explicit CompiledPartition(Parts parts);
  CompiledPartition(const CompiledPartition&) = delete;
  CompiledPartition& operator=(const CompiledPartition&) = delete;

  size_t partition() const { return parts_.partition; }
  const std::vector<Op>& ops() const { return parts_.source.ops; }
  tim_graph_fpmath_mode_t fpmath_mode() const { return parts_.fpmath_mode; }
  /// Ports in the order of the call that compiled it, with all dims and with
  /// the layouts that tensors need.
  const std::vector<LogicalTensor>& inputs() const {
    return parts_.source.inputs;
  }
  const std::vector<LogicalTensor>& outputs() const {
    return parts_.source.outputs;
  }
  /// A port; where there is none of this id, a logical tensor with id SIZE_MAX.
  LogicalTensor Query(size_t id) const;
  const std::vector<tim_graph_inplace_pair_t>& in_place() const {
    return parts_.in_place;
  }
  /// Memory that an execute may be given for what it keeps between its steps.
  LogicalTensor Scratchpad() const;
  const std::shared_ptr<tim_graph_engine>& engine() const {
    return parts_.source.engine;
  }

  /// Returns when the outputs are complete, unless the stream is asynchronous
  /// or the engine's kind gpu.  kInvalidArgument as the API says.
  /// \param scratchpad may be null.
  /// \param check refuses constants that have changed in the cache, and
  /// outputs that overlap inputs without being their in-place pair.
  /// \param options null: every output has memory.
  Status Execute(Stream& stream, ClientTensors inputs, ClientTensors outputs,
                 const_tim_graph_tensor_t scratchpad = nullptr,
                 bool check = false,
                 const tim_graph_execute_options_t* options = nullptr) const;
  /// Where ports are on the device, behind `waits`; the event lives until the
  /// stream's next execute.
  Result<device::Event*> ExecuteOnGpu(
      Stream& stream, ClientTensors inputs, ClientTensors outputs,
      const_tim_graph_tensor_t scratchpad,
      std::span<const std::unique_ptr<device::Event>> waits, bool check = false,
      const tim_graph_execute_options_t* options = nullptr) const;

  /// Automatic for an id that is no port's.
  tim_graph_residency_t ResidencyOf(size_t id) const;

  /// Plans with constants in them that were made so far.
  int constant_plans_made() const { return plans_.made(); }
  bool has_work() const { return parts_.has_work; }
  /// The plan that was made by compiling; null where executes make it.
  const Runnable* known_plan() const { return parts_.plan.get(); }
  /// The plan in which constants are inputs.  Null: there is nothing to do.
  Result<std::shared_ptr<Runnable>> plan() const;
  /// Source of plans with constants in them, as executes have them.
  const PlanSource& source() const { return parts_.source; }

 private:
  struct Call;

  Result<Call> Match(const Stream& stream, ClientTensors inputs,
                     ClientTensors outputs, const_tim_graph_tensor_t scratchpad,
                     const tim_graph_execute_options_t* options) const;
  Status Allocate(const Call& call,
                  const tim_graph_execute_options_t& options) const;
  /// True where events of the device order the runs, as on gpu engines.
  bool RunsOnDevice() const { return runs_on_device_; }
  Status CheckApart(const Call& call) const;
  Result<std::shared_ptr<Runnable>> PlanOnDevice(
      const Call& call, GpuStream& runs,
      std::span<const std::unique_ptr<device::Event>> waits, bool check) const;
  // Output `port` is in memory that the plan reads.
  bool IsRead(const Call& call, const Runnable& plan, size_t port) const;
  Status RunNow(Runnable& plan, const Call& call, Stream& stream) const;
  Status Enqueue(Runnable& plan, const Call& call, Stream& stream) const;

  const Parts parts_;
  const bool runs_on_device_;
  mutable ConstantPlans plans_;
  const Scratchpads scratchpads_;
};

}  // namespace tim::graph

/// Empty until a partition is compiled into it.
struct tim_graph_compiled_partition {
  std::shared_ptr<const tim::graph::CompiledPartition> compiled = nullptr;
};

#endif  // TIM_GRAPH_API_COMPILED_PARTITION_H_
