// Memory by callbacks of a framework: of outputs, arenas, constants and
// tensors, with lifetimes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <string>
#include <vector>

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
partition TwoProducts() {
  graph g(engine::kind::cpu);
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
  const compiled_partition compiled = TwoProducts().compile(
      {Matrix(0), Matrix(1, property::constant)}, {Matrix(3)}, eng);
  Floats x = Numbers(kSize * kSize);
  // Twice the unit matrix.
  Floats w(kSize * kSize, 0);
  for (int64_t i = 0; i < kSize; ++i) w[i * kSize + i] = 2;
  const tensor y(Matrix(3), eng);
  for (int i = 0; i < 2; ++i) {
    compiled.execute(strm,
                     {tensor(Matrix(0), eng, x.data()),
                      tensor(Matrix(1, property::constant), eng, w.data())},
                     {y});
  }
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
    EXPECT_EQ(memory.given(lifetime::output), 1);
    EXPECT_GE(memory.given(lifetime::persistent), 1);
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

/// Two outputs of one input: y = relu(x), z = x + x.
class OutputAllocation : public ::testing::Test {
 protected:
  struct Asked {
    size_t id = 0;
    size_t bytes = 0;
    lifetime wanted = lifetime::persistent;
    std::vector<int64_t> dims = {};
  };

  OutputAllocation()
      : eng_(make_engine(engine::kind::cpu, 0, engine_options{"host"})),
        strm_(eng_) {
    graph g(engine::kind::cpu);
    g.add_op(op(0, op::kind::ReLU, {x_}, {lt(1, lt::data_type::f32)}));
    g.add_op(op(1, op::kind::Add, {x_, x_}, {lt(2, lt::data_type::f32)}));
    g.finalize();
    for (const partition& part : g.get_partitions()) {
      for (const lt& port : part.get_output_ports()) {
        compiled_.push_back(part.compile(
            {x_}, {lt(port.get_id(), lt::data_type::f32, layout::strided)},
            eng_));
        out_.push_back(compiled_.back().query_logical_tensor(port.get_id()));
      }
    }
  }

  static void* Allocate(void* user, size_t id,
                        const tim_graph_logical_tensor_t* description,
                        size_t bytes, lifetime wanted) {
    auto* const self = static_cast<OutputAllocation*>(user);
    self->asked_.push_back(
        {id,
         bytes,
         wanted,
         {description->dims, description->dims + description->ndims}});
    if (self->gives_nothing_) return nullptr;
    self->memory_.emplace_back(bytes / sizeof(float) + 16, -7.0f);
    return self->memory_.back().data();
  }
  execute_options Options() {
    execute_options options;
    options.allocate_output = &Allocate;
    options.user = this;
    return options;
  }

  const lt x_ = lt(0, lt::data_type::f32, {2, 3}, layout::strided);
  const engine eng_;
  stream strm_;
  std::vector<compiled_partition> compiled_;
  std::vector<lt> out_;
  Floats values_ = {-1, 2, -3, 4, -5, 6};
  std::vector<Asked> asked_;
  std::vector<Floats> memory_;
  bool gives_nothing_ = false;
};

TEST_F(OutputAllocation, IsAskedOncePerNullOutput) {
  const tensor x(x_, eng_, values_.data());
  for (size_t i = 0; i < compiled_.size(); ++i) {
    asked_.clear();
    const tensor out(out_[i], eng_, nullptr);
    compiled_[i].execute(strm_, {x}, {out}, Options());
    ASSERT_EQ(asked_.size(), 1u);
    EXPECT_EQ(asked_[0].id, out_[i].get_id());
    EXPECT_EQ(asked_[0].bytes, 6 * sizeof(float));
    EXPECT_EQ(asked_[0].wanted, lifetime::output);
    EXPECT_EQ(asked_[0].dims, (std::vector<int64_t>{2, 3}));
    ASSERT_EQ(out.get_data_handle(), memory_.back().data());
    EXPECT_EQ(memory_.back()[1], out_[i].get_id() == 1 ? 2.0f : 4.0f);
    EXPECT_EQ(memory_.back()[6], -7.0f);
    // There is memory now.
    compiled_[i].execute(strm_, {x}, {out}, tensor(), Options());
    EXPECT_EQ(asked_.size(), 1u);
  }
}

TEST_F(OutputAllocation, OfNothingLeavesAllAsItWas) {
  gives_nothing_ = true;
  const Floats before = values_;
  const tensor x(x_, eng_, values_.data());
  const tensor out(out_[0], eng_, nullptr);
  try {
    compiled_[0].execute(strm_, {x}, {out}, Options());
    FAIL() << "it ran without memory";
  } catch (const error& e) {
    EXPECT_EQ(e.status, tim_graph_out_of_memory) << e.what();
  }
  EXPECT_EQ(asked_.size(), 1u);
  EXPECT_EQ(out.get_data_handle(), nullptr);
  EXPECT_EQ(values_, before);
}

TEST_F(OutputAllocation, IsNeededForNullOutputs) {
  const tensor x(x_, eng_, values_.data());
  const tensor out(out_[0], eng_, nullptr);
  for (const execute_options& options : {execute_options(), Options()}) {
    const bool given = options.allocate_output != nullptr;
    try {
      compiled_[0].execute(strm_, {x}, {out}, options);
      EXPECT_TRUE(given);
    } catch (const error& e) {
      EXPECT_FALSE(given);
      EXPECT_EQ(e.status, tim_graph_invalid_arguments);
    }
  }
  // Inputs are never allocated.
  try {
    compiled_[0].execute(strm_, {tensor(x_, eng_, nullptr)}, {out}, Options());
    FAIL() << "an input without memory was taken";
  } catch (const error& e) {
    EXPECT_EQ(e.status, tim_graph_invalid_arguments);
  }
}

void* Throws(void*, size_t, const tim_graph_logical_tensor_t*, size_t,
             lifetime) {
  throw std::bad_alloc();
}

TEST_F(OutputAllocation, MayThrow) {
  execute_options options;
  options.allocate_output = &Throws;
  try {
    compiled_[0].execute(strm_, {tensor(x_, eng_, values_.data())},
                         {tensor(out_[0], eng_, nullptr)}, options);
    FAIL() << "it ran without memory";
  } catch (const error& e) {
    EXPECT_EQ(e.status, tim_graph_out_of_memory);
  }
}

/// The second of two outputs of one partition gets nothing.
TEST(OutputAllocations, AreAllOrNone) {
  const engine eng = make_engine(engine::kind::cpu, 0, engine_options{"host"});
  stream strm(eng);
  const lt x(0, lt::data_type::f32, lt::dims{4}, layout::strided);
  const lt y(1, lt::data_type::f32, lt::dims{4}, layout::strided);
  const lt z(2, lt::data_type::f32, lt::dims{4}, layout::strided);
  graph g(engine::kind::cpu);
  g.add_op(op(0, op::kind::ReLU, {x}, {y}));
  g.add_op(op(1, op::kind::Square, {y}, {z}));
  // Tensor 1 leaves the partition, too.
  g.add_op(op(2, op::kind::End, {y}, {}));
  g.finalize();
  const partition part = g.get_partitions().at(0);
  ASSERT_EQ(part.get_output_ports().size(), 2u);
  const compiled_partition compiled = part.compile({x}, {y, z}, eng);
  struct Giver {
    Floats memory = Floats(4);
    int calls = 0;
    static void* Give(void* user, size_t, const tim_graph_logical_tensor_t*,
                      size_t, lifetime) {
      auto* const self = static_cast<Giver*>(user);
      return self->calls++ == 0 ? self->memory.data() : nullptr;
    }
  } giver;
  Floats values = {-1, 2, -3, 4};
  const tensor to_y(y, eng, nullptr);
  const tensor to_z(z, eng, nullptr);
  execute_options options;
  options.allocate_output = &Giver::Give;
  options.user = &giver;
  EXPECT_THROW(compiled.execute(strm, {tensor(x, eng, values.data())},
                                {to_y, to_z}, options),
               error);
  EXPECT_EQ(giver.calls, 2);
  EXPECT_EQ(giver.memory, Floats(4, 0));
  EXPECT_EQ(to_y.get_data_handle(), nullptr);
  EXPECT_EQ(to_z.get_data_handle(), nullptr);
}

}  // namespace
}  // namespace graph
}  // namespace tim
