// Memory by callbacks of a framework: of arenas, constants and tensors, with
// lifetimes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "device/opencl/opencl_interop.h"
#include "tim/graph/residency.hpp"

namespace tim {
namespace graph {
namespace {

using lt = logical_tensor;
using layout = lt::layout_type;
using property = lt::property_type;
using Floats = std::vector<float>;

constexpr int64_t kSize = 24;

lt Matrix(size_t id, property kind = property::variable) {
  return lt(id, lt::data_type::f32, lt::dims{kSize, kSize}, layout::strided,
            kind);
}

/// A framework's memory, which fails on demand.
class Memory {
 public:
  allocator_callbacks callbacks() { return {this, &Allocate, &Deallocate}; }
  engine Engine(const std::string& device) {
    return make_engine(engine::kind::cpu, 0, make_allocator(callbacks()),
                       engine_options{device});
  }

  int given(lifetime wanted) const { return given_.at(wanted); }
  size_t live() const { return live_.size(); }
  bool is_live(void* memory) const { return live_.count(memory) != 0; }
  void FailAfter(int count) { left_ = count; }
  void NeverFail() { left_ = -1; }
  void Misalign() { misaligns_ = true; }

 private:
  static void* Allocate(void* user, size_t size, size_t alignment,
                        lifetime wanted) {
    auto* const self = static_cast<Memory*>(user);
    const std::lock_guard<std::mutex> lock(self->mutex_);
    EXPECT_GT(size, 0u);
    EXPECT_GE(alignment, 64u);
    EXPECT_EQ(alignment & (alignment - 1), 0u);
    if (self->left_ == 0) return nullptr;
    if (self->left_ > 0) --self->left_;
    // No better aligned than it was asked for.
    char* const whole = static_cast<char*>(std::aligned_alloc(
        2 * alignment,
        (size + 3 * alignment - 1) / (2 * alignment) * (2 * alignment)));
    char* const memory = whole + (self->misaligns_ ? 1 : alignment);
    self->live_[memory] = whole;
    ++self->given_[wanted];
    return memory;
  }
  static void Deallocate(void* user, void* memory, void* event) {
    auto* const self = static_cast<Memory*>(user);
    const std::lock_guard<std::mutex> lock(self->mutex_);
    EXPECT_EQ(event, nullptr);
    const auto found = self->live_.find(memory);
    ASSERT_NE(found, self->live_.end());
    std::free(found->second);
    self->live_.erase(found);
  }

  std::mutex mutex_;
  std::map<void*, void*> live_;
  std::map<lifetime, int> given_ = {{lifetime::persistent, 0},
                                    {lifetime::output, 0},
                                    {lifetime::temporary, 0}};
  int left_ = -1;
  bool misaligns_ = false;
};

/// y = (x w) w, with the weights constant: an arena and a constant.
partition TwoProducts(engine::kind kind) {
  graph g(kind);
  const lt w = Matrix(1, property::constant);
  g.add_op(op(0, op::kind::MatMul, {Matrix(0), w}, {Matrix(2)}));
  g.add_op(op(1, op::kind::MatMul, {Matrix(2), w}, {Matrix(3)}));
  g.finalize();
  return g.get_partitions().at(0);
}

Floats Numbers(size_t count) {
  Floats numbers(count);
  for (size_t i = 0; i < count; ++i) {
    numbers[i] = static_cast<float>(i % 7) - 3;
  }
  return numbers;
}

void RunTwoProducts(const engine& eng) {
  stream strm(eng);
  const lt weights = Matrix(1, property::constant);
  const compiled_partition compiled =
      TwoProducts(eng.get_kind())
          .compile({Matrix(0), weights}, {Matrix(3)}, eng);
  Floats x = Numbers(kSize * kSize);
  // Twice the unit matrix.
  Floats w(kSize * kSize, 0);
  for (int64_t i = 0; i < kSize; ++i) w[i * kSize + i] = 2;
  const tensor in(Matrix(0), eng);
  const tensor by(weights, eng);
  std::copy(x.begin(), x.end(), static_cast<float*>(in.get_data_handle()));
  std::copy(w.begin(), w.end(), static_cast<float*>(by.get_data_handle()));
  const tensor y(Matrix(3), eng);
  for (int i = 0; i < 2; ++i) compiled.execute(strm, {in, by}, {y});
  strm.wait();
  const auto* const made = static_cast<const float*>(y.get_data_handle());
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(made[i], 4 * x[i]) << i;
}

class ClientMemory : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    // Nothing of another test's stays in the cache of compiled partitions.
    set_compiled_partition_cache_capacity(0);
    try {
      device_ = make_engine(engine::kind::cpu, 0, engine_options{GetParam()});
    } catch (const error& e) {
      GTEST_SKIP() << "no such device: " << e.what();
    }
  }

  engine device_;  ///< Keeps the device's programs.
};

TEST_P(ClientMemory, IsAllOfAnEngines) {
  Memory memory;
  {
    const engine eng = memory.Engine(GetParam());
    EXPECT_EQ(memory.live(), 0u);
    RunTwoProducts(eng);
    EXPECT_EQ(memory.given(lifetime::output), 3);
    EXPECT_GE(memory.given(lifetime::persistent), 1);
    EXPECT_GE(memory.given(lifetime::temporary), 1);
  }
  EXPECT_EQ(memory.live(), 0u);
}

// Before any test asks for engines.
const bool g_all_are_gpus = setenv("TIMCL_GRAPH_GPU", "all", 1) == 0;

// A CPU's kernels use memory of the host as a gpu engine's.
TEST(ClientMemoryOfKernels, IsAllOfAGpuEngines) {
  ASSERT_TRUE(g_all_are_gpus);
  if (engine::get_count(engine::kind::gpu) == 0) {
    GTEST_SKIP() << "no OpenCL device";
  }
  if (device::IsOpenClAccelerator(0)) {
    GTEST_SKIP() << "the device does not work in the host's memory";
  }
  set_compiled_partition_cache_capacity(0);
  Memory memory;
  {
    const engine eng =
        make_engine(engine::kind::gpu, 0, make_allocator(memory.callbacks()),
                    engine_options());
    RunTwoProducts(eng);
    EXPECT_EQ(memory.given(lifetime::output), 3);
    EXPECT_GE(memory.given(lifetime::temporary), 1);
  }
  EXPECT_EQ(memory.live(), 0u);
}

// The engine keeps the functions, and what was made with it keeps them longer.
TEST_P(ClientMemory, StaysWithItsLastObject) {
  Memory memory;
  tensor kept;
  {
    const engine eng = memory.Engine(GetParam());
    kept = tensor(Matrix(3), eng);
    RunTwoProducts(eng);
  }
  EXPECT_EQ(memory.live(), 1u);
  EXPECT_TRUE(memory.is_live(kept.get_data_handle()));
  kept = tensor();
  EXPECT_EQ(memory.live(), 0u);
}

// Whichever allocation fails, the call that needed it says so.
TEST_P(ClientMemory, RunsOut) {
  int most = 0;
  {
    Memory memory;
    RunTwoProducts(memory.Engine(GetParam()));
    most = memory.given(lifetime::persistent) +
           memory.given(lifetime::temporary) + memory.given(lifetime::output);
  }
  int failures = 0;
  for (int count = 0; count < most; ++count) {
    Memory memory;
    {
      const engine eng = memory.Engine(GetParam());
      memory.FailAfter(count);
      try {
        RunTwoProducts(eng);
      } catch (const error& e) {
        EXPECT_EQ(e.status, tim_graph_out_of_memory) << e.what();
        ++failures;
      }
      memory.NeverFail();
      RunTwoProducts(eng);
    }
    EXPECT_EQ(memory.live(), 0u) << count;
  }
  EXPECT_GT(failures, 0);
}

// Handles that devices cannot use are copied, into memory of the client.
TEST_P(ClientMemory, IsOfCopies) {
  Memory memory;
  {
    const engine eng = memory.Engine(GetParam());
    const lt x(0, lt::data_type::f32, lt::dims{kSize}, layout::strided);
    const lt y(1, lt::data_type::f32, lt::dims{kSize}, layout::strided);
    const compiled_partition compiled =
        partition(op(0, op::kind::ReLU, {x}, {y}), engine::kind::cpu)
            .compile({x}, {y}, eng);
    Floats from = Numbers(kSize + 16);
    Floats to(kSize + 16, -7);
    for (const auto flags :
         {stream::flags::default_flags, stream::flags::asynchronous}) {
      stream strm(eng, flags);
      to.assign(to.size(), -7);
      // The second element of a cache line.
      const size_t first =
          1 + (64 - reinterpret_cast<uintptr_t>(from.data()) % 64) % 64 / 4;
      const size_t other =
          1 + (64 - reinterpret_cast<uintptr_t>(to.data()) % 64) % 64 / 4;
      const int before = memory.given(lifetime::temporary);
      const size_t live = memory.live();
      compiled.execute(strm, {tensor(x, eng, from.data() + first)},
                       {tensor(y, eng, to.data() + other)});
      strm.wait();
      EXPECT_GE(memory.given(lifetime::temporary), before + 2);
      for (size_t i = 0; i < to.size(); ++i) {
        const bool inside = i >= other && i < other + kSize;
        const float expected =
            inside ? std::max(from[first + i - other], 0.0f) : -7;
        EXPECT_EQ(to[i], expected) << i;
      }
      EXPECT_LE(memory.live(), live + 2);
    }
  }
  EXPECT_EQ(memory.live(), 0u);
}

TEST_P(ClientMemory, IsAlignedOrRefused) {
  Memory memory;
  {
    const engine eng = memory.Engine(GetParam());
    memory.Misalign();
    try {
      const tensor made(Matrix(0), eng);
      FAIL() << "misaligned memory was taken";
    } catch (const error& e) {
      EXPECT_EQ(e.status, tim_graph_invalid_arguments) << e.what();
    }
  }
  EXPECT_EQ(memory.live(), 0u);
}

INSTANTIATE_TEST_SUITE_P(OnHostAndOpenCl, ClientMemory,
                         ::testing::Values("host", "opencl:0"));

int g_plain_live = 0;
int g_plain_given = 0;

void* GivePlain(size_t size, size_t alignment) {
  ++g_plain_live;
  ++g_plain_given;
  return std::aligned_alloc(alignment,
                            (size + alignment - 1) / alignment * alignment);
}

void TakePlain(void* memory) {
  --g_plain_live;
  std::free(memory);
}

// The original API's functions give all memory, too.
TEST(PlainAllocator, GivesArenasAndConstants) {
  set_compiled_partition_cache_capacity(0);
  {
    const engine eng =
        make_engine(engine::kind::cpu, 0, allocator(GivePlain, TakePlain),
                    engine_options{"host"});
    RunTwoProducts(eng);
    EXPECT_GE(g_plain_given, 3);
  }
  EXPECT_EQ(g_plain_live, 0);
}

TEST(MakeAllocator, RefusesNullCallbacks) {
  try {
    make_allocator(allocator_callbacks{});
    FAIL() << "null callbacks were taken";
  } catch (const error& e) {
    EXPECT_EQ(e.status, tim_graph_invalid_arguments);
  }
}

}  // namespace
}  // namespace graph
}  // namespace tim
