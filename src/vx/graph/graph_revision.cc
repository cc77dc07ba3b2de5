// Compares a graph with what it was when it was compiled.
#include "vx/graph/graph_revision.h"

#include <algorithm>

#include "vx/operation/op_impl.h"

namespace tim::vx {
namespace {

std::pair<uint64_t, uint64_t> OverridesRevision(const GraphCore& core) {
  return {core.overrides.revision(), core.context->overrides->revision()};
}

}  // namespace

GraphRevision::GraphRevision(const GraphCore& core, size_t io)
    : io_(io),
      overrides_(OverridesRevision(core)),
      device_id_(core.options.getDeviceId()) {}

void GraphRevision::Take(const Operations& operations,
                         const std::vector<LoweredTensor>& tensors) {
  for (const auto& operation : operations) {
    operations_.emplace_back(operation, operation->impl()->revision);
  }
  for (const LoweredTensor& entry : tensors) {
    tensors_.emplace_back(entry.tensor, entry.tensor->revision());
  }
}

// Without operations the tensors are what is computed.
bool GraphRevision::IsCurrent(const GraphCore& core,
                              const Operations& operations, size_t io) const {
  return (!operations.empty() || io_ == io) &&
         overrides_ == OverridesRevision(core) &&
         device_id_ == core.options.getDeviceId() &&
         std::equal(operations_.begin(), operations_.end(), operations.begin(),
                    operations.end(),
                    [](const auto& then, const auto& now) {
                      return then.first == now &&
                             then.second == now->impl()->revision;
                    }) &&
         std::all_of(tensors_.begin(), tensors_.end(), [](const auto& then) {
           return then.second == then.first->revision();
         });
}

}  // namespace tim::vx
