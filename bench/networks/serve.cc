#include "bench/networks/serve.h"

#include "bench/networks/network_run.h"

namespace tim::bench {

Status Serve(const Network& network, std::FILE* in, std::FILE* out) {
  TIM_ASSIGN_OR_RETURN(NetworkRun run, NetworkRun::Create(network));
  std::fprintf(out, "ready on %s\n", run.device().c_str());
  std::fflush(out);
  const std::span<float> input = run.input();
  while (std::fread(input.data(), sizeof(float), input.size(), in) ==
         input.size()) {
    TIM_ASSIGN_OR_RETURN(const double seconds, run.Run());
    const std::span<const float> output = run.output();
    std::fwrite(&seconds, sizeof(seconds), 1, out);
    std::fwrite(output.data(), sizeof(float), output.size(), out);
    if (std::fflush(out) != 0) {
      return FailedPrecondition("the reader of the results is gone");
    }
  }
  return OkStatus();
}

}  // namespace tim::bench
