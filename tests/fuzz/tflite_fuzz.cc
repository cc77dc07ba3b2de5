// Bytes of any content as a TFLite model.  With Clang's -fsanitize=fuzzer a
// program of its own (tools/fuzz.sh), else a part of
// tests/fuzz/tflite_fuzz_test.cc.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tim/models/tflite.h"
#include "tim/vx/context.h"

namespace {

void Expect(bool condition) {
  if (!condition) std::abort();
}

// Thousands of refused graphs are nobody's warnings; the host needs no driver.
const int kQuiet = setenv("TIMCL_LOG", "off", 0);
const int kOnHost = setenv("TIMCL_DEVICE", "host", 0);

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto context = tim::vx::Context::Create();
  const tim::models::Model model =
      tim::models::ParseTflite(context, data, size);
  Expect(static_cast<bool>(model) == model.error.empty());
  Expect(!model || model.refusals.empty());
  for (const tim::models::Port& port : model.inputs) {
    Expect(port.tensor != nullptr);
  }
  for (const tim::models::Port& port : model.outputs) {
    Expect(port.tensor != nullptr);
  }
  return 0;
}
