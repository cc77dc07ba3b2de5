#include <algorithm>
#include <utility>

#include "tests/properties/pointwise_cases.h"
#include "tests/properties/sum_cases.h"
#include "tim/vx/ops/matmul.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<std::string> kTypes = {
    "f32,f32>f32",   "f16,f16>f16",    "u8a,u8a>u8a",    "i8a,i8a>i8a",
    "i8,i8>i32",     "u8a,i8a>i8a",    "i16a,i16a>i16a", "u8a,u8a>f32",
    "i8d,i8d>i8d",   "f16,f16>f32",    "i32,i32>i32",    "u4a,u8a>u8a",
    "bf16,bf16>f32", "i16d,i16d>i16d",
};

// A matrix of extents `fast` and `slow`, transposed or not, behind batches.
Ints Matrix(int64_t fast, int64_t slow, bool transposed, const Ints& batches) {
  if (transposed) std::swap(fast, slow);
  Ints out = {fast, slow};
  out.insert(out.end(), batches.begin(), batches.end());
  return out;
}

NodeCase Legal(CaseRng& rng) {
  const TypeNames types = rng.Types(kTypes);
  const int64_t columns = rng.Extent();
  const int64_t rows = rng.Extent();
  const int64_t depth = rng.Extent();
  const bool transpose_a = rng.OneIn(2);
  const bool transpose_b = rng.OneIn(2);
  Ints a_batches;
  Ints b_batches;
  if (rng.OneIn(2)) {
    a_batches = rng.Shape(1, 2, 6);
    b_batches = rng.OneIn(2) ? rng.BroadcastFrom(a_batches) : a_batches;
    if (rng.OneIn(2)) std::swap(a_batches, b_batches);
  }
  Ints output = {columns, rows};
  for (const int64_t extent : BroadcastOf(a_batches, b_batches)) {
    output.push_back(extent);
  }
  NodeCase node = {
      .op = "tim.Matmul",
      .attributes = {{"transpose_a", transpose_a},
                     {"transpose_b", transpose_b}},
      .inputs = {rng.Desc(types.inputs[0],
                          Matrix(depth, rows, transpose_a, a_batches)),
                 rng.Desc(types.inputs[1],
                          Matrix(columns, depth, transpose_b, b_batches))},
      .outputs = {rng.Desc(types.outputs[0], output)}};
  if (rng.OneIn(2)) node.constants[1] = rng.Data(*node.inputs[1]);
  return node;
}

double Flops(const NodeCase& node) {
  const bool transposed = node.attributes.Bool("transpose_a");
  return SumFlops(node, node.inputs[0]->shape[transposed ? 1 : 0]);
}

std::vector<IllegalCase> Illegal() {
  const auto node = [](Ints a, Ints b, ir::AttributeMap attributes) {
    const auto type = ir::DataType::kFloat32;
    return NodeCase{
        .op = "tim.Matmul",
        .attributes = std::move(attributes),
        .inputs = {Desc(type, std::move(a)), Desc(type, std::move(b))},
        .outputs = {Desc(type, {1, 1})}};
  };
  NodeCase bool_input = node({4, 2}, {3, 4}, {});
  bool_input.inputs[1] = Desc(ir::DataType::kBool8, {3, 4});
  return {{node({4, 2}, {3, 5}, {}), "takes 5"},
          {node({4}, {3, 4}, {{"transpose_a", true}}), "cannot be transposed"},
          {node({4, 2, 3}, {3, 4, 2}, {}), "do not broadcast"},
          {bool_input, "input 1 is bool8"}};
}

}  // namespace

TIM_CASES(matmul) {
  using vx::ops::Matmul;
  cases.Add(
      {.op = "tim.Matmul",
       .legal = Legal,
       .illegal = Illegal,
       .tolerance = kSumTolerance,
       .flops = Flops,
       .shells = {ShellOf<Matmul>({}),
                  ShellOf<Matmul>({{"transpose_b", true}}, false, true),
                  ShellOf<Matmul>({{"transpose_a", true}, {"adjoint_b", true}},
                                  true, false, false, true)},
       .permute_rule = PermuteRule::kPartial});
}

}  // namespace tim::testing
