// The public class of binary graphs as operations.
#include "tim/vx/ops/nbg.h"

#include "base/guarded.h"
#include "vx/operation/op_impl.h"

namespace tim::vx::ops {

NBG::NBG(Graph* graph, const char* binary, size_t input_count,
         size_t output_count)
    : BuiltinOpOf(graph, {}) {
  const Status status = GuardedCall([&]() -> Status {
    TIM_ASSIGN_OR_RETURN(tim::binary::Blob blob, tim::binary::CopyBlob(binary));
    const size_t inputs = blob.inputs.size();
    const size_t outputs = blob.outputs.size();
    impl_->kind = NbgContent(std::move(blob));
    if (input_count == inputs && output_count == outputs) return OkStatus();
    return InvalidArgument("input_count is ", input_count, " and output_count ",
                           output_count, "; the binary graph has ", inputs,
                           " inputs and ", outputs, " outputs");
  });
  if (!status.ok()) impl_->Refuse(status);
}

NBG::NBG() : BuiltinOpOf(nullptr, {}) {}

}  // namespace tim::vx::ops
