#include "ops/gemm/gemm_problem.h"

namespace tim::ops {

void AddBatches(const std::string& name, const GemmFactor& factor,
                Launch* launch) {
  launch->Int(name + "_repeat", factor.repeat)
      .Int(name + "_batches", factor.batches);
}

const char* Along(const GemmFactor& factor) {
  return factor.item_step == 1 ? "ALONG_ITEMS" : "ALONG_DEPTH";
}

void AddSteps(const std::string& name, const GemmFactor& factor,
              Launch* launch) {
  launch->Int(name + "_item_step", factor.item_step)
      .Int(name + "_depth_step", factor.depth_step)
      .Int(name + "_batch", factor.batch_step);
  AddBatches(name, factor, launch);
}

double GemmBytes(const GemmProblem& problem) {
  const double a = static_cast<double>(problem.a.items) * problem.a.batches;
  const double b = static_cast<double>(problem.b.items) * problem.b.batches;
  const double c =
      static_cast<double>(problem.a.items) * problem.b.items * problem.batches;
  return 4.0 * ((a + b) * problem.depth + c);
}

}  // namespace tim::ops
