#include "tests/fuzz/mutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "tests/fuzz/corpus.h"
#include "tests/support/long_tests.h"

namespace tim::testing {
namespace {

using Bytes = std::vector<std::byte>;

size_t Below(size_t limit, std::mt19937& random) {
  return limit == 0 ? 0 : random() % limit;
}

void ChangeNumber(Bytes* file, std::mt19937& random) {
  constexpr uint64_t kValues[] = {
      0,           1,          2,          3,     4,
      16,          64,         255,        0x7f,  0x8000,
      0x7fffffff,  0x80000000, 0xffffffff, ~0ull, ~0ull >> 1,
      ~0ull << 63, 1ull << 61, 1ull << 31, 100,   4096};
  uint64_t number = kValues[random() % std::size(kValues)];
  const size_t width =
      std::min<size_t>(size_t{1} << random() % 4, file->size());
  // Numbers are aligned to their size.
  const size_t at = Below(file->size() - width + 1, random) / width * width;
  if (random() % 2 == 0) {
    uint64_t old = 0;
    std::memcpy(&old, file->data() + at, width);
    number = old + static_cast<uint64_t>(static_cast<int>(random() % 33) - 16);
  }
  std::memcpy(file->data() + at, &number, width);
}

void Change(Bytes* file, const Bytes& other, std::mt19937& random) {
  const size_t at = Below(file->size(), random);
  const size_t piece = Below(std::min<size_t>(file->size() - at, 64), random);
  const auto begin = file->begin() + static_cast<std::ptrdiff_t>(at);
  switch (random() % 8) {
    case 0:
      (*file)[at] ^= std::byte(1u << random() % 8);
      return;
    case 1:
      (*file)[at] = std::byte(random());
      return;
    case 2:
      file->erase(begin, begin + static_cast<std::ptrdiff_t>(piece));
      return;
    case 3: {
      const Bytes copy(begin, begin + static_cast<std::ptrdiff_t>(piece));
      file->insert(begin, copy.begin(), copy.end());
      return;
    }
    case 4: {
      const size_t from = Below(other.size(), random);
      const size_t room = std::min(other.size() - from, file->size() - at);
      std::copy_n(other.begin() + static_cast<std::ptrdiff_t>(from),
                  Below(room, random), begin);
      return;
    }
    default:
      ChangeNumber(file, random);
  }
}

}  // namespace

Bytes Mutated(Bytes file, const Bytes& other, std::mt19937& random) {
  for (size_t changes = 1 + random() % 4; changes > 0; --changes) {
    if (file.empty()) return file;
    Change(&file, other, random);
  }
  return file;
}

namespace {

// Changed files of the corpus.
void CallForAWhile(
    uint32_t seed,
    const std::function<void(const Bytes& changed, std::mt19937&)>& call) {
  using Clock = std::chrono::steady_clock;
  const auto end =
      Clock::now() + std::chrono::seconds(RunsLongTests() ? 600 : 4);
  const auto corpus = Corpus();
  std::mt19937 random(seed);
  while (Clock::now() < end) {
    const Bytes& from = corpus[random() % corpus.size()];
    const Bytes& other = corpus[random() % corpus.size()];
    call(Mutated(from, other, random), random);
  }
}

}  // namespace

void ExpectChangesAreJudged(
    uint32_t seed,
    const std::function<bool(const std::vector<std::byte>&)>& is_sound) {
  int64_t files = 0;
  int64_t sound = 0;
  CallForAWhile(seed, [&](const Bytes& changed, std::mt19937&) {
    ++files;
    sound += is_sound(changed);
  });
  std::printf("seed %u: %lld files, %lld of them sound\n", seed,
              static_cast<long long>(files), static_cast<long long>(sound));
  EXPECT_GT(sound, files / 50);
  EXPECT_LT(sound, files - files / 50);
}

void CallWithChanges(
    uint32_t seed,
    const std::function<void(const std::vector<std::byte>&)>& call) {
  CallForAWhile(seed, [&](const Bytes& changed, std::mt19937& random) {
    call(changed);
    Bytes bytes(random() % 300);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    call(bytes);
  });
}

}  // namespace tim::testing
