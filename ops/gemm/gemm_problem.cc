#include "ops/gemm/gemm_problem.h"

namespace tim::ops {

const char* Along(const GemmFactor& factor) {
  return factor.item_step == 1 ? "ALONG_ITEMS" : "ALONG_DEPTH";
}

Launch::Fields FactorFields(const GemmFactor& factor) {
  return {{"items", factor.items},           {"item_step", factor.item_step},
          {"depth_step", factor.depth_step}, {"batches", factor.batches},
          {"batch_step", factor.batch_step}, {"repeat", factor.repeat}};
}

double GemmBytes(const GemmProblem& problem) {
  const double a = static_cast<double>(problem.a.items) * problem.a.batches;
  const double b = static_cast<double>(problem.b.items) * problem.b.batches;
  const double c =
      static_cast<double>(problem.a.items) * problem.b.items * problem.batches;
  return 4.0 * ((a + b) * problem.depth + c);
}

}  // namespace tim::ops
