// Copies of ports in memory that the engine's client gave.
#ifndef TIM_GRAPH_API_PORT_STAGING_H_
#define TIM_GRAPH_API_PORT_STAGING_H_

#include <functional>
#include <memory>
#include <vector>

#include "base/status.h"
#include "graph_api/allocator.h"
#include "graph_api/engine.h"
#include "ir/plan.h"
#include "runtime/port_binding.h"

namespace tim::graph {

/// Stands in for host memory that runs cannot use as it is (not aligned, or an
/// output on an input), on cpu engines whose client gives all memory.  Others
/// leave it to the runtime.
class PortStaging {
 public:
  using Ports = std::vector<runtime::PortMemory>;

  /// Puts copies in the place of such ports, inputs with their content.  Null
  /// where there are none.
  /// \param before is called before inputs are read, where there are some.
  static Result<std::unique_ptr<PortStaging>> Create(
      const Engine& engine, const ir::Plan& plan, Ports* inputs, Ports* outputs,
      const std::function<void()>& before = nullptr);
  /// Called after a run that succeeded; gaps between elements stay as they are.
  void CopyOutputs() const;

 private:
  struct Output {
    const void* from = nullptr;
    runtime::PortMemory to = {};
    const ir::TensorDesc* desc = nullptr;
  };
  PortStaging() = default;
  Result<void*> Allocate(const Engine& engine, int64_t bytes);

  std::vector<AllocatedMemory> memory_;
  std::vector<Output> outputs_;
};

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_PORT_STAGING_H_
