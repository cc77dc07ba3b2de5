// Compares a graph with what it was when it was compiled.
#include "vx/graph/graph_revision.h"

#include <algorithm>
#include <set>

#include "vx/operation/op_impl.h"

namespace tim::vx {
namespace {

std::pair<uint64_t, uint64_t> OverridesRevision(const GraphCore& core) {
  return {core.overrides.revision(), core.context->overrides->revision()};
}

// Operations, and those of graphs inside, each graph once.
void Flatten(const Operations& operations, std::set<const Graph*>* seen,
             Operations* flat) {
  for (const auto& operation : operations) {
    flat->push_back(operation);
    for (const auto& [name, graph] : operation->impl()->graphs) {
      if (graph == nullptr || !seen->insert(graph.get()).second) continue;
      Flatten(graph->OpVector(), seen, flat);
    }
  }
}

Operations Flat(const Operations& operations) {
  std::set<const Graph*> seen;
  Operations flat;
  Flatten(operations, &seen, &flat);
  return flat;
}

}  // namespace

GraphRevision::GraphRevision(const GraphCore& core, size_t io)
    : io_(io),
      overrides_(OverridesRevision(core)),
      device_id_(core.options.getDeviceId()) {}

void GraphRevision::Take(const Operations& operations,
                         const LoweredGraph& lowered) {
  const Operations flat = Flat(operations);
  has_graphs_ = flat.size() != operations.size();
  for (const auto& operation : flat) {
    operations_.emplace_back(operation, operation->impl()->revision);
  }
  for (const LoweredTensor& entry : lowered.tensors) {
    tensors_.emplace_back(entry.tensor, entry.tensor->revision());
  }
  for (const auto& tensor : lowered.inner_tensors) {
    tensors_.emplace_back(tensor, tensor->revision());
  }
}

// Without operations the tensors are what is computed.
bool GraphRevision::IsCurrent(const GraphCore& core,
                              const Operations& operations, size_t io) const {
  return (!operations.empty() || io_ == io) &&
         overrides_ == OverridesRevision(core) &&
         device_id_ == core.options.getDeviceId() &&
         (has_graphs_ ? HasOperations(Flat(operations))
                      : HasOperations(operations)) &&
         std::all_of(tensors_.begin(), tensors_.end(), [](const auto& then) {
           return then.second == then.first->revision();
         });
}

bool GraphRevision::HasOperations(const Operations& operations) const {
  return std::equal(operations_.begin(), operations_.end(), operations.begin(),
                    operations.end(), [](const auto& then, const auto& now) {
                      return then.first == now &&
                             then.second == now->impl()->revision;
                    });
}

}  // namespace tim::vx
