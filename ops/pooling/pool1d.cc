// Pool1d: Pool2d on images [W, 1, C, N].
#include "ir/op_registry.h"
#include "ops/elements/data_layout.h"
#include "ops/elements/delegate.h"
#include "ops/elements/shapes.h"
#include "ops/pooling/pool2d_node.h"

namespace tim::ops {
namespace {

using ir::AttributeType;
using Ints = std::vector<int64_t>;

Status CheckPositive(const ir::AttributeMap& attributes, const char* name) {
  const int64_t value = attributes.Int(name);
  if (value >= 1) return OkStatus();
  return InvalidArgument(name, " is ", value, ", expected >= 1");
}

Status CheckWindow(const ir::AttributeMap& attributes) {
  const std::string& mode = attributes.String("mode");
  if (mode == "window") return CheckPositive(attributes, "ksize");
  // Pool2d knows the other ones.
  if (mode != "global" && mode != "adaptive") return OkStatus();
  TIM_RETURN_IF_ERROR(CheckPositive(attributes, "input_size"));
  return mode == "adaptive" ? CheckPositive(attributes, "output_size")
                            : OkStatus();
}

Result<ir::AttributeMap> In2d(const ir::AttributeMap& attributes) {
  TIM_RETURN_IF_ERROR(CheckWindow(attributes));
  const Ints& pad = attributes.Ints("pad");
  TIM_RETURN_IF_ERROR(CheckLength(attributes, "pad", 2));
  ir::AttributeMap out = {{"type", attributes.Int("type")},
                          {"mode", attributes.String("mode")},
                          {"padding", attributes.Int("padding")},
                          {"pad", Ints{pad[0], pad[1], 0, 0}}};
  for (const char* name : {"ksize", "stride", "input_size", "output_size"}) {
    out.Set(name, Ints{attributes.Int(name), 1});
  }
  return out;
}

// Windows are along axis 0; the others are planes.
Result<ir::PermutedNode> Permute(const ir::NodeView& view, int operand,
                                 std::span<const int> perm) {
  if (perm[0] != 0) return Unimplemented("Pool1d needs W as its first axis");
  return KeepAttributes(view, operand, perm);
}

ir::OpSchema Pool1dSchema() {
  ir::OpSchema schema;
  schema.name = "Pool1d";
  schema.inputs = {1, 1};
  schema.attributes = {
      PoolTypeSpec(),
      {"mode", AttributeType::kString, "window"},
      PaddingSpec(),
      {"pad", AttributeType::kInts, Ints{0, 0}},
      DataLayoutSpec("layout", DataLayout::kWcn),
  };
  for (const char* name : {"ksize", "stride", "input_size", "output_size"}) {
    schema.attributes.push_back({name, AttributeType::kInt, int64_t{0}});
  }
  schema.permute_rule = Permute;
  schema.doubts = IdleLayouts;
  return DelegatingSchema(
      std::move(schema),
      {.target = Pool2dSchema(), .attributes = In2d, .rows = 1});
}

}  // namespace

TIM_OPERATOR(pool1d) { registry.Add(Pool1dSchema()); }

}  // namespace tim::ops
