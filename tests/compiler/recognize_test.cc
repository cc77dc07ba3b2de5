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
#include "tests/support/recognized.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::ValueId;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using Form = std::function<ValueId(Network& net, ValueId x)>;
using Names = std::vector<std::string>;

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
ValueId Mean(Network& net, ValueId x, int64_t axis = 0) {
  return net.Op("ReduceMean",
                {{"axis", std::vector<int64_t>{axis}}, {"keep_dims", true}},
                {x});
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

// The ways to write x / sqrt(mean of x^2 + eps).
std::vector<Form> FormsOfUnitMeanSquare() {
  const auto mean_of = [](Network& net, ValueId squares) {
    return Add(net, Mean(net, squares), net.Scalar(1e-5f));
  };
  const auto root_of = [=](Network& net, ValueId squares) {
    return Unary(net, "Sqrt", mean_of(net, squares));
  };
  return {
      [=](Network& net, ValueId x) {
        return Mul(net, x,
                   Unary(net, "Rsqrt", mean_of(net, Unary(net, "Square", x))));
      },
      [=](Network& net, ValueId x) {
        const ValueId square = net.Op("Pow", {}, {x, net.Scalar(2)});
        return net.Op("Div", {}, {x, root_of(net, square)});
      },
      [=](Network& net, ValueId x) {
        const ValueId root = root_of(net, Mul(net, x, x));
        return Mul(net, net.Op("Div", {}, {net.Scalar(1), root}), x);
      },
      [=](Network& net, ValueId x) {
        return Mul(net, x, Unary(net, "Rcp", root_of(net, Mul(net, x, x))));
      },
      [](Network& net, ValueId x) {
        const ValueId mean = Mean(net, Unary(net, "Square", x));
        return Mul(net, x,
                   Unary(net, "Rsqrt",
                         net.Op("Linear", {{"a", 1.0}, {"b", 1e-5}}, {mean})));
      },
  };
}

TEST(Recognize, RmsNormalization) {
  for (const Form& form : FormsOfUnitMeanSquare()) {
    EXPECT_THAT(RecognizedForm(form), ElementsAre("RmsNormalization"));
    EXPECT_THAT(RecognizedForm([&](Network& net, ValueId x) {
                  return Mul(net, net.Constant(F32({7})), form(net, x));
                }),
                ElementsAre("RmsNormalization"));
  }
}

// One kernel for large tensors, too.
TEST(Recognize, RmsNormalizationPaysOnDevices) {
  for (const auto device : {ir::DeviceClass::kCpu, ir::DeviceClass::kGpu}) {
    compiler::CompileOptions options;
    options.devices = {ir::DeviceInfo(), TestDevice(device)};
    Network net;
    net.Output(FormsOfUnitMeanSquare()[0](net, net.Input(F32({4096, 64}))));
    EXPECT_THAT(Recognized(std::move(net), options),
                ElementsAre("RmsNormalization"));
  }
}

TEST(Recognize, LayerNormalization) {
  for (const Form& form : FormsOfUnitMeanSquare()) {
    EXPECT_THAT(
        RecognizedForm([&](Network& net, ValueId x) {
          const ValueId y = form(net, net.Op("Sub", {}, {x, Mean(net, x)}));
          return Add(net, Mul(net, y, net.Constant(F32({7}))),
                     net.Constant(F32({7})));
        }),
        ElementsAre("LayerNormalization"));
  }
}

// Weights of another axis stay behind the operator; another axis of the mean,
// or no eps, is none.
TEST(Recognize, OtherMeanSquaresStay) {
  const Form form = FormsOfUnitMeanSquare()[0];
  EXPECT_THAT(RecognizedForm([&](Network& net, ValueId x) {
                return Mul(net, form(net, x), net.Constant(F32({1, 5})));
              }),
              ElementsAre("RmsNormalization", "Multiply"));
  const auto of = [](int64_t axis, double eps) {
    return RecognizedForm([=](Network& net, ValueId x) {
      const ValueId mean = Mean(net, Unary(net, "Square", x), axis);
      const ValueId sum = net.Op("Linear", {{"a", 1.0}, {"b", eps}}, {mean});
      return Mul(net, x, Unary(net, "Rsqrt", sum));
    });
  };
  EXPECT_THAT(of(0, 1e-5), SizeIs(1));
  EXPECT_THAT(of(1, 1e-5), SizeIs(5));
  EXPECT_THAT(of(0, -1e-9), SizeIs(5));
}

// The node has the names of those that it is made of, the last one last, and a
// decision says why.
TEST(Recognize, SaysWhatWasRecognized) {
  Network net;
  net.Output(Swish(net, net.Input(F32({4}))));
  compiler::CompileOptions options;
  compiler::Module module(net.graph(), ops::BuiltinOperators(), options);
  ASSERT_OK(compiler::Verify(module));
  ASSERT_OK(compiler::InferShapes(module));
  const auto order = module.graph.TopologicalOrder();
  ASSERT_OK(order);
  Names names;
  for (const ir::NodeId id : *order) {
    names.push_back(module.graph.node(id).name);
  }
  ASSERT_OK(compiler::Recognize(module));
  ASSERT_THAT(module.decisions, SizeIs(1));
  EXPECT_EQ(module.decisions[0].node, StrCat(names[0], "+", names[1]));
  EXPECT_EQ(module.decisions[0].chosen, "recognized: swish");
  EXPECT_EQ(module.graph.node(module.graph.NodeIds()[0]).name,
            module.decisions[0].node);
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
