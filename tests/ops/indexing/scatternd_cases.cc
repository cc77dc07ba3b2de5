#include "tests/properties/families/index_cases.h"
#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/scatternd.h"
#include "tim/vx/ops/scatternd_onnx_v16.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

// Indices, updates and output; the output's type is the data's as well.
const std::vector<std::string> kTypes = {
    "i32,f32>f32",   "i32,u8a>u8a",   "i32,f16>f16",  "i32,i32>i32",
    "u8,i8a>i8a",    "i32,f32>u8a",   "i64,u8a>f32",  "i32,i8d>i8d",
    "i32,i16a>i16a", "i32,i16d>i16d", "i64,i64>i64",  "f32,u8a>i8a",
    "i16,i8>i8",     "i32,u4a>u4a",   "u8a,f32>bf16", "i32,f64>f32",
};

struct Places {
  Ints output;
  int64_t length = 1;  // Of a coordinate.
  Ints coordinates;    // Shape of the indices.
  Ints updates;
};

Places RandomPlaces(CaseRng& rng) {
  Places out;
  out.output = rng.Shape(1, 5, 3000);
  const auto rank = static_cast<int64_t>(out.output.size());
  out.coordinates = rng.Shape(1, 2, 40);
  const bool list = out.coordinates.size() == 1 && rng.OneIn(2);
  out.length = list ? 1 : rng.Int(1, rank);
  out.updates.assign(out.output.begin(), out.output.end() - out.length);
  out.updates.insert(out.updates.end(), out.coordinates.begin(),
                     out.coordinates.end());
  if (!list) out.coordinates.insert(out.coordinates.begin(), out.length);
  return out;
}

// Extents that the elements of a coordinate count along.
Ints Extents(const Places& places) {
  return {places.output.rbegin(), places.output.rbegin() + places.length};
}

NodeCase LegalScatterND(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const Places places = RandomPlaces(rng);
  NodeCase node = {.op = "tim.ScatterND",
                   .attributes = {{"shape", places.output}},
                   .inputs = {rng.Desc(types.inputs[0], places.coordinates),
                              rng.Desc(types.inputs[1], places.updates)},
                   .outputs = {rng.Desc(types.outputs[0], places.output)}};
  SetIndices(0, Extents(places), &node, rng);
  return node;
}

NodeCase LegalOnnx(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const Places places = RandomPlaces(rng);
  const ir::TensorDesc output = rng.Desc(types.outputs[0], places.output);
  NodeCase node = {
      .op = "tim.ScatterND_ONNX_V16",
      .attributes = {{"reduction", rng.Pick<int64_t>({0, 1, 2, 3, 4})}},
      .inputs = {output, rng.Desc(types.inputs[0], places.coordinates),
                 rng.Desc(types.inputs[1], places.updates)},
      .outputs = {output}};
  // Data that are not like the output.
  if (rng.OneIn(3)) node.inputs[0] = rng.Desc(types.inputs[1], places.output);
  SetIndices(1, Extents(places), &node, rng);
  return node;
}

ir::TensorDesc F32(Ints dims) {
  return Desc(ir::DataType::kFloat32, std::move(dims));
}
ir::TensorDesc I32(Ints dims) {
  return Desc(ir::DataType::kInt32, std::move(dims));
}

// What both refuse; `first`: which input has the indices.
void AddIllegal(const NodeCase& legal, int first,
                std::vector<IllegalCase>* out) {
  out->push_back(
      {legal, StrCat("input ", first, " is bool8, expected a float")});
  out->back().node.inputs[first]->type = ir::DataType::kBool8;
  out->push_back(
      {legal, StrCat("input ", first + 1, " is bool8, expected a float")});
  out->back().node.inputs[first + 1]->type = ir::DataType::kBool8;
  out->push_back({legal, "output 0 is uint64, expected a float"});
  out->back().node.outputs[0].type = ir::DataType::kUint64;
  out->push_back({legal, "have 3 indices each, at most 2"});
  out->back().node.inputs[first] = I32({3, 5});
  out->push_back({legal, "expected 5 slices of 4"});
  out->back().node.inputs[first + 1] = F32({4, 6});
}

std::vector<IllegalCase> IllegalScatterND() {
  const NodeCase legal = {.op = "tim.ScatterND",
                          .attributes = {{"shape", Ints{4, 3}}},
                          .inputs = {I32({1, 5}), F32({4, 5})},
                          .outputs = {F32({4, 3})}};
  std::vector<IllegalCase> out = IllegalOperands(legal);
  AddIllegal(legal, 0, &out);
  for (const Ints& shape : {Ints{4, 0}, Ints{-1}, Ints{}, Ints(9, 1)}) {
    out.push_back({legal, "attribute 'shape' is ["});
    out.back().node.attributes.Set("shape", shape);
  }
  return out;
}

std::vector<IllegalCase> IllegalOnnx() {
  const NodeCase legal = {.op = "tim.ScatterND_ONNX_V16",
                          .attributes = {{"reduction", int64_t{1}}},
                          .inputs = {F32({4, 3}), I32({1, 5}), F32({4, 5})},
                          .outputs = {F32({4, 3})}};
  std::vector<IllegalCase> out = IllegalOperands(legal);
  AddIllegal(legal, 1, &out);
  out.push_back({legal, "reduction"});
  out.back().node.attributes.Set("reduction", int64_t{5});
  out.push_back({legal, "input 0 is bool8, expected a float"});
  out.back().node.inputs[0]->type = ir::DataType::kBool8;
  return out;
}

double Flops(const NodeCase& node) {
  return static_cast<double>(*node.outputs[0].shape.NumElements() +
                             *node.inputs.back()->shape.NumElements());
}

}  // namespace

TIM_CASES(scatternd) {
  using vx::ops::ScatterND_ONNX_V16;
  cases.Add({.op = "tim.ScatterND",
             .legal = LegalScatterND,
             .illegal = IllegalScatterND,
             .flops = Flops,
             .shells = {ShellOf<vx::ops::ScatterND>(
                 {{"shape", Ints{4, 3}}}, std::vector<uint32_t>{4, 3})},
             .permute_rule = PermuteRule::kPartial});
  std::vector<Shell> shells = {
      ShellOf<ScatterND_ONNX_V16>({{"reduction", int64_t{0}}})};
  for (const auto reduction :
       {ScatterND_ONNX_V16::REDUCTION_NONE, ScatterND_ONNX_V16::REDUCTION_ADD,
        ScatterND_ONNX_V16::REDUCTION_MUL, ScatterND_ONNX_V16::REDUCTION_MAX,
        ScatterND_ONNX_V16::REDUCTION_MIN}) {
    shells.push_back(ShellOf<ScatterND_ONNX_V16>(
        {{"reduction", static_cast<int64_t>(reduction)}}, reduction));
  }
  cases.Add({.op = "tim.ScatterND_ONNX_V16",
             .legal = LegalOnnx,
             .illegal = IllegalOnnx,
             .flops = Flops,
             .shells = std::move(shells),
             .permute_rule = PermuteRule::kPartial});
}

}  // namespace tim::testing
