#include "tim/lite/execution.h"
#include "vx/failure.h"

namespace tim::lite {

std::shared_ptr<Execution> Execution::Create(const void*, size_t) {
  vx::Fail(Unimplemented("Execution::Create() is not implemented yet"));
  return nullptr;
}

}  // namespace tim::lite
