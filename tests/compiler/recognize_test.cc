// Operators spelled out in smaller ones, which Compile recognizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/passes/passes.h"
#include "ops/builtin.h"
#include "tests/support/data/network.h"
#include "tests/support/data/test_tensor.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/pinned_nodes.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::ValueId;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using Form = std::function<ValueId(Network& net, ValueId x)>;
using Names = std::vector<std::string>;

// Operators after the pass, in order; the graph computes the same as before.
Names Recognized(Network network,
                 const compiler::CompileOptions& options = {}) {
  compiler::Module module(network.graph(), ops::BuiltinOperators(), options);
  EXPECT_OK(compiler::Verify(module));
  EXPECT_OK(compiler::InferShapes(module));
  EXPECT_OK(compiler::Simplify(module));
  const std::vector<TensorData> inputs =
      RandomInputs(module.graph, network.rng());
  const auto expected = Evaluated(module.graph, inputs);
  EXPECT_OK(expected);
  EXPECT_OK(compiler::Recognize(module));
  EXPECT_OK(module.graph.CheckChains());
  const auto found = Evaluated(module.graph, inputs);
  EXPECT_OK(found);
  if (expected.ok() && found.ok()) {
    for (size_t i = 0; i < expected->size(); ++i) {
      EXPECT_OK(CompareTensors((*expected)[i], (*found)[i],
                               {.absolute = 2e-6, .relative = 1e-5}));
    }
  }
  Names names;
  const auto order = module.graph.TopologicalOrder();
  EXPECT_OK(order);
  for (const ir::NodeId id : *order) {
    names.push_back(module.graph.node(id).schema->name);
  }
  return names;
}

Names RecognizedForm(const Form& form, DataType type = DataType::kFloat32) {
  Network net;
  net.Output(form(net, net.Input(Desc(type, {7, 5, 2}))));
  return Recognized(std::move(net));
}

ValueId Mul(Network& net, ValueId a, ValueId b) {
  return net.Op("Multiply", {}, {a, b});
}
ValueId Add(Network& net, ValueId a, ValueId b) {
  return net.Op("Add", {}, {a, b});
}
ValueId Unary(Network& net, const std::string& op, ValueId x) {
  return net.Op(op, {}, {x});
}

ValueId Swish(Network& net, ValueId x) {
  return Mul(net, x, Unary(net, "Sigmoid", x));
}

TEST(Recognize, SwishInBothOrders) {
  EXPECT_THAT(RecognizedForm(Swish), ElementsAre("Swish"));
  EXPECT_THAT(RecognizedForm([](Network& net, ValueId x) {
                return Mul(net, Unary(net, "Sigmoid", x), x);
              }),
              ElementsAre("Swish"));
}

TEST(Recognize, Mish) {
  EXPECT_THAT(RecognizedForm([](Network& net, ValueId x) {
                return Mul(net, x,
                           Unary(net, "Tanh", Unary(net, "SoftRelu", x)));
              }),
              ElementsAre("Mish"));
}

TEST(Recognize, HardSwish) {
  const auto clamped = [](Network& net, ValueId x) {
    return Unary(net, "Relu6", Add(net, x, net.Scalar(3)));
  };
  for (const Form& form : std::vector<Form>{
           [&](Network&net, ValueId x) {
             return Mul(net, Mul(net, x, clamped(net, x)),
                        net.Scalar(1.0f / 6));
           },
           [&](Network&net, ValueId x) {
             return net.Op("Div", {},
                           {Mul(net, x, clamped(net, x)), net.Scalar(6)});
           },
           [&](Network&net, ValueId x) {
             const ValueId clip = net.Op("Clip", {{"min", 0.0}, {"max", 6.0}},
                                         {Add(net, net.Scalar(3), x)});
             return Mul(net, x, net.Op("Div", {}, {clip, net.Scalar(6)}));
           }}) {
    EXPECT_THAT(RecognizedForm(form), ElementsAre("HardSwish"));
  }
}

TEST(Recognize, GeluOfErf) {
  const auto sum = [](Network& net, ValueId x) {
    return Add(
        net, Unary(net, "Erf", net.Op("Div", {}, {x, net.Scalar(1.41421354f)})),
        net.Scalar(1));
  };
  for (const Form& form : std::vector<Form>{
           [&](Network&net, ValueId x) {
             return Mul(net, Mul(net, x, sum(net, x)), net.Scalar(0.5f));
           },
           [&](Network&net, ValueId x) {
             return Mul(net, Mul(net, net.Scalar(0.5f), x), sum(net, x));
           },
           [&](Network&net, ValueId x) {
             const ValueId erf =
                 Unary(net, "Erf", Mul(net, x, net.Scalar(0.70710677f)));
             return Mul(
                 net, x,
                 Mul(net, net.Scalar(0.5f), Add(net, net.Scalar(1), erf)));
           }}) {
    EXPECT_THAT(RecognizedForm(form), ElementsAre("Gelu"));
  }
}

ValueId GeluTanh(Network& net, ValueId x, float factor) {
  const ValueId cube = net.Op("Pow", {}, {x, net.Scalar(3)});
  const ValueId inner = Add(net, x, Mul(net, cube, net.Scalar(0.044715f)));
  const ValueId tanh = Unary(net, "Tanh", Mul(net, inner, net.Scalar(factor)));
  return Mul(net, Mul(net, net.Scalar(0.5f), x), Add(net, net.Scalar(1), tanh));
}

TEST(Recognize, GeluOfTanh) {
  EXPECT_THAT(RecognizedForm([](Network& net, ValueId x) {
                return GeluTanh(net, x, 0.79788456f);
              }),
              ElementsAre("Gelu"));
}

TEST(Recognize, LayerNormalization) {
  Network net;
  const ValueId x = net.Input(F32({12, 5, 2}));
  const ir::AttributeMap mean = {{"axis", std::vector<int64_t>{0}},
                                 {"keep_dims", true}};
  const ValueId centered =
      net.Op("Sub", {}, {x, net.Op("ReduceMean", mean, {x})});
  const ValueId variance = net.Op(
      "ReduceMean", mean, {net.Op("Pow", {}, {centered, net.Scalar(2)})});
  const ValueId root =
      Unary(net, "Sqrt", Add(net, variance, net.Scalar(1e-5f)));
  const ValueId y = net.Op("Div", {}, {centered, root});
  net.Output(
      Add(net, Mul(net, y, net.Constant(F32({12}))), net.Constant(F32({12}))));
  EXPECT_THAT(Recognized(std::move(net)), ElementsAre("LayerNormalization"));
}

// The exporter's pieces behind a convolution are one kernel with it.
TEST(Recognize, ActivationsFollowTheirConvolution) {
  Network net;
  const ValueId y = net.Op(
      "Conv2d", {},
      {net.Input(F32({14, 9, 32, 1})), net.Constant(F32({3, 3, 32, 32}))});
  net.Output(Swish(net, y));
  compiler::CompileOptions options;
  options.devices = {ir::DeviceInfo(), TestDevice()};
  compiler::Module module(net.graph(), ops::BuiltinOperators(), options);
  ASSERT_OK(compiler::Verify(module));
  ASSERT_OK(compiler::InferShapes(module));
  ASSERT_OK(compiler::Simplify(module));
  ASSERT_OK(compiler::Recognize(module));
  ASSERT_OK(compiler::Fuse(module));
  EXPECT_EQ(module.graph.NodeIds().size(), 1u) << module.graph.Dump();
}

// Other numbers, types and readers keep what the client built.
TEST(Recognize, WhatComputesSomethingElseStays) {
  EXPECT_THAT(RecognizedForm([](Network& net, ValueId x) {
                return GeluTanh(net, x, 0.7978f);
              }),
              SizeIs(8));
  EXPECT_THAT(
      RecognizedForm(
          [](Network& net, ValueId x) {
            const ValueId sigmoid =
                net.Op("Sigmoid", {}, {x}, DataType::kFloat16);
            return net.Op("Multiply", {}, {x, sigmoid}, DataType::kFloat16);
          },
          DataType::kFloat16),
      ElementsAre("Sigmoid", "Multiply"));
  EXPECT_THAT(RecognizedForm([](Network& net, ValueId x) {
                return net.Op("Multiply", {{"scale", 2.0}},
                              {x, Unary(net, "Sigmoid", x)});
              }),
              ElementsAre("Sigmoid", "Multiply"));
  EXPECT_THAT(RecognizedForm([](Network& net, ValueId x) {
                const ValueId sigmoid = Unary(net, "Sigmoid", x);
                net.Output(sigmoid);
                return Mul(net, x, sigmoid);
              }),
              ElementsAre("Sigmoid", "Multiply"));
}

TEST(Recognize, NodesOfSeveralDevicesStay) {
  Network net;
  net.Output(Swish(net, net.Input(F32({4}))));
  testing::PinNodes(net.graph(), [](const ir::Node& node) {
    return node.schema->name == "Sigmoid" ? 0 : -1;
  });
  EXPECT_THAT(Recognized(std::move(net)), ElementsAre("Sigmoid", "Multiply"));
}

}  // namespace
}  // namespace tim::testing
