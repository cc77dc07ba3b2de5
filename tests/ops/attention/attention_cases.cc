#include <utility>

#include "tests/properties/pointwise_cases.h"
#include "tests/properties/sum_cases.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;
constexpr auto kFloat = ir::DataType::kFloat32;

Ints Matrix(int64_t fast, int64_t slow, const Ints& heads) {
  Ints out = {fast, slow};
  out.insert(out.end(), heads.begin(), heads.end());
  return out;
}

NodeCase Node(bool keys_by_depth, const Ints& queries, const Ints& keys,
              const Ints& values, const Ints& output) {
  return {.op = "tim.Attention",
          .attributes = {{"scale", 0.25}, {"keys_by_depth", keys_by_depth}},
          .inputs = {Desc(kFloat, queries), Desc(kFloat, keys),
                     Desc(kFloat, values)},
          .outputs = {Desc(kFloat, output)}};
}

NodeCase Legal(CaseRng& rng) {
  // Kernels are compiled for few numbers of queries and sizes of heads.
  const int64_t queries = rng.Pick<int64_t>({1, 9, 13, 24});
  const int64_t keys = rng.OneIn(4) ? rng.Int(1, 150) : rng.Extent();
  const int64_t depth = rng.OneIn(4) ? rng.Extent() : rng.Int(1, 16);
  const int64_t columns = rng.Extent();
  Ints heads;
  Ints fewer_heads;
  if (rng.OneIn(2)) {
    heads = rng.Shape(1, 2, 6);
    fewer_heads = rng.OneIn(2) ? rng.BroadcastFrom(heads) : heads;
  }
  const bool by_depth = rng.OneIn(2);
  NodeCase node =
      Node(by_depth, Matrix(depth, queries, heads),
           by_depth ? Matrix(keys, depth, fewer_heads)
                    : Matrix(depth, keys, fewer_heads),
           Matrix(columns, keys, fewer_heads), Matrix(columns, queries, heads));
  if (rng.OneIn(2)) {
    node.inputs.push_back(
        Desc(kFloat, rng.BroadcastFrom(Matrix(keys, queries, heads))));
  }
  return node;
}

double Flops(const NodeCase& node) {
  const bool by_depth = node.attributes.Bool("keys_by_depth");
  const ir::Shape& output = node.outputs[0].shape;
  const double keys = node.inputs[1]->shape[by_depth ? 0 : 1];
  const double depth = node.inputs[0]->shape[0];
  const double rows = output.NumElements().value_or(0) / output[0];
  return rows * keys * (2 * depth + 2.0 * output[0] + 30);
}

std::vector<IllegalCase> Illegal() {
  const auto node = [](Ints queries, Ints keys, Ints values) {
    return Node(false, queries, keys, values, {2, 3});
  };
  std::vector<IllegalCase> out = {
      {node({4}, {4, 5}, {2, 5}), "queries) [4] has rank 1"},
      {node({4, 3}, {4}, {2, 5}), "keys) [4] has rank 1"},
      {node({4, 3}, {4, 5}, {2}), "values) [2] has rank 1"},
      {node({4, 3}, {6, 5}, {2, 5}), "queries as A and keys as B"},
      {node({4, 3, 2}, {4, 5, 3}, {2, 5}), "queries as A and keys as B"},
      {node({4, 3}, {4, 5}, {2, 6}), "scores as A and values as B"}};
  const auto add_mask = [&](Ints mask, const char* word) {
    out.push_back({node({4, 3}, {4, 5}, {2, 5}), word});
    out.back().node.inputs.push_back(Desc(kFloat, std::move(mask)));
  };
  add_mask({4}, "scores and the mask");
  add_mask({5, 3, 2}, "is larger than the scores [5, 3]");
  out.push_back({node({4, 1}, {4, 5}, {2, 5}), "is larger than the scores"});
  out.back().node.inputs.push_back(Desc(kFloat, {5, 3}));
  for (const int input : {0, 1, 2}) {
    out.push_back(
        {node({4, 3}, {4, 5}, {2, 5}), StrCat("input ", input, " is float16")});
    out.back().node.inputs[input]->type = ir::DataType::kFloat16;
  }
  return out;
}

}  // namespace

// Users cannot make it: no public class.
TIM_CASES(attention) {
  cases.Add({.op = "tim.Attention",
             .legal = Legal,
             .illegal = Illegal,
             .tolerance = kSumTolerance,
             .flops = Flops});
}

}  // namespace tim::testing
