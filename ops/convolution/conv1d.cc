// Conv1d: Conv2d on images [W, 1, C, N] with weights [K, 1, Ic, Oc].
#include "ir/op_registry.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/conv_delegate.h"
#include "ops/elements/data_layout.h"
#include "ops/elements/delegate.h"

namespace tim::ops {
namespace {

using ir::AttributeType;

Result<ir::AttributeMap> In2d(const ir::AttributeMap& attributes) {
  TIM_ASSIGN_OR_RETURN(ir::AttributeMap out, Conv1dWindowIn2d(attributes));
  out.Set("multiplier", attributes.Int("multiplier"));
  return out;
}

Status Check(const ir::InferContext& context) {
  return CheckConv1dWeights(context, context.attributes().Int("multiplier") > 0
                                         ? WeightsForm::kDepthwise
                                         : WeightsForm::kGrouped);
}

ir::OpSchema Conv1dSchema() {
  ir::OpSchema schema;
  schema.name = "Conv1d";
  schema.inputs = {2, 3};
  schema.attributes = Conv1dWindowSpecs();
  for (const char* name : {"multiplier", "weights", "ksize"}) {
    schema.attributes.push_back({name, AttributeType::kInt, int64_t{0}});
  }
  schema.doubts = IdleLayouts;
  return DelegatingSchema(std::move(schema), {.target = Conv2dSchema(),
                                              .attributes = In2d,
                                              .check = Check,
                                              .rows = 2});
}

}  // namespace

TIM_OPERATOR(conv1d) { registry.Add(Conv1dSchema()); }

}  // namespace tim::ops
