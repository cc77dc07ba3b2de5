// Bytes of any content as an ONNX model.  With Clang's -fsanitize=fuzzer a
// program of its own (tools/fuzz.sh), else a part of
// tests/fuzz/onnx_fuzz_test.cc.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tim/models/onnx.h"
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
  tim::models::OnnxOptions options;
  options.most_trips = 8;
  const tim::models::Model model =
      tim::models::ParseOnnx(context, data, size, options);
  Expect(static_cast<bool>(model) == model.error.empty());
  Expect(!model || model.refusals.empty());
  for (const tim::models::Port& port : model.outputs) {
    Expect(port.tensor != nullptr);
  }
  return 0;
}
