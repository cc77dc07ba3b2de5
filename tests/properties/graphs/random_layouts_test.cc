// LayoutInference() of random graphs of all operators, whose inputs arrive in
// any order and whose operators have other layouts, computes the same.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/properties/graphs/random_graph.h"
#include "tests/properties/properties.h"
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

// Sums in another order differ in their last bits, and so does what integers
// of 32 and more bits make of them.
Status Same(const TensorData& expected, const TensorData& actual) {
  constexpr double kRelative = 1e-4;
  if (!ir::IsInteger(expected.desc.type) ||
      ir::Info(expected.desc.type).bits < 32) {
    return CompareTensors(expected, actual,
                          ToleranceOf(expected.desc, {.absolute = kRelative,
                                                      .relative = kRelative}));
  }
  const std::vector<int64_t> a = Codes(expected);
  const std::vector<int64_t> b = Codes(actual);
  for (size_t i = 0; i < a.size(); ++i) {
    const auto one = static_cast<double>(a[i]);
    const auto other = static_cast<double>(b[i]);
    if (std::fabs(one - other) <= kRelative * std::fabs(one)) continue;
    return InvalidArgument("element ", i, " is ", b[i], ", expected ", a[i]);
  }
  return OkStatus();
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
  int joined() const { return joined_; }
  /// Transposes that would do and are not there.
  int saved() const { return saved_; }

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
    joined_ = graph_.Joined();
    saved_ = Count(*source.graph, "Transpose") +
             static_cast<int>(vectors.size()) -
             Count(*inferred.first, "Transpose");
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      if (!graph_.IsOutput(static_cast<int>(i))) continue;
      const ir::TensorDesc& desc = graph_.values[i].desc;
      EXPECT_OK(Same(Content(direct.tensors[i], desc),
                     Content(inferred.second.at(source.tensors[i]), desc)))
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
  int joined_ = 0;
  int saved_ = 0;
};

// Consecutive graphs take the operators in turn, in random order, so that each
// is in several of them.
TEST(RandomLayouts, ComputeTheSame) {
  const std::vector<const OperatorCases*> operators = Operators();
  const uint32_t first = NodesOfThisRun().seed;
  const size_t graphs = RunsLongTests() ? 2000 : 120;
  std::mt19937 rng(first);
  std::vector<const OperatorCases*> left;
  std::set<std::string> used;
  int joined = 0;
  int saved = 0;
  for (size_t i = 0; i < graphs; ++i) {
    SCOPED_TRACE(StrCat("TIMCL_TEST_SEED=", first, ", graph ", i));
    std::vector<const OperatorCases*> taken;
    for (size_t count = 3 + rng() % 18; taken.size() < count;) {
      if (left.empty()) {
        left = operators;
        std::shuffle(left.begin(), left.end(), rng);
      }
      taken.push_back(left.back());
      left.pop_back();
    }
    RandomLayouts graph(taken, static_cast<uint32_t>(rng()));
    graph.Check();
    if (::testing::Test::HasFatalFailure()) return;
    used.insert(graph.used().begin(), graph.used().end());
    joined += graph.joined();
    saved += graph.saved();
  }
  for (const OperatorCases* cases : operators) {
    EXPECT_TRUE(used.contains(cases->op)) << cases->op << " is in no graph";
  }
  EXPECT_GT(joined, static_cast<int>(2 * graphs)) << "operators are alone";
  EXPECT_GT(saved, static_cast<int>(graphs)) << "no permutation is passed on";
  RecordProperty("joined", joined);
  RecordProperty("saved", saved);
}

}  // namespace
}  // namespace tim::testing
