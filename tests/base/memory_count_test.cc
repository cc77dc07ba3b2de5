#include "base/memory_count.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "base/aligned_memory.h"
#include "base/page_memory.h"

namespace tim {
namespace {

TEST(CountedMemory, FollowsWhatIsHeld) {
  const int64_t before = CountedMemory();
  {
    CountedBytes first(1000);
    CountedBytes second(20);
    EXPECT_EQ(CountedMemory(), before + 1020);
    CountedBytes moved = std::move(first);
    EXPECT_EQ(CountedMemory(), before + 1020);
    second = CountedBytes(3);
    EXPECT_EQ(CountedMemory(), before + 1003);
  }
  EXPECT_EQ(CountedMemory(), before);
}

TEST(AlignedMemory, IsAlignedAndCounted) {
  const int64_t before = CountedMemory();
  for (const int64_t alignment : {64, 128, 4096}) {
    for (const int64_t bytes : {0, 1, 63, 64, 65, 5000}) {
      const AlignedMemory memory = AllocateAligned(bytes, alignment);
      ASSERT_NE(memory, nullptr);
      EXPECT_TRUE(IsAligned(memory.get(), alignment));
      EXPECT_FALSE(IsAligned(memory.get() + 4, alignment));
      EXPECT_EQ(CountedMemory(), before + bytes);
    }
  }
  EXPECT_EQ(CountedMemory(), before);
}

TEST(AlignedMemory, IsNullWhereThereIsNotEnough) {
  const int64_t before = CountedMemory();
  for (const int64_t bytes :
       {std::numeric_limits<int64_t>::max(), int64_t{1} << 62}) {
    EXPECT_EQ(AllocateAligned(bytes, 64), nullptr);
  }
  EXPECT_EQ(CountedMemory(), before);
}

TEST(PageMemory, IsAtAPageAndCounted) {
  const int64_t before = CountedMemory();
  for (const int64_t bytes : {0, 1, 4096, 5000, 1 << 16, (1 << 20) + 1}) {
    const auto memory = AllocatePages(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_TRUE(IsAligned(memory.get(), kPageBytes));
    EXPECT_EQ(CountedMemory(), before + bytes);
    std::memset(memory.get(), 1, static_cast<size_t>(bytes));
  }
  EXPECT_EQ(CountedMemory(), before);
}

TEST(PageMemory, IsTheSystemsAgainOnceItIsFreed) {
  unsigned char resident = 0;
  auto memory = AllocatePages(1 << 20);
  ASSERT_NE(memory, nullptr);
  std::byte* const page = memory.get();
  EXPECT_EQ(mincore(page, kPageBytes, &resident), 0);
  memory = nullptr;
  EXPECT_EQ(mincore(page, kPageBytes, &resident), -1);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(PageMemory, IsNullWhereThereIsNotEnough) {
  const int64_t before = CountedMemory();
  for (const int64_t bytes :
       {std::numeric_limits<int64_t>::max(), int64_t{1} << 62}) {
    EXPECT_EQ(AllocatePages(bytes), nullptr);
  }
  EXPECT_EQ(CountedMemory(), before);
}

}  // namespace
}  // namespace tim
