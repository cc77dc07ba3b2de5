// Passes on graphs whose extents are not all known: what depends on none that
// is not, they do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/passes/passes.h"
#include "ops/builtin.h"
#include "tests/support/data/conv2d_attributes.h"
#include "tests/support/data/network.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::kUnknownDim;
using ir::ValueId;
using ::testing::ElementsAre;
using Ints = std::vector<int64_t>;
using Names = std::vector<std::string>;
using Pass = Status (*)(compiler::Module& module);

enum class Extent { kUnknown, kBounded };

class UnknownExtents : public ::testing::TestWithParam<Extent> {
 protected:
  // An input; extents of -1 are unknown, or bounded.
  ValueId Input(const Ints& shape) {
    ir::TensorDesc desc = F32(shape);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] == kUnknownDim && GetParam() == Extent::kBounded) {
        desc.shape.SetBound(static_cast<int>(axis), 64);
      }
    }
    return net_.Input(desc);
  }
  ValueId Op(const std::string& name, ir::AttributeMap attributes,
             std::vector<ValueId> inputs) {
    return net_.Op(name, std::move(attributes), std::move(inputs));
  }
  ValueId Constant(const Ints& shape) { return net_.Constant(F32(shape)); }
  ValueId Conv2d(ValueId x) {
    return Op("Conv2d", {}, {x, Constant({3, 3, 4, 6})});
  }
  static ir::AttributeMap Padding(Ints front) {
    return {{"front_size", front}, {"back_size", front}};
  }

  // Operators after the pass, in order.
  Names After(Pass pass, ValueId result) {
    net_.Output(result);
    compiler::CompileOptions options;
    options.devices = {ir::DeviceInfo(), TestDevice()};
    compiler::Module module(net_.graph(), ops::BuiltinOperators(), options);
    EXPECT_OK(compiler::Verify(module));
    EXPECT_OK(compiler::InferShapes(module));
    EXPECT_OK(pass(module));
    EXPECT_OK(module.graph.CheckChains());
    Names names;
    const auto order = module.graph.TopologicalOrder();
    EXPECT_OK(order);
    for (const ir::NodeId id : *order) {
      names.push_back(module.graph.node(id).schema->name);
    }
    return names;
  }

  Network net_;
};

INSTANTIATE_TEST_SUITE_P(Extents, UnknownExtents,
                         ::testing::Values(Extent::kUnknown, Extent::kBounded));

TEST_P(UnknownExtents, SimplifyRemovesWhatDoesNothing) {
  ValueId x = Input({5, kUnknownDim, kUnknownDim});
  x = Op("Transpose", {{"perm", Ints{0, 1, 2}}}, {x});
  x = Op("Pad", Padding({0, 0, 0}), {x});
  x = Op("StopGradient", {}, {x});
  EXPECT_THAT(After(compiler::Simplify, Op("Relu", {}, {x})),
              ElementsAre("Relu"));
}

TEST_P(UnknownExtents, SimplifyFoldsConstants) {
  const ValueId sum = Op("Add", {}, {Constant({5}), Constant({5})});
  EXPECT_THAT(After(compiler::Simplify,
                    Op("Multiply", {}, {Input({5, kUnknownDim}), sum})),
              ElementsAre("Multiply"));
}

// Shapes that look alike may differ.
TEST_P(UnknownExtents, SimplifyKeepsWhatMayDoSomething) {
  ValueId x = Input({kUnknownDim, kUnknownDim, 3, 1});
  x = Op("Resize",
         {{"type", int64_t{1}},
          {"factor", 0.5},
          {"target_height", int64_t{0}},
          {"target_width", int64_t{0}}},
         {x});
  EXPECT_THAT(After(compiler::Simplify, x), ElementsAre("Resize"));
}

TEST_P(UnknownExtents, AffineFunctionsAreFolded) {
  ValueId x = Conv2d(Input({kUnknownDim, kUnknownDim, 4, kUnknownDim}));
  x = net_.BatchNorm(x, {6});
  x = Op("Multiply", {}, {x, Constant({1, 1, 6})});
  x = Op("Add", {}, {Constant({1}), x});
  EXPECT_THAT(After(compiler::FoldAffine, x), ElementsAre("Conv2d"));
}

TEST_P(UnknownExtents, AffineFunctionsOfOtherAxesAreNot) {
  ValueId x = Conv2d(Input({kUnknownDim, 9, 4, 1}));
  x = Op("Multiply", {}, {x, Constant({5})});
  EXPECT_THAT(After(compiler::FoldAffine, x),
              ElementsAre("Conv2d", "Multiply"));
}

TEST_P(UnknownExtents, PaddingIsAbsorbed) {
  ValueId x = Input({kUnknownDim, kUnknownDim, 4, kUnknownDim});
  x = Op("Pad", Padding({1, 2, 0, 0}), {x});
  EXPECT_THAT(After(compiler::AbsorbPadding, Conv2d(x)), ElementsAre("Conv2d"));
}

// How much SAME pads follows from extents.
TEST_P(UnknownExtents, PaddingBeforeSameIsNot) {
  const auto conv = [&](const Ints& shape) {
    const ValueId x = Op("Pad", Padding({1, 2, 0, 0}), {Input(shape)});
    return Op("Conv2d", Conv2dAttributes(kSame), {x, Constant({3, 3, 4, 6})});
  };
  EXPECT_THAT(After(compiler::AbsorbPadding, conv({kUnknownDim, 8, 4, 1})),
              ElementsAre("Pad", "Conv2d"));
}

TEST_P(UnknownExtents, PaddingBeforeSameIsAbsorbedWhereExtentsAreKnown) {
  const ValueId x =
      Op("Pad", Padding({1, 2, 0, 0}), {Input({8, 8, 4, kUnknownDim})});
  EXPECT_THAT(
      After(compiler::AbsorbPadding,
            Op("Conv2d", Conv2dAttributes(kSame), {x, Constant({3, 3, 4, 6})})),
      ElementsAre("Conv2d"));
}

TEST_P(UnknownExtents, OperatorsAreRecognized) {
  const ValueId x = Input({16, kUnknownDim});
  const auto mean = [&](ValueId of) {
    return Op("ReduceMean", {{"axis", Ints{0}}, {"keep_dims", true}}, {of});
  };
  const ValueId centered = Op("Sub", {}, {x, mean(x)});
  const ValueId root =
      Op("Sqrt", {},
         {Op("Add", {},
             {mean(Op("Square", {}, {centered})), net_.Scalar(1e-5f)})});
  const ValueId scaled =
      Op("Multiply", {}, {Op("Div", {}, {centered, root}), Constant({16})});
  const ValueId norm = Op("Add", {}, {scaled, Constant({16})});
  EXPECT_THAT(After(compiler::Recognize,
                    Op("Multiply", {}, {norm, Op("Sigmoid", {}, {norm})})),
              ElementsAre("LayerNormalization", "Swish"));
}

// Whether a gamma lies along rows is known with their length.
TEST_P(UnknownExtents, ParametersOfUnknownRowsStayApart) {
  const ValueId x = Input({kUnknownDim, 5});
  const ValueId square =
      Op("ReduceMean", {{"axis", Ints{0}}, {"keep_dims", true}},
         {Op("Square", {}, {x})});
  const ValueId scaled =
      Op("Multiply", {},
         {x, Op("Rsqrt", {}, {Op("Add", {}, {square, net_.Scalar(1e-5f)})})});
  EXPECT_THAT(
      After(compiler::Recognize, Op("Multiply", {}, {scaled, Constant({16})})),
      ElementsAre("RmsNormalization", "Multiply"));
}

// Maps of elements are made of extents.
TEST_P(UnknownExtents, MapsStayApart) {
  ValueId x = Input({5, kUnknownDim, 3});
  x = Op("Transpose", {{"perm", Ints{2, 1, 0}}}, {x});
  x = Op("Transpose", {{"perm", Ints{1, 0, 2}}}, {x});
  EXPECT_THAT(After(compiler::ComposeMaps, x),
              ElementsAre("Transpose", "Transpose"));
}

// Beside an input that leaves extents open, what is known is composed.
TEST_P(UnknownExtents, KnownMapsAreComposed) {
  ValueId x = net_.Input(F32({5, 4, 3}));
  x = Op("Transpose", {{"perm", Ints{2, 1, 0}}}, {x});
  x = Op("Transpose", {{"perm", Ints{2, 1, 0}}}, {x});
  const ValueId y = Op("Relu", {}, {Input({5, kUnknownDim})});
  net_.Output(y);
  EXPECT_THAT(After(compiler::ComposeMaps, Op("Exp", {}, {x})),
              ::testing::UnorderedElementsAre("Relu", "Exp"));
}

TEST_P(UnknownExtents, TheChoiceNamesTheInputThatLeavesThemOpen) {
  ir::TensorDesc desc = F32({kUnknownDim, 3});
  if (GetParam() == Extent::kBounded) desc.shape.SetBound(0, 64);
  const ValueId x = net_.graph().AddValue(desc, ir::Role::kInput, "images");
  net_.graph().AddInput(x);
  net_.Output(Op("Exp", {}, {Op("Relu", {}, {x})}));
  compiler::CompileOptions options;
  options.devices = {ir::DeviceInfo(), TestDevice()};
  options.devices[0].runs_eval = true;
  const auto plan =
      compiler::Compile(net_.graph(), ops::BuiltinOperators(), options);
  EXPECT_ERROR(plan, "input images");
  EXPECT_ERROR(plan, "leaves it open; give full shapes there");
}

}  // namespace
}  // namespace tim::testing
