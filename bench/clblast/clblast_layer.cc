#include "bench/clblast/clblast_layer.h"

#include <clblast.h>

#include <vector>

#include "device/opencl/driver/cl_status.h"

namespace tim::bench {
namespace {

// Zeros: speed does not depend on the values.
Result<cl::Buffer> MakeBuffer(const cl::CommandQueue& queue,
                              const Shape& shape) {
  const size_t bytes = sizeof(float) * static_cast<size_t>(Elements(shape));
  cl_int code = CL_SUCCESS;
  cl::Buffer buffer(queue.getInfo<CL_QUEUE_CONTEXT>(), CL_MEM_READ_WRITE, bytes,
                    nullptr, &code);
  TIM_RETURN_IF_CL_ERROR(code, "a buffer of ", bytes, " bytes");
  code = queue.enqueueFillBuffer(buffer, 0.0f, 0, bytes);
  TIM_RETURN_IF_CL_ERROR(code, "filling ", bytes, " bytes");
  return buffer;
}

Status ToStatus(clblast::StatusCode code, const char* routine) {
  if (code == clblast::StatusCode::kSuccess) return OkStatus();
  return FailedPrecondition("CLBlast's ", routine, " gives ",
                            static_cast<int>(code));
}

struct Operands {
  cl::Buffer a;  // or the image
  cl::Buffer b;  // or the kernel
  cl::Buffer result;
};

Result<Operands> MakeOperands(const cl::CommandQueue& queue, const Shape& a,
                              const Shape& b, const Shape& result) {
  Operands operands;
  TIM_ASSIGN_OR_RETURN(operands.a, MakeBuffer(queue, a));
  TIM_ASSIGN_OR_RETURN(operands.b, MakeBuffer(queue, b));
  TIM_ASSIGN_OR_RETURN(operands.result, MakeBuffer(queue, result));
  return operands;
}

Result<std::function<Status()>> Convolution(const cl::CommandQueue& queue,
                                            const Shape& in,
                                            const Layer& layer) {
  TIM_ASSIGN_OR_RETURN(
      const Operands operands,
      MakeOperands(queue, in, layer.parameters[0].shape, layer.shape));
  const Window window = layer.window;
  const uint32_t channels = layer.shape[2];
  return [=]() -> Status {
    cl_command_queue handle = queue();
    return ToStatus(
        clblast::Convgemm<float>(
            clblast::KernelMode::kCrossCorrelation, in[2], in[1], in[0],
            window.size, window.size, window.pad, window.pad, window.stride,
            window.stride, 1, 1, channels, in[3], operands.a(), 0, operands.b(),
            0, operands.result(), 0, &handle),
        "Convgemm");
  };
}

// All operands are row-major.
Result<std::function<Status()>> Product(const cl::CommandQueue& queue,
                                        const Shape& a, const Shape& b,
                                        const Shape& result) {
  TIM_ASSIGN_OR_RETURN(const Operands operands,
                       MakeOperands(queue, a, b, result));
  const size_t m = a[1];
  const size_t n = b[0];
  const size_t k = a[0];
  return [=]() -> Status {
    cl_command_queue handle = queue();
    return ToStatus(
        clblast::Gemm<float>(clblast::Layout::kRowMajor,
                             clblast::Transpose::kNo, clblast::Transpose::kNo,
                             m, n, k, 1.0f, operands.a(), 0, k, operands.b(), 0,
                             n, 0.0f, operands.result(), 0, n, &handle),
        "Gemm");
  };
}

}  // namespace

Result<std::function<Status()>> ClblastLayer(const cl::CommandQueue& queue,
                                             const Network& network,
                                             const Layer& layer) {
  const auto shape = [&](int i) {
    return network.layers[layer.inputs[i]].shape;
  };
  switch (layer.kind) {
    case LayerKind::kConv2d:
      return Convolution(queue, shape(0), layer);
    case LayerKind::kMatmul:
      return Product(queue, shape(0), shape(1), layer.shape);
    default:
      return Unimplemented("CLBlast has no routine for this layer");
  }
}

}  // namespace tim::bench
