// Calls the client's function for outputs without memory.
#include "graph_api/output_allocation.h"

#include <utility>
#include <vector>

#include "base/guarded.h"

namespace tim::graph {

Status AllocateOutputs(const tim_graph_execute_options_t& options,
                       const std::string& name,
                       std::span<const LogicalTensor> ports,
                       std::span<const int64_t> bytes,
                       std::span<const const_tim_graph_tensor_t> outputs) {
  std::vector<std::pair<size_t, void*>> given;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (bytes[i] == 0 || outputs[i]->host_memory() != nullptr) continue;
    void* memory = nullptr;
    TIM_RETURN_IF_ERROR(GuardedCall([&]() -> Status {
      memory = options.allocate_output(options.user, ports[i].id, &ports[i],
                                       static_cast<size_t>(bytes[i]),
                                       tim_graph_lifetime_output);
      return OkStatus();
    }));
    if (memory == nullptr) {
      return OutOfMemory(name, ": allocate_output gave no memory for output ",
                         ports[i].id, " of ", bytes[i],
                         " bytes; nothing has run");
    }
    given.emplace_back(i, memory);
  }
  for (const auto& [output, memory] : given) {
    // Clients hand over objects that they may change.
    const_cast<tim_graph_tensor_t>(outputs[output])->set_handle(memory);
  }
  return OkStatus();
}

}  // namespace tim::graph
