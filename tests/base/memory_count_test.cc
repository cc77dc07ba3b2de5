#include "base/memory_count.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "base/aligned_memory.h"

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

}  // namespace
}  // namespace tim
