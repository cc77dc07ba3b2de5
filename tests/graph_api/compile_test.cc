// Compiling partitions: statuses, inferred dims, layouts of ports.
#include "graph_api/compile.h"

#include <gtest/gtest.h>

#include "graph_api/layout_ids.h"
#include "graph_api/port_layouts.h"
#include "tests/graph_api/partition_support.h"
#include "tests/support/status_macros.h"

namespace tim::graph {
namespace {

using testing::Described;
using testing::ExecuteOn;
using testing::HostEngine;
using testing::MakeOp;
using testing::OfUnknownRank;
using testing::TestPartition;
using testing::WithStrides;
using tim::testing::FailsWith;

constexpr auto kAny = tim_graph_layout_type_any;
constexpr int64_t kUnknown = TIM_GRAPH_UNKNOWN_DIM;
using Floats = std::vector<float>;

/// relu of tensor 0 to tensor 1, whose dims are not known before compile.
TestPartition Relu() {
  const LogicalTensor in = OfUnknownRank(0);
  const LogicalTensor out = OfUnknownRank(1);
  return {{MakeOp(0, "ReLU", {in}, {out})}, {in}, {out}};
}

tim_graph_status_t CodeOf(const TestPartition& partition,
                          const std::vector<LogicalTensor>& inputs,
                          const std::vector<LogicalTensor>& outputs) {
  const CompileResult result =
      Compile(partition.source(), inputs, outputs, HostEngine());
  EXPECT_EQ(result.compiled == nullptr, result.code != tim_graph_success);
  EXPECT_EQ(result.status.ok(), result.code == tim_graph_success);
  return result.code;
}

Dims DimsOfPort(const CompileResult& result, size_t id) {
  return DimsOf(result.compiled->Query(id));
}

TEST(Compile, OnePartitionForSeveralShapes) {
  const TestPartition relu = Relu();
  const auto engine = HostEngine();
  Stream stream(engine, tim_graph_stream_default_flags);
  for (const Dims& dims : {Dims{4}, Dims{2, 3}, Dims{1, 2, 2, 1}}) {
    const CompileResult result = Compile(relu.source(), {Described(0, dims)},
                                         {OfUnknownRank(1)}, engine);
    ASSERT_OK(result.status);
    EXPECT_EQ(DimsOfPort(result, 1), dims);
    const Floats x = {-1, 2, -3, 4, -5, 6};
    Floats y(6, -9);
    EXPECT_OK(ExecuteOn(*result.compiled, stream, {x.data()}, {y.data()}));
    EXPECT_EQ(y[0], 0);
    EXPECT_EQ(y[3], 4);
  }
}

TEST(Compile, OutputsOfPartlyKnownDims) {
  const TestPartition relu = Relu();
  const auto out = [](const Dims& dims) {
    return Described(1, dims, tim_graph_f32, kAny);
  };
  const std::vector<LogicalTensor> in = {Described(0, {2, 3})};
  EXPECT_EQ(CodeOf(relu, in, {out({kUnknown, kUnknown})}), tim_graph_success);
  EXPECT_EQ(CodeOf(relu, in, {out({2, kUnknown})}), tim_graph_success);
  EXPECT_EQ(CodeOf(relu, in, {out({2, 3})}), tim_graph_success);
  EXPECT_EQ(CodeOf(relu, in, {out({2, 4})}), tim_graph_invalid_shape);
  EXPECT_EQ(CodeOf(relu, in, {out({kUnknown, 3, 1})}), tim_graph_invalid_shape);
  const CompileResult wrong =
      Compile(relu.source(), in, {out({kUnknown, 4})}, HostEngine());
  EXPECT_TRUE(FailsWith(wrong.status, "with dims {?, 4}, the op gives {2, 3}"));
}

TEST(Compile, DimsThatContradictAnOpAreNamed) {
  const LogicalTensor a = OfUnknownRank(0);
  const LogicalTensor b = OfUnknownRank(1);
  const LogicalTensor c = OfUnknownRank(2);
  const TestPartition product({MakeOp(3, "MatMul", {a, b}, {c})}, {a, b}, {c});
  const CompileResult result =
      Compile(product.source(), {Described(0, {2, 3}), Described(1, {4, 5})},
              {c}, HostEngine());
  EXPECT_EQ(result.code, tim_graph_invalid_shape);
  EXPECT_TRUE(FailsWith(result.status, "partition 7: op MatMul_3 (MatMul)"));
}

TEST(Compile, StatusesOfArguments) {
  const TestPartition relu = Relu();
  const LogicalTensor in = Described(0, {4});
  const LogicalTensor out = OfUnknownRank(1);
  EXPECT_EQ(CodeOf(relu, {}, {out}), tim_graph_invalid_arguments);
  EXPECT_EQ(CodeOf(relu, {in}, {}), tim_graph_invalid_arguments);
  // Extra and permuted ones.
  EXPECT_EQ(CodeOf(relu, {Described(9, {1}), in}, {Described(8, {1}), out}),
            tim_graph_success);
  EXPECT_EQ(CodeOf(relu, {OfUnknownRank(0)}, {out}),
            tim_graph_invalid_arguments);
  EXPECT_EQ(
      CodeOf(relu, {Described(0, {kUnknown}, tim_graph_f32, kAny)}, {out}),
      tim_graph_invalid_arguments);
  EXPECT_EQ(CodeOf(relu, {Described(0, {4}, tim_graph_data_type_undef)}, {out}),
            tim_graph_invalid_arguments);
  EXPECT_EQ(
      CodeOf(relu,
             {Described(0, {4}, tim_graph_f32, tim_graph_layout_type_undef)},
             {out}),
      tim_graph_invalid_arguments);
  EXPECT_EQ(CodeOf(relu, {Described(0, {4}, tim_graph_f16)}, {out}),
            tim_graph_invalid_data_type);
  EXPECT_EQ(CodeOf(relu, {WithStrides(in, {0})}, {out}),
            tim_graph_unimplemented);
  EXPECT_EQ(CodeOf(relu, {WithStrides(in, {-1})}, {out}),
            tim_graph_unimplemented);
  // Elements that are further apart than there are addresses.
  EXPECT_EQ(CodeOf(relu, {WithStrides(in, {INT64_MAX})}, {out}),
            tim_graph_invalid_arguments);
  // More elements than a number counts, whose dense strides do not fit either.
  const LogicalTensor large =
      Described(0, {2, INT64_MAX, INT64_MAX}, tim_graph_f32, kAny);
  EXPECT_NE(CodeOf(relu, {large}, {out}), tim_graph_success);
  LogicalTensor dense = large;
  SetDenseStrides(&dense);
  EXPECT_EQ(dense.layout.strides[0], INT64_MAX);
  EXPECT_NE(CodeOf(relu, {dense}, {out}), tim_graph_success);
  EXPECT_EQ(CodeOf(relu, {Described(0, Dims(9, 1))}, {out}),
            tim_graph_unimplemented);
  // Elements of an output that lie on each other.
  EXPECT_EQ(CodeOf(relu, {Described(0, {2, 2})},
                   {WithStrides(Described(1, {2, 2}), {1, 1})}),
            tim_graph_invalid_arguments);
}

TEST(Compile, StatusesOfEnginesAndSupport) {
  const TestPartition relu = Relu();
  const std::vector<LogicalTensor> in = {Described(0, {4})};
  const std::vector<LogicalTensor> out = {OfUnknownRank(1)};
  EXPECT_EQ(Compile(relu.source(), in, out, nullptr).code,
            tim_graph_invalid_arguments);
  CompileSource source = relu.source();
  source.kind = tim_graph_gpu;
  EXPECT_EQ(Compile(source, in, out, HostEngine()).code,
            tim_graph_invalid_arguments);
  source = relu.source();
  source.supported = false;
  EXPECT_EQ(Compile(source, in, out, HostEngine()).code,
            tim_graph_invalid_arguments);
}

TEST(Compile, OpaqueIdsMustFit) {
  const TestPartition relu = Relu();
  LogicalTensor in =
      Described(0, {2, 3}, tim_graph_f32, tim_graph_layout_type_opaque);
  const std::vector<LogicalTensor> out = {OfUnknownRank(1)};
  in.layout.layout_id = 12345;
  EXPECT_EQ(CodeOf(relu, {in}, out), tim_graph_invalid_arguments);
  ir::TensorDesc desc;
  desc.type = ir::DataType::kFloat32;
  desc.shape = {3, 2};
  const auto id = LayoutIdOf(desc, DeviceFamily::kHost);
  ASSERT_OK(id);
  in.layout.layout_id = *id;
  EXPECT_EQ(CodeOf(relu, {in}, out), tim_graph_success);
  // Of other dims, and of another family.
  desc.shape = {6};
  in.layout.layout_id = *LayoutIdOf(desc, DeviceFamily::kHost);
  EXPECT_EQ(CodeOf(relu, {in}, out), tim_graph_invalid_arguments);
  desc.shape = {3, 2};
  in.layout.layout_id = *LayoutIdOf(desc, DeviceFamily::kOpenCl);
  EXPECT_EQ(CodeOf(relu, {in}, out), tim_graph_invalid_arguments);
}

TEST(LayoutIds, EqualEntriesShareOne) {
  ir::TensorDesc desc;
  desc.type = ir::DataType::kFloat16;
  desc.shape = {5, 4, 32, 1};
  desc.layout = ir::Layout::Blocked(2, 16);
  const auto id = LayoutIdOf(desc, DeviceFamily::kOpenCl);
  ASSERT_OK(id);
  EXPECT_EQ(*id, *LayoutIdOf(desc, DeviceFamily::kOpenCl));
  EXPECT_NE(*id, *LayoutIdOf(desc, DeviceFamily::kHost));
  const auto entry = FindLayout(*id);
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->bytes, 5 * 4 * 32 * 2);
  EXPECT_EQ(entry->family, DeviceFamily::kOpenCl);
  EXPECT_FALSE(StridesOf(*entry).has_value());
  desc.layout = ir::Layout::Dense();
  const auto dense = FindLayout(*LayoutIdOf(desc, DeviceFamily::kHost));
  EXPECT_EQ(StridesOf(*dense), (Dims{640, 20, 5, 1}));
  EXPECT_FALSE(FindLayout(0).has_value());
  EXPECT_FALSE(FindLayout(*id ^ 7).has_value());
}

TEST(Compile, UnknownPortsAreAnswered) {
  const TestPartition relu = Relu();
  const CompileResult result = Compile(relu.source(), {Described(0, {4})},
                                       {OfUnknownRank(1)}, HostEngine());
  ASSERT_OK(result.status);
  const LogicalTensor none = result.compiled->Query(99);
  EXPECT_EQ(none.id, SIZE_MAX);
  EXPECT_EQ(none.ndims, -1);
  EXPECT_EQ(none.layout_type, kAny);
  const LogicalTensor out = result.compiled->Query(1);
  EXPECT_EQ(out.layout_type, tim_graph_layout_type_strided);
  EXPECT_EQ(out.layout.strides[0], 1);
}

TEST(Compile, PlacesThatMayBeShared) {
  const auto engine = HostEngine();
  const LogicalTensor x = Described(0, {4});
  const LogicalTensor y = Described(1, {4});
  const LogicalTensor z = Described(2, {4});
  const auto pairs = [&](const TestPartition& partition) {
    std::vector<std::pair<size_t, size_t>> found;
    const CompileResult result = partition.CompileFor(engine);
    EXPECT_OK(result.status);
    for (const auto& pair : result.compiled->in_place()) {
      found.emplace_back(pair.input_id, pair.output_id);
    }
    return found;
  };
  using Pairs = std::vector<std::pair<size_t, size_t>>;
  EXPECT_EQ(pairs({{MakeOp(0, "ReLU", {x}, {y})}, {x}, {y}}), (Pairs{{0, 1}}));
  EXPECT_EQ(pairs({{MakeOp(0, "ReLU", {x}, {y}), MakeOp(1, "ReLU", {y}, {z})},
                   {x},
                   {z}}),
            (Pairs{{0, 2}}));
  // Another op reads x, the output is larger, or x is a constant.
  EXPECT_EQ(pairs({{MakeOp(0, "ReLU", {x}, {y}), MakeOp(1, "Add", {y, x}, {z})},
                   {x},
                   {z}}),
            Pairs{});
  const LogicalTensor wide = Described(3, {2, 4});
  EXPECT_EQ(pairs({{MakeOp(0, "Add", {x, wide}, {Described(4, {2, 4})})},
                   {x, wide},
                   {Described(4, {2, 4})}}),
            Pairs{});
  const LogicalTensor constant =
      testing::WithProperty(x, tim_graph_tensor_property_constant);
  EXPECT_EQ(pairs({{MakeOp(0, "ReLU", {constant}, {y})}, {constant}, {y}}),
            Pairs{});
}

}  // namespace
}  // namespace tim::graph
