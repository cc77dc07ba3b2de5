// The operators and binary graphs as clients of other languages see them.
#include "tim/vx/operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/vx/vx_graph.h"
#include "tim/vx/binary_graph.h"

namespace tim::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using Type = vx::NamedAttribute::Type;

const vx::OperatorInfo* Find(const std::vector<vx::OperatorInfo>& all,
                             const std::string& name) {
  const auto found =
      std::find_if(all.begin(), all.end(),
                   [&](const auto& info) { return info.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const vx::AttributeInfo* Find(const vx::OperatorInfo& info,
                              const std::string& name) {
  for (const vx::AttributeInfo& attribute : info.attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

TEST(Operators, HaveOperandsAndAttributes) {
  const auto all = vx::Operators();
  EXPECT_GT(all.size(), 100u);
  const vx::OperatorInfo* softmax = Find(all, "Softmax");
  ASSERT_NE(softmax, nullptr);
  EXPECT_EQ(softmax->least_inputs, 1u);
  EXPECT_EQ(softmax->most_inputs, 1u);
  EXPECT_EQ(softmax->most_outputs, 1u);
  const vx::AttributeInfo* beta = Find(*softmax, "beta");
  ASSERT_NE(beta, nullptr);
  EXPECT_EQ(beta->type, Type::kFloat);
  const vx::AttributeInfo* rounding = Find(*softmax, "rounding_policy");
  ASSERT_NE(rounding, nullptr);
  EXPECT_FALSE(rounding->required);
  EXPECT_EQ(rounding->default_value, "1");
}

TEST(Operators, NameTheValuesOfEnums) {
  const auto all = vx::Operators();
  const vx::OperatorInfo* pool = Find(all, "Pool2d");
  ASSERT_NE(pool, nullptr);
  const vx::AttributeInfo* type = Find(*pool, "type");
  ASSERT_NE(type, nullptr);
  EXPECT_TRUE(type->required);
  EXPECT_EQ(type->default_value, "");
  EXPECT_THAT(type->values, Contains(Pair("avg_padded", 4)));
}

TEST(Operators, AreSortedByName) {
  const auto all = vx::Operators();
  EXPECT_TRUE(std::is_sorted(
      all.begin(), all.end(),
      [](const auto& a, const auto& b) { return a.name < b.name; }));
}

std::vector<char> ReluBytes() {
  const auto graph = HostGraph();
  vx::TensorSpec in = Floats({3, 2}, vx::INPUT);
  const auto x = graph->CreateTensor(in.SetName("x"));
  const auto y = graph->CreateTensor(Floats({3, 2}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::Relu>()).BindInput(x).BindOutput(y);
  size_t size = 0;
  EXPECT_TRUE(graph->CompileToBinary(nullptr, &size)) << vx::LastError();
  std::vector<char> bytes(size);
  EXPECT_TRUE(graph->CompileToBinary(bytes.data(), &size)) << vx::LastError();
  return bytes;
}

TEST(BinaryGraphInfo, HasSpecsAndGivenNames) {
  const auto bytes = ReluBytes();
  vx::BinaryGraphInfo info;
  ASSERT_TRUE(vx::ReadBinaryGraph(bytes.data(), bytes.size(), &info))
      << vx::LastError();
  ASSERT_EQ(info.inputs.size(), 1u);
  ASSERT_EQ(info.outputs.size(), 1u);
  EXPECT_EQ(info.inputs[0].GetName(), "x");
  EXPECT_EQ(info.inputs[0].datatype_, vx::DataType::FLOAT32);
  EXPECT_EQ(info.inputs[0].attr_, vx::INPUT);
  EXPECT_EQ(info.outputs[0].attr_, vx::OUTPUT);
  EXPECT_EQ(info.outputs[0].GetName(), "t1");
  EXPECT_THAT(info.inputs[0].shape_, ElementsAre(3, 2));
}

TEST(BinaryGraphInfo, RefusesWhatIsNone) {
  auto bytes = ReluBytes();
  vx::BinaryGraphInfo info;
  info.graph = "kept";
  EXPECT_FALSE(vx::ReadBinaryGraph(bytes.data(), bytes.size() - 1, &info));
  EXPECT_FALSE(vx::ReadBinaryGraph(nullptr, 0, &info));
  EXPECT_FALSE(vx::ReadBinaryGraph(bytes.data(), bytes.size(), nullptr));
  bytes[bytes.size() / 2] ^= 1;
  EXPECT_FALSE(vx::ReadBinaryGraph(bytes.data(), bytes.size(), &info));
  EXPECT_THAT(vx::LastError(), HasSubstr("the binary graph"));
  EXPECT_EQ(info.graph, "kept");
}

}  // namespace
}  // namespace tim::testing
