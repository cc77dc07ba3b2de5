// Tensors of gpu engines as ports of a run.
#ifndef TIM_GRAPH_API_GPU_PORTS_H_
#define TIM_GRAPH_API_GPU_PORTS_H_

#include <cstdint>

#include "base/status.h"
#include "graph_api/gpu_stream.h"
#include "graph_api/stream.h"
#include "graph_api/tensor.h"

namespace tim::graph {

/// The runs of a gpu engine's stream, which get their order when they are first
/// asked for.
GpuStream& GpuRunsOf(Stream& stream);

/// Memory of a tensor that an execute reads or writes `bytes` bytes of, as a
/// port of `device`.  It keeps the library's memory; the client's must stay
/// until the run has ended.  kInvalidArgument for a cl_mem that does not fit,
/// or is of another context.
Result<GpuPort> DevicePortOf(const ClientTensor& tensor, int64_t bytes,
                             device::Device& device);

/// The first `bytes` bytes of a tensor's memory on the device, waited for.
Status ReadFromDevice(const ClientTensor& tensor, int64_t bytes,
                      device::Device& device, void* to);

/// Memory of the host, or the value of a scalar, which is copied.
GpuPort HostPortOf(const ClientTensor& tensor, int64_t bytes);

/// Tensors of one engine that share bytes, as far as their handles tell.
bool Overlap(const ClientTensor& a, int64_t a_bytes, const ClientTensor& b,
             int64_t b_bytes);

/// How handles of the engine's tensors are meant where a client does not say:
/// pointers where the device has shared memory, else cl_mem objects.
HandleKind HandleKindOf(const Engine& engine);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_GPU_PORTS_H_
