// Objects that tests of OpenCL interop begin with.
#ifndef TIM_TESTS_GRAPH_API_OCL_OBJECTS_H_
#define TIM_TESTS_GRAPH_API_OCL_OBJECTS_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/opencl/driver/cl_api.h"
#include "tests/graph_api/client_objects.h"
#include "tests/support/kernels/opencl_test.h"
#include "tim/graph/c_ocl.h"

namespace tim::graph::testing {

using Floats = std::vector<float>;

inline constexpr int64_t kFloats = 48;
inline constexpr size_t kBytes = kFloats * sizeof(float);

inline LogicalTensor Vector(size_t id) { return Described(id, {kFloats}); }

#define EXPECT_INVALID(call) EXPECT_EQ(call, tim_graph_invalid_arguments)

inline tim_graph_compiled_partition Twice(const EngineHandle& engine) {
  return Twice(Vector(0), Vector(1), engine);
}

// Null where the call fails, `code` says how.
struct Answered {
  tim_graph_status_t code = tim_graph_success;
  cl_event event = nullptr;
};

inline Answered ExecuteAfter(const tim_graph_compiled_partition& compiled,
                             const StreamHandle& stream,
                             const TensorHandle& input,
                             const TensorHandle& output,
                             const std::vector<cl_event>& deps = {}) {
  const_tim_graph_tensor_t in = input.get();
  const_tim_graph_tensor_t out = output.get();
  Answered answered;
  answered.code = tim_graph_ocl_interop_compiled_partition_execute(
      &compiled, stream.get(), 1, &in, 1, &out, deps.data(),
      static_cast<int>(deps.size()), &answered.event);
  return answered;
}

inline TensorHandle OfBuffer(const LogicalTensor& description,
                             const EngineHandle& engine,
                             const cl::Buffer& buffer, size_t offset = 0) {
  return Made<tim_graph_tensor>(tim_graph_ocl_interop_tensor_create_of_buffer,
                                &description, engine.get(), buffer(), offset);
}

inline TensorHandle OfKind(const LogicalTensor& description,
                           const EngineHandle& engine,
                           tim_graph_ocl_interop_memory_kind_t kind,
                           void* handle = TIM_GRAPH_MEMORY_ALLOCATE) {
  return Made<tim_graph_tensor>(tim_graph_ocl_interop_tensor_create,
                                &description, engine.get(), kind, handle);
}

inline cl_mem MemObject(const TensorHandle& tensor) {
  cl_mem buffer = nullptr;
  EXPECT_EQ(tim_graph_ocl_interop_tensor_get_mem_object(tensor.get(), &buffer),
            tim_graph_success);
  return buffer;
}

inline tim_graph_ocl_interop_memory_kind_t KindOf(const TensorHandle& tensor) {
  tim_graph_ocl_interop_memory_kind_t kind = tim_graph_ocl_interop_usm;
  EXPECT_EQ(tim_graph_ocl_interop_tensor_get_memory_kind(tensor.get(), &kind),
            tim_graph_success);
  return kind;
}

inline cl_command_queue QueueOf(const StreamHandle& stream) {
  cl_command_queue queue = nullptr;
  EXPECT_EQ(
      tim_graph_ocl_interop_stream_get_command_queue(stream.get(), &queue),
      tim_graph_success);
  return queue;
}

inline void Wait(const StreamHandle& stream) {
  EXPECT_EQ(tim_graph_stream_wait(stream.get()), tim_graph_success)
      << tim_graph_last_message();
}

class OclInteropTest : public ::tim::testing::OpenClTest {
 protected:
  void SetUp() override {
    OpenClTest::SetUp();
    if (device_ == nullptr) return;
    device_ = nullptr;
    context_ = cl::Context(id_);
    queue_ = cl::CommandQueue(context_, id_);
    has_device_ = true;
  }

  EngineHandle Engine(const std::vector<uint8_t>& blob = {}) const {
    return Made<tim_graph_engine>(
        tim_graph_ocl_interop_engine_create_from_cache_blob, id_(), context_(),
        blob.size(), blob.data());
  }
  cl::Buffer Filled(float value, int64_t floats = kFloats) {
    cl::Buffer buffer(context_, CL_MEM_READ_WRITE, floats * sizeof(float));
    queue_.enqueueFillBuffer(buffer, value, 0, floats * sizeof(float));
    queue_.finish();
    return buffer;
  }
  Floats Read(const cl::Buffer& buffer, int64_t floats = kFloats) {
    Floats values(floats);
    queue_.enqueueReadBuffer(buffer, CL_TRUE, 0, floats * sizeof(float),
                             values.data());
    return values;
  }

  cl::CommandQueue queue_;
  bool has_device_ = false;
};

}  // namespace tim::graph::testing

#endif  // TIM_TESTS_GRAPH_API_OCL_OBJECTS_H_
