// The C boundary: allocators and engines with options, and transfers.
#include "tim/graph/c_memory.h"

#include <memory>
#include <utility>

#include "graph_api/allocator.h"
#include "graph_api/engine.h"
#include "graph_api/error.h"
#include "graph_api/transfer.h"

namespace tim::graph {
namespace {

Status CreateEngine(tim_graph_engine_t* engine, tim_graph_engine_kind_t kind,
                    size_t index, const_tim_graph_allocator_t allocator,
                    const tim_graph_engine_options_t* options) {
  TIM_RETURN_IF_ERROR(RequireNotNull(engine, "engine"));
  if (allocator != nullptr) {
    TIM_RETURN_IF_ERROR(CheckServes(*allocator, kind));
  }
  const char* const offload = options != nullptr ? options->offload : nullptr;
  TIM_ASSIGN_OR_RETURN(
      EngineParts parts,
      SelectEngine(kind, index,
                   allocator != nullptr ? allocator->allocator : nullptr,
                   offload != nullptr ? offload : ""));
  *engine = tim_graph_engine::Make(std::move(parts));
  return OkStatus();
}

}  // namespace
}  // namespace tim::graph

using namespace tim;         // NOLINT
using namespace tim::graph;  // NOLINT

tim_graph_status_t tim_graph_allocator_create_with_callbacks(
    tim_graph_allocator_t* allocator,
    const tim_graph_allocator_callbacks_t* callbacks) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(allocator, "allocator"));
    TIM_RETURN_IF_ERROR(RequireNotNull(callbacks, "callbacks"));
    if (callbacks->allocate == nullptr || callbacks->deallocate == nullptr) {
      return InvalidArgument("a callback of an allocator is null");
    }
    auto made = std::make_unique<tim_graph_allocator>();
    made->allocator = MakeCallbackAllocator(*callbacks);
    made->of_any = true;
    *allocator = made.release();
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_engine_create_with_options(
    tim_graph_engine_t* engine, tim_graph_engine_kind_t kind, size_t index,
    const_tim_graph_allocator_t alloc,
    const tim_graph_engine_options_t* options) {
  return Answer(
      [&] { return CreateEngine(engine, kind, index, alloc, options); });
}

tim_graph_status_t tim_graph_transfer_create(
    tim_graph_transfer_t* transfer, const tim_graph_logical_tensor_t* from,
    tim_graph_engine_t from_engine, const tim_graph_logical_tensor_t* to,
    tim_graph_engine_t to_engine) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(transfer, "transfer"));
    TIM_RETURN_IF_ERROR(RequireNotNull(from, "logical tensor"));
    TIM_RETURN_IF_ERROR(RequireNotNull(from_engine, "engine"));
    TIM_RETURN_IF_ERROR(RequireNotNull(to, "logical tensor"));
    TIM_RETURN_IF_ERROR(RequireNotNull(to_engine, "engine"));
    auto made = std::make_unique<tim_graph_transfer>();
    TIM_ASSIGN_OR_RETURN(
        made->transfer, Transfer::Create(*from, from_engine->shared_from_this(),
                                         *to, to_engine->shared_from_this()));
    *transfer = made.release();
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_transfer_destroy(tim_graph_transfer_t transfer) {
  return Answer([&] {
    delete transfer;
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_transfer_execute(
    const_tim_graph_transfer_t transfer, tim_graph_stream_t stream,
    const_tim_graph_tensor_t from, const_tim_graph_tensor_t to) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(transfer, "transfer"));
    TIM_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
    TIM_RETURN_IF_ERROR(RequireNotNull(from, "tensor"));
    TIM_RETURN_IF_ERROR(RequireNotNull(to, "tensor"));
    return transfer->transfer->Execute(*stream, *from, *to);
  });
}
