// Operator classes: attributes as a caller reads them, and what every operation
// has. What each constructor hands over: tests/ops/<family>/<stem>_cases.cc.
#include <gtest/gtest.h>

#include "ir/op_schema.h"
#include "ops/builtin.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/operation/op_impl.h"

namespace tim::testing {
namespace {

using vx::PadType;
using vx::PoolType;
using vx::RoundType;
using Array2 = std::array<uint32_t, 2>;
using Array4 = std::array<uint32_t, 4>;
using Ints = std::vector<uint32_t>;

template <typename T>
T Get(const vx::Operation& operation, const char* name) {
  T value{};
  EXPECT_TRUE(operation.GetAttribute(name, &value)) << name;
  return value;
}

// The operator exists and takes the attributes.
void ExpectKnown(const std::shared_ptr<vx::Operation>& operation) {
  const ir::OpSchema* schema =
      ops::BuiltinOperators().Find(StrCat("tim.", operation->Name()));
  ASSERT_NE(schema, nullptr) << operation->Name();
  ir::AttributeMap attributes = operation->impl()->attributes;
  const Status status = ir::CompleteAttributes(*schema, &attributes);
  EXPECT_TRUE(status.ok()) << status.message();
}

class Shells : public ::testing::Test {
 protected:
  template <typename Op, typename... Args>
  std::shared_ptr<Op> Make(Args... args) {
    auto operation = graph_->CreateOperation<Op>(args...);
    ExpectKnown(operation);
    auto clone = operation->Clone(other_);
    EXPECT_EQ(other_->OpVector().back(), clone);
    EXPECT_NE(std::dynamic_pointer_cast<Op>(clone), nullptr);
    EXPECT_EQ(clone->impl()->attributes, operation->impl()->attributes);
    EXPECT_STREQ(clone->Name(), operation->Name());
    return operation;
  }
  std::shared_ptr<vx::Graph> graph_ = HostGraph();
  std::shared_ptr<vx::Graph> other_ = HostGraph();
};

TEST_F(Shells, AttributesOfEveryType) {
  const Array2 stride = {1, 2}, dilation = {3, 4}, ksize = {5, 6};
  const Array4 pad = {1, 2, 3, 4};
  using vx::ops::Conv2d;
  auto same = Make<Conv2d>(PadType::SAME, stride, dilation, 7);
  EXPECT_EQ(Get<PadType>(*same, "padding"), PadType::SAME);
  EXPECT_EQ(Get<Ints>(*same, "stride"), (Ints{1, 2}));
  EXPECT_EQ(Get<Ints>(*same, "dilation"), (Ints{3, 4}));
  EXPECT_EQ(Get<int>(*same, "multiplier"), 7);
  EXPECT_EQ(Get<Ints>(*same, "pad"), (Ints{0, 0, 0, 0}));
  auto padded = Make<Conv2d>(pad, stride, dilation);
  EXPECT_EQ(Get<PadType>(*padded, "padding"), PadType::AUTO);
  EXPECT_EQ(Get<Ints>(*padded, "pad"), (Ints{1, 2, 3, 4}));
  EXPECT_EQ(Get<int>(*padded, "multiplier"), 0);
  auto sized = Make<Conv2d>(9, PadType::NONE, ksize, stride, dilation);
  EXPECT_EQ(Get<int>(*sized, "weights"), 9);
  EXPECT_EQ(Get<PadType>(*sized, "padding"), PadType::NONE);
  EXPECT_EQ(Get<Ints>(*sized, "ksize"), (Ints{5, 6}));
  auto full = Make<Conv2d>(9, PadType::AUTO, ksize, stride, dilation, pad, 2,
                           vx::DataLayout::CWHN, vx::DataLayout::OcIcWH);
  EXPECT_EQ(Get<Ints>(*full, "pad"), (Ints{1, 2, 3, 4}));
  EXPECT_EQ(Get<vx::DataLayout>(*full, "input_layout"), vx::DataLayout::CWHN);
  EXPECT_EQ(full->KernelDataLayout(), vx::DataLayout::OcIcWH);
}

TEST_F(Shells, SettingOfPool2dRoundsDown) {
  auto pool =
      Make<vx::ops::Pool2d>(PoolType::MAX, Array4{1, 2, 3, 4}, Array2{2, 3},
                            Array2{1, 2}, RoundType::CEILING);
  EXPECT_EQ(Get<std::string>(*pool, "mode"), "window");
  EXPECT_EQ(Get<RoundType>(*pool, "round_type"), RoundType::CEILING);
  pool->SetRoundingPolicy();
  EXPECT_EQ(Get<RoundType>(*pool, "round_type"), RoundType::FLOOR);
}

TEST_F(Shells, RoundingPolicy) {
  auto relu = Make<vx::ops::Relu>();
  EXPECT_EQ(Get<vx::OverflowPolicy>(*relu, "overflow_policy"),
            vx::OverflowPolicy::SATURATE);
  EXPECT_EQ(Get<vx::RoundingPolicy>(*relu, "rounding_policy"),
            vx::RoundingPolicy::RTNE);
  relu->SetRoundingPolicy(vx::OverflowPolicy::WRAP, vx::RoundingPolicy::TO_ZERO,
                          RoundType::CEILING, 32);
  auto clone = relu->Clone(other_);
  EXPECT_EQ(Get<vx::OverflowPolicy>(*clone, "overflow_policy"),
            vx::OverflowPolicy::WRAP);
  EXPECT_EQ(Get<vx::RoundingPolicy>(*clone, "rounding_policy"),
            vx::RoundingPolicy::TO_ZERO);
  EXPECT_EQ(Get<RoundType>(*clone, "round_type"), RoundType::CEILING);
  EXPECT_EQ(Get<int>(*clone, "accumulator_bits"), 32);
}

TEST_F(Shells, AttributesOfOtherNamesOrTypes) {
  auto softmax = Make<vx::ops::Softmax>(0.5f, 1);
  int number = 42;
  EXPECT_FALSE(softmax->GetAttribute("beta", &number));
  EXPECT_FALSE(softmax->GetAttribute("gamma", &number));
  EXPECT_FALSE(softmax->GetAttribute(nullptr, &number));
  EXPECT_EQ(number, 42);
}

TEST_F(Shells, UidCountsFromOne) {
  EXPECT_EQ(graph_->CreateOperation<vx::ops::Relu>()->uid(), 1u);
  EXPECT_EQ(graph_->CreateOperation<vx::ops::Add>()->uid(), 2u);
}

TEST_F(Shells, CloneIsUnbound) {
  ReluGraph g({2});
  auto clone = g.relu->Clone(g.graph);
  EXPECT_TRUE(clone->impl()->inputs.empty());
  EXPECT_EQ(clone->uid(), 2u);
  std::shared_ptr<vx::Graph> none;
  EXPECT_NE(g.relu->Clone(none), nullptr);
}

TEST_F(Shells, KindIsThePlaceInTheList) {
  class Raw : public vx::BuiltinOp {
   public:
    Raw(vx::Graph* graph, uint32_t kind) : BuiltinOp(graph, kind) {}
    std::shared_ptr<Operation> Clone(
        std::shared_ptr<vx::Graph>& graph) const override {
      return graph->CreateOperation<Raw>(0u);
    }
  };
  const auto schemas = ops::BuiltinOperators().Schemas();
  for (uint32_t kind = 0; kind < schemas.size(); ++kind) {
    if (schemas[kind]->name != "Relu") continue;
    const auto in = graph_->CreateTensor(Floats({1}, vx::INPUT));
    const auto out = graph_->CreateTensor(Floats({1}, vx::OUTPUT));
    auto raw = graph_->CreateOperation<Raw>(kind);
    (*raw).BindInput(in).BindOutput(out);
    EXPECT_TRUE(graph_->Run()) << vx::LastError();
    return;
  }
  FAIL() << "no Relu";
}

}  // namespace
}  // namespace tim::testing
