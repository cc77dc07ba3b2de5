// LayoutInference() of what is wrong: an error, and a graph that says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/support/vx/inferred_graph.h"

namespace tim::testing {
namespace {

using ::testing::HasSubstr;
using vx::DataLayout;
namespace ops = vx::ops;

using Pair = std::array<uint32_t, 2>;

// A failure that says `text`: a graph that does not compile for this reason,
// which clients may ask for, and for the tensors of `source`.
void ExpectFailure(const std::shared_ptr<vx::Graph>& source,
                   std::shared_ptr<vx::Context> context, const PvMap& vectors,
                   const std::string& text) {
  const auto [graph, tensors] =
      transform::LayoutInference(source, context, vectors);
  EXPECT_THAT(vx::LastError(), HasSubstr("LayoutInference()"));
  EXPECT_THAT(vx::LastError(), HasSubstr(text));
  ASSERT_NE(graph, nullptr);
  EXPECT_THAT(graph->ErrorMessage(), HasSubstr(text));
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(CompileFailsWith(*graph, text));
    EXPECT_FALSE(graph->Run());
    EXPECT_THAT(vx::LastError(), HasSubstr(text));
  }
  if (source == nullptr) return;
  for (const auto& all : {source->InputsTensor(), source->OutputsTensor()}) {
    for (const TensorPtr& tensor : all) {
      ASSERT_TRUE(tensors.count(tensor));
      EXPECT_NE(tensors.at(tensor)->map(), nullptr);
    }
  }
}

void ExpectFailure(const std::shared_ptr<vx::Graph>& source,
                   const PvMap& vectors, const std::string& text) {
  ExpectFailure(source, HostContext(), vectors, text);
}

TEST(LayoutInferenceErrors, NoGraph) {
  ExpectFailure(nullptr, {}, "the graph is null");
}

TEST(LayoutInferenceErrors, NoContext) {
  ReluGraph source({4});
  ExpectFailure(source.graph, nullptr, {}, "the context is null");
  EXPECT_TRUE(source.graph->Run()) << "the source is as it was";
}

TEST(LayoutInferenceErrors, NeitherGraphNorContext) {
  ExpectFailure(nullptr, nullptr, {}, "the graph is null");
}

TEST(LayoutInferenceErrors, NullEntriesOfTheMap) {
  ReluGraph source({4});
  ExpectFailure(source.graph, {{nullptr, Pv({1, 0})}}, "a null tensor");
  ExpectFailure(source.graph, {{source.input, nullptr}}, "a null vector");
}

TEST(LayoutInferenceErrors, VectorsOfAnotherRank) {
  ReluGraph source({4, 3});
  ExpectFailure(source.graph, {{source.input, Pv({0, 1, 2})}},
                "the permutation vector [0, 1, 2] has 3 axes, the tensor has "
                "2");
}

TEST(LayoutInferenceErrors, VectorsThatAreNoPermutation) {
  ReluGraph source({4, 3});
  ExpectFailure(source.graph, {{source.input, Pv({1, 1})}},
                "tensor_pv_map, tensor t0: the permutation vector [1, 1] does "
                "not have each of 0 to 1 once");
  ExpectFailure(source.graph, {{source.input, Pv({0, 4000000000})}},
                "does not have each of 0 to 1 once");
}

TEST(LayoutInferenceErrors, TensorsOfAnotherGraph) {
  ReluGraph source({4, 3});
  ReluGraph other({4, 3});
  ExpectFailure(source.graph, {{other.input, Pv({1, 0})}},
                "belongs to another graph");
  ExpectFailure(source.graph,
                {{source.graph->CreateTensorPlaceHolder(), Pv({1, 0})}},
                "belongs to another graph");
}

TEST(LayoutInferenceErrors, TensorsThatDoNotArrive) {
  ReluGraph source({4, 3});
  for (const auto attribute : {vx::CONSTANT, vx::TRANSIENT, vx::VARIABLE}) {
    auto tensor = source.graph->CreateTensor(Floats({4, 3}, attribute));
    ExpectFailure(source.graph, {{tensor, Pv({1, 0})}},
                  "only INPUT tensors arrive in an order of the client's");
  }
}

// A class of a client's may throw.
TEST(LayoutInferenceErrors, VectorsThatThrow) {
  class Throwing : public transform::PermuteVector<2> {
    std::vector<uint32_t> AsStdVec() const override {
      throw std::runtime_error("not today");
    }
  };
  ReluGraph source({4, 3});
  ExpectFailure(source.graph, {{source.input, std::make_shared<Throwing>()}},
                "not today");
}

TEST(LayoutInferenceErrors, OperationsThatNothingReaches) {
  auto graph = HostContext()->CreateGraph();
  auto nobody = graph->CreateTensor(Floats({4}, vx::TRANSIENT));
  auto y = graph->CreateTensor(Floats({4}, vx::OUTPUT));
  (*graph->CreateOperation<ops::Relu>()).BindInput(nobody).BindOutput(y);
  ExpectFailure(graph, {},
                "Relu#1 reads it, but no operation writes it and it is neither "
                "an input nor a constant");
}

TEST(LayoutInferenceErrors, CyclesOfOperations) {
  auto graph = HostContext()->CreateGraph();
  auto a = graph->CreateTensor(Floats({4}, vx::TRANSIENT));
  auto b = graph->CreateTensor(Floats({4}, vx::TRANSIENT));
  (*graph->CreateOperation<ops::Relu>()).BindInput(a).BindOutput(b);
  (*graph->CreateOperation<ops::Relu>()).BindInput(b).BindOutput(a);
  ExpectFailure(graph, {}, "cycle");
}

TEST(LayoutInferenceErrors, LayoutsOfAnotherRank) {
  auto graph = HostContext()->CreateGraph();
  auto x = graph->CreateTensor(Floats({3, 4, 4, 1, 2}, vx::INPUT));
  auto y = graph->CreateTensor(Floats({3, 2, 2, 1, 2}, vx::OUTPUT));
  (*graph->CreateOperation<ops::Pool2d>(vx::PoolType::MAX, vx::PadType::VALID,
                                        Pair{2, 2}, Pair{2, 2},
                                        vx::RoundType::FLOOR, DataLayout::CWHN))
      .BindInput(x)
      .BindOutput(y);
  ExpectFailure(graph, {},
                "attribute 'layout' is 2, a layout of another rank than its "
                "operand [3, 4, 4, 1, 2]");
}

TEST(LayoutInferenceErrors, WhatCompileWouldRefuse) {
  auto graph = HostContext()->CreateGraph();
  auto x = graph->CreateTensor(Floats({4}, vx::INPUT));
  auto y = graph->CreateTensor(Floats({5}, vx::OUTPUT));
  (*graph->CreateOperation<ops::Relu>()).BindInput(x).BindOutput(y);
  ExpectFailure(graph, {}, "declare as many elements");
  auto unbound = HostContext()->CreateGraph();
  unbound->CreateOperation<ops::Relu>();
  ExpectFailure(unbound, {}, "0 inputs are bound, expected 1");
}

TEST(LayoutInferenceErrors, ASuccessLeavesNoError) {
  ReluGraph source({4});
  auto context = HostContext();
  const auto inferred = transform::LayoutInference(source.graph, context);
  EXPECT_EQ(inferred.first->ErrorMessage(), "");
  EXPECT_TRUE(inferred.first->Run());
}

}  // namespace
}  // namespace tim::testing
