// ReadPlan on bytes of any content.  With Clang's -fsanitize=fuzzer a program
// of its own (tools/fuzz.sh), else a part of tests/fuzz/plan_fuzz_test.cc.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "binary/plan/plan_file.h"
#include "ir/plan.h"
#include "tests/fuzz/plan_operators.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> file(
      reinterpret_cast<const std::byte*>(data), size);
  const auto read = tim::binary::ReadPlan(file, tim::testing::BodyOperators());
  if (!read.ok()) {
    // Whatever they are, the bytes are the caller's mistake, or of a library
    // that has more operators.
    const tim::StatusCode code = read.status().code();
    if (code != tim::StatusCode::kInvalidArgument &&
        code != tim::StatusCode::kUnimplemented) {
      std::abort();
    }
    return 0;
  }
  if (!tim::ir::Verify(*read).ok()) std::abort();
  if (tim::ir::Dump(*read).empty()) std::abort();
  const auto written = tim::binary::WritePlan(*read);
  if (!written.ok() ||
      !tim::binary::ReadPlan(*written, tim::testing::BodyOperators()).ok())
    std::abort();
  return 0;
}
