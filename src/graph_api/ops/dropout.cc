// Dropout: elements that a generator of random numbers keeps, scaled; the
// others are 0.
#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "expr/operator.h"
#include "expr/program.h"
#include "graph_api/formula.h"
#include "graph_api/lowering.h"
#include "graph_api/op_def.h"
#include "ops/registered.h"

namespace tim::graph {
namespace {

enum Input : size_t { kSource, kSeed, kOffset, kProbability };

// The number of an element is that of the counter offset + i under a key made
// of the seed: the upper 24 of the 32 bits that the generator "squares" gives
// after four rounds, as a part of 1.  Integers wrap at 64 bits; `swap` of 32
// bits is a product and a quotient.
// Source: B. Widynski, "Squares: A Fast Counter-Based RNG", arXiv 2004.06278.
constexpr std::string_view kKeep = R"(
op dropout_keep(X[N] : f32, S[A] : s64, O[B] : s64, P[C] : f32) -> (K : u8) {
  key[i : N] = =(2 * (S[0] * 7046029254386353131 + 4417276706812531889) + 1);
  y[i : N] = =((O[0] + i) * key[i]);
  z[i : N] = =(y[i] + key[i]);
  a[i : N] = =(y[i] * y[i] + y[i]);
  b[i : N] = =(mod(a[i], 4294967296) * 4294967296 + mod(div(a[i], 4294967296), 4294967296));
  c[i : N] = =(b[i] * b[i] + z[i]);
  d[i : N] = =(mod(c[i], 4294967296) * 4294967296 + mod(div(c[i], 4294967296), 4294967296));
  e[i : N] = =(d[i] * d[i] + y[i]);
  g[i : N] = =(mod(e[i], 4294967296) * 4294967296 + mod(div(e[i], 4294967296), 4294967296));
  h[i : N] = =(g[i] * g[i] + z[i]);
  K[i : N] = =(f32(mod(div(h[i], 1099511627776), 16777216)) * 5.9604644775390625e-8 >= P[0] ? 1 : 0);
}
)";

constexpr char kDomain[] = "tim_graph";
constexpr char kName[] = "dropout_keep";
constexpr char kOperator[] = "tim_graph.dropout_keep";

Status RegisterKeep() {
  TIM_ASSIGN_OR_RETURN(const auto program, expr::ReadProgram(kKeep));
  const expr::OperatorName name = {.domain = kDomain, .name = kName};
  ops::RegisterOperators(kOperator, [=](ir::OpRegistry& registry) {
    registry.Add(expr::SchemaOf(name, program));
    registry.Add(expr::KernelOf(name, program));
  });
  return OkStatus();
}

// The operator is known from the first op of the kind on.
Status KnowKeep() {
  static constinit std::mutex mutex;
  static constinit std::atomic<bool> known = false;
  if (known.load(std::memory_order_acquire)) return OkStatus();
  const std::lock_guard lock(mutex);
  if (known.load(std::memory_order_relaxed)) return OkStatus();
  TIM_RETURN_IF_ERROR(RegisterKeep());
  known.store(true, std::memory_order_release);
  return OkStatus();
}

Status CheckOne(const Op& op, size_t input, const Tensor& tensor) {
  if (CountOf(tensor.dims) == 1) return OkStatus();
  return InvalidArgument(op.def->inputs[input].name, " has dims {",
                         StrJoin(tensor.dims, ", "), "}, expected one element");
}

Status LowerDropout(const Op& op, Lowering& lowering) {
  TIM_RETURN_IF_ERROR(KnowKeep());
  Formula f(lowering);
  for (const size_t input : {kSeed, kOffset, kProbability}) {
    TIM_RETURN_IF_ERROR(CheckOne(op, input, f.In(input)));
  }
  const Tensor src = f.In(kSource);
  const Tensor flat = f.Reshape(src, {CountOf(src.dims)});
  const Tensor seed = f.Reshape(f.In(kSeed), {1});
  const Tensor offset = f.Reshape(f.In(kOffset), {1});
  const Tensor probability = f.Reshape(f.In(kProbability), {1});
  TIM_RETURN_IF_ERROR(f.status());
  const Tensor keep =
      f.Try(lowering.Add(kOperator, {flat, seed, offset, probability}, {},
                         {.type = ir::DataType::kUint8}));
  const Tensor scaled = f.Div(flat, f.Linear(probability, -1, 1));
  const Tensor kept =
      f.Select(f.Cast(keep, ir::DataType::kBool8), scaled, f.Number(0));
  TIM_RETURN_IF_ERROR(f.Store(0, f.Reshape(kept, src.dims)));
  if (!lowering.wants_output(1)) return f.status();
  return f.Store(1, f.Reshape(keep, src.dims));
}

}  // namespace

TIM_GRAPH_OPS(dropout) {
  table.Add({.kind = tim_graph_op_dropout,
             .name = "Dropout",
             .types = {{"T1", FloatTypes()},
                       {"T2", {tim_graph_s64}},
                       {"T3", {tim_graph_f32}},
                       {"T4", {tim_graph_u8}}},
             .inputs = {{"src", "T1"},
                        {"seed", "T2"},
                        {"offset", "T2"},
                        {"probability", "T3"}},
             .outputs = {{"dst", "T1"}, {"mask", "T4", true}},
             .lower = LowerDropout});
}

}  // namespace tim::graph
