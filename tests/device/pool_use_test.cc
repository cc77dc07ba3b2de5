// A memory pool in long use, by streams and by threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "device/device_pools.h"
#include "device/host/host_device.h"
#include "device/pool_allocator.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/devices/fake_stream.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using ir::MemoryKind;
using testing::FakeDevice;
using testing::FakeEvent;

constexpr int64_t kMiB = 1 << 20;

/// Sizes from a byte to a MiB, small ones more often, and a few large ones.
int64_t RandomBytes(std::mt19937& random) {
  if (random() % 500 == 0) return 33 * kMiB + random() % kMiB;
  const int bits = static_cast<int>(random() % 20);
  return 1 + static_cast<int64_t>(random() % (1u << bits));
}

/// Which bytes of which chunk somebody may use.
class Model {
 public:
  /// Whether no other range and no work of other streams is there.
  bool IsFreeFor(const BufferRange& place, size_t stream) const {
    return std::none_of(uses_.begin(), uses_.end(), [&](const Use& use) {
      const bool apart = use.place.buffer != place.buffer ||
                         use.place.offset >= place.offset + place.bytes ||
                         place.offset >= use.place.offset + use.place.bytes;
      return !apart && (use.live || use.stream != stream);
    });
  }
  void Add(const BufferRange& place) { uses_.push_back({place, true, 0}); }
  void Release(const BufferRange& place, size_t stream) {
    for (Use& use : uses_) {
      if (!use.live || use.place.buffer != place.buffer ||
          use.place.offset != place.offset) {
        continue;
      }
      use.live = false;
      use.stream = stream;
    }
  }
  void Forget(const BufferRange& place) {
    std::erase_if(uses_, [&](const Use& use) {
      return use.live && use.place.buffer == place.buffer &&
             use.place.offset == place.offset;
    });
  }
  void Finish(size_t stream) {
    std::erase_if(uses_, [&](const Use& use) {
      return !use.live && use.stream == stream;
    });
  }

 private:
  struct Use {
    BufferRange place;
    bool live = true;
    size_t stream = 0;  // whose work may use it, where it is not live
  };
  std::vector<Use> uses_;
};

/// Two streams whose work ends when a test says so.
class GatedStreams {
 public:
  explicit GatedStreams(FakeDevice& device) {
    for (auto& stream : streams_) stream = *device.CreateStream();
    for (size_t i : {0, 1}) Close(i);
  }
  ~GatedStreams() {
    for (size_t i : {0, 1}) Open(i);
  }
  Stream* stream(size_t i) { return streams_[i].get(); }
  void Close(size_t i) {
    moments_[i] = std::make_shared<FakeEvent::Moment>();
    FakeEvent gate(moments_[i]);
    ASSERT_OK(streams_[i]->WaitFor(gate));
  }
  void Open(size_t i) {
    moments_[i]->Reach(OkStatus());
    ASSERT_OK((*streams_[i]->Record())->Wait());
  }

 private:
  std::unique_ptr<Stream> streams_[2];
  std::shared_ptr<FakeEvent::Moment> moments_[2];
};

TEST(PoolUse, NoTwoLiveRangesOverlapAndNoWorkIsDisturbed) {
  for (const unsigned seed : {1u, 2u}) {
    SCOPED_TRACE(StrCat("seed ", seed));
    std::mt19937 random(seed);
    FakeDevice device({.max_delay_us = 0});
    PoolAllocator& pool = device.pools().Of(MemoryKind::kDevice);
    GatedStreams streams(device);
    Model model;
    struct Live {
      PoolRange range;
      size_t user;
    };
    std::vector<Live> live;
    constexpr int kPairs = 10'000;
    for (int made = 0; made < kPairs || !live.empty();) {
      if (random() % 64 == 0) {
        const size_t done = random() % 2;
        streams.Open(done);
        model.Finish(done);
        streams.Close(done);
      }
      const bool grow = live.empty() || random() % 100 >= live.size();
      if (made < kPairs && grow) {
        const size_t user = random() % 2;
        auto range = pool.Allocate(RandomBytes(random), streams.stream(user));
        ASSERT_OK(range);
        ASSERT_TRUE(model.IsFreeFor(range->place(), user)) << made;
        model.Add(range->place());
        live.push_back({*std::move(range), user});
        ++made;
      } else {
        std::swap(live[random() % live.size()], live.back());
        auto& [range, user] = live.back();
        const bool used = random() % 4 != 0;
        if (used) model.Release(range.place(), user);
        if (!used) model.Forget(range.place());
        range.Release(used ? streams.stream(user) : nullptr);
        live.pop_back();
      }
      if (random() % 1000 == 0) pool.Trim(0);
    }
    for (size_t i : {0, 1}) streams.Open(i);
    EXPECT_EQ(pool.stats().in_use, 0);
    const int64_t reserved = pool.stats().reserved;
    EXPECT_EQ(pool.Trim(0), reserved);
    EXPECT_EQ(device.live_bytes(), 0);
  }
}

TEST(PoolUse, RandomRequestsLeaveFewHoles) {
  for (const unsigned seed : {1u}) {
    SCOPED_TRACE(StrCat("seed ", seed));
    std::mt19937 random(seed);
    const auto host = CreateHostDevice();
    PoolAllocator& pool = host->pools().Of(MemoryKind::kHost);
    std::vector<PoolRange> live(400);
    for (int i = 0; i < 100'000; ++i) {
      PoolRange& range = live[random() % live.size()];
      range = {};
      range = *pool.Allocate(RandomBytes(random), nullptr);
    }
    const PoolStats stats = pool.stats();
    EXPECT_LE(static_cast<double>(stats.reserved),
              1.5 * static_cast<double>(stats.peak_in_use));
    live.clear();
    EXPECT_EQ(pool.Trim(0), stats.reserved);
  }
}

TEST(PoolUse, ThreadsShareIt) {
  constexpr int kThreads = 4;
  const auto host = CreateHostDevice();
  PoolAllocator& pool = host->pools().Of(MemoryKind::kHost);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      const auto stream = *host->CreateStream();
      for (int i = 0; i < 1000; ++i) {
        std::vector<PoolRange> ranges;
        for (int k = 0; k < 4; ++k) {
          const int64_t bytes = 1 + static_cast<int64_t>(random() % 10'000);
          auto range = pool.Allocate(bytes, stream.get());
          ASSERT_OK(range);
          std::memset(range->buffer().host_address(), 16 * t + k,
                      static_cast<size_t>(bytes));
          ranges.push_back(*std::move(range));
        }
        if (i % 100 == 0) pool.Trim(0);
        for (int k = 0; k < 4; ++k) {
          const Buffer& buffer = ranges[k].buffer();
          const auto* bytes =
              static_cast<const uint8_t*>(buffer.host_address());
          ASSERT_EQ(std::count(bytes, bytes + buffer.bytes(), 16 * t + k),
                    buffer.bytes());
          ranges[k].Release(k % 2 == 0 ? stream.get() : nullptr);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const PoolStats stats = pool.stats();
  EXPECT_EQ(stats.in_use, 0);
  EXPECT_EQ(stats.allocations, kThreads * 4000);
  EXPECT_EQ(pool.Trim(0), stats.reserved);
}

}  // namespace
}  // namespace tim::device
