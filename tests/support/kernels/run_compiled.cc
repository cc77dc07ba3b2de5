// The part of kernel_runner.h that goes through the compiler.
#include "base/options.h"
#include "compiler/compiler.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "runtime/compile_options.h"
#include "runtime/executable.h"
#include "runtime/execution_context.h"
#include "tests/support/kernels/kernel_runner.h"
#include "vx/core/user_programs.h"

namespace tim::testing {

Result<std::vector<TensorData>> RunCompiled(
    const TestNode& node, const std::vector<TensorData>& inputs,
    int64_t piece_elements) {
  static const auto* const kDevice =
      new auto(device::CreateOpenClDevice(0, GetOptions().on_device));
  if (!kDevice->ok()) return kDevice->status();
  const std::vector<std::shared_ptr<device::Device>> devices = {
      device::CreateHostDevice(), **kDevice};
  compiler::CompileOptions options = runtime::CompileOptionsFor(devices);
  options.strict = true;
  options.piece_elements = piece_elements;
  TIM_ASSIGN_OR_RETURN(ir::Plan plan,
                       compiler::Compile(node.graph, *node.registry, options));
  std::vector<TensorData> results;
  std::vector<void*> out;
  for (const ir::PlanTensor& output : plan.outputs) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(output.desc));
    results.push_back({output.desc, std::vector<std::byte>(bytes)});
  }
  for (TensorData& result : results) out.push_back(result.bytes.data());
  std::vector<const void*> in;
  for (const TensorData& input : inputs) in.push_back(input.bytes.data());
  TIM_ASSIGN_OR_RETURN(const auto executable,
                       runtime::Executable::Create(std::move(plan), devices,
                                                   vx::UserPrograms()));
  TIM_ASSIGN_OR_RETURN(const auto context,
                       runtime::ExecutionContext::Create(executable));
  TIM_RETURN_IF_ERROR(context->Run(in, out, nullptr));
  return results;
}

}  // namespace tim::testing
