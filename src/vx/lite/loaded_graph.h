// A binary graph made ready to run, without a graph of tim::vx.
#ifndef TIM_VX_LITE_LOADED_GRAPH_H_
#define TIM_VX_LITE_LOADED_GRAPH_H_

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "binary/blob.h"
#include "device/device.h"
#include "ir/graph.h"
#include "ir/op_registry.h"
#include "runtime/compiled_graph.h"
#include "vx/dump/graph_dump.h"

namespace tim::lite {

/// Whether what the binary graph was compiled to is used.
enum class Stored : uint8_t {
  kUsed,     ///< Plan and programs, where they are for the devices.
  kIgnored,  ///< The graph is compiled.
};

class LoadedGraph {
 public:
  /// Takes the plan of the binary graph where it is for `devices`, else
  /// compiles, and writes the states' content.  With TIMCL_DUMP it compiles;
  /// with TIMCL_PROFILE=1 its runs are observed, and told of at its end.
  /// The binary graph's memory must outlive it.
  static Result<std::unique_ptr<LoadedGraph>> Create(
      binary::Blob blob, std::vector<std::shared_ptr<device::Device>> devices,
      std::shared_ptr<device::BinaryStore> programs,
      Stored stored = Stored::kUsed);

  const binary::Blob& blob() const { return blob_; }
  const runtime::CompiledGraph& compiled() const { return *graph_; }
  /// The reason why the plan is not the binary graph's; ok: it is.
  const Status& stored_plan() const { return stored_plan_; }

  /// Host memory of the inputs and outputs that are used, in their order.
  /// Blocks until the outputs are complete.
  Status Run(std::span<const runtime::PortMemory> inputs,
             std::span<const runtime::PortMemory> outputs);
  /// Before `memory`, which runs have been given, is freed.
  void Release(const void* memory) { graph_->Release(memory); }

 private:
  explicit LoadedGraph(binary::Blob blob) : blob_(std::move(blob)) {}
  /// Why the plan of the binary graph is not used.
  Status UseStored(const runtime::Surroundings& surroundings);
  Status Compile(runtime::Surroundings surroundings);
  Result<ir::Graph> ReadGraph(ir::OpRegistry* registry) const;
  /// With the states as the binary graph has them, which a plan does not.
  Status WriteStoredStates();
  Status WriteStates(std::span<const ir::Value> states);

  const binary::Blob blob_;
  Status stored_plan_;
  std::unique_ptr<runtime::CompiledGraph> graph_;
  std::shared_ptr<vx::GraphDump> dump_;  // null: nothing is dumped
};

}  // namespace tim::lite

#endif  // TIM_VX_LITE_LOADED_GRAPH_H_
