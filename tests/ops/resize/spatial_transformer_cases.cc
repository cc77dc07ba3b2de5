#include "kernels/elements.h"
#include "tests/properties/operator_cases.h"
#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/spatial_transformer.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<std::string> kNames = {"theta_1_1", "theta_1_2", "theta_1_3",
                                         "theta_2_1", "theta_2_2", "theta_2_3"};

// Image, theta; result.
const std::vector<std::string> kTypes = {
    "f32,f32>f32",   "f16,f16>f16",   "u8a,f32>u8a",    "i8a,i8a>i8a",
    "u8a,u8a>f16",   "i8d,i8d>i8d",   "i16d,i16d>i16d", "f32,i16a>u8a",
    "i16a,f32>i16a", "bf16,f32>bf16", "u4a,f32>u8a",    "i8c,f32>f32",
};

NodeCase Legal(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const Ints image = {rng.Extent(), rng.Extent(), rng.Int(1, 9), rng.Int(1, 3)};
  Ints output = image;
  NodeCase node = {.op = "tim.SpatialTransformer"};
  if (rng.OneIn(2)) {
    output[0] = rng.Int(1, 40);
    node.attributes.Set("output_w", output[0]);
  }
  if (rng.OneIn(2)) {
    output[1] = rng.Int(1, 40);
    node.attributes.Set("output_h", output[1]);
  }
  node.attributes.Set("align_corners", rng.OneIn(2));
  std::normal_distribution<float> around(0.0f, 0.6f);
  int64_t length = 0;
  std::vector<float> numbers;
  for (size_t k = 0; k < kNames.size(); ++k) {
    // Around the identity.
    const float value = around(rng.engine()) + (k == 0 || k == 4 ? 1.0f : 0.0f);
    const bool constant = rng.OneIn(3) || (k == 5 && length == 0);
    node.attributes.Set("has_" + kNames[k], constant);
    if (constant) node.attributes.Set(kNames[k], double{value});
    if (!constant) ++length;
    numbers.push_back(value);
  }
  node.inputs = {rng.Desc(types.inputs[0], image, 2)};
  node.outputs = {rng.Desc(types.outputs[0], output, 2)};
  if (length == 0 && rng.OneIn(2)) return node;
  const int64_t batches = rng.OneIn(2) ? image[3] : 1;
  node.inputs.push_back(
      rng.Desc(types.inputs[1], {length + (length == 0), batches}));
  TensorData theta = rng.Data(*node.inputs[1]);
  kernels::ElementWriter writer({&*node.inputs[1], theta.bytes.data()});
  for (int64_t i = 0; i < length * batches; ++i) {
    writer.StoreReal(i, numbers[static_cast<size_t>(i) % numbers.size()]);
  }
  auto& operands = rng.OneIn(3) ? node.constants : node.data;
  operands.emplace(1, std::move(theta));
  return node;
}

std::vector<IllegalCase> Illegal() {
  const auto f32 = [](Ints dims) {
    return Desc(ir::DataType::kFloat32, std::move(dims));
  };
  const NodeCase legal = {.op = "tim.SpatialTransformer",
                          .inputs = {f32({8, 8, 2, 3}), f32({6, 3})},
                          .outputs = {f32({8, 8, 2, 3})}};
  std::vector<IllegalCase> out;
  out.push_back({legal, "input 1, theta, is not bound, but 6"});
  out.back().node.inputs.pop_back();
  out.push_back({legal, "theta is [6, 2], expected [6, 1] or [6, N]"});
  out.back().node.inputs[1] = f32({6, 2});
  out.push_back({legal, "theta is [6, 3], expected [5, 1]"});
  out.back().node.attributes.Set("has_theta_2_1", true);
  out.push_back({legal, "theta is [6, 3, 1]"});
  out.back().node.inputs[1] = f32({6, 3, 1});
  out.push_back({legal, "the image [8, 8, 2] has rank 3"});
  out.back().node.inputs[0] = f32({8, 8, 2});
  out.push_back({legal, "attribute 'output_w' is -1"});
  out.back().node.attributes.Set("output_w", int64_t{-1});
  out.push_back({legal, "input 0 is bool8"});
  out.back().node.inputs[0]->type = ir::DataType::kBool8;
  out.push_back({legal, "input 1 is bool8"});
  out.back().node.inputs[1]->type = ir::DataType::kBool8;
  return out;
}

}  // namespace

// Without a tolerance: float results have eval's bits, too.
TIM_CASES(spatial_transformer) {
  using vx::ops::SpatialTransformer;
  cases.Add({.op = "tim.SpatialTransformer",
             .legal = Legal,
             .illegal = Illegal,
             .flops = FlopsPerElement(21),
             .shells = {ShellOf<SpatialTransformer>(
                            {{"output_h", int64_t{3}},
                             {"output_w", int64_t{4}},
                             {"has_theta_1_2", true},
                             {"has_theta_2_3", true},
                             {"theta_1_1", 1.5},
                             {"theta_1_2", 2.5},
                             {"theta_1_3", 3.5},
                             {"theta_2_1", 4.5},
                             {"theta_2_2", 5.5},
                             {"theta_2_3", 6.5}},
                            3, 4, false, true, false, false, false, true, 1.5f,
                            2.5f, 3.5f, 4.5f, 5.5f, 6.5f),
                        ShellOf<SpatialTransformer>(
                            {{"has_theta_1_1", true},
                             {"has_theta_1_3", true},
                             {"has_theta_2_1", true},
                             {"has_theta_2_2", true},
                             {"align_corners", true}},
                            0, 0, true, false, true, true, true, false, 0.0f,
                            0.0f, 0.0f, 0.0f, 0.0f, 0.0f, true)}});
}

}  // namespace tim::testing
