// The C boundary: caches of compiled partitions and of constants.
#include <limits>

#include "graph_api/compiled_cache.h"
#include "graph_api/constant_cache.h"
#include "graph_api/error.h"
#include "tim/graph/c.h"

namespace tim::graph {
namespace {

constexpr tim_graph_engine_kind_t kKinds[] = {tim_graph_cpu, tim_graph_gpu};

Status CheckKind(tim_graph_engine_kind_t kind) {
  if (kind == tim_graph_cpu || kind == tim_graph_gpu) return OkStatus();
  return InvalidArgument(
      "a cache of constants is of engines of kind cpu or "
      "gpu, not ",
      tim_graph_engine_kind2str(kind));
}

}  // namespace
}  // namespace tim::graph

using namespace tim;         // NOLINT
using namespace tim::graph;  // NOLINT

tim_graph_status_t tim_graph_get_compiled_partition_cache_capacity(
    int* capacity) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(capacity, "capacity"));
    *capacity = CompiledCache::OfProcess().capacity();
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_set_compiled_partition_cache_capacity(
    int capacity) {
  return Answer([&]() -> Status {
    if (capacity < 0) {
      return InvalidArgument(
          "a cache has room for 0 or more compiled "
          "partitions, not ",
          capacity);
    }
    CompiledCache::OfProcess().set_capacity(capacity);
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_set_constant_tensor_cache(int flag) {
  return Answer([&]() -> Status {
    if (flag < 0) {
      return InvalidArgument("the flag of the cache of constants is ", flag,
                             ", expected 0 or more");
    }
    for (const auto kind : kKinds) {
      ConstantCache::OfProcess().set_capacity(
          kind, flag == 0 ? 0 : std::numeric_limits<size_t>::max());
    }
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_get_constant_tensor_cache(int* flag) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(flag, "flag"));
    *flag = 0;
    for (const auto kind : kKinds) {
      if (ConstantCache::OfProcess().capacity(kind) != 0) *flag = 1;
    }
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_set_constant_tensor_cache_capacity(
    tim_graph_engine_kind_t eng_kind, size_t size) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(CheckKind(eng_kind));
    ConstantCache::OfProcess().set_capacity(eng_kind, size);
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_get_constant_tensor_cache_capacity(
    tim_graph_engine_kind_t eng_kind, size_t* size) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(size, "size"));
    TIM_RETURN_IF_ERROR(CheckKind(eng_kind));
    *size = ConstantCache::OfProcess().capacity(eng_kind);
    return OkStatus();
  });
}
