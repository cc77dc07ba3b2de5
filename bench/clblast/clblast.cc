// CLBlast on the operators of the program kernels, on the same device; run with
// --help.  The library is somebody else's: it is called as its users call it.
#include <cstdio>
#include <vector>

#include "bench/clblast/clblast_layer.h"
#include "bench/operators/cases.h"
#include "bench/timing/interleaved.h"
#include "bench/timing/json_file.h"
#include "bench/timing/program.h"
#include "bench/timing/timed_plan.h"
#include "device/opencl/driver/cl_status.h"

namespace tim::bench {
namespace {

Result<cl::CommandQueue> QueueOn(const device::Device& device) {
  const cl::Context context(
      static_cast<cl_context>(device.NativeHandle("cl_context")), true);
  const cl::Device id(
      static_cast<cl_device_id>(device.NativeHandle("cl_device_id")), true);
  cl_int code = CL_SUCCESS;
  cl::CommandQueue queue(context, id, 0, &code);
  TIM_RETURN_IF_CL_ERROR(code, "a command queue");
  return queue;
}

// All layers that the case times, one after the other.
Result<Timed> TimedCase(const cl::CommandQueue& queue, const OperatorCase& c) {
  std::vector<std::function<Status()>> layers;
  for (const Layer& layer : c.network.layers) {
    if (layer.kind != c.kind) continue;
    TIM_ASSIGN_OR_RETURN(layers.emplace_back(),
                         ClblastLayer(queue, c.network, layer));
  }
  return Timed{c.name, [queue, layers]() -> Status {
                 for (const auto& layer : layers) TIM_RETURN_IF_ERROR(layer());
                 TIM_RETURN_IF_CL_ERROR(queue.finish(), "waiting for CLBlast");
                 return OkStatus();
               }};
}

Result<nlohmann::json> MeasureClblast(Effort effort) {
  TIM_ASSIGN_OR_RETURN(const Devices devices, MeasuredDevices());
  TIM_ASSIGN_OR_RETURN(const cl::CommandQueue queue, QueueOn(*devices[1]));
  std::vector<Timed> functions;
  std::vector<OperatorCase> cases = OperatorCases();
  std::erase_if(cases, [](const OperatorCase& c) {
    return c.kind != LayerKind::kConv2d && c.kind != LayerKind::kMatmul;
  });
  for (const OperatorCase& c : cases) {
    TIM_ASSIGN_OR_RETURN(functions.emplace_back(), TimedCase(queue, c));
    TIM_RETURN_IF_ERROR(functions.back().run());  // builds its programs
  }
  TIM_ASSIGN_OR_RETURN(auto seconds, MedianSeconds(functions, effort));
  nlohmann::json list = nlohmann::json::array();
  for (const OperatorCase& c : cases) {
    const double gflops = 1e-9 * WorkOf(c).flops / seconds[c.name];
    list.push_back({{"name", c.name}, {"gflops", gflops}});
  }
  return list;
}

Status Execute(const ProgramOptions& options) {
  TIM_ASSIGN_OR_RETURN(const nlohmann::json list,
                       MeasureClblast(options.effort));
  std::printf("%s\n", list.dump(2).c_str());
  return WriteJson(list, options.json_path);
}

}  // namespace
}  // namespace tim::bench

int main(int argc, char** argv) {
  CLI::App app("GEMM and convolutions of CLBlast, in GFLOP/s");
  return tim::bench::RunProgram(app, argc, argv, tim::bench::Execute);
}
