// Tensors that pass from one partition to the next in the layout of the kernel
// that made them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/aligned_memory.h"
#include "graph_api/graph.h"
#include "graph_api/layout_ids.h"
#include "graph_api/logical_tensor.h"
#include "graph_api/lower_ops.h"
#include "graph_api/port_layouts.h"
#include "partition_support.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::graph {
namespace {

TIM_FOR_CPU_KERNELS();

using testing::Described;
using ::testing::HasSubstr;
using testing::OfUnknownRank;
using testing::WithStrides;
using Attributes = std::map<tim_graph_op_attr_t, AttributeValue>;
using Engines = std::shared_ptr<tim_graph_engine>;

constexpr auto kAny = tim_graph_layout_type_any;
constexpr auto kStrided = tim_graph_layout_type_strided;
constexpr auto kOpaque = tim_graph_layout_type_opaque;

bool IsReorder(const ir::Step& step) {
  if (step.kernel == "reorder") return true;
  const auto* call = std::get_if<ir::HostCall>(&step.action);
  return call != nullptr && call->op.starts_with("tim.Reorder");
}

// Ops that are compiled and executed one by one, each a partition.
class Chain {
 public:
  explicit Chain(Engines engine)
      : engine_(std::move(engine)),
        stream_(engine_, tim_graph_stream_default_flags) {}

  // A tensor of the client; numbers are in `dims` order.
  size_t Input(const LogicalTensor& tensor, const void* bytes) {
    Keep(tensor);
    std::memcpy(memory_[tensor.id].get(), bytes, MemorySizeOf(tensor));
    return tensor.id;
  }
  size_t Random(const Dims& dims, uint32_t seed,
                tim_graph_tensor_property_t property =
                    tim_graph_tensor_property_variable) {
    LogicalTensor tensor =
        testing::WithProperty(Described(next_++, dims), property);
    std::mt19937 random(seed);
    std::vector<float> values(MemorySizeOf(tensor) / sizeof(float));
    for (float& value : values) {
      value = static_cast<float>(random() % 2048) / 1024 - 1;
    }
    return Input(tensor, values.data());
  }

  // The op's output, with this layout type, or all of this description.
  size_t Run(tim_graph_op_kind_t kind, const std::vector<size_t>& inputs,
             tim_graph_layout_type_t layout, Attributes attributes = {}) {
    const auto type = tensors_.at(inputs[0]).data_type;
    return Run(kind, inputs, OfUnknownRank(next_++, type, layout),
               std::move(attributes));
  }
  size_t Run(tim_graph_op_kind_t kind, const std::vector<size_t>& inputs,
             const LogicalTensor& output, Attributes attributes = {}) {
    const auto compiled = Compiled(kind, inputs, output, std::move(attributes));
    EXPECT_OK(compiled.status);
    if (!compiled.status.ok()) return output.id;
    Keep(compiled.compiled->outputs()[0]);
    Count(*compiled.compiled);
    testing::Tensors in(engine_);
    testing::Tensors out(engine_);
    for (const size_t id : inputs) {
      in.Add(tensors_.at(id), memory_.at(id).get());
    }
    out.Add(tensors_.at(output.id), memory_.at(output.id).get());
    EXPECT_OK(compiled.compiled->Execute(stream_, in.list(), out.list()));
    return output.id;
  }
  CompileResult Compiled(tim_graph_op_kind_t kind,
                         const std::vector<size_t>& inputs,
                         const LogicalTensor& output,
                         Attributes attributes = {}) {
    Op op;
    op.kind = kind;
    op.name = "op";
    op.attributes = std::move(attributes);
    std::vector<LogicalTensor> ports;
    for (const size_t id : inputs) ports.push_back(tensors_.at(id));
    op.inputs = ports;
    op.outputs = {output};
    Graph graph({.kind = tim_graph_cpu});
    EXPECT_OK(graph.AddOp(BuiltinOps(), op));
    EXPECT_OK(graph.Finalize());
    EXPECT_OK(graph.Filter({}));
    return Compile(graph.partitions()[0]->source(), ports, {output}, engine_);
  }

  const LogicalTensor& tensor(size_t id) const { return tensors_.at(id); }
  const std::byte* bytes(size_t id) const { return memory_.at(id).get(); }
  std::vector<float> Floats(size_t id) const {
    const size_t count = MemorySizeOf(tensor(id)) / sizeof(float);
    const auto* values = reinterpret_cast<const float*>(bytes(id));
    return {values, values + count};
  }
  // Steps of all plans so far.
  int reorders() const { return reorders_; }
  int steps() const { return steps_; }
  size_t NextId() { return next_++; }

 private:
  void Keep(const LogicalTensor& tensor) {
    tensors_[tensor.id] = tensor;
    const size_t bytes = MemorySizeOf(tensor);
    ASSERT_NE(bytes, SIZE_MAX);
    memory_[tensor.id] = AllocateAligned(static_cast<int64_t>(bytes) + 64, 64);
    std::memset(memory_[tensor.id].get(), 0x5a, bytes);
    next_ = std::max(next_, tensor.id + 1);
  }

  void Count(const CompiledPartition& compiled) {
    const auto plan = compiled.plan();
    ASSERT_OK(plan);
    for (const ir::Step& step : (*plan)->plan().steps) {
      ++steps_;
      reorders_ += IsReorder(step) ? 1 : 0;
    }
  }

  const Engines engine_;
  Stream stream_;
  size_t next_ = 0;
  std::map<size_t, LogicalTensor> tensors_;
  std::map<size_t, AlignedMemory> memory_;
  int reorders_ = 0;
  int steps_ = 0;
};

const Attributes kSame = {
    {tim_graph_op_attr_strides, Dims{1, 1}},
    {tim_graph_op_attr_pads_begin, Dims{1, 1}},
    {tim_graph_op_attr_pads_end, Dims{1, 1}},
    {tim_graph_op_attr_dilations, Dims{1, 1}},
    {tim_graph_op_attr_data_format, std::string("NCX")},
    {tim_graph_op_attr_weights_format, std::string("OIX")}};

struct Convolutions {
  int64_t channels = 3;
  tim_graph_tensor_property_t weights = tim_graph_tensor_property_variable;
};

// Convolution, ReLU, convolution; the last is `last`.
size_t RunConvolutions(Chain& chain, const Convolutions& of,
                       tim_graph_layout_type_t between,
                       tim_graph_layout_type_t last) {
  const size_t x = chain.Random({1, of.channels, 14, 14}, 1);
  const size_t w = chain.Random({32, of.channels, 3, 3}, 2, of.weights);
  const size_t v = chain.Random({32, 32, 3, 3}, 3, of.weights);
  const size_t a = chain.Run(tim_graph_op_convolution, {x, w}, between, kSame);
  const size_t b = chain.Run(tim_graph_op_relu, {a}, between);
  return chain.Run(tim_graph_op_convolution, {b, v}, last, kSame);
}

void ExpectNear(const std::vector<float>& found,
                const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], 1e-4 * (1 + std::abs(expected[i]))) << i;
  }
}

class OnOpenCl : public ::testing::Test {
 protected:
  void SetUp() override {
    engine_ = testing::OpenClEngine();
    if (engine_ == nullptr) GTEST_SKIP() << "no OpenCL device";
  }
  Engines engine_;
};
using OpaqueLayouts = OnOpenCl;

TEST_F(OpaqueLayouts, BetweenPartitionsNothingIsConverted) {
  Chain strided(engine_);
  const size_t expected = RunConvolutions(strided, {}, kStrided, kStrided);
  EXPECT_GE(strided.reorders(), 1);
  Chain any(engine_);
  const size_t made = RunConvolutions(any, {}, kAny, kAny);
  EXPECT_EQ(any.reorders(), 0);
  ASSERT_EQ(any.tensor(made).layout_type, kOpaque);
  EXPECT_EQ(MemorySizeOf(any.tensor(made)), 32u * 14 * 14 * 4);
  // A partition of one Reorder is one step, and its output plain memory.
  const int before = any.steps();
  const size_t plain = any.Run(tim_graph_op_reorder, {made}, kStrided);
  EXPECT_EQ(any.steps(), before + 1);
  EXPECT_EQ(any.reorders(), 1);
  ExpectNear(any.Floats(plain), strided.Floats(expected));
}

// Constants arrive with the execute; the layout is known before.
TEST_F(OpaqueLayouts, AreKnownBeforeConstantsAre) {
  const Convolutions with_constants = {
      .channels = 16, .weights = tim_graph_tensor_property_constant};
  Chain strided(engine_);
  const size_t expected =
      RunConvolutions(strided, with_constants, kStrided, kStrided);
  Chain any(engine_);
  const size_t made = RunConvolutions(any, with_constants, kAny, kAny);
  ASSERT_EQ(any.tensor(made).layout_type, kOpaque);
  const size_t plain = any.Run(tim_graph_op_reorder, {made}, kStrided);
  ExpectNear(any.Floats(plain), strided.Floats(expected));
}

TEST_F(OpaqueLayouts, AreReadByOpsWithoutKernelsForThem) {
  Chain strided(engine_);
  Chain any(engine_);
  for (Chain* chain : {&strided, &any}) {
    const auto layout = chain == &any ? kAny : kStrided;
    const size_t x = chain->Random({2, 20, 9, 9}, 1);
    const size_t w = chain->Random({33, 20, 3, 3}, 2);
    const size_t a =
        chain->Run(tim_graph_op_convolution, {x, w}, layout, kSame);
    const size_t b = chain->Run(tim_graph_op_static_transpose, {a}, layout,
                                {{tim_graph_op_attr_order, Dims{3, 0, 2, 1}}});
    chain->Run(tim_graph_op_reduce_sum, {b}, kStrided,
               {{tim_graph_op_attr_axes, Dims{0}},
                {tim_graph_op_attr_keep_dims, false}});
  }
  const size_t last = any.NextId() - 1;
  EXPECT_EQ(any.tensor(2).layout_type, kOpaque);
  ExpectNear(any.Floats(last), strided.Floats(last));
}

TEST_F(OpaqueLayouts, AnyIsStridedWhereKernelsMakeIt) {
  Chain chain(engine_);
  const size_t x = chain.Random({5, 7}, 1);
  const size_t y = chain.Run(tim_graph_op_relu, {x}, kAny);
  EXPECT_EQ(chain.tensor(y).layout_type, kStrided);
  EXPECT_EQ(chain.tensor(y).layout.strides[0], 7);
}

TEST(HostEngines, MakePlainTensorsWhereLayoutsAreAny) {
  Chain chain(testing::HostEngine());
  const size_t made = RunConvolutions(chain, {}, kAny, kAny);
  EXPECT_EQ(chain.tensor(made).layout_type, kStrided);
  Chain strided(testing::HostEngine());
  const size_t same = RunConvolutions(strided, {}, kStrided, kStrided);
  EXPECT_EQ(chain.Floats(made), strided.Floats(same));
}

// ---- Reorder ----

LogicalTensor InBlocks(size_t id, const Dims& dims, int64_t block,
                       tim_graph_data_type_t type, const Engine& engine) {
  LogicalTensor tensor = Described(id, dims, type);
  ir::TensorDesc desc = InnerDesc(tensor);
  desc.layout = ir::Layout::Blocked(2, block);
  EXPECT_OK(SetLayout(desc, engine, &tensor));
  EXPECT_EQ(tensor.layout_type, kOpaque);
  return tensor;
}

// Rows of `dims` with gaps.
LogicalTensor WithGaps(size_t id, const Dims& dims,
                       tim_graph_data_type_t type) {
  Dims strides(4);
  strides[3] = 1;
  strides[2] = dims[3] + 3;
  strides[1] = strides[2] * dims[2] + 5;
  strides[0] = strides[1] * dims[1];
  return WithStrides(Described(id, dims, type), strides);
}

// Elements of a tensor with these strides, as rows without gaps.
std::vector<std::byte> Elements(const Chain& chain, size_t id) {
  const LogicalTensor& tensor = chain.tensor(id);
  const size_t size = static_cast<size_t>(ElementBits(tensor.data_type)) / 8;
  std::vector<std::byte> found;
  const int64_t* const strides = tensor.layout.strides;
  for (int64_t n = 0; n < tensor.dims[0]; ++n) {
    for (int64_t c = 0; c < tensor.dims[1]; ++c) {
      for (int64_t h = 0; h < tensor.dims[2]; ++h) {
        for (int64_t w = 0; w < tensor.dims[3]; ++w) {
          const int64_t at =
              n * strides[0] + c * strides[1] + h * strides[2] + w * strides[3];
          const std::byte* from =
              chain.bytes(id) + static_cast<size_t>(at) * size;
          found.insert(found.end(), from, from + size);
        }
      }
    }
  }
  return found;
}

void ExpectRoundTrips(const Engines& engine) {
  const auto kTypes = {tim_graph_f32, tim_graph_f16, tim_graph_bf16,
                       tim_graph_s32, tim_graph_s8,  tim_graph_u8};
  std::mt19937 random(7);
  tim::testing::Sample sample(3);
  for (const auto type : kTypes) {
    for (const Dims& dims : {Dims{2, 17, 5, 4}, Dims{1, 33, 3, 1}}) {
      for (const int64_t block : {8, 16}) {
        if (!sample.Takes()) continue;
        Chain chain(engine);
        const LogicalTensor plain = Described(0, dims, type);
        // Any bits: numbers that are none, too.
        std::vector<uint8_t> bits(MemorySizeOf(plain));
        for (uint8_t& byte : bits) byte = static_cast<uint8_t>(random());
        chain.Input(plain, bits.data());
        const size_t blocked = chain.Run(
            tim_graph_op_reorder, {0}, InBlocks(1, dims, block, type, *engine));
        const size_t gaps =
            chain.Run(tim_graph_op_reorder, {blocked}, WithGaps(2, dims, type));
        const size_t again = chain.Run(tim_graph_op_reorder, {gaps},
                                       InBlocks(3, dims, block, type, *engine));
        const size_t back = chain.Run(tim_graph_op_reorder, {again}, kStrided);
        const std::string what =
            StrCat(tim_graph_dt2str(type), " {", StrJoin(dims, ", "),
                   "} in blocks of ", block);
        EXPECT_EQ(Elements(chain, gaps), Elements(chain, 0)) << what;
        EXPECT_EQ(Elements(chain, back), Elements(chain, 0)) << what;
        EXPECT_EQ(std::memcmp(chain.bytes(blocked), chain.bytes(again),
                              MemorySizeOf(chain.tensor(again))),
                  0)
            << what;
        // Memory between rows is not written.
        const LogicalTensor& rows = chain.tensor(gaps);
        const size_t size =
            MemorySizeOf(plain) /
            static_cast<size_t>(ir::Shape(dims).NumElements().value_or(1));
        for (int64_t i = dims[3]; i < rows.layout.strides[2]; ++i) {
          const auto gap = chain.bytes(gaps)[static_cast<size_t>(i) * size];
          EXPECT_EQ(gap, std::byte{0x5a}) << what;
        }
      }
    }
  }
}

TEST(HostEngines, ReordersKeepEveryBit) {
  ExpectRoundTrips(testing::HostEngine());
}
TEST_F(OpaqueLayouts, ReordersKeepEveryBit) { ExpectRoundTrips(engine_); }

TEST(HostEngines, ReadConstantsInBlocks) {
  const Engines engine = testing::HostEngine();
  Chain chain(engine);
  const size_t a = chain.Random({1, 17, 2, 2}, 1);
  const size_t b = chain.Random({1, 17, 2, 2}, 2);
  LogicalTensor blocked =
      InBlocks(chain.NextId(), {1, 17, 2, 2}, 16, tim_graph_f32, *engine);
  blocked.property = tim_graph_tensor_property_constant;
  const size_t constant = chain.Run(tim_graph_op_reorder, {b}, blocked);
  const size_t sum = chain.Run(tim_graph_op_add, {a, constant}, kStrided);
  const size_t expected = chain.Run(tim_graph_op_add, {a, b}, kStrided);
  EXPECT_EQ(chain.Floats(sum), chain.Floats(expected));
}

// ---- Descriptions ----

TEST(OpaqueIds, AreEqualToStridesThatLieAlike) {
  const Dims dims = {2, 32, 4, 5};
  ir::TensorDesc desc = InnerDesc(Described(0, dims));
  LogicalTensor opaque = Described(0, dims);
  opaque.layout_type = kOpaque;
  opaque.layout.layout_id = *LayoutIdOf(desc, DeviceFamily::kOpenCl);
  EXPECT_TRUE(AreEqual(Described(0, dims), opaque));
  EXPECT_TRUE(AreEqual(opaque, Described(0, dims)));
  EXPECT_EQ(MemorySizeOf(opaque), MemorySizeOf(Described(0, dims)));
  const LogicalTensor channels_last =
      WithStrides(Described(0, dims), {640, 1, 160, 32});
  EXPECT_FALSE(AreEqual(channels_last, opaque));
  desc.layout = ir::Layout::Strided({32, 160, 1, 640});
  opaque.layout.layout_id = *LayoutIdOf(desc, DeviceFamily::kOpenCl);
  EXPECT_TRUE(AreEqual(channels_last, opaque));
  desc.layout = ir::Layout::Blocked(2, 16);
  opaque.layout.layout_id = *LayoutIdOf(desc, DeviceFamily::kOpenCl);
  EXPECT_FALSE(AreEqual(Described(0, dims), opaque));
  EXPECT_FALSE(AreEqual(channels_last, opaque));
}

TEST(OpaqueIds, OfAnotherFamilyAreRefused) {
  const Engines engine = testing::HostEngine();
  const Dims dims = {1, 16, 2, 2};
  ir::TensorDesc desc = InnerDesc(Described(0, dims));
  desc.layout = ir::Layout::Blocked(2, 16);
  LogicalTensor opaque = Described(0, dims);
  opaque.layout_type = kOpaque;
  opaque.layout.layout_id = *LayoutIdOf(desc, DeviceFamily::kOpenCl);
  Chain chain(engine);
  chain.Input(opaque, std::vector<float>(64).data());
  const CompileResult result =
      chain.Compiled(tim_graph_op_relu, {0}, OfUnknownRank(1));
  EXPECT_EQ(result.code, tim_graph_invalid_arguments);
  EXPECT_THAT(result.status.message(), HasSubstr("another family of devices"));
}

}  // namespace
}  // namespace tim::graph
