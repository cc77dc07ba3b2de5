// Engines, streams and tensors of a client's OpenCL objects.
//
// Handles of OpenCL are void* as in device/opencl/opencl_interop.h.  A tensor
// or stream that is returned is its client's.
#ifndef TIM_GRAPH_API_OCL_INTEROP_H_
#define TIM_GRAPH_API_OCL_INTEROP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "graph_api/allocator.h"
#include "graph_api/engine.h"
#include "graph_api/stream.h"
#include "graph_api/tensor.h"
#include "tim/graph/c_ocl.h"

namespace tim::graph {

/// Memory that kernels can use, by the client's functions.
std::shared_ptr<const Allocator> MakeOclAllocator(
    tim_graph_ocl_allocate_f allocate, tim_graph_ocl_deallocate_f free);

/// A gpu engine, whatever the device is.
/// \param allocator null, or without OpenCL's functions: the engine's own.
/// \param blob programs of an earlier engine; ignored where it does not fit.
Result<tim_graph_engine*> MakeOclEngine(void* device, void* context,
                                        const tim_graph_allocator* allocator,
                                        std::span<const uint8_t> blob);

/// Of an engine on an OpenCL device; kInvalidArgument for others.  Not
/// retained.
Result<void*> DeviceOf(const Engine& engine);
Result<void*> ContextOf(const Engine& engine);
Result<std::vector<uint8_t>> CacheBlobOf(const Engine& engine);
/// Id of cache blobs of a cl_device_id.
Result<std::vector<uint8_t>> CacheBlobIdOf(void* device);

/// Executes among the commands of a client's queue.
Result<tim_graph_stream*> MakeOclStream(
    std::shared_ptr<tim_graph_engine> engine, void* queue);
/// The queue whose commands executes are ordered among, from now on where the
/// stream had none.
Result<void*> CommandQueueOf(Stream& stream);

/// A tensor of a gpu engine.
/// \param handle TIM_GRAPH_MEMORY_ALLOCATE: memory of the library.
Result<tim_graph_tensor*> MakeOclTensor(
    const LogicalTensor& description, std::shared_ptr<tim_graph_engine> engine,
    HandleKind kind, void* handle);
/// A tensor of a cl_mem from byte `offset` on.
Result<tim_graph_tensor*> MakeOclTensor(
    const LogicalTensor& description, std::shared_ptr<tim_graph_engine> engine,
    void* buffer, size_t offset);
/// kInvalidArgument for tensors of other engines and of pointers.
Result<void*> MemObjectOf(const ClientTensor& tensor);
Status SetMemObject(ClientTensor* tensor, void* buffer);
Result<HandleKind> MemoryKindOf(const ClientTensor& tensor);

/// Events of a client, as runs wait for them.
Result<std::vector<std::unique_ptr<device::Event>>> EventsOf(
    const Engine& engine, std::span<void* const> events);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_OCL_INTEROP_H_
