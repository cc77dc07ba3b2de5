// The C boundary: engines and allocators.
#include <memory>
#include <utility>

#include "graph_api/allocator.h"
#include "graph_api/compiled_cache.h"
#include "graph_api/engine.h"
#include "graph_api/error.h"
#include "tim/graph/c.h"

namespace tim::graph {
namespace {

Status MakeEngine(tim_graph_engine_t* engine, tim_graph_engine_kind_t kind,
                  size_t index, std::shared_ptr<const Allocator> allocator) {
  TIM_RETURN_IF_ERROR(RequireNotNull(engine, "engine"));
  TIM_ASSIGN_OR_RETURN(EngineParts parts,
                       SelectEngine(kind, index, std::move(allocator)));
  *engine = tim_graph_engine::Make(std::move(parts));
  return OkStatus();
}

}  // namespace
}  // namespace tim::graph

using namespace tim;         // NOLINT
using namespace tim::graph;  // NOLINT

size_t tim_graph_engine_get_count(tim_graph_engine_kind_t kind) {
  return CountEngines(kind);
}

tim_graph_status_t tim_graph_engine_create(tim_graph_engine_t* engine,
                                           tim_graph_engine_kind_t kind,
                                           size_t index) {
  return Answer([&] { return MakeEngine(engine, kind, index, nullptr); });
}

tim_graph_status_t tim_graph_make_engine_with_allocator(
    tim_graph_engine_t* engine, tim_graph_engine_kind_t kind, size_t index,
    const_tim_graph_allocator_t alloc) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(alloc, "allocator"));
    TIM_RETURN_IF_ERROR(CheckServes(*alloc, kind));
    return MakeEngine(engine, kind, index, alloc->allocator);
  });
}

tim_graph_status_t tim_graph_engine_get_kind(tim_graph_engine_t engine,
                                             tim_graph_engine_kind_t* kind) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(engine, "engine"));
    TIM_RETURN_IF_ERROR(RequireNotNull(kind, "kind"));
    *kind = engine->kind();
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_engine_destroy(tim_graph_engine_t engine) {
  return Answer([&]() -> Status {
    if (engine == nullptr) return OkStatus();
    // Partitions compiled for it cannot be found any more.
    CompiledCache::OfProcess().ForgetEngine(engine->number());
    engine->Drop();
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_allocator_create(
    tim_graph_allocator_t* allocator, tim_graph_host_allocate_f host_malloc,
    tim_graph_host_deallocate_f host_free) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(allocator, "allocator"));
    auto made = std::make_unique<tim_graph_allocator>();
    if (host_malloc != nullptr && host_free != nullptr) {
      made->allocator = MakeHostAllocator(host_malloc, host_free);
    }
    *allocator = made.release();
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_allocator_destroy(
    tim_graph_allocator_t allocator) {
  return Answer([&] {
    delete allocator;
    return OkStatus();
  });
}
