// GroupedConv2d: Conv2d with weights [Kw, Kh, C / group, Oc], which say the
// groups.
#include "ir/op_registry.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/conv_delegate.h"
#include "ops/elements/delegate.h"

namespace tim::ops {
namespace {

// All but the group and those of Conv2d that say nothing here.
Result<ir::AttributeMap> OfConv2d(const ir::AttributeMap& attributes) {
  ir::AttributeMap out;
  for (const char* name : {"padding", "pad", "stride", "dilation",
                           "input_layout", "kernel_layout"}) {
    out.Set(name, *attributes.Find(name));
  }
  return out;
}

Status Check(const ir::InferContext& context) { return CheckGroup(context, 2); }

ir::OpSchema GroupedConv2dSchema() {
  const ir::OpSchema conv2d = Conv2dSchema();
  ir::OpSchema schema;
  schema.name = "GroupedConv2d";
  schema.inputs = conv2d.inputs;
  for (const ir::AttributeSpec& spec : conv2d.attributes) {
    if (spec.name == "multiplier" || spec.name == "weights" ||
        spec.name == "ksize") {
      continue;
    }
    schema.attributes.push_back(spec);
  }
  schema.attributes.push_back({"group", ir::AttributeType::kInt, int64_t{1}});
  schema.permute_rule = conv2d.permute_rule;
  schema.layout_rule = conv2d.layout_rule;
  return DelegatingSchema(
      std::move(schema),
      {.target = conv2d, .attributes = OfConv2d, .check = Check});
}

}  // namespace

TIM_OPERATOR(groupedconv2d) { registry.Add(GroupedConv2dSchema()); }

}  // namespace tim::ops
