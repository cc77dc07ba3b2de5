// Sequences of calls of tim::values, which bytes choose, on the host device.
// A program of its own with Clang's -fsanitize=fuzzer (tools/fuzz.sh), else a
// part of tests/fuzz/values_fuzz_test.cc.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tests/fuzz/values_session.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMostBytes = 600;
  setenv("TIMCL_DEVICE", "host", 1);
  tim::testing::ValuesSession({data, std::min(size, kMostBytes)}).Run();
  return 0;
}
