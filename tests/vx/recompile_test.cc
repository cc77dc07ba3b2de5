// What changes after a Compile(), and what stays.
#include <gtest/gtest.h>

#include "tests/support/vx/vx_graph.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using vx::DataType;
using vx::TensorAttribute;
using vx::TensorSpec;
using Values = std::vector<float>;

class Recompile : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto context = ContextOn(GetParam());
    if (context == nullptr) GTEST_SKIP() << "no device " << GetParam();
    graph_ = context->CreateGraph();
    in_ = graph_->CreateTensor(Floats({2}, TensorAttribute::INPUT));
    constant_ = graph_->CreateTensor(Floats({2}, TensorAttribute::CONSTANT));
    out_ = graph_->CreateTensor(Floats({2}, TensorAttribute::OUTPUT));
    auto add = graph_->CreateOperation<vx::ops::Add>();
    (*add).BindInputs({in_, constant_}).BindOutput(out_);
  }
  std::shared_ptr<vx::Graph> graph_;
  std::shared_ptr<vx::Tensor> in_, constant_, out_;
};

TEST_P(Recompile, ConstantWrittenLateIsHonoured) {
  Write<float>(constant_, {1, 2});
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  EXPECT_EQ(Read(out_), (Values{1, 2}));
  Write<float>(constant_, {10, 20});
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  EXPECT_EQ(Read(out_), (Values{10, 20}));
}

TEST_P(Recompile, OperationsAddedLateRun) {
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  const auto last = graph_->CreateTensor(Floats({2}, TensorAttribute::OUTPUT));
  auto relu = graph_->CreateOperation<vx::ops::Relu>();
  (*relu).BindInput(out_).BindOutput(last);
  Write<float>(in_, {1, -1});
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  EXPECT_EQ(Read(last), (Values{1, 0}));
}

TEST_P(Recompile, NothingHappensWhereNothingChanged) {
  Write<float>(constant_, {1, 2});
  ASSERT_TRUE(graph_->Compile()) << vx::LastError();
  const ir::Plan* plan = vx::CompiledPlan(*graph_);
  ASSERT_NE(plan, nullptr);
  Write<float>(constant_, {1, 2});  // the same values
  EXPECT_TRUE(graph_->Compile());
  EXPECT_TRUE(graph_->Run());
  EXPECT_EQ(vx::CompiledPlan(*graph_), plan);
  EXPECT_EQ(graph_->ErrorMessage(), "");
}

INSTANTIATE_TEST_SUITE_P(Devices, Recompile,
                         ::testing::Values("host", "opencl"));

TEST(Compile, RemovedOperationsDoNotRun) {
  ReluGraph g({2});
  auto bad = g.graph->CreateOperation<vx::ops::Softmax>(1.0f, 9);
  const auto middle =
      g.graph->CreateTensor(Floats({}, TensorAttribute::TRANSIENT));
  (*bad).BindInput(g.input).BindOutput(middle);
  auto& operations = g.graph->OpVector();
  operations.erase(std::find(operations.begin(), operations.end(), bad));
  EXPECT_TRUE(g.graph->Run()) << vx::LastError();
}

TEST(Compile, FailureIsFinalAndRepeated) {
  ReluGraph g({2});
  auto bad = g.graph->CreateOperation<vx::ops::Softmax>(1.0f, 9);
  const auto middle =
      g.graph->CreateTensor(Floats({}, TensorAttribute::TRANSIENT));
  (*bad).BindInput(g.input).BindOutput(middle);
  ASSERT_FALSE(g.graph->Compile());
  const std::string reason = vx::LastError();
  EXPECT_NE(reason.find("Softmax#2"), std::string::npos) << reason;
  EXPECT_FALSE(g.input->CopyDataToTensor(nullptr));
  EXPECT_NE(vx::LastError(), reason);
  g.graph->OpVector().pop_back();  // too late
  for (const bool run : {false, true}) {
    EXPECT_FALSE(run ? g.graph->Run() : g.graph->Compile());
    const std::string said = vx::LastError();
    EXPECT_NE(said.find("Compile() failed before"), std::string::npos) << said;
    EXPECT_NE(said.find("a new graph is needed"), std::string::npos) << said;
    EXPECT_NE(said.find(reason), std::string::npos) << said;
    EXPECT_EQ(g.graph->ErrorMessage(), said);
  }
  EXPECT_EQ(vx::CompiledPlan(*g.graph), nullptr);
}

TEST(Compile, ShapesAndTypesThatWereOpenAreFilledIn) {
  const auto graph = HostGraph();
  const auto in = graph->CreateTensor(Floats({2, 3}, TensorAttribute::INPUT));
  const auto middle = graph->CreateTensor(TensorSpec());
  const auto out = graph->CreateTensor(Floats({}, TensorAttribute::OUTPUT));
  auto first = graph->CreateOperation<vx::ops::Relu>();
  auto second =
      graph->CreateOperation<vx::ops::Transpose>(std::vector<uint32_t>{1, 0});
  (*first).BindInput(in).BindOutput(middle);
  (*second).BindInput(middle).BindOutput(out);
  float data[6] = {};
  EXPECT_FALSE(out->CopyDataFromTensor(data));
  EXPECT_NE(vx::LastError().find("not known before Compile()"),
            std::string::npos);
  EXPECT_EQ(out->map(), nullptr);
  ASSERT_TRUE(graph->Compile()) << vx::LastError();
  EXPECT_EQ(middle->GetShape(), (vx::ShapeType{2, 3}));
  EXPECT_EQ(middle->GetDataType(), DataType::FLOAT32);
  EXPECT_EQ(out->GetShape(), (vx::ShapeType{3, 2}));
  Write<float>(in, {1, 2, 3, 4, 5, 6});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(out), (Values{1, 3, 5, 2, 4, 6}));
}

}  // namespace
}  // namespace tim::testing
