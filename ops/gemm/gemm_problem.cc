#include "ops/gemm/gemm_problem.h"

namespace tim::ops {

double GemmBytes(const GemmProblem& problem) {
  const double a = static_cast<double>(problem.a.items) * problem.a.batches;
  const double b = static_cast<double>(problem.b.items) * problem.b.batches;
  const double c =
      static_cast<double>(problem.a.items) * problem.b.items * problem.batches;
  return 4.0 * ((a + b) * problem.depth + c);
}

}  // namespace tim::ops
