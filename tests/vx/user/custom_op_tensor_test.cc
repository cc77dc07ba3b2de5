// Tensors of every type as pointers and as images of a custom operator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/long_tests.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ::testing::HasSubstr;
using vx::DataType;

struct Type {
  DataType type;
  size_t bits;
  std::vector<std::string> pointees;
  std::string texel;  // suffix of read_image and write_image
};

const std::vector<Type>& Types() {
  static const std::vector<Type> types = {
      {DataType::INT8, 8, {"char"}, "i"},
      {DataType::UINT8, 8, {"uchar"}, "ui"},
      {DataType::INT16, 16, {"short"}, "i"},
      {DataType::UINT16, 16, {"ushort"}, "ui"},
      {DataType::INT32, 32, {"int"}, "i"},
      {DataType::UINT32, 32, {"uint"}, "ui"},
      {DataType::INT64, 64, {"long"}, "i"},
      {DataType::FLOAT16, 16, {"ushort"}, "f"},
      {DataType::FLOAT32, 32, {"float"}, "f"},
      {DataType::BOOL8, 8, {"char", "uchar"}, "ui"},
      {DataType::INT4, 4, {"uchar"}, ""},
      {DataType::UINT4, 4, {"uchar"}, ""},
  };
  return types;
}

using Bytes = std::vector<uint8_t>;

// Valid elements of every type: 0 or 1 in its lowest byte.
Bytes Content(const Type& type, size_t elements) {
  const size_t step = type.bits < 8 ? 1 : type.bits / 8;
  Bytes bytes(elements * type.bits / 8);
  for (size_t i = 0; i < bytes.size(); i += step) bytes[i] = i / step % 3 == 1;
  return bytes;
}

// x, of `shape`, through `plan` to y.
struct TypedGraph {
  TypedGraph(const OpPlan& plan, const Type& type, const vx::ShapeType& shape)
      : x(graph->CreateTensor(vx::TensorSpec(type.type, shape, vx::INPUT))),
        y(graph->CreateTensor(vx::TensorSpec(type.type, shape, vx::OUTPUT))) {
    graph->CreateOperation<TestOp>(plan)->BindInput(x).BindOutput(y);
  }
  Bytes Run(const Bytes& values) {
    Write(x, values);
    EXPECT_TRUE(graph->Run()) << vx::LastError();
    Bytes result(values.size());
    EXPECT_TRUE(y->CopyDataFromTensor(result.data()));
    return result;
  }
  std::shared_ptr<vx::Graph> graph = OpenClGraph();
  std::shared_ptr<vx::Tensor> x;
  std::shared_ptr<vx::Tensor> y;
};

OpPlan CopyAs(const std::string& pointee, size_t items) {
  OpPlan plan;
  plan.source = "__kernel void f(__global const " + pointee + "* x, __global " +
                pointee +
                "* y) {\n  y[get_global_id(0)] = x[get_global_id(0)];\n}\n";
  plan.enqueue = Sizes(1, {items, 0, 0}, {0, 0, 0});
  return plan;
}

TEST(CustomOpTensor, EveryTypeIsAPointerToItsElements) {
  for (const Type& type : Types()) {
    const Bytes content = Content(type, 24);
    for (const std::string& pointee : type.pointees) {
      SCOPED_TRACE(pointee);
      const size_t items = type.bits < 8 ? 12 : 24;
      TypedGraph g(CopyAs(pointee, items), type, {4, 3, 2});
      EXPECT_EQ(g.Run(content), content);
    }
  }
}

TEST(CustomOpTensor, EveryTypeIsAPointerToVectors) {
  Sample sample(3);
  for (const Type& type : Types()) {
    if (!sample.Takes()) continue;
    const Bytes content = Content(type, 24);
    const std::string& pointee = type.pointees[0];
    SCOPED_TRACE(pointee);
    TypedGraph g(CopyAs(pointee + "4", type.bits < 8 ? 3 : 6), type, {4, 3, 2});
    EXPECT_EQ(g.Run(content), content);
  }
}

TEST(CustomOpTensor, EveryTypeIsAPointerToVoid) {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const void* x, __global void* y) {\n"
      "  const size_t i = get_global_id(0);\n"
      "  ((__global uchar*)y)[i] = ((__global const uchar*)x)[i];\n"
      "}\n";
  for (const Type& type : Types()) {
    const Bytes content = Content(type, 24);
    plan.enqueue = Sizes(1, {content.size(), 0, 0}, {0, 0, 0});
    TypedGraph g(plan, type, {4, 3, 2});
    EXPECT_EQ(g.Run(content), content);
  }
}

// Copies texels; the global size overruns the image, as gpu_align makes it.
OpPlan CopyTexels(const std::string& image, const std::string& texel) {
  const bool array = image == "image2d_array_t";
  OpPlan plan;
  plan.source = "__kernel void f(__read_only " + image + " x, __write_only " +
                image +
                " y) {\n"
                "  const int4 at = (int4)(get_global_id(0), get_global_id(1),\n"
                "                         get_global_id(2), 0);\n"
                "  write_image" +
                texel + "(y, " + (array ? "at" : "at.xy") + ", read_image" +
                texel + "(x, " + (array ? "at" : "at.xy") + "));\n}\n";
  plan.enqueue = Sizes(3, {8, 4, array ? 8u : 1u}, {0, 0, 0});
  return plan;
}

TEST(CustomOpTensor, EveryWholeByteTypeIsAnImage) {
  for (const Type& type : Types()) {
    if (type.texel.empty()) continue;  // the next test
    const Bytes flat = Content(type, 15);
    EXPECT_EQ(
        TypedGraph(CopyTexels("image2d_t", type.texel), type, {5, 3}).Run(flat),
        flat);
    const Bytes deep = Content(type, 5 * 3 * 6);
    EXPECT_EQ(TypedGraph(CopyTexels("image2d_array_t", type.texel), type,
                         {5, 3, 2, 3})
                  .Run(deep),
              deep);
  }
}

TEST(CustomOpTensor, PackedTypesAreNoImages) {
  for (const Type& type : Types()) {
    if (!type.texel.empty()) continue;
    TypedGraph g(CopyTexels("image2d_t", "ui"), type, {4, 3});
    EXPECT_TRUE(CompileFailsWith(
        *g.graph, "a tensor type the kernel does not take: images have no"));
    EXPECT_FALSE(g.graph->Run());
  }
}

TEST(CustomOpTensor, LayersDoNotFitAnImage2d) {
  const Type floats = {DataType::FLOAT32, 32, {"float"}, "f"};
  TypedGraph g(CopyTexels("image2d_t", "f"), floats, {4, 3, 2});
  EXPECT_TRUE(CompileFailsWith(*g.graph, "an image2d_t has one layer"));
  EXPECT_THAT(vx::LastError(), HasSubstr("user.TestOp#1"));
}

TEST(CustomOpTensor, TypeTheKernelDoesNotTake) {
  const Type bytes = {DataType::UINT8, 8, {"uchar"}, "ui"};
  TypedGraph g(CopyAs("float", 4), bytes, {4});
  EXPECT_TRUE(
      CompileFailsWith(*g.graph, "a tensor type the kernel does not take"));
  for (const char* part : {"user.TestOp#1", "input 0", "uint8", "float*"}) {
    EXPECT_THAT(vx::LastError(), HasSubstr(part));
  }
  EXPECT_FALSE(g.graph->Run());
}

}  // namespace
}  // namespace tim::testing
