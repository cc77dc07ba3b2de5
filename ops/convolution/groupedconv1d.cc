// GroupedConv1d: Conv2d on images [W, 1, C, N] with weights
// [K, 1, C / group, Oc], which say the groups.
#include "ir/op_registry.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/conv_delegate.h"
#include "ops/elements/data_layout.h"
#include "ops/elements/delegate.h"

namespace tim::ops {
namespace {

Status Check(const ir::InferContext& context) {
  TIM_RETURN_IF_ERROR(CheckGroup(context, 1));
  return CheckConv1dWeights(context, WeightsForm::kGrouped);
}

ir::OpSchema GroupedConv1dSchema() {
  ir::OpSchema schema;
  schema.name = "GroupedConv1d";
  schema.inputs = {2, 3};
  schema.attributes = Conv1dWindowSpecs();
  schema.attributes.push_back({"group", ir::AttributeType::kInt, int64_t{1}});
  schema.doubts = IdleLayouts;
  return DelegatingSchema(std::move(schema), {.target = Conv2dSchema(),
                                              .attributes = Conv1dWindowIn2d,
                                              .check = Check,
                                              .rows = 2});
}

}  // namespace

TIM_OPERATOR(groupedconv1d) { registry.Add(GroupedConv1dSchema()); }

}  // namespace tim::ops
