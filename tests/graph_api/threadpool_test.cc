// Streams whose host work is done by a client's thread pool.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "tests/graph_api/client_objects.h"
#include "tim/graph/threadpool_iface.hpp"

namespace tim::graph {
namespace {

using testing::Described;
using testing::EngineHandle;
using testing::Execute;
using testing::MakeEngine;
using testing::MakeStream;
using testing::MakeTensor;
using testing::StreamHandle;
using Floats = std::vector<float>;

constexpr int64_t kFloats = 16;

// Each call on a new thread; an asynchronous one returns before they are done.
class Pool final : public threadpool_interop::threadpool_iface {
 public:
  enum class Style { kBlocking, kAsynchronous, kBusy };
  explicit Pool(Style style = Style::kBlocking) : style_(style) {}
  ~Pool() override { Join(); }

  int get_num_threads() const override { return 4; }
  bool get_in_parallel() const override { return style_ == Style::kBusy; }
  uint64_t get_flags() const override {
    return style_ == Style::kAsynchronous ? ASYNCHRONOUS : 0;
  }
  void parallel_for(int n, const std::function<void(int, int)>& body) override {
    ++loops_;
    for (int i = 0; i < n; ++i) {
      threads_.emplace_back([this, body, i, n] {
        {
          const std::lock_guard<std::mutex> lock(mutex_);
          seen_.insert(std::this_thread::get_id());
        }
        body(i, n);
      });
    }
    if (style_ != Style::kAsynchronous) Join();
  }
  void wait() override { Join(); }

  int loops() const { return loops_; }
  bool UsedThisThread() const {
    return seen_.count(std::this_thread::get_id()) != 0;
  }

 private:
  void Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  const Style style_;
  std::atomic<int> loops_{0};
  std::mutex mutex_;
  std::set<std::thread::id> seen_;
  std::vector<std::thread> threads_;
};

StreamHandle StreamOf(const EngineHandle& engine, Pool* pool) {
  return testing::Made<tim_graph_stream>(
      tim_graph_threadpool_interop_stream_create, engine.get(),
      static_cast<threadpool_interop::threadpool_iface*>(pool));
}

Floats Doubled(const EngineHandle& engine, const StreamHandle& stream,
               float value) {
  const LogicalTensor x = Described(0, {kFloats});
  const LogicalTensor y = Described(1, {kFloats});
  Floats in(kFloats, value), out(kFloats, 0);
  EXPECT_EQ(Execute(testing::Twice(x, y, engine), stream,
                    {MakeTensor(x, engine, in.data())},
                    MakeTensor(y, engine, out.data())),
            tim_graph_success);
  EXPECT_EQ(tim_graph_stream_wait(stream.get()), tim_graph_success);
  return out;
}

TEST(ThreadPools, DoTheWorkOfTheHost) {
  const EngineHandle cpu = testing::HostEngine();
  for (const auto style :
       {Pool::Style::kBlocking, Pool::Style::kAsynchronous}) {
    Pool pool(style);
    const StreamHandle stream = StreamOf(cpu, &pool);
    void* of_stream = nullptr;
    EXPECT_EQ(tim_graph_threadpool_interop_stream_get_threadpool(stream.get(),
                                                                 &of_stream),
              tim_graph_success);
    EXPECT_EQ(of_stream, &pool);
    EXPECT_EQ(Doubled(cpu, stream, 3), Floats(kFloats, 6));
    EXPECT_GE(pool.loops(), 1);
    EXPECT_FALSE(pool.UsedThisThread());
  }
}

// In a parallel section of the pool nothing may be handed to it.
TEST(ThreadPools, AreLeftAloneWhileTheyAreBusy) {
  const EngineHandle cpu = testing::HostEngine();
  Pool pool(Pool::Style::kBusy);
  EXPECT_EQ(Doubled(cpu, StreamOf(cpu, &pool), 4), Floats(kFloats, 8));
  EXPECT_EQ(pool.loops(), 0);
}

TEST(ThreadPools, AreOfTheStreamsThatHaveThem) {
  const EngineHandle cpu = testing::HostEngine();
  const StreamHandle plain = MakeStream(cpu);
  EXPECT_EQ(Doubled(cpu, plain, 1), Floats(kFloats, 2));
  void* pool = nullptr;
  EXPECT_EQ(
      tim_graph_threadpool_interop_stream_get_threadpool(plain.get(), &pool),
      tim_graph_invalid_arguments);
  tim_graph_stream* stream = nullptr;
  EXPECT_EQ(
      tim_graph_threadpool_interop_stream_create(&stream, cpu.get(), nullptr),
      tim_graph_invalid_arguments);
}

// Options are read once, by the first test that makes an engine.
[[maybe_unused]] const int kEveryDeviceIsAGpu =
    setenv("TIMCL_GRAPH_GPU", "all", 1);

TEST(ThreadPools, AreOfCpuEngines) {
  if (tim_graph_engine_get_count(tim_graph_gpu) == 0) {
    GTEST_SKIP() << "no OpenCL device";
  }
  const EngineHandle gpu = MakeEngine(tim_graph_gpu);
  Pool pool;
  tim_graph_stream* stream = nullptr;
  EXPECT_EQ(
      tim_graph_threadpool_interop_stream_create(&stream, gpu.get(), &pool),
      tim_graph_invalid_arguments);
}

}  // namespace
}  // namespace tim::graph
