#include <gtest/gtest.h>

#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim {
namespace {

using testing::ToyGraph;
using testing::ToyOperators;

TEST(Infer, UnknownExtentsStayUnknown) {
  ToyGraph toy;
  const ir::ValueId y = toy.Op("Twice", {toy.Input({4, ir::kUnknownDim})});
  toy.Output(y);
  ASSERT_OK(compiler::InferGraph(&toy.graph(), ToyOperators()));
  EXPECT_EQ(toy.graph().value(y).desc.shape, ir::Shape({4, ir::kUnknownDim}));
  EXPECT_EQ(toy.graph().value(y).desc.type, ir::DataType::kFloat32);
}

TEST(Infer, UnknownRankStaysUnknown) {
  ToyGraph toy;
  const ir::ValueId y = toy.Op("Twice", {toy.Input(ir::Shape())});
  ASSERT_OK(compiler::InferGraph(&toy.graph(), ToyOperators()));
  EXPECT_FALSE(toy.graph().value(y).desc.shape.ranked());
}

ir::ValueId DeclaredOutput(ToyGraph& toy, ir::Shape shape) {
  const ir::ValueId y = toy.Op("Twice", {toy.Input({4, 6})});
  toy.graph().value(y).desc.shape = std::move(shape);
  toy.graph().value(y).shape_declared = true;
  toy.Output(y);
  return y;
}

TEST(Infer, DeclaredOutputOfAsManyElementsIsReached) {
  ToyGraph toy;
  const ir::ValueId y = DeclaredOutput(toy, {24});
  ASSERT_OK(compiler::InferGraph(&toy.graph(), ToyOperators()));
  EXPECT_EQ(toy.graph().value(y).desc.shape, ir::Shape({24}));
  EXPECT_EQ(toy.graph().node(toy.graph().value(y).producer).schema->name,
            "Reshape");
  // The reshape is a view: no step more than without it.
  const Result<ir::Plan> plan = toy.Compile();
  ASSERT_OK(plan);
  EXPECT_EQ(plan->steps.size(), 3u);
  EXPECT_EQ(plan->outputs[0].desc.shape, ir::Shape({24}));
}

TEST(Infer, DeclaredOutputOfAnotherCountIsAnError) {
  ToyGraph toy;
  DeclaredOutput(toy, {25});
  EXPECT_ERROR(toy.Compile(),
               "output 0 is declared as [25], but the operation gives [4, 6]");
}

// Twice of [4, 6] into a value that would be of this shape, and twice that.
ir::ValueId Preferred(ToyGraph& toy, ir::Shape shape) {
  const ir::ValueId y = toy.Op("Twice", {toy.Input({4, 6})});
  toy.graph().value(y).preferred_shape = std::move(shape);
  toy.Output(toy.Op("Twice", {y}));
  return y;
}

TEST(Infer, PreferredShapeOfAsManyElementsIsKept) {
  ToyGraph toy;
  const ir::ValueId y = Preferred(toy, {4, 1, 6});
  ASSERT_OK(compiler::InferGraph(&toy.graph(), ToyOperators()));
  EXPECT_EQ(toy.graph().value(y).desc.shape, ir::Shape({4, 1, 6}));
  EXPECT_EQ(toy.graph().node(toy.graph().value(y).producer).schema->name,
            "Reshape");
}

TEST(Infer, PreferredShapeOfAnotherCountOrTheSameIsNoReshape) {
  for (const ir::Shape& shape :
       {ir::Shape({4, 6}), ir::Shape({25}), ir::Shape({0, 0}), ir::Shape(),
        ir::Shape({4, ir::kUnknownDim})}) {
    ToyGraph toy;
    const ir::ValueId y = Preferred(toy, shape);
    ASSERT_OK(compiler::InferGraph(&toy.graph(), ToyOperators()));
    EXPECT_EQ(toy.graph().value(y).desc.shape, ir::Shape({4, 6}));
    EXPECT_EQ(toy.graph().NodeIds().size(), 2u);
  }
}

compiler::CompileOptions Unforgiving() {
  compiler::CompileOptions options = testing::ToyOptions();
  options.lenient = false;
  return options;
}

TEST(Infer, DeclaredExtentsInAnotherOrderAreADoubt) {
  for (const ir::Shape& shape : {ir::Shape({6, 4}), ir::Shape({24})}) {
    ToyGraph toy;
    Preferred(toy, shape);
    EXPECT_OK(toy.Compile());
    EXPECT_ERROR(toy.Compile(Unforgiving()), "but the operation gives [4, 6]");
    ToyGraph declared;
    DeclaredOutput(declared, shape);
    EXPECT_OK(declared.Compile());
    EXPECT_ERROR(declared.Compile(Unforgiving()), "TIMCL_LENIENT=0");
  }
  ToyGraph ones;
  Preferred(ones, {1, 4, 1, 6});
  EXPECT_OK(ones.Compile(Unforgiving()));
}

TEST(Infer, DoubtsOfAGraphThatWasCompiledAreNotSaid) {
  ToyGraph toy;
  Preferred(toy, {6, 4});
  compiler::CompileOptions options = Unforgiving();
  options.was_compiled = true;
  EXPECT_OK(toy.Compile(options));
}

TEST(Infer, OverflowingShapeIsAnError) {
  ToyGraph toy;
  const int64_t big = int64_t{1} << 40;
  toy.Output(toy.Op("Twice", {toy.Input({big, big})}));
  EXPECT_ERROR(toy.Compile(), "overflows 64 bits");
}

}  // namespace
}  // namespace tim
