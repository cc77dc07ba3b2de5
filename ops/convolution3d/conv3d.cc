// Conv3d: y(x, y, z, oc, n) = bias(oc) + sum of input * weights; see
// ops/elements/product_sum.h for the arithmetic and
// ops/convolution/convolution.h for extents, padding and groups.
#include "ir/op_registry.h"
#include "ops/convolution/conv_sums.h"
#include "ops/elements/data_layout.h"

namespace tim::ops {
namespace {

bool InCwhdn(const ir::NodeView& view) {
  return view.node.attributes.Int("input_layout") ==
         static_cast<int64_t>(DataLayout::kCwhdn);
}

// The kernel's layout counts beside an input in CWHDN alone.
Result<ir::PermutedNode> InDefaultLayout(const ir::NodeView& view) {
  return InCwhdn(view) ? ConvInDefaultLayout(view) : ir::UnpermutedNode(view);
}

// Where the layouts are not those of layout inference.
std::vector<std::string> FindDoubts(const ir::NodeView& view) {
  std::vector<std::string> doubts = ConvolutionDoubts(view, 3);
  if (!InCwhdn(view)) {
    const std::vector<std::string> idle = IdleLayouts(view);
    doubts.insert(doubts.end(), idle.begin(), idle.end());
  }
  return doubts;
}

ir::OpSchema Conv3dSchema() {
  ir::OpSchema schema =
      ConvSchema("Conv3d", 3, DataLayout::kWhdcn, DataLayout::kWhdIcOc);
  schema.doubts = FindDoubts;
  schema.layout_rule = InDefaultLayout;
  return schema;
}

}  // namespace

TIM_OPERATOR(conv3d) {
  registry.Add(Conv3dSchema());
  registry.Add(
      ConvKernel("tim.Conv3d", "conv3d", /*output_terms=*/0, prices::kConv3d));
}

}  // namespace tim::ops
