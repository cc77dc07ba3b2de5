#include "bench/networks/serve.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/networks/network_run.h"

namespace tim::bench {
namespace {

constexpr int64_t kMostFloats = int64_t{1} << 28;  // of the inputs of a turn

template <typename T>
void Write(std::FILE* out, std::span<const T> values) {
  std::fwrite(values.data(), sizeof(T), values.size(), out);
}

// The inputs are there before the first run, so that nobody but the engine
// computes between the runs.
Status TakeTurn(NetworkRun& run, int64_t count, std::FILE* in, std::FILE* out) {
  const size_t size = run.input().size();
  std::vector<float> inputs(size * count);
  if (std::fread(inputs.data(), sizeof(float), inputs.size(), in) !=
      inputs.size()) {
    return InvalidArgument("a turn of ", count, " inputs ended early");
  }
  std::vector<double> seconds;
  std::vector<float> outputs;
  seconds.reserve(count);
  outputs.reserve(run.output().size() * count);
  for (int64_t i = 0; i < count; ++i) {
    std::copy_n(inputs.begin() + i * size, size, run.input().begin());
    TIM_ASSIGN_OR_RETURN(seconds.emplace_back(), run.Run());
    const std::span<const float> output = run.output();
    outputs.insert(outputs.end(), output.begin(), output.end());
  }
  Write<double>(out, seconds);
  Write<float>(out, outputs);
  if (std::fflush(out) == 0 && std::ferror(out) == 0) return OkStatus();
  return FailedPrecondition("the reader of the results is gone");
}

}  // namespace

Status Serve(const Network& network, std::FILE* in, std::FILE* out) {
  TIM_ASSIGN_OR_RETURN(NetworkRun run, NetworkRun::Create(network));
  std::fprintf(out, "ready on %s\n", run.device().c_str());
  std::fflush(out);
  const int64_t most = kMostFloats / static_cast<int64_t>(run.input().size());
  while (true) {
    int64_t count = 0;
    const size_t bytes = std::fread(&count, 1, sizeof(count), in);
    if (bytes == 0) return OkStatus();
    if (bytes < sizeof(count)) return InvalidArgument("a turn ended early");
    if (count < 1 || count > most) {
      return InvalidArgument("a turn of ", count, " inputs, expected 1 to ",
                             most);
    }
    TIM_RETURN_IF_ERROR(TakeTurn(run, count, in, out));
  }
}

}  // namespace tim::bench
