// DeConv1d: DeConv2d on images [W, 1, C, N] with a kernel [K, 1, Ic, Oc].
#include "ir/op_registry.h"
#include "ops/convolution/conv_delegate.h"
#include "ops/deconvolution/deconv_node.h"
#include "ops/elements/data_layout.h"
#include "ops/elements/delegate.h"

namespace tim::ops {
namespace {

using ir::AttributeType;
using Ints = std::vector<int64_t>;

Result<ir::AttributeMap> In2d(const ir::AttributeMap& attributes) {
  const Ints& pad = attributes.Ints("pad");
  TIM_RETURN_IF_ERROR(CheckLength(attributes, "pad", 2));
  return ir::AttributeMap{
      {"pad", Ints{pad[0], pad[1], 0, 0}},
      {"stride", Ints{attributes.Int("stride"), 1}},
      {"output_padding", Ints{attributes.Int("output_padding"), 0}},
      {"group", attributes.Int("group")},
  };
}

Status Check(const ir::InferContext& context) {
  const bool depthwise =
      context.attributes().Int("group") > 1 && DimOf(context.shape(1), 2) == 1;
  return CheckConv1dWeights(
      context, depthwise ? WeightsForm::kDepthwise : WeightsForm::kGrouped);
}

ir::OpSchema DeConv1dSchema() {
  const ir::OpSchema deconv2d = DeConv2dSchema();
  ir::OpSchema schema;
  schema.name = "DeConv1d";
  schema.inputs = deconv2d.inputs;
  for (const ir::AttributeSpec& spec : deconv2d.attributes) {
    schema.attributes.push_back(spec);
    ir::AttributeSpec& own = schema.attributes.back();
    if (spec.type != AttributeType::kInts) continue;
    if (spec.name == "pad") {
      own.default_value = Ints{0, 0};
    } else {
      own.type = AttributeType::kInt;
      own.default_value = std::get<Ints>(*spec.default_value)[0];
    }
  }
  schema.doubts = IdleLayouts;
  return DelegatingSchema(
      std::move(schema),
      {.target = deconv2d, .attributes = In2d, .check = Check, .rows = 2});
}

}  // namespace

TIM_OPERATOR(deconv1d) { registry.Add(DeConv1dSchema()); }

}  // namespace tim::ops
