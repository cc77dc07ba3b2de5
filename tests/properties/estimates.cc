// Properties of compute_estimate and memory_estimate, and of what kernels make
// of them.
#include <algorithm>
#include <cmath>

#include "ir/kernel_def.h"
#include "ir/op_registry.h"
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

void SetLayouts(const std::vector<ir::Layout>& layouts,
                std::vector<ir::TensorDesc>* descs) {
  for (size_t i = 0; i < layouts.size(); ++i) {
    const bool any = layouts[i].kind == ir::LayoutKind::kAny;
    (*descs)[i].layout = any ? ir::Layout::Dense() : layouts[i];
  }
}

// A kernel's cost in each of its layouts, where it takes the node.
Status CheckCosts(const ir::KernelDef& kernel, ir::KernelNode view,
                  const ir::DeviceInfo& device) {
  const auto problem = ir::Analyze(kernel, view, device);
  if (!problem.ok()) return OkStatus();
  for (const ir::LayoutTuple& layouts :
       ir::LayoutsOf(kernel, *problem, view, device)) {
    SetLayouts(layouts.inputs, &view.inputs);
    SetLayouts(layouts.outputs, &view.outputs);
    const double cost = kernel.cost(*problem, view, device);
    if (std::isfinite(cost) && cost > 0) continue;
    return InvalidArgument(kernel.name, " costs ", cost,
                           " microseconds on a device of class ",
                           ToString(device.device_class));
  }
  return OkStatus();
}

Status CheckCosts(const Described& described, const NodeCase& node) {
  TIM_ASSIGN_OR_RETURN(const TestNode made, MakeNode(node, described.registry));
  const ir::KernelNode view =
      ir::MakeKernelNode(made.graph, made.graph.node(made.node));
  for (const auto device_class :
       {ir::DeviceClass::kCpu, ir::DeviceClass::kGpu}) {
    const ir::DeviceInfo device = TestDevice(device_class);
    for (const ir::KernelDef* kernel :
         described.registry.Kernels(node.op, "opencl")) {
      TIM_RETURN_IF_ERROR(CheckCosts(*kernel, view, device));
    }
  }
  return OkStatus();
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
  if (scratch < 0) {
    return InvalidArgument("memory_estimate is ", scratch, ", expected >= 0");
  }
  return CheckCosts(described, node);
}

}  // namespace tim::testing
