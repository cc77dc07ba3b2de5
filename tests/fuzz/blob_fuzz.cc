// Binary graphs of any content, whose hashes are taken to be right: who means
// harm makes them so.  With Clang's -fsanitize=fuzzer a program of its own
// (tools/fuzz.sh), else a part of tests/fuzz/blob_fuzz_test.cc.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "binary/blob.h"
#include "binary/graph_body.h"
#include "binary/program_file.h"
#include "binary/record_file.h"
#include "tests/fuzz/blob_operators.h"

namespace {

void Expect(bool condition) {
  if (!condition) std::abort();
}

// Whatever they are, the bytes are the caller's mistake, or of a library that
// has more operators.
void ExpectToldOf(const tim::Status& status) {
  Expect(status.code() == tim::StatusCode::kInvalidArgument ||
         status.code() == tim::StatusCode::kUnimplemented);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tim::binary::Checksum;
  const std::span<const std::byte> file(
      reinterpret_cast<const std::byte*>(data), size);
  const auto blob = tim::binary::OpenBlob(file, nullptr, Checksum::kIgnored);
  if (!blob.ok()) {
    ExpectToldOf(blob.status());
    return 0;
  }
  const auto programs = tim::binary::ReadPrograms(blob->programs);
  if (!programs.ok()) ExpectToldOf(programs.status());
  const auto record = tim::binary::ReadRecord(*blob);
  if (!record.ok()) ExpectToldOf(record.status());
  const tim::ir::OpRegistry& operators = tim::testing::FuzzOperators();
  tim::ir::OpRegistry own(&operators);
  const auto graph =
      tim::binary::ReadBlobGraph(*blob, operators, &own, "fuzz.");
  if (!graph.ok()) {
    ExpectToldOf(graph.status());
    return 0;
  }
  Expect(graph->CheckChains().ok());
  Expect(!graph->Dump().empty());
  Expect(tim::binary::AsBody(*graph).graph.CheckChains().ok());
  Expect(tim::binary::WithoutAbsent(*graph).CheckChains().ok());
  const auto written = tim::binary::EncodeGraph(*graph, &own);
  Expect(written.ok());
  tim::ir::OpRegistry again(&operators);
  Expect(tim::binary::ReadGraph(written->ToBytes(), operators,
                                {.user_operators = &again})
             .ok());
  return 0;
}
