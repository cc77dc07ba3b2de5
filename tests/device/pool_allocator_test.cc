// What a memory pool gives out, keeps and gives back.
#include "device/pool_allocator.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "device/device_pools.h"
#include "device/host/host_device.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/devices/fake_stream.h"
#include "tests/support/devices/forwarding_device.h"
#include "tests/support/forked_process.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using ir::MemoryKind;
using testing::FakeDevice;
using testing::FakeEvent;
using testing::FakeOptions;

constexpr int64_t kKiB = 1 << 10;
constexpr int64_t kMiB = 1 << 20;

/// A stream whose work does not end before Open().
struct GatedStream {
  explicit GatedStream(Device& device) : stream(*device.CreateStream()) {
    EXPECT_OK(stream->WaitFor(gate));
  }
  ~GatedStream() { gate.moment()->Reach(OkStatus()); }
  void Open() {
    gate.moment()->Reach(OkStatus());
    EXPECT_OK((*stream->Record())->Wait());
  }

  FakeEvent gate{std::make_shared<FakeEvent::Moment>()};
  std::unique_ptr<Stream> stream;
};

struct Pool {
  explicit Pool(int64_t memory_bytes = int64_t{1} << 30, int64_t most_bytes = 0)
      : device({.max_delay_us = 0, .memory_bytes = memory_bytes}),
        pool(device, MemoryKind::kDevice, most_bytes) {}

  PoolRange Get(int64_t bytes, const Stream* stream = nullptr) {
    auto range = pool.Allocate(bytes, stream);
    EXPECT_OK(range);
    return range.ok() ? *std::move(range) : PoolRange();
  }

  FakeDevice device;
  PoolAllocator pool;
};

int64_t OffsetOf(const PoolRange& range) { return range.place().offset; }
const Buffer* ChunkOf(const PoolRange& range) { return range.place().buffer; }

TEST(PoolAllocator, RangesArePartsOfOneChunk) {
  Pool pool;
  const PoolRange a = pool.Get(100);
  const PoolRange b = pool.Get(200);
  const PoolRange c = pool.Get(0);
  const PoolRange d = pool.Get(64);
  for (const PoolRange* range : {&b, &c, &d}) {
    EXPECT_EQ(ChunkOf(*range), ChunkOf(a));
  }
  EXPECT_EQ(OffsetOf(a), 0);
  EXPECT_EQ(OffsetOf(b), 128);
  EXPECT_EQ(OffsetOf(c), 384);
  EXPECT_EQ(OffsetOf(d), 448);
  EXPECT_EQ(a.buffer().bytes(), 100);
  EXPECT_EQ(c.buffer().bytes(), 0);
  const PoolStats stats = pool.pool.stats();
  EXPECT_EQ(stats.in_use, 512);
  EXPECT_EQ(stats.reserved, 2 * kMiB);
  EXPECT_EQ(stats.peak_in_use, 512);
  EXPECT_EQ(stats.peak_reserved, 2 * kMiB);
  EXPECT_EQ(stats.allocations, 4);
  EXPECT_EQ(stats.hits, 3);
  EXPECT_EQ(stats.raw_calls, 1);
  EXPECT_EQ(stats.trims, 0);
  EXPECT_EQ(pool.device.live_bytes(), 2 * kMiB);
}

TEST(PoolAllocator, RangesAreAlignedAsTheDeviceSays) {
  struct Coarse final : testing::ForwardingDevice {
    Coarse() : ForwardingDevice(CreateHostDevice()), own(device_info()) {}
    ir::DeviceInfo device_info() const {
      ir::DeviceInfo info = ForwardingDevice::info();
      info.alignment = 4096;
      return info;
    }
    const ir::DeviceInfo& info() const override { return own; }
    const ir::DeviceInfo own;
  } device;
  PoolAllocator& pool = device.pools().Of(MemoryKind::kHost);
  const auto first = pool.Allocate(1, nullptr);
  const auto second = pool.Allocate(1, nullptr);
  ASSERT_OK(second);
  EXPECT_EQ(OffsetOf(*second), 4096);
}

TEST(PoolAllocator, FreeNeighboursAreJoined) {
  struct Case {
    std::vector<size_t> released;  // of four, in this order
    int64_t bytes;
    int64_t offset;
  };
  const Case cases[] = {{{1, 2}, kMiB, kMiB / 2},
                        {{2, 1}, kMiB, kMiB / 2},
                        {{0, 2, 1}, 3 * kMiB / 2, 0},
                        {{3, 1, 2}, 3 * kMiB / 2, kMiB / 2},
                        {{3, 0, 2, 1}, 2 * kMiB, 0}};
  for (const Case& c : cases) {
    Pool pool;
    std::vector<PoolRange> ranges;
    for (int i = 0; i < 4; ++i) ranges.push_back(pool.Get(kMiB / 2));
    for (const size_t i : c.released) ranges[i] = {};
    EXPECT_EQ(OffsetOf(pool.Get(c.bytes)), c.offset);
    EXPECT_EQ(pool.pool.stats().raw_calls, 1);
  }
}

TEST(PoolAllocator, TheSmallestFreeBlockIsTaken) {
  Pool pool;
  PoolRange a = pool.Get(256 * kKiB);
  const PoolRange first_wall = pool.Get(1);
  PoolRange b = pool.Get(100 * kKiB);
  const PoolRange second_wall = pool.Get(1);
  PoolRange c = pool.Get(120 * kKiB);
  const PoolRange third_wall = pool.Get(1);
  const std::pair<int64_t, int64_t> places[] = {
      {120 * kKiB, OffsetOf(c)},  // in the bin of b, which is too small
      {200 * kKiB, OffsetOf(a)},  // in the next bin
      {100 * kKiB, OffsetOf(b)},
      {56 * kKiB, OffsetOf(a) + 200 * kKiB},  // what is left there
  };
  a = {};
  b = {};
  c = {};
  std::vector<PoolRange> taken;
  for (const auto& [bytes, offset] : places) {
    taken.push_back(pool.Get(bytes));
    EXPECT_EQ(OffsetOf(taken.back()), offset) << bytes;
  }
}

TEST(PoolAllocator, AStreamHasItsOwnMemoryAgainAtOnce) {
  Pool pool;
  GatedStream first(pool.device);
  const auto second = *pool.device.CreateStream();
  PoolRange range = pool.Get(kMiB, first.stream.get());
  const Buffer* const chunk = ChunkOf(range);
  range.Release(first.stream.get());
  EXPECT_FALSE(range);
  EXPECT_EQ(pool.pool.stats().in_use, 0);
  range = pool.Get(kMiB, first.stream.get());
  EXPECT_EQ(OffsetOf(range), 0);
  range.Release(first.stream.get());
  // Nobody else has it before its work is done.
  const PoolRange other = pool.Get(kMiB, second.get());
  EXPECT_EQ(OffsetOf(other), kMiB);
  PoolRange third = pool.Get(kMiB);
  EXPECT_NE(ChunkOf(third), chunk);
  first.Open();
  third = pool.Get(kMiB, second.get());
  EXPECT_EQ(ChunkOf(third), chunk);
  EXPECT_EQ(OffsetOf(third), 0);
}

TEST(PoolAllocator, WhatIsLeftOfAStreamsBlockIsStillThatStreams) {
  Pool pool;
  GatedStream first(pool.device);
  pool.Get(2 * kMiB, first.stream.get()).Release(first.stream.get());
  PoolRange part = pool.Get(kMiB, first.stream.get());
  EXPECT_EQ(pool.pool.stats().raw_calls, 1);
  const PoolRange other = pool.Get(1);
  EXPECT_NE(ChunkOf(other), ChunkOf(part));
  // Joined with the rest, whoever of the stream released it.
  part.Release(first.stream.get());
  const PoolRange whole = pool.Get(2 * kMiB, first.stream.get());
  EXPECT_EQ(OffsetOf(whole), 0);
  EXPECT_EQ(pool.pool.stats().raw_calls, 2);
}

// Whoever gives it back unused does not know who used it before.
TEST(PoolAllocator, WhatNobodyHasUsedIsAsFreeAsBefore) {
  Pool pool;
  GatedStream first(pool.device);
  pool.Get(2 * kMiB, first.stream.get()).Release(first.stream.get());
  pool.Get(2 * kMiB, first.stream.get()).Release(nullptr);
  EXPECT_EQ(pool.pool.Trim(0), 0);
  first.Open();
  EXPECT_EQ(pool.pool.Trim(0), 2 * kMiB);
}

TEST(PoolAllocator, WhatIsJoinedWaitsForTheLastUseOfIt) {
  Pool pool;
  const auto stream = *pool.device.CreateStream();
  FakeEvent gate(std::make_shared<FakeEvent::Moment>());
  pool.Get(kMiB, stream.get()).Release(stream.get());
  // Taken before the pool has seen that this use has ended.
  PoolRange a = pool.Get(kMiB, stream.get());
  PoolRange b = pool.Get(kMiB, stream.get());
  ASSERT_OK((*stream->Record())->Wait());
  ASSERT_OK(stream->WaitFor(gate));
  b.Release(stream.get());
  a.Release(nullptr);
  EXPECT_EQ(pool.pool.Trim(0), 0) << "b is still used";
  gate.moment()->Reach(OkStatus());
  ASSERT_OK((*stream->Record())->Wait());
  EXPECT_EQ(pool.pool.Trim(0), 2 * kMiB);
}

TEST(PoolAllocator, MemoryThatWaitsIsJoinedWhenItsWorkIsDone) {
  Pool pool;
  GatedStream first(pool.device);
  GatedStream second(pool.device);
  PoolRange a = pool.Get(kMiB);
  PoolRange b = pool.Get(kMiB);
  a.Release(first.stream.get());
  b.Release(second.stream.get());
  EXPECT_EQ(pool.pool.Trim(0), 0) << "work may use it";
  first.Open();
  EXPECT_EQ(pool.pool.Trim(0), 0);
  second.Open();
  const PoolRange both = pool.Get(2 * kMiB);
  EXPECT_EQ(pool.pool.stats().raw_calls, 1);
}

TEST(PoolAllocator, ANewStreamAtAnOldAddressIsAnotherOne) {
  const auto device = std::make_shared<FakeDevice>();
  const uint64_t first = (*device->CreateStream())->id();
  const uint64_t second = (*device->CreateStream())->id();
  EXPECT_NE(first, 0u);
  EXPECT_NE(first, second);
}

/// Sizes of the chunks that requests of `bytes` take.
std::vector<int64_t> ChunksFor(PoolAllocator& pool, int64_t bytes,
                               size_t chunks, std::vector<PoolRange>* ranges) {
  std::vector<int64_t> sizes;
  int64_t reserved = pool.stats().reserved;
  while (sizes.size() < chunks) {
    ranges->push_back(*pool.Allocate(bytes, nullptr));
    const int64_t now = pool.stats().reserved;
    if (now > reserved) sizes.push_back((now - reserved) / kMiB);
    reserved = now;
  }
  return sizes;
}

TEST(PoolAllocator, ChunksGrow) {
  const auto host = CreateHostDevice();
  PoolAllocator& pool = host->pools().Of(MemoryKind::kHost);
  std::vector<PoolRange> ranges;
  EXPECT_EQ(ChunksFor(pool, kMiB, 7, &ranges),
            (std::vector<int64_t>{2, 4, 8, 16, 32, 64, 64}));
  ranges.clear();
  EXPECT_EQ(pool.Trim(0), 190 * kMiB);
  EXPECT_EQ(ChunksFor(pool, 10 * kMiB, 2, &ranges),
            (std::vector<int64_t>{10, 20}));
}

TEST(PoolAllocator, LargeRangesAreChunksOfTheirOwn) {
  const auto host = CreateHostDevice();
  PoolAllocator& pool = host->pools().Of(MemoryKind::kHost);
  PoolRange large = *pool.Allocate(32 * kMiB + 1, nullptr);
  EXPECT_EQ(pool.stats().reserved, 32 * kMiB + 64);
  const PoolRange shared = *pool.Allocate(32 * kMiB, nullptr);
  EXPECT_EQ(pool.stats().reserved, 64 * kMiB + 64);
  large = {};
  EXPECT_EQ(pool.Trim(0), 32 * kMiB + 64);
  std::vector<PoolRange> ranges;
  EXPECT_EQ(ChunksFor(pool, kMiB, 1, &ranges), (std::vector<int64_t>{64}));
}

TEST(PoolAllocator, FreeLargeChunksAreUsedAgainOrGivenBack) {
  const auto host = CreateHostDevice();
  PoolAllocator& pool = host->pools().Of(MemoryKind::kHost);
  PoolRange range = *pool.Allocate(50 * kMiB, nullptr);
  range = {};
  range = *pool.Allocate(40 * kMiB, nullptr);
  EXPECT_EQ(pool.stats().hits, 1);
  range = {};
  const PoolRange small = *pool.Allocate(kMiB, nullptr);
  EXPECT_EQ(pool.stats().reserved, 52 * kMiB) << "small ones lie elsewhere";
  range = *pool.Allocate(60 * kMiB, nullptr);
  EXPECT_EQ(pool.stats().reserved, 62 * kMiB) << "50 MiB were too small";
}

TEST(PoolAllocator, TrimKeepsWhatItIsTold) {
  const auto host = CreateHostDevice();
  PoolAllocator& pool = host->pools().Of(MemoryKind::kHost);
  std::vector<PoolRange> ranges;
  ChunksFor(pool, kMiB, 3, &ranges);  // 2, 4 and 8 MiB
  EXPECT_EQ(pool.Trim(0), 0);
  ranges.clear();
  EXPECT_EQ(pool.Trim(13 * kMiB), 0) << "12 would be left";
  EXPECT_EQ(pool.Trim(6 * kMiB), 8 * kMiB) << "the newest goes first";
  EXPECT_EQ(pool.Trim(1), 4 * kMiB);
  EXPECT_EQ(pool.Trim(0), 2 * kMiB);
  const PoolStats stats = pool.stats();
  EXPECT_EQ(stats.reserved, 0);
  EXPECT_EQ(stats.peak_reserved, 14 * kMiB);
  EXPECT_EQ(stats.trims, 5);
}

TEST(PoolAllocator, WithoutMemoryItGivesBackWhatIsFreeAndTriesOnceMore) {
  Pool pool(4 * kMiB);
  PoolRange small = pool.Get(1);
  small = {};
  const PoolRange large = pool.Get(3 * kMiB);
  PoolStats stats = pool.pool.stats();
  EXPECT_EQ(stats.raw_calls, 3) << "2 MiB, 4 MiB in vain, 3 MiB";
  EXPECT_EQ(stats.reserved, 3 * kMiB);
  const auto more = pool.pool.Allocate(2 * kMiB, nullptr);
  EXPECT_EQ(more.status().code(), StatusCode::kOutOfMemory);
  stats = pool.pool.stats();
  EXPECT_EQ(stats.raw_calls, 5);
  EXPECT_EQ(
      more.status().message(),
      "the fake device has 4194304 bytes, 3145728 in use, 2097152 wanted; the "
      "memory pool of fake device: 3145728 of 3145728 bytes in use, at most "
      "3145728 of 3145728 so far; 3 allocations, 0 of them from free memory, "
      "5 raw calls, 2 trims");
  EXPECT_EQ(pool.device.live_bytes(), 3 * kMiB);
  // What there is is still given out.
  EXPECT_OK(pool.pool.Allocate(kMiB, nullptr));
}

TEST(PoolAllocator, WithoutMemoryItWaitsForWhatWasReleased) {
  Pool pool;
  GatedStream first(pool.device);
  PoolRange range = pool.Get(2 * kMiB);
  const Buffer* const chunk = ChunkOf(range);
  range.Release(first.stream.get());
  pool.device.FailAllocationsAfter(0);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    first.Open();
  });
  EXPECT_EQ(ChunkOf(pool.Get(kMiB)), chunk);
  opener.join();
}

TEST(PoolAllocator, OutOfMemoryAtAnyChunkLosesNothing) {
  for (int allowed = 0; allowed < 4; ++allowed) {
    Pool pool;
    std::vector<PoolRange> ranges;
    pool.device.FailAllocationsAfter(allowed);
    for (int i = 0; i < 20; ++i) {
      auto range = pool.pool.Allocate(kMiB + i, nullptr);
      if (range.ok()) ranges.push_back(*std::move(range));
    }
    EXPECT_EQ(ranges.size(), std::vector<size_t>({0, 1, 4, 11})[allowed]);
    ranges.clear();
    EXPECT_EQ(pool.pool.stats().in_use, 0);
    pool.pool.Trim(0);
    EXPECT_EQ(pool.device.live_bytes(), 0);
  }
}

TEST(PoolAllocator, HoldsNoMoreThanItsLimit) {
  Pool pool(int64_t{1} << 30, 3 * kMiB);
  PoolRange first = pool.Get(2 * kMiB);
  const PoolRange second = pool.Get(kMiB / 2);
  EXPECT_EQ(pool.pool.stats().reserved, 3 * kMiB);
  const auto third = pool.pool.Allocate(kMiB, nullptr);
  EXPECT_EQ(third.status().code(), StatusCode::kOutOfMemory);
  EXPECT_ERROR(third,
               "a chunk of 1048576 bytes beside 3145728 exceeds the 3 MiB of "
               "TIMCL_POOL_MB; the memory pool of fake device: 2621440 of "
               "3145728 bytes in use");
  EXPECT_EQ(pool.pool.stats().raw_calls, 2) << "the device was not asked";
  first = {};
  EXPECT_OK(pool.pool.Allocate(kMiB, nullptr));
  // 2 MiB are given back for a chunk that is larger.
  EXPECT_OK(pool.pool.Allocate(2 * kMiB - 64, nullptr));
}

TEST(PoolAllocator, SizesThatNoDeviceHasAreErrors) {
  Pool pool;
  EXPECT_EQ(pool.pool.Allocate(-1, nullptr).status().code(),
            StatusCode::kInvalidArgument);
  for (const int64_t bytes :
       {std::numeric_limits<int64_t>::max(), int64_t{1} << 62}) {
    EXPECT_EQ(pool.pool.Allocate(bytes, nullptr).status().code(),
              StatusCode::kOutOfMemory);
  }
  EXPECT_EQ(pool.device.live_bytes(), 0);
}

TEST(PoolAllocator, OtherFailuresOfTheDeviceAreNotTriedAgain) {
  struct Broken final : testing::ForwardingDevice {
    Broken() : ForwardingDevice(CreateHostDevice()) {}
    Result<std::unique_ptr<Buffer>> Allocate(int64_t, MemoryKind) override {
      ++calls;
      return DeviceLost("gone");
    }
    int calls = 0;
  } device;
  const auto range =
      device.pools().Of(MemoryKind::kDevice).Allocate(1, nullptr);
  EXPECT_EQ(range.status().code(), StatusCode::kDeviceLost);
  EXPECT_EQ(range.status().message(), "gone");
  EXPECT_EQ(device.calls, 1);
}

// A process that is forked off may find locks that nobody will let go, and what
// is free in the pool of the other is in use there.
TEST(PoolAllocator, AForkedProcessHasChunksOfItsOwn) {
  const auto host = CreateHostDevice();
  PoolAllocator& pool = host->pools().Of(MemoryKind::kHost);
  PoolRange range = *pool.Allocate(64, nullptr);
  EXPECT_PASSES(testing::Fork([&] {
    EXPECT_EQ(pool.stats().reserved, 0);
    const PoolRange own = *pool.Allocate(64, nullptr);
    EXPECT_NE(ChunkOf(own), ChunkOf(range));
    range = {};
    EXPECT_EQ(pool.stats().in_use, 64);
    EXPECT_EQ(pool.stats().hits, 0);
  }));
  EXPECT_EQ(pool.stats().in_use, 64);
}

}  // namespace
}  // namespace tim::device
