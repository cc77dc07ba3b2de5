// What a fuzzer of plans begins with.
#include "binary/plan/plan_file.h"
#include "tests/fuzz/corpus.h"
#include "tests/support/plans/whole_plan.h"

namespace tim::testing {
namespace {

// The whole plan without what a smaller one can do without.
ir::Plan OfSteps(int count) {
  ir::Plan plan = WholePlan();
  plan.steps.resize(static_cast<size_t>(count));
  if (count < 3) plan.chains.clear();
  return plan;
}

}  // namespace

std::vector<std::vector<std::byte>> Corpus() {
  std::vector<std::vector<std::byte>> files;
  for (int steps = 0; steps <= 7; ++steps) {
    auto file = binary::WritePlan(OfSteps(steps));
    if (file.ok()) files.push_back(*std::move(file));
  }
  ir::Plan empty;
  empty.devices.resize(1);
  auto file = binary::WritePlan(empty);
  if (file.ok()) files.push_back(*std::move(file));
  return files;
}

}  // namespace tim::testing
