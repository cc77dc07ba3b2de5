// Moves ports of one run into aligned memory of the client's allocator.
#include "graph_api/port_staging.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "ops/movement/strided.h"

namespace tim::graph {

using runtime::NeedsCopies;
using runtime::PortMemory;

Result<void*> PortStaging::Allocate(const Engine& engine, int64_t bytes) {
  constexpr size_t kAlignment = 64;
  TIM_ASSIGN_OR_RETURN(memory_.emplace_back(),
                       AllocatedMemory::Allocate(
                           engine.allocator(), engine.device(),
                           static_cast<size_t>(std::max<int64_t>(bytes, 1)),
                           kAlignment, tim_graph_lifetime_temporary));
  return memory_.back().get();
}

Result<std::unique_ptr<PortStaging>> PortStaging::Create(
    const Engine& engine, const ir::Plan& plan, Ports* inputs, Ports* outputs,
    const std::function<void()>& before) {
  std::unique_ptr<PortStaging> made;
  if (engine.kind() != tim_graph_cpu || !engine.allocator()->is_clients() ||
      !NeedsCopies(plan, *inputs, *outputs)) {
    return made;
  }
  made.reset(new PortStaging());
  if (before != nullptr) before();
  // Ports before each are fine by then, so that what still needs a copy is the
  // last one.
  for (size_t i = 0; i < inputs->size(); ++i) {
    if (!NeedsCopies(plan, std::span(*inputs).first(i + 1), {})) continue;
    PortMemory& port = (*inputs)[i];
    TIM_ASSIGN_OR_RETURN(void* const memory,
                         made->Allocate(engine, port.bytes));
    std::memcpy(memory, port.host, static_cast<size_t>(port.bytes));
    port = PortMemory(memory, port.bytes);
  }
  for (size_t i = 0; i < outputs->size(); ++i) {
    if (!NeedsCopies(plan, *inputs, std::span(*outputs).first(i + 1))) continue;
    PortMemory& port = (*outputs)[i];
    TIM_ASSIGN_OR_RETURN(void* const memory,
                         made->Allocate(engine, port.bytes));
    made->outputs_.push_back(
        {.from = memory, .to = port, .desc = &plan.outputs[i].desc});
    port = PortMemory(memory, port.bytes);
  }
  return made;
}

void PortStaging::CopyOutputs() const {
  for (const Output& output : outputs_) {
    const auto* const from = static_cast<const std::byte*>(output.from);
    auto* const to = static_cast<std::byte*>(output.to.host);
    if (!output.desc->layout.strided()) {
      std::memcpy(to, from, static_cast<size_t>(output.to.bytes));
      continue;
    }
    const int64_t size = ir::Info(output.desc->type).bits / 8;
    ops::VisitStrided(ops::MergedDims(*output.desc), [&](int64_t position) {
      std::memcpy(to + position * size, from + position * size,
                  static_cast<size_t>(size));
    });
  }
}

}  // namespace tim::graph
