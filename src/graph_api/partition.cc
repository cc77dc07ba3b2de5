// Partitions and their numbers.
#include "graph_api/partition.h"

#include <atomic>
#include <utility>

namespace tim::graph {
namespace {

size_t NextId() {
  static constinit std::atomic<size_t> next = 1;
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Partition::Partition(const GraphTraits& traits, std::vector<Op> ops,
                     Ports ports, bool supported)
    : id_(NextId()),
      traits_(traits),
      ops_(std::move(ops)),
      ports_(std::move(ports)),
      supported_(supported) {}

CompileSource Partition::source() const {
  return {.id = id_,
          .supported = supported_,
          .kind = traits_.kind,
          .fpmath_mode = traits_.fpmath_mode,
          .fpmath_applies_to_int = traits_.fpmath_applies_to_int,
          .ops = &ops_,
          .inputs = &ports_.inputs,
          .outputs = &ports_.outputs};
}

}  // namespace tim::graph
