#include "tests/properties/operator_cases.h"
#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/tiny_yolov4_postprocess.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

// Heads and grids; confidences, boxes.
const std::vector<std::string> kTypes = {
    "u8a,u8a,u8a,u8a>u8a,u8a",     "f32,f32,f32,f32>f32,f32",
    "f16,f16,f32,f32>f16,f16",     "i8a,i8a,u8a,u8a>i8a,i8a",
    "u8a,u8a,u8a,u8a>f32,f32",     "i16a,i8d,u8,u8>u8a,i16a",
    "bf16,bf16,f32,f32>bf16,bf16", "f32,u8a,i32,u8>u8a,f32",
};

std::vector<Ints> InputShapes(int64_t w, int64_t h) {
  return {{w, h, 255, 1}, {2 * w, 2 * h, 255, 1}, {w, h, 2}, {2 * w, 2 * h, 2}};
}

NodeCase Legal(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const int64_t w = rng.OneIn(9) ? 13 : rng.Int(1, 4);
  const int64_t h = w == 13 ? 13 : rng.Int(1, 4);
  NodeCase node = {.op = "tim.TinyYolov4Postprocess"};
  const std::vector<Ints> shapes = InputShapes(w, h);
  for (size_t i = 0; i < shapes.size(); ++i) {
    node.inputs.emplace_back(rng.Desc(types.inputs[i], shapes[i]));
  }
  node.outputs = {rng.Desc(types.outputs[0], {80, 15 * w * h, 1}),
                  rng.Desc(types.outputs[1], {4, 15 * w * h, 1})};
  return node;
}

double Flops(const NodeCase& node) {
  return 424.0 * static_cast<double>(node.outputs[0].shape[1]);
}

std::vector<IllegalCase> Illegal() {
  const auto u8 = [](Ints dims) {
    return Desc(ir::DataType::kUint8, std::move(dims), 0.1f, 128);
  };
  NodeCase legal = {.op = "tim.TinyYolov4Postprocess"};
  for (const Ints& shape : InputShapes(13, 13)) {
    legal.inputs.emplace_back(u8(shape));
  }
  legal.outputs = {u8({80, 2535, 1}), u8({4, 2535, 1})};
  std::vector<IllegalCase> out = IllegalOperands(legal);
  out.push_back({legal, "input 1 is [13, 13, 255, 1], expected [52, 52"});
  std::swap(out.back().node.inputs[0], out.back().node.inputs[1]);
  std::swap(out.back().node.inputs[2], out.back().node.inputs[3]);
  out.push_back({legal, "input 2 is [13, 13, 1], expected [13, 13, 2]"});
  out.back().node.inputs[2] = u8({13, 13, 1});
  out.push_back({legal, "input 0 is [13, 13, 85, 1]"});
  out.back().node.inputs[0] = u8({13, 13, 85, 1});
  out.push_back({legal, "input 1 is [26, 26, 255, 2]"});
  out.back().node.inputs[1] = u8({26, 26, 255, 2});
  out.push_back({legal, "input 3 is bool8"});
  out.back().node.inputs[3] = Desc(ir::DataType::kBool8, {26, 26, 2});
  out.push_back({legal, "output 1 is not bound"});
  out.back().node.outputs.pop_back();
  return out;
}

}  // namespace

// Without a tolerance: float results have eval's bits, too.
TIM_CASES(tiny_yolov4_postprocess) {
  cases.Add({.op = "tim.TinyYolov4Postprocess",
             .legal = Legal,
             .illegal = Illegal,
             .flops = Flops,
             .shells = {ShellOf<vx::ops::TinyYolov4Postprocess>({})}});
}

}  // namespace tim::testing
