// Kernels of nodes that are done in pieces, as those are whose tensors have
// more elements than kernels count: here with a small limit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>

#include "compiler/compiler.h"
#include "compiler/pieces.h"
#include "tests/support/data/conv2d_attributes.h"
#include "tests/support/data/pad_node.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/kernels/opencl_test.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Ints = std::vector<int64_t>;

class InPieces : public OpenClTest {
 protected:
  // The compiled graph gives what eval gives, at this limit and without it.
  static void Check(const Result<TestNode>& node, int64_t limit,
                    Tolerance tolerance = {}) {
    ASSERT_OK(node);
    const ir::KernelNode view =
        ir::MakeKernelNode(node->graph, node->graph.node(node->node));
    EXPECT_GT(compiler::CutToPieces(view, limit, TestDevice().alignment).size(),
              1u);
    std::mt19937 rng(7);
    const std::vector<TensorData> inputs = RandomInputs(*node, rng);
    const auto expected = Eval(*node, inputs);
    ASSERT_OK(expected);
    for (const int64_t elements : {limit, ir::kMostKernelElements}) {
      const auto actual = RunCompiled(*node, inputs, elements);
      ASSERT_OK(actual);
      for (size_t i = 0; i < expected->size(); ++i) {
        EXPECT_OK(CompareTensors((*expected)[i], (*actual)[i], tolerance))
            << elements;
      }
    }
  }

  // How much wider tensors must be than for parts that begin at multiples of
  // 128 bytes.
  static int64_t Wider() {
    return std::max<int64_t>(TestDevice().alignment / 128, 1);
  }

  // Of the output, the shape that inference finds.
  static ir::TensorDesc Out(ir::TensorDesc desc) {
    desc.shape = ir::Shape();
    return desc;
  }
};

TEST_F(InPieces, OneInputOfOneAxis) {
  const auto codes = Desc(DataType::kUint8, {5003}, 0.1f, 7);
  Check(MakeNode("tim.Relu", {}, {codes}, {Out(codes)}), 1500);
  const auto floats = Desc(DataType::kFloat32, {5003});
  Check(MakeNode("tim.Relu", {}, {floats}, {Out(floats)}), 1500);
}

TEST_F(InPieces, AnIndexOfTheOutermostAxisThatIsTooLargeAlone) {
  const auto desc = Desc(DataType::kInt8, {1024, 3, 2, 1}, 0.5f, -3);
  Check(MakeNode("tim.Abs", {}, {desc}, {Out(desc)}), 1024);
  Check(MakeNode("tim.Abs", {}, {desc}, {Out(desc)}), 700);
}

TEST_F(InPieces, Broadcasting) {
  const int64_t width = 16 * Wider();
  const auto a = Desc(DataType::kInt8, {width, 8, 40}, 0.5f, 3);
  const auto out = Out(Desc(DataType::kInt8, {width, 8, 40}, 0.7f, 1));
  for (const Ints& dims : std::vector<Ints>{
           {width, 8, 40}, {1, 8}, {width, 1, 40}, {1, 1, 40}, {width}, {1}}) {
    const auto b = Desc(DataType::kInt8, dims, 0.25f, -5);
    // A [1, 1, 40] has too few bytes per index for its parts to be aligned.
    if (dims == Ints{1, 1, 40}) continue;
    Check(MakeNode("tim.Add", {}, {a, b}, {out}), 2000 * Wider());
  }
}

TEST_F(InPieces, Conversions) {
  const auto from = Desc(DataType::kUint8, {64, 100}, 0.1f, 7);
  const auto to = Out(Desc(DataType::kFloat32, {64, 100}));
  Check(MakeNode("tim.DataConvert", {}, {from}, {to}), 2000);
  Check(MakeNode("tim.DataConvert", {}, {Desc(DataType::kFloat32, {64, 100})},
                 {Out(from)}),
        2000);
}

TEST_F(InPieces, Movement) {
  const auto desc = Desc(DataType::kInt8, {32, 8, 40});
  const Ints perm = {1, 0, 2};
  Check(MakeNode("tim.Transpose", {{"perm", perm}}, {desc}, {Out(desc)}), 3000);
  Check(Pad(desc, {.front = {1, 2, 0}, .back = {31, 0, 0}}, int64_t{3},
            kConstant, desc),
        6000);
  Check(
      MakeNode("tim.Concat", {{"axis", int64_t{0}}, {"input_cnt", int64_t{2}}},
               {desc, desc}, {Out(desc)}),
      6000);
}

TEST_F(InPieces, Rows) {
  const auto desc = Desc(DataType::kFloat32, {64, 100});
  Check(MakeNode("tim.Softmax", {{"beta", 1.0}, {"axis", int64_t{0}}}, {desc},
                 {Out(desc)}),
        2000, {.absolute = 1e-6, .relative = 1e-5});
  const auto a = Desc(DataType::kFloat32, {16, 8, 12});
  Check(MakeNode("tim.Matmul", {}, {a, Desc(DataType::kFloat32, {32, 16, 12})},
                 {Out(a)}),
        1000, {.absolute = 1e-4, .relative = 1e-4});
}

TEST_F(InPieces, Images) {
  const auto desc = Desc(DataType::kUint8, {16 * Wider(), 16, 8, 3}, 0.1f, 7);
  Check(MakeNode("tim.Pool2d",
                 {{"type", int64_t{0}},
                  {"padding", int64_t{1}},
                  {"ksize", Ints{2, 2}},
                  {"stride", Ints{2, 2}}},
                 {desc}, {Out(desc)}),
        1024 * Wider());
  const auto floats = Desc(DataType::kFloat32, {16 * Wider(), 16, 8, 3});
  Check(
      MakeNode("tim.Conv2d", Conv2dAttributes(kSame),
               {floats, Desc(DataType::kFloat32, {3, 3, 8, 16}), std::nullopt},
               {Out(floats)}),
      5000 * Wider(), {.absolute = 1e-4, .relative = 1e-4});
}

// Parts that a kernel would need a sub-buffer for do not run on a device whose
// kernels get none.
TEST_F(InPieces, BeyondTheReachOfRemoteDevicesAreNotMade) {
  const auto desc = Desc(DataType::kUint8, {(int64_t{1} << 31) + 1000}, 1, 0);
  const auto node = MakeNode("tim.Relu", {}, {desc}, {Out(desc)});
  ASSERT_OK(node);
  compiler::CompileOptions options;
  options.devices.resize(2);
  options.devices[0].runs_eval = true;
  options.devices[1] = TestDevice();
  options.devices[1].max_allocation_bytes = int64_t{1} << 40;
  for (const bool remote : {false, true}) {
    options.devices[1].remote = remote;
    const auto plan = compiler::Compile(node->graph, *node->registry, options);
    ASSERT_OK(plan);
    const auto launches =
        std::count_if(plan->steps.begin(), plan->steps.end(), [](auto& step) {
          return std::holds_alternative<ir::KernelLaunch>(step.action);
        });
    EXPECT_EQ(launches, remote ? 0 : 2);
    const std::string decisions = ir::Dump(*plan);
    EXPECT_EQ(decisions.find("do not reach its tensors") != std::string::npos,
              remote);
  }
}

TEST_F(InPieces, WhatCannotBeCutIsOnePiece) {
  const auto desc = Desc(DataType::kFloat32, {64, 100});
  const auto node =
      MakeNode("tim.Softmax", {{"beta", 1.0}, {"axis", int64_t{1}}}, {desc},
               {Out(desc)});
  ASSERT_OK(node);
  const ir::KernelNode view =
      ir::MakeKernelNode(node->graph, node->graph.node(node->node));
  EXPECT_TRUE(compiler::CutToPieces(view, 2000, 64).empty());
  EXPECT_TRUE(compiler::CutToPieces(view, 6400, 64).empty()) << "not larger";
}

}  // namespace
}  // namespace tim::testing
