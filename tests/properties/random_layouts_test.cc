// LayoutInference() of random graphs of all operators, whose inputs arrive in
// any order and whose operators have other layouts, computes the same.
#include <gtest/gtest.h>

#include <set>

#include "tests/properties/properties.h"
#include "tests/properties/random_graph.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"
#include "tests/support/vx/inferred_graph.h"

namespace tim::testing {
namespace {

// Those that make random numbers of a seed of their own, or depend on what no
// graph states.
bool IsLeftOut(const std::string& op) { return op == "tim.Reorder"; }

std::vector<const OperatorCases*> Operators() {
  std::vector<const OperatorCases*> out;
  for (const OperatorCases& cases : AllCases()) {
    if (!IsLeftOut(cases.op)) out.push_back(&cases);
  }
  return out;
}

TensorData Content(const TensorPtr& tensor, const ir::TensorDesc& desc) {
  TensorData out{desc, {}};
  const auto bytes = ir::ByteSize(desc);
  out.bytes.resize(bytes.ok() ? static_cast<size_t>(*bytes) : 0);
  EXPECT_TRUE(tensor->CopyDataFromTensor(out.bytes.data())) << vx::LastError();
  return out;
}

class RandomLayouts {
 public:
  RandomLayouts(const std::vector<const OperatorCases*>& first, uint32_t seed)
      : rng_(seed) {
    for (const OperatorCases* cases : first) {
      if (graph_.Add(*cases, rng_)) used_.insert(cases->op);
    }
  }

  const std::set<std::string>& used() const { return used_; }

  void Check() {
    const auto context = HostContext();
    const BuiltGraph direct = Build(graph_, *context);
    ASSERT_TRUE(direct.graph->Run()) << vx::LastError() << graph_.Dump();
    const BuiltGraph source = BuildInLayouts(graph_, *context, rng_);
    PvMap vectors;
    for (size_t i = 0; i < source.arrival.size(); ++i) {
      if (!source.arrival[i].empty()) {
        vectors[source.tensors[i]] = VectorOf(source.arrival[i]);
      }
    }
    auto to = context;
    const auto inferred = transform::LayoutInference(source.graph, to, vectors);
    ASSERT_TRUE(inferred.first->Run()) << vx::LastError() << graph_.Dump();
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      if (!graph_.IsOutput(static_cast<int>(i))) continue;
      const ir::TensorDesc& desc = graph_.values[i].desc;
      EXPECT_OK(CompareTensors(
          Content(direct.tensors[i], desc),
          Content(inferred.second.at(source.tensors[i]), desc),
          ToleranceOf(desc, {.absolute = 1e-4, .relative = 1e-4})))
          << "value " << i << "\n"
          << graph_.Dump();
    }
  }

 private:
  static std::shared_ptr<transform::IPermuteVector> VectorOf(
      const ir::Permutation& order) {
    auto vector = transform::MakeShared(static_cast<uint32_t>(order.size()));
    for (size_t i = 0; i < order.size(); ++i) {
      vector->At(static_cast<uint32_t>(i)) = static_cast<uint32_t>(order[i]);
    }
    return vector;
  }

  std::mt19937 rng_;
  RandomGraph graph_;
  std::set<std::string> used_;
};

// Consecutive graphs take the operators in turn, in random order, so that each
// is in one of them at least.
TEST(RandomLayouts, ComputeTheSame) {
  std::vector<const OperatorCases*> operators = Operators();
  std::set<std::string> used;
  const uint32_t first = NodesOfThisRun().seed;
  const int rounds = RunsLongTests() ? 40 : 3;
  uint32_t seed = first;
  for (int round = 0; round < rounds; ++round) {
    std::mt19937 rng(first + static_cast<uint32_t>(round));
    std::shuffle(operators.begin(), operators.end(), rng);
    for (size_t at = 0; at < operators.size(); ++seed) {
      const size_t count =
          std::min<size_t>(3 + rng() % 18, operators.size() - at);
      SCOPED_TRACE(StrCat("TIMCL_TEST_SEED=", first, ", graph ", seed - first));
      RandomLayouts graph({operators.begin() + static_cast<long>(at),
                           operators.begin() + static_cast<long>(at + count)},
                          seed);
      graph.Check();
      if (::testing::Test::HasFatalFailure()) return;
      used.insert(graph.used().begin(), graph.used().end());
      at += count;
    }
  }
  for (const OperatorCases* cases : operators) {
    EXPECT_TRUE(used.contains(cases->op)) << cases->op << " is in no graph";
  }
}

}  // namespace
}  // namespace tim::testing
