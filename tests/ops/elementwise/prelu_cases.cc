#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/activations.h"

namespace tim::testing {
namespace {

namespace ops = vx::ops;

// A slope that broadcasts, one value for each index of an axis, or one of rank
// 1 along it.
NodeCase LegalPrelu(CaseRng& rng) {
  NodeCase node = BinaryNode("tim.Prelu", rng);
  auto& x = *node.inputs[0];
  auto& slope = *node.inputs[1];
  node.attributes.Set("axis", rng.Axis(x.shape.rank()));
  if (slope.shape.rank() == 1) node.attributes.Set("axis", int64_t{0});
  if (slope.quantization.per_channel() || rng.OneIn(2)) return node;
  const auto dims = rng.OneIn(2) ? rng.Shape(4, 4, 4000) : x.shape.dims();
  const int64_t axis = rng.Axis(static_cast<int>(dims.size()));
  const auto at = static_cast<size_t>(
      axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis);
  node.attributes.Set("axis", axis);
  std::vector<int64_t> along(at + 1, 1);
  along[at] = dims[at];
  if (dims[0] != dims[at] && rng.OneIn(2)) along = {dims[at]};
  x.shape = ir::Shape(dims);
  node.outputs[0].shape = x.shape;
  slope.shape = ir::Shape(along);
  return node;
}

// For channels of quantization the shapes stay.
NodeCase LegalOf(CaseRng& rng) {
  NodeCase node = LegalPrelu(rng);
  if (!node.inputs[0]->quantization.per_channel()) return node;
  node = BinaryNode("tim.Prelu", rng);
  node.attributes.Set("axis", int64_t{0});
  return node;
}

}  // namespace

TIM_CASES(prelu) {
  OperatorCases prelu = BinaryCases("tim.Prelu", 2,
                                    {ShellOf<ops::Prelu>({{"axis", 0}}, 0),
                                     ShellOf<ops::Prelu>({{"axis", -1}}, -1)});
  prelu.legal = LegalOf;
  prelu.illegal = [illegal = prelu.illegal] {
    auto out = illegal();
    for (IllegalCase& one : out) {
      one.node.attributes.Set("axis", int64_t{0});
    }
    for (const int64_t axis : {1, -2}) {
      const auto f32 = Desc(ir::DataType::kFloat32, {4});
      out.push_back({{.op = "tim.Prelu",
                      .attributes = {{"axis", axis}},
                      .inputs = {f32, f32},
                      .outputs = {f32}},
                     StrCat("axis ", axis, " is outside")});
    }
    return out;
  };
  cases.Add(std::move(prelu));
}

}  // namespace tim::testing
