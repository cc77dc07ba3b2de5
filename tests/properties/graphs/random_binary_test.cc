// Random graphs of all operators, written and run as an NBG, compute the same
// bits.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/properties/graphs/random_graph.h"
#include "tests/properties/properties.h"
#include "tests/support/long_tests.h"
#include "tests/support/vx/binary_graph.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using TensorPtr = std::shared_ptr<vx::Tensor>;

std::vector<uint8_t> Content(const TensorPtr& tensor,
                             const ir::TensorDesc& desc) {
  const auto bytes = ir::ByteSize(desc);
  std::vector<uint8_t> content(bytes.ok() ? static_cast<size_t>(*bytes) : 0);
  EXPECT_TRUE(tensor->CopyDataFromTensor(content.data())) << vx::LastError();
  return content;
}

// The graph's inputs and outputs are the NBG's, by place.
void Check(const RandomGraph& random, vx::Context& context) {
  const BuiltGraph direct = Build(random, context);
  ASSERT_TRUE(direct.graph->Run()) << vx::LastError() << random.Dump();
  const std::vector<char> binary = ToBinary(*direct.graph);
  ASSERT_FALSE(binary.empty()) << random.Dump();
  LoadedBinary loaded(binary, *direct.graph, context.CreateGraph());
  std::map<TensorPtr, TensorPtr> copies;
  const auto inputs = direct.graph->InputsTensor();
  const auto outputs = direct.graph->OutputsTensor();
  for (size_t i = 0; i < inputs.size(); ++i) {
    copies[inputs[i]] = loaded.inputs[i];
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    copies[outputs[i]] = loaded.outputs[i];
  }
  for (size_t i = 0; i < random.values.size(); ++i) {
    const auto copy = copies.find(direct.tensors[i]);
    if (copy == copies.end() || !random.values[i].data) continue;
    EXPECT_TRUE(copy->second->CopyDataToTensor(
        Content(direct.tensors[i], random.values[i].desc).data()));
  }
  ASSERT_TRUE(loaded.graph->Run()) << vx::LastError() << random.Dump();
  int compared = 0;
  for (size_t i = 0; i < random.values.size(); ++i) {
    if (!random.IsOutput(static_cast<int>(i))) continue;
    const ir::TensorDesc& desc = random.values[i].desc;
    ++compared;
    EXPECT_EQ(Content(direct.tensors[i], desc),
              Content(copies.at(direct.tensors[i]), desc))
        << "value " << i << "\n"
        << random.Dump();
  }
  EXPECT_GT(compared, 0);
}

TEST(RandomBinaries, ComputeTheSame) {
  std::vector<const OperatorCases*> operators, left;
  for (const OperatorCases& cases : AllCases()) operators.push_back(&cases);
  const uint32_t first = NodesOfThisRun().seed;
  const size_t graphs = RunsLongTests() ? 2000 : 100;
  std::mt19937 rng(first);
  std::set<std::string> used;
  const auto context = HostContext();
  for (size_t i = 0; i < graphs; ++i) {
    SCOPED_TRACE(StrCat("TIMCL_TEST_SEED=", first, ", graph ", i));
    RandomGraph graph;
    std::mt19937 values(static_cast<uint32_t>(rng()));
    const size_t count = 3 + rng() % 18;
    for (size_t taken = 0; taken < count; ++taken) {
      if (left.empty()) {
        left = operators;
        std::shuffle(left.begin(), left.end(), rng);
      }
      if (graph.Add(*left.back(), values)) used.insert(left.back()->op);
      left.pop_back();
    }
    if (graph.nodes.empty()) continue;
    Check(graph, *context);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(used.size(), operators.size() * 9 / 10);
}

}  // namespace
}  // namespace tim::testing
