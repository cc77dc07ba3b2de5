// The cache of compiled partitions, and plans with constants in them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "graph_api/compiled_cache.h"
#include "graph_api/constant_cache.h"
#include "tests/graph_api/partition_support.h"
#include "tests/support/status_macros.h"

namespace tim::graph {
namespace {

using testing::Described;
using testing::ExecuteOn;
using testing::HostEngine;
using testing::MakeOp;
using testing::TestPartition;
using testing::WithProperty;
using testing::WithStrides;
using tim::testing::FailsWith;
using Floats = std::vector<float>;

constexpr unsigned kInOrder = tim_graph_stream_default_flags;

TestPartition Relu(const Dims& dims) {
  const LogicalTensor x = Described(0, dims);
  const LogicalTensor y = Described(1, dims);
  return {{MakeOp(0, "ReLU", {x}, {y})}, {x}, {y}};
}

std::string KeyOf(int64_t extent) {
  const TestPartition relu = Relu({extent});
  return CompileKey(relu.source(), {Described(0, {extent})},
                    {Described(1, {extent})}, 1);
}

/// Compiles relu of `extent` elements through the cache; whether it was there.
bool IsHit(CompiledCache& cache, int64_t extent,
           const std::shared_ptr<tim_graph_engine>& engine) {
  bool hit = false;
  const TestPartition relu = Relu({extent});
  const CompileResult result = cache.Get(
      KeyOf(extent), engine->number(), [&] { return relu.CompileFor(engine); },
      &hit);
  EXPECT_OK(result.status);
  return hit;
}

TEST(CompiledCache, TheLeastRecentlyUsedGoFirst) {
  const auto engine = HostEngine();
  CompiledCache cache(2);
  EXPECT_FALSE(IsHit(cache, 1, engine));
  EXPECT_FALSE(IsHit(cache, 2, engine));
  EXPECT_TRUE(IsHit(cache, 1, engine));
  EXPECT_FALSE(IsHit(cache, 3, engine));  // instead of 2
  EXPECT_TRUE(IsHit(cache, 1, engine));
  EXPECT_FALSE(IsHit(cache, 2, engine));  // instead of 3
  EXPECT_EQ(cache.entries(), 2);
  cache.set_capacity(1);
  EXPECT_EQ(cache.entries(), 1);
  EXPECT_TRUE(IsHit(cache, 2, engine));
  cache.ForgetEngine(engine->number());
  EXPECT_EQ(cache.entries(), 0);
  cache.set_capacity(0);
  EXPECT_FALSE(IsHit(cache, 2, engine));
  EXPECT_FALSE(IsHit(cache, 2, engine));
}

TEST(CompiledCache, ThreadsOfOneKeyBuildOnce) {
  const auto engine = HostEngine();
  CompiledCache cache(8);
  std::atomic<int> builds = 0;
  std::vector<std::shared_ptr<const CompiledPartition>> made(8);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      bool hit = false;
      const TestPartition relu = Relu({4});
      made[i] = cache
                    .Get(
                        "key", engine->number(),
                        [&] {
                          ++builds;
                          return relu.CompileFor(engine);
                        },
                        &hit)
                    .compiled;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(builds, 1);
  for (const auto& each : made) EXPECT_EQ(each, made[0]);
}

TEST(CompiledCache, FailuresAreNotKept) {
  CompiledCache cache(8);
  bool hit = false;
  const auto fail = [] {
    return CompileResult{.code = tim_graph_unimplemented,
                         .status = Unimplemented("not yet")};
  };
  EXPECT_EQ(cache.Get("key", 1, fail, &hit).code, tim_graph_unimplemented);
  EXPECT_EQ(cache.entries(), 0);
  EXPECT_EQ(cache.Get("key", 1, fail, &hit).code, tim_graph_unimplemented);
  EXPECT_FALSE(hit);
}

TEST(CompiledCache, KeysTellCallsApart) {
  const TestPartition relu = Relu({4});
  const CompileSource source = relu.source();
  const LogicalTensor x = Described(0, {4});
  const LogicalTensor y = Described(1, {4});
  const std::string key = CompileKey(source, {x}, {y}, 1);
  LogicalTensor beyond = x;
  beyond.dims[5] = 17;  // beyond its rank
  EXPECT_EQ(CompileKey(source, {beyond}, {y}, 1), key);
  EXPECT_NE(CompileKey(source, {x}, {y}, 2), key);
  EXPECT_NE(CompileKey(source, {y}, {x}, 1), key);
  EXPECT_NE(CompileKey(source, {WithStrides(x, {2})}, {y}, 1), key);
  CompileSource other = source;
  other.fpmath_mode = tim_graph_fpmath_mode_bf16;
  EXPECT_NE(CompileKey(other, {x}, {y}, 1), key);
  std::vector<Op> ops = *source.ops;
  ops[0].attributes[tim_graph_op_attr_alpha] = 0.5f;
  other = source;
  other.ops = &ops;
  EXPECT_NE(CompileKey(other, {x}, {y}, 1), key);
}

/// y = x * w, w a constant.
class Constants : public ::testing::Test {
 protected:
  void SetUp() override { Make(Described(1, {2, 2})); }
  void TearDown() override { SetCapacity(0); }

  void Make(LogicalTensor weights) {
    weights = WithProperty(weights, tim_graph_tensor_property_constant);
    const LogicalTensor x = Described(0, {1, 2});
    const LogicalTensor y = Described(2, {1, 2});
    const TestPartition product({MakeOp(0, "MatMul", {x, weights}, {y})},
                                {x, weights}, {y});
    const CompileResult result = product.CompileFor(engine_);
    ASSERT_OK(result.status);
    compiled_ = result.compiled;
  }
  static void SetCapacity(size_t megabytes) {
    ConstantCache::OfProcess().set_capacity(tim_graph_cpu, megabytes);
  }
  Floats Product(const Floats& x, const Floats& w) {
    Floats y(2, -1);
    EXPECT_OK(ExecuteOn(*compiled_, stream_, {x.data(), w.data()}, {y.data()}));
    return y;
  }

  std::shared_ptr<tim_graph_engine> engine_ = HostEngine();
  Stream stream_{engine_, kInOrder};
  std::shared_ptr<const CompiledPartition> compiled_;
};

TEST_F(Constants, ChangedOnesAreHonouredWithoutACache) {
  Floats w = {1, 2, 3, 4};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Product({1, 1}, w), (Floats{4, 6}));
  EXPECT_EQ(compiled_->constant_plans_made(), 1);
  w[0] = 11;
  EXPECT_EQ(Product({1, 1}, w), (Floats{14, 6}));
  EXPECT_EQ(compiled_->constant_plans_made(), 2);
  // The content of before, at another address.
  const Floats before = {1, 2, 3, 4};
  EXPECT_EQ(Product({1, 1}, before), (Floats{4, 6}));
  EXPECT_EQ(compiled_->constant_plans_made(), 2);
}

TEST_F(Constants, ThatChangeOftenAreInputs) {
  for (int i = 0; i < 10; ++i) {
    const auto v = static_cast<float>(i);
    EXPECT_EQ(Product({1, 2}, {v, 0, 0, v}), (Floats{v, 2 * v}));
  }
  EXPECT_EQ(compiled_->constant_plans_made(), ConstantPlans::kMostChanges + 1);
}

TEST_F(Constants, AreMadeOnceWithACache) {
  SetCapacity(64);
  const Floats w = {1, 2, 3, 4};
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Product({1, 1}, w), (Floats{4, 6}));
  EXPECT_EQ(compiled_->constant_plans_made(), 1);
  EXPECT_EQ(ConstantCache::OfProcess().entries(), 1u);
  const Floats other = {0, 1, 1, 0};
  EXPECT_EQ(Product({5, 6}, other), (Floats{6, 5}));
  EXPECT_EQ(ConstantCache::OfProcess().entries(), 2u);
  SetCapacity(64);  // flushes
  EXPECT_EQ(ConstantCache::OfProcess().entries(), 0u);
  EXPECT_EQ(Product({1, 1}, w), (Floats{4, 6}));
  EXPECT_EQ(compiled_->constant_plans_made(), 3);
  compiled_ = nullptr;
  EXPECT_EQ(ConstantCache::OfProcess().entries(), 0u);
}

TEST_F(Constants, AFullCacheKeepsNothing) {
  SetCapacity(1);
  constexpr int64_t kWide = 600;  // 1.4 MB of weights
  const LogicalTensor x = Described(0, {1, kWide});
  const LogicalTensor w = WithProperty(Described(1, {kWide, kWide}),
                                       tim_graph_tensor_property_constant);
  const LogicalTensor y = Described(2, {1, kWide});
  const TestPartition product({MakeOp(0, "MatMul", {x, w}, {y})}, {x, w}, {y});
  const CompileResult result = product.CompileFor(engine_);
  ASSERT_OK(result.status);
  const Floats ones(kWide, 1);
  const Floats weights(kWide * kWide, 0.5f);
  Floats made(kWide);
  EXPECT_OK(ExecuteOn(*result.compiled, stream_, {ones.data(), weights.data()},
                      {made.data()}));
  EXPECT_EQ(made, Floats(kWide, kWide / 2));
  EXPECT_EQ(ConstantCache::OfProcess().entries(), 0u);
  EXPECT_EQ(result.compiled->constant_plans_made(), 0);
}

TEST_F(Constants, ThatHaveChangedInTheCacheAreNamed) {
  SetCapacity(64);
  const Floats x = {1, 1};
  Floats w = {1, 2, 3, 4};
  Floats y(2);
  const auto run = [&] {
    return ExecuteOn(*compiled_, stream_, {x.data(), w.data()}, {y.data()},
                     true);
  };
  EXPECT_OK(run());
  EXPECT_OK(run());
  w[3] = 40;
  EXPECT_TRUE(FailsWith(run(), "tensor 1 is a constant"));
}

TEST_F(Constants, AreGatheredWhereTheyAreStrided) {
  Make(WithStrides(Described(1, {2, 2}), {1, 3}));
  const Floats w = {1, 3, -9, 2, 4};
  EXPECT_EQ(Product({1, 1}, w), (Floats{4, 6}));
  EXPECT_EQ(compiled_->constant_plans_made(), 1);
}

TEST(ConstantCache, CapacitiesSaturate) {
  ConstantCache& cache = ConstantCache::OfProcess();
  EXPECT_EQ(cache.capacity(tim_graph_gpu), 0u);
  cache.set_capacity(tim_graph_gpu, SIZE_MAX);
  EXPECT_EQ(cache.capacity(tim_graph_gpu), SIZE_MAX >> 20);
  cache.set_capacity(tim_graph_gpu, 0);
  EXPECT_EQ(cache.capacity(tim_graph_cpu), 0u);
}

}  // namespace
}  // namespace tim::graph
