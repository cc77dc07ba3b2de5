// Conv2d: y(x, y, oc, n) = bias(oc) + sum of input * weights; see
// ops/elements/product_sum.h for the arithmetic and
// ops/convolution/convolution.h for extents, padding and groups.
#include "ir/op_registry.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/conv_sums.h"
#include "ops/convolution/convolution_rules.h"

namespace tim::ops {

ir::OpSchema Conv2dSchema() {
  ir::OpSchema schema =
      ConvSchema("Conv2d", 2, DataLayout::kWhcn, DataLayout::kWhIcOc);
  schema.vjp = Conv2dVjp;
  return schema;
}

TIM_OPERATOR(conv2d) {
  registry.Add(Conv2dSchema());
  registry.Add(
      ConvKernel("tim.Conv2d", "conv2d", /*output_terms=*/14, prices::kConv2d));
}

}  // namespace tim::ops
