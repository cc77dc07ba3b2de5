// Copies between memory of engines, with conversion of types and layouts.
#ifndef TIM_GRAPH_API_TRANSFER_H_
#define TIM_GRAPH_API_TRANSFER_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "graph_api/compiled_partition.h"
#include "graph_api/engine.h"
#include "graph_api/op.h"
#include "graph_api/stream.h"
#include "graph_api/tensor.h"
#include "tim/graph/c_memory.h"

namespace tim::graph {

/// Partitions of one op each, whose ports are where the memory is: one on the
/// engine whose device both sides can be handed to, or two with memory of the
/// host between them.  Any thread.
class Transfer {
 public:
  using EngineHandle = std::shared_ptr<tim_graph_engine>;

  /// kInvalidArgument for dims that are unknown or not equal, layouts that are
  /// not given, and host scalars.
  static Result<std::unique_ptr<Transfer>> Create(const LogicalTensor& from,
                                                  EngineHandle from_engine,
                                                  const LogicalTensor& to,
                                                  EngineHandle to_engine);

  /// Runs on a stream of either engine, after all that it has in flight.
  /// Complete on return, unless the stream is asynchronous, or of the gpu
  /// engine of a transfer on one device.
  Status Execute(Stream& stream, const ClientTensor& from,
                 const ClientTensor& to) const;

 private:
  using Step = std::shared_ptr<const CompiledPartition>;
  Transfer() = default;

  Status AddStep(const LogicalTensor& from, bool from_device,
                 const LogicalTensor& to, bool to_device, EngineHandle on);
  /// \param from, to of the ids of the step's ports.
  static Status RunStep(const CompiledPartition& step, Stream& stream,
                        const_tim_graph_tensor_t from,
                        const_tim_graph_tensor_t to);

  LogicalTensor from_ = {};
  LogicalTensor to_ = {};
  EngineHandle from_engine_;
  EngineHandle to_engine_;
  /// Memory of the host between two steps, where there are two.
  LogicalTensor between_ = {};
  std::vector<Step> steps_;
};

}  // namespace tim::graph

/// Transfer of a client.
struct tim_graph_transfer {
  std::unique_ptr<tim::graph::Transfer> transfer = nullptr;
};

#endif  // TIM_GRAPH_API_TRANSFER_H_
