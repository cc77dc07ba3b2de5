#include "tests/properties/pointwise_cases.h"

#include <algorithm>
#include <cmath>

namespace tim::testing {
namespace {

using ir::DataType;

const std::vector<std::string>& UnaryTypes() {
  static const auto* const types = new std::vector<std::string>{
      "f32>f32",   "f16>f16",   "u8a>u8a",   "i8a>i8a", "i32>i32",
      "i8d>i8d",   "i16a>i16a", "u8a>f32",   "f32>u8a", "i16d>i16d",
      "u16a>f32",  "f16>f32",   "i8a>i16a",  "u8>u8",   "i64>i32",
      "bf16>bf16", "f64>f32",   "u4a>u8a",   "i8c>i8c", "i16a>i4a",
      "f32>i32",   "i64>i64",   "i32a>i32a", "f32>f16", "u16a>u16a",
  };
  return *types;
}

const std::vector<std::string>& BinaryTypes() {
  static const auto* const types = new std::vector<std::string>{
      "f32,f32>f32",    "f16,f16>f16",    "u8a,u8a>u8a",    "i8a,i8a>i8a",
      "i32,i32>i32",    "i8d,i8d>i8d",    "i16a,i16a>i16a", "u8a,f32>u8a",
      "f32,u8a>f32",    "i16d,i16d>i16d", "i64,i64>i64",    "f16,f32>f16",
      "u8a,i8a>i16a",   "u8,u8>u8",       "i32,u8>i64",     "bf16,f32>bf16",
      "f64,f32>f32",    "u4a,u8a>u8a",    "i8c,i8a>i8a",    "u16a,f32>f32",
      "i32a,i32a>i32a", "i8,i8>i32",      "f32,i32>i32",    "i16a,u8a>i4a",
  };
  return *types;
}

ir::TensorDesc Plain(DataType type, std::vector<int64_t> shape = {4}) {
  return Desc(type, std::move(shape));
}

NodeCase Floats(const std::string& op, int inputs,
                const ir::AttributeMap& attributes = {}) {
  return {.op = op,
          .attributes = attributes,
          .inputs = std::vector<std::optional<ir::TensorDesc>>(
              inputs, Plain(DataType::kFloat32)),
          .outputs = {Plain(DataType::kFloat32)}};
}

// Operands of types that are no numbers, and a wrong size.
std::vector<IllegalCase> IllegalNumbers(
    const std::string& op, int inputs,
    const ir::AttributeMap& attributes = {}) {
  const NodeCase legal = Floats(op, inputs, attributes);
  std::vector<IllegalCase> out = IllegalOperands(legal);
  for (const DataType type : {DataType::kBool8, DataType::kUint64}) {
    const std::string found = StrCat(" is ", ir::ToString(type), ", expected");
    for (int i = 0; i < inputs; ++i) {
      out.push_back({legal, StrCat("input ", i, found)});
      out.back().node.inputs[i] = Plain(type);
    }
    out.push_back({legal, "output 0" + found});
    out.back().node.outputs[0] = Plain(type);
  }
  out.push_back({legal, "declared as [5]"});
  out.back().node.outputs[0] = Plain(DataType::kFloat32, {5});
  out.back().node.declared = {true};
  return out;
}

ir::AttributeMap Drawn(const NumberAttributes& attributes, CaseRng& rng) {
  ir::AttributeMap out;
  for (const auto& [name, values] : attributes) {
    out.Set(name, rng.Pick(values));
  }
  return out;
}

std::vector<IllegalCase> IllegalUnary(const std::string& op,
                                      const NumberAttributes& attributes) {
  CaseRng rng(1);
  const ir::AttributeMap legal = Drawn(attributes, rng);
  std::vector<IllegalCase> out = IllegalNumbers(op, 1, legal);
  for (const auto& [name, values] : attributes) {
    out.push_back({Floats(op, 1, legal), name + " is NaN"});
    out.back().node.attributes.Set(name, double{NAN});
  }
  return out;
}

}  // namespace

std::vector<IllegalCase> IllegalOperands(const NodeCase& legal) {
  std::vector<IllegalCase> out;
  out.push_back({legal, "input 0 is not bound"});
  out.back().node.inputs.clear();
  out.push_back({legal, StrCat("at most ", legal.inputs.size(), " are taken")});
  out.back().node.inputs.push_back(legal.inputs[0]);
  out.push_back({legal, "has no attribute 'no_such_name'"});
  out.back().node.attributes.Set("no_such_name", 1.0);
  return out;
}

NodeCase UnaryNode(const std::string& op, const std::vector<std::string>& types,
                   CaseRng& rng) {
  const TypeNames names = rng.Types(types);
  const auto shape = rng.Shape(1, 5);
  return {.op = op,
          .inputs = {rng.Desc(names.inputs[0], shape)},
          .outputs = {rng.Desc(names.outputs[0], shape)}};
}

std::vector<int64_t> BroadcastOf(const std::vector<int64_t>& a,
                                 const std::vector<int64_t>& b) {
  std::vector<int64_t> out(std::max(a.size(), b.size()), 1);
  for (size_t axis = 0; axis < out.size(); ++axis) {
    if (axis < a.size()) out[axis] = a[axis];
    if (axis < b.size()) out[axis] = std::max(out[axis], b[axis]);
  }
  return out;
}

NodeCase BinaryNode(const std::string& op, CaseRng& rng) {
  const TypeNames names = rng.Types(BinaryTypes());
  auto a = rng.Shape(1, 5);
  auto b = rng.OneIn(2) ? rng.BroadcastFrom(a) : a;
  if (rng.OneIn(3)) a = rng.BroadcastFrom(a);
  if (rng.OneIn(2)) std::swap(a, b);
  return {
      .op = op,
      .inputs = {rng.Desc(names.inputs[0], a), rng.Desc(names.inputs[1], b)},
      .outputs = {rng.Desc(names.outputs[0], BroadcastOf(a, b))}};
}

OperatorCases UnaryCases(const std::string& op, double flops,
                         std::vector<Shell> shells,
                         NumberAttributes attributes) {
  return {.op = op,
          .legal =
              [op, attributes](CaseRng& rng) {
                NodeCase node = UnaryNode(op, UnaryTypes(), rng);
                node.attributes = Drawn(attributes, rng);
                return node;
              },
          .illegal = [op, attributes] { return IllegalUnary(op, attributes); },
          .flops = FlopsPerElement(flops),
          .shells = std::move(shells),
          .permute_rule = PermuteRule::kRequired};
}

OperatorCases BinaryCases(const std::string& op, double flops,
                          std::vector<Shell> shells) {
  return {.op = op,
          .legal = [op](CaseRng& rng) { return BinaryNode(op, rng); },
          .illegal =
              [op] {
                auto out = IllegalNumbers(op, 2);
                out.push_back({Floats(op, 2), "do not broadcast"});
                out.back().node.inputs[1] = Plain(DataType::kFloat32, {3});
                return out;
              },
          .flops = FlopsPerElement(flops),
          .shells = std::move(shells),
          .permute_rule = PermuteRule::kRequired};
}

}  // namespace tim::testing
