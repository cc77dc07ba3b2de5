// Properties of compute_estimate and memory_estimate.
#include <algorithm>

#include "ir/op_schema.h"
#include "tests/properties/properties.h"

namespace tim::testing {
namespace {

double BytesOf(std::span<const ir::TensorDesc* const> descs) {
  double total = 0;
  for (const ir::TensorDesc* desc : descs) {
    if (desc != nullptr) {
      total += static_cast<double>(ir::ByteSize(*desc).value());
    }
  }
  return total;
}

Status Expect(const char* what, double estimated, double stated,
              double factor = 1) {
  if (estimated <= stated * factor && stated <= estimated * factor) {
    return OkStatus();
  }
  return InvalidArgument("compute_estimate: ", what, " is ", estimated,
                         ", expected ", stated,
                         factor == 1 ? "" : StrCat(" within ", factor));
}

}  // namespace

Status EstimatesAgree(const Described& described, const NodeCase& node,
                      CaseRng&) {
  TIM_ASSIGN_OR_RETURN(const CaseView made,
                       CaseView::Create(node, described.registry));
  const ir::NodeView view = made.view();
  const ir::OpSchema& schema = made.schema();
  if (!schema.compute_estimate || !schema.memory_estimate) {
    return InvalidArgument("the schema has no estimates");
  }
  const ir::ComputeEstimate estimate = schema.compute_estimate(view);
  TIM_RETURN_IF_ERROR(Expect("flops", estimate.flops,
                             described.cases.flops(node),
                             described.cases.flops_factor));
  TIM_RETURN_IF_ERROR(
      Expect("bytes_read", estimate.bytes_read, BytesOf(view.inputs)));
  TIM_RETURN_IF_ERROR(
      Expect("bytes_written", estimate.bytes_written, BytesOf(view.outputs)));
  const int64_t scratch = schema.memory_estimate(view);
  if (scratch >= 0) return OkStatus();
  return InvalidArgument("memory_estimate is ", scratch, ", expected >= 0");
}

}  // namespace tim::testing
