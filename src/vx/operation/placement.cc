// Affinities of operations.
#include "tim/vx/placement.h"

#include "base/guarded.h"
#include "tim/vx/operation.h"
#include "vx/core/failure.h"
#include "vx/operation/op_impl.h"

namespace tim::vx {

bool SetAffinity(Operation& operation, const std::string& device) {
  const Status status = GuardedCall([&]() -> Status {
    OpImpl& impl = *operation.impl();
    if (impl.core == nullptr) {
      return InvalidArgument(
          "SetAffinity() of an operation that is of no graph; "
          "Graph::CreateOperation() makes those of a graph");
    }
    if (impl.affinity == device) return OkStatus();
    impl.affinity = device;
    ++impl.revision;
    return OkStatus();
  });
  return status.ok() || Fail(status);
}

}  // namespace tim::vx
