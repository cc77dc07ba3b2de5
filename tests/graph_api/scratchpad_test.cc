// Scratchpads: their size, their use, and those that are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/aligned_memory.h"
#include "client_objects.h"
#include "graph_api/gpu_ports.h"
#include "graph_api/logical_tensor.h"
#include "partition_support.h"
#include "tests/support/status_macros.h"
#include "tim/graph/c.h"

namespace tim::graph {
namespace {

using testing::Described;
using ::testing::HasSubstr;
using testing::MakeOp;
using testing::TestPartition;
using testing::WithProperty;
using Engine = std::shared_ptr<tim_graph_engine>;
using Compiled = std::shared_ptr<const CompiledPartition>;

constexpr int64_t kSize = 24;
constexpr size_t kElements = kSize * kSize;
constexpr int64_t kGuard = 64;

// (x w) w: what is between the two is kept between steps.
Compiled TwoProducts(
    const Engine& engine,
    tim_graph_tensor_property_t weights = tim_graph_tensor_property_variable) {
  const LogicalTensor x = Described(0, {kSize, kSize});
  const LogicalTensor w = WithProperty(Described(1, {kSize, kSize}), weights);
  const LogicalTensor between = Described(2, {kSize, kSize});
  const LogicalTensor y = Described(3, {kSize, kSize});
  const TestPartition partition({MakeOp(0, "MatMul", {x, w}, {between}),
                                 MakeOp(1, "MatMul", {between, w}, {y})},
                                {x, w}, {y});
  CompileSource source = partition.source();
  source.kind = engine->kind();
  const CompileResult made = Compile(source, {x, w}, {y}, engine);
  EXPECT_OK(made.status);
  return made.compiled;
}

// Memory of a client, between guards, as a tensor.
class Scratchpad {
 public:
  Scratchpad(LogicalTensor description, const Engine& engine)
      : bytes_(static_cast<int64_t>(MemorySizeOf(description))),
        memory_(AllocateAligned(bytes_ + 2 * kGuard, 64)) {
    std::memset(memory_.get(), 0x7e, Size());
    tensor_ =
        tim_graph_tensor::Make(description, engine, memory_.get() + kGuard);
  }
  ~Scratchpad() { tensor_->Drop(); }
  Scratchpad(const Scratchpad&) = delete;
  Scratchpad& operator=(const Scratchpad&) = delete;

  const_tim_graph_tensor_t tensor() const { return tensor_; }
  bool was_used() const { return !IsUntouched(kGuard, kGuard + bytes_); }
  bool guards_are_intact() const {
    return IsUntouched(0, kGuard) &&
           IsUntouched(kGuard + bytes_, bytes_ + 2 * kGuard);
  }

 private:
  size_t Size() const { return static_cast<size_t>(bytes_ + 2 * kGuard); }
  bool IsUntouched(int64_t begin, int64_t end) const {
    return std::all_of(memory_.get() + begin, memory_.get() + end,
                       [](std::byte byte) { return byte == std::byte{0x7e}; });
  }

  int64_t bytes_;
  AlignedMemory memory_;
  tim_graph_tensor* tensor_ = nullptr;
};

// Matrices `diagonal` of an identity.
std::vector<float> Diagonal(float value) {
  std::vector<float> matrix(kElements, 0);
  for (size_t i = 0; i < kSize; ++i) matrix[i * (kSize + 1)] = value;
  return matrix;
}

// The first element of x w w for multiples of the identity.
class Products {
 public:
  Products(Compiled compiled, const Engine& engine)
      : compiled_(std::move(compiled)), engine_(engine) {}

  Status Run(Stream& stream, float x, float w,
             const_tim_graph_tensor_t scratchpad) {
    x_ = Diagonal(x);
    w_ = Diagonal(w);
    y_.assign(kElements, -1);
    testing::Tensors in(engine_);
    testing::Tensors out(engine_);
    in.Add(compiled_->inputs()[0], x_.data());
    in.Add(compiled_->inputs()[1], w_.data());
    out.Add(compiled_->outputs()[0], y_.data());
    TIM_RETURN_IF_ERROR(
        compiled_->Execute(stream, in.list(), out.list(), scratchpad));
    return stream.Wait();
  }
  float result() const { return y_[0]; }
  bool is_right() const { return y_ == Diagonal(x_[0] * w_[0] * w_[0]); }

 private:
  const Compiled compiled_;
  const Engine engine_;
  std::vector<float> x_, w_, y_;
};

std::vector<Engine> AllEngines() {
  std::vector<Engine> engines = {testing::HostEngine()};
  if (const Engine device = testing::OpenClEngine()) {
    engines.push_back(device);
  }
  return engines;
}

TEST(Scratchpads, AreDescribed) {
  for (const Engine& engine : AllEngines()) {
    const LogicalTensor lt = TwoProducts(engine)->Scratchpad();
    EXPECT_EQ(lt.id, SIZE_MAX);
    EXPECT_EQ(lt.ndims, 1);
    EXPECT_EQ(lt.data_type, tim_graph_u8);
    EXPECT_EQ(lt.property, tim_graph_tensor_property_variable);
    EXPECT_EQ(lt.layout_type, tim_graph_layout_type_strided);
    EXPECT_EQ(lt.layout.strides[0], 1);
    EXPECT_GE(lt.dims[0], static_cast<int64_t>(kElements * sizeof(float)));
    if (engine->devices().size() == 1) continue;
    // One step of a device keeps nothing.
    const TestPartition relu(
        {MakeOp(0, "ReLU", {Described(0, {4})}, {Described(1, {4})})},
        {Described(0, {4})}, {Described(1, {4})});
    const CompileResult made = relu.CompileFor(engine);
    ASSERT_OK(made.status);
    EXPECT_EQ(made.compiled->Scratchpad().dims[0], 0);
  }
}

TEST(Scratchpads, AreUsedWhereTheyAreGiven) {
  for (const Engine& engine : AllEngines()) {
    for (const auto weights : {tim_graph_tensor_property_variable,
                               tim_graph_tensor_property_constant}) {
      const Compiled compiled = TwoProducts(engine, weights);
      const Scratchpad scratchpad(compiled->Scratchpad(), engine);
      Products products(compiled, engine);
      Stream stream(engine, tim_graph_stream_default_flags);
      for (const float x : {2.0f, 3.0f}) {
        ASSERT_OK(products.Run(stream, x, 5, scratchpad.tensor()));
        EXPECT_TRUE(products.is_right());
        EXPECT_TRUE(scratchpad.was_used());
        EXPECT_TRUE(scratchpad.guards_are_intact());
        // In turn with runs that have none.
        ASSERT_OK(products.Run(stream, x, 5, nullptr));
        EXPECT_TRUE(products.is_right());
      }
      EXPECT_TRUE(scratchpad.guards_are_intact());
    }
  }
}

TEST(Scratchpads, AreUsedByAsynchronousRuns) {
  for (const Engine& engine : AllEngines()) {
    const Compiled compiled = TwoProducts(engine);
    const Scratchpad scratchpad(compiled->Scratchpad(), engine);
    Products products(compiled, engine);
    Stream stream(engine, tim_graph_stream_in_order | 0x100u);
    ASSERT_OK(products.Run(stream, 2, 7, scratchpad.tensor()));
    EXPECT_TRUE(products.is_right());
    EXPECT_TRUE(scratchpad.was_used());
    EXPECT_TRUE(scratchpad.guards_are_intact());
  }
}

TEST(Scratchpads, OfTwoThreadsAreApart) {
  for (const Engine& engine : AllEngines()) {
    const Compiled compiled = TwoProducts(engine);
    std::vector<std::thread> threads;
    std::vector<int> wrong(2, 0);
    for (size_t t = 0; t < wrong.size(); ++t) {
      threads.emplace_back([&, t] {
        const Scratchpad scratchpad(compiled->Scratchpad(), engine);
        Products products(compiled, engine);
        Stream stream(engine, tim_graph_stream_default_flags);
        for (int i = 0; i < 50; ++i) {
          const auto x = static_cast<float>(100 * t + i);
          const Status status = products.Run(stream, x, 2, scratchpad.tensor());
          if (!status.ok() || !products.is_right()) ++wrong[t];
        }
        if (!scratchpad.guards_are_intact()) ++wrong[t];
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<int>(2, 0));
  }
}

// Before any test asks for engines.
const bool g_all_are_gpus = setenv("TIMCL_GRAPH_GPU", "all", 1) == 0;

// Memory of the device, for runs that nobody waits for in between.
TEST(Scratchpads, OfGpuEnginesAreTheDevices) {
  ASSERT_TRUE(g_all_are_gpus);
  if (tim_graph_engine_get_count(tim_graph_gpu) == 0) {
    GTEST_SKIP() << "no OpenCL device";
  }
  const Engine engine = testing::MakeEngine(tim_graph_gpu);
  if (HandleKindOf(*engine) != HandleKind::kPointer) {
    GTEST_SKIP() << "no shared memory, which the host reads here";
  }
  const Compiled compiled = TwoProducts(engine);
  const LogicalTensor whole = compiled->Scratchpad();
  ASSERT_GE(whole.dims[0], static_cast<int64_t>(kElements * sizeof(float)));
  const auto filled = [&](const LogicalTensor& description, float value) {
    const auto tensor = testing::MakeTensor(description, engine);
    const std::vector<float> matrix = Diagonal(value);
    std::copy(matrix.begin(), matrix.end(),
              static_cast<float*>(testing::HandleOf(tensor)));
    return tensor;
  };
  const auto x = filled(compiled->inputs()[0], 3);
  const auto w = filled(compiled->inputs()[1], 5);
  const auto y = filled(compiled->outputs()[0], -1);
  const auto scratchpad = testing::MakeTensor(whole, engine);
  auto* const bytes = static_cast<std::byte*>(testing::HandleOf(scratchpad));
  std::memset(bytes, 0x7e, static_cast<size_t>(whole.dims[0]));
  Stream stream(engine, tim_graph_stream_default_flags);
  const std::vector<const_tim_graph_tensor_t> in = {x.get(), w.get()};
  const std::vector<const_tim_graph_tensor_t> out = {y.get()};
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(compiled->Execute(stream, in, out, scratchpad.get()));
  }
  ASSERT_OK(stream.Wait());
  EXPECT_EQ(static_cast<float*>(testing::HandleOf(y))[0], 75);
  EXPECT_TRUE(std::any_of(bytes, bytes + whole.dims[0], [](std::byte byte) {
    return byte != std::byte{0x7e};
  }));
  LogicalTensor less = whole;
  --less.dims[0];
  const auto small = testing::MakeTensor(less, engine);
  EXPECT_EQ(compiled->Execute(stream, in, out, small.get()).code(),
            StatusCode::kInvalidArgument);
}

TEST(Scratchpads, ThatDoNotServeAreRefused) {
  const Engine engine = testing::HostEngine();
  const Compiled compiled = TwoProducts(engine);
  Products products(compiled, engine);
  Stream stream(engine, tim_graph_stream_default_flags);
  const LogicalTensor whole = compiled->Scratchpad();
  const auto says = [&](const LogicalTensor& description, const Engine& on,
                        int64_t shift) {
    std::vector<std::byte> memory(static_cast<size_t>(whole.dims[0]) + 192);
    const auto address = reinterpret_cast<uintptr_t>(memory.data());
    auto* const handle =
        shift < 0 ? nullptr : memory.data() + (64 - address % 64) + shift;
    tim_graph_tensor* const tensor =
        tim_graph_tensor::Make(description, on, handle);
    const Status status = products.Run(stream, 1, 1, tensor);
    tensor->Drop();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  LogicalTensor less = whole;
  --less.dims[0];
  EXPECT_THAT(says(less, engine, 0),
              HasSubstr(StrCat("the scratchpad has ", less.dims[0], " bytes, ",
                               whole.dims[0], " are needed")));
  LogicalTensor unknown = whole;
  unknown.layout_type = tim_graph_layout_type_any;
  EXPECT_THAT(says(unknown, engine, 0), HasSubstr("an unknown number of"));
  EXPECT_THAT(says(whole, engine, 1), HasSubstr("not aligned to 64 bytes"));
  EXPECT_THAT(says(whole, engine, -1), HasSubstr("is null"));
  EXPECT_THAT(says(whole, testing::HostEngine(), 0),
              HasSubstr("of another engine"));
}

}  // namespace
}  // namespace tim::graph
