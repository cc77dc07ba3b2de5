// Engines, queues, memory and events of a client of OpenCL.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <thread>
#include <vector>

#include "tests/graph_api/ocl_objects.h"

namespace tim::graph::testing {
namespace {

class OclInterop : public OclInteropTest {};

// Drivers' threads may let go of the last event a little later.
bool CountBecomes(const cl::Context& context, cl_uint count) {
  for (int i = 0; i < 400; ++i) {
    if (context.getInfo<CL_CONTEXT_REFERENCE_COUNT>() == count) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

// The context is as much in use as before when the last object has gone,
// whichever that is.
TEST_F(OclInterop, AnEngineWorksInTheClientsContext) {
  if (!has_device_) return;
  const cl::Context other(id_);
  const auto before = other.getInfo<CL_CONTEXT_REFERENCE_COUNT>();
  {
    tim_graph_compiled_partition compiled;
    {
      const EngineHandle own = Made<tim_graph_engine>(
          tim_graph_ocl_interop_engine_create, id_(), other());
      EXPECT_EQ(own->kind(), tim_graph_gpu);
      cl_device_id device = nullptr;
      cl_context context = nullptr;
      tim_graph_ocl_interop_get_device(own.get(), &device);
      tim_graph_ocl_interop_engine_get_context(own.get(), &context);
      EXPECT_EQ(device, id_());
      EXPECT_EQ(context, other());
      compiled = Twice(own);
      const StreamHandle stream = MakeStream(own);
      const cl::Buffer in(other, CL_MEM_READ_WRITE, kBytes);
      const cl::Buffer out(other, CL_MEM_READ_WRITE, kBytes);
      EXPECT_EQ(Execute(compiled, stream, {OfBuffer(Vector(0), own, in)},
                        OfBuffer(Vector(1), own, out)),
                tim_graph_success);
      Wait(stream);
    }
    EXPECT_GT(other.getInfo<CL_CONTEXT_REFERENCE_COUNT>(), before);
  }
  EXPECT_TRUE(CountBecomes(other, before))
      << other.getInfo<CL_CONTEXT_REFERENCE_COUNT>() << " instead of "
      << before;
}

TEST_F(OclInterop, RefusesWhatDoesNotBelongTogether) {
  if (!has_device_) return;
  tim_graph_engine* engine = nullptr;
  EXPECT_INVALID(
      tim_graph_ocl_interop_engine_create(&engine, nullptr, context_()));
  EXPECT_INVALID(tim_graph_ocl_interop_engine_create(&engine, id_(), nullptr));
  // Another handle than those of the context's devices.
  EXPECT_INVALID(tim_graph_ocl_interop_engine_create(
      &engine, reinterpret_cast<cl_device_id>(&has_device_), context_()));
  const EngineHandle own = Engine();
  const cl::Context other(id_);
  const cl::CommandQueue queue(other, id_);
  tim_graph_stream* stream = nullptr;
  EXPECT_INVALID(
      tim_graph_ocl_interop_stream_create(&stream, own.get(), queue()));
  EXPECT_INVALID(
      tim_graph_ocl_interop_stream_create(&stream, own.get(), nullptr));

  const LogicalTensor x = Vector(0);
  tim_graph_tensor* tensor = nullptr;
  const auto make = tim_graph_ocl_interop_tensor_create_of_buffer;
  const cl::Buffer strange(other, CL_MEM_READ_WRITE, kBytes);
  const cl::Buffer less(context_, CL_MEM_READ_WRITE, kBytes - 4);
  const cl::Buffer enough(context_, CL_MEM_READ_WRITE, kBytes);
  EXPECT_INVALID(make(&tensor, &x, own.get(), strange(), 0));
  EXPECT_INVALID(make(&tensor, &x, own.get(), less(), 0));
  EXPECT_INVALID(make(&tensor, &x, own.get(), enough(), 4));
  EXPECT_INVALID(make(&tensor, &x, own.get(), nullptr, 0));
  EXPECT_INVALID(make(&tensor, nullptr, own.get(), enough(), 0));
  EXPECT_INVALID(make(&tensor, &x, nullptr, enough(), 0));
  const LogicalTensor scalar =
      WithProperty(Described(0, {}), tim_graph_tensor_property_host_scalar);
  EXPECT_INVALID(make(&tensor, &scalar, own.get(), enough(), 0));

  // An event of another context.
  const cl::UserEvent event(other);
  EXPECT_INVALID(ExecuteAfter(Twice(own), MakeStream(own),
                              OfBuffer(Vector(0), own, enough),
                              OfBuffer(Vector(1), own, Filled(0)), {event()})
                     .code);
}

TEST_F(OclInterop, IsNotOfCpuEngines) {
  if (!has_device_) return;
  const EngineHandle cpu = HostEngine();
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  EXPECT_INVALID(tim_graph_ocl_interop_get_device(cpu.get(), &device));
  EXPECT_INVALID(tim_graph_ocl_interop_engine_get_context(cpu.get(), &context));
  size_t size = 0;
  EXPECT_INVALID(
      tim_graph_ocl_interop_engine_get_cache_blob(cpu.get(), &size, nullptr));
  tim_graph_stream* made = nullptr;
  EXPECT_INVALID(
      tim_graph_ocl_interop_stream_create(&made, cpu.get(), queue_()));
  const StreamHandle stream = MakeStream(cpu);
  cl_command_queue queue = nullptr;
  EXPECT_INVALID(
      tim_graph_ocl_interop_stream_get_command_queue(stream.get(), &queue));
  const LogicalTensor x = Vector(0);
  tim_graph_tensor* tensor = nullptr;
  EXPECT_INVALID(tim_graph_ocl_interop_tensor_create_of_buffer(
      &tensor, &x, cpu.get(), Filled(0)(), 0));
  const TensorHandle in = MakeTensor(x, cpu), out = MakeTensor(Vector(1), cpu);
  tim_graph_ocl_interop_memory_kind_t kind = tim_graph_ocl_interop_usm;
  EXPECT_INVALID(tim_graph_ocl_interop_tensor_get_memory_kind(in.get(), &kind));
  EXPECT_INVALID(ExecuteAfter(Twice(cpu), stream, in, out).code);
  // Those on an OpenCL device have its handles.
  const EngineHandle opencl = OpenClEngine();
  EXPECT_EQ(tim_graph_ocl_interop_get_device(opencl.get(), &device),
            tim_graph_success);
  EXPECT_EQ(device, id_());
}

// All is enqueued while the first command of the client cannot start: nobody
// waits but the device.
TEST_F(OclInterop, ExecutesAreOrderedByEvents) {
  if (!has_device_) return;
  const EngineHandle own = Engine();
  const StreamHandle stream = MakeStream(own);
  const auto twice = Twice(own);
  const cl::Buffer in = Filled(0), out = Filled(0);
  cl::Buffer copy(context_, CL_MEM_READ_WRITE, kBytes);
  cl::UserEvent start(context_);
  cl::Event filled;
  const std::vector<cl::Event> after_start = {start};
  queue_.enqueueFillBuffer(in, 4.0f, 0, kBytes, &after_start, &filled);
  const Answered answered =
      ExecuteAfter(twice, stream, OfBuffer(Vector(0), own, in),
                   OfBuffer(Vector(1), own, out), {filled()});
  ASSERT_EQ(answered.code, tim_graph_success) << tim_graph_last_message();
  const cl::Event done(answered.event);
  const std::vector<cl::Event> after_done = {done};
  cl::CommandQueue another(context_, id_);
  another.enqueueCopyBuffer(out, copy, 0, 0, kBytes, &after_done);
  another.flush();
  EXPECT_GT(done.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>(), CL_COMPLETE);
  start.setStatus(CL_COMPLETE);
  another.finish();
  EXPECT_EQ(Read(copy), Floats(kFloats, 8));
  Wait(stream);
}

TEST_F(OclInterop, ExecutesAreAmongTheCommandsOfAQueue) {
  if (!has_device_) return;
  const EngineHandle own = Engine();
  const auto twice = Twice(own);
  const StreamHandle stream = Made<tim_graph_stream>(
      tim_graph_ocl_interop_stream_create, own.get(), queue_());
  EXPECT_EQ(QueueOf(stream), queue_());
  const cl::Buffer in = Filled(0), out = Filled(0);
  cl::Buffer copy(context_, CL_MEM_READ_WRITE, kBytes);
  const TensorHandle x = OfBuffer(Vector(0), own, in);
  const TensorHandle y = OfBuffer(Vector(1), own, out);
  cl::UserEvent start(context_);
  const std::vector<cl::Event> after = {start};
  queue_.enqueueFillBuffer(in, 1.5f, 0, kBytes, &after);
  EXPECT_EQ(Execute(twice, stream, {x}, y), tim_graph_success);
  queue_.enqueueCopyBuffer(out, copy, 0, 0, kBytes);
  queue_.enqueueFillBuffer(in, 0.0f, 0, kBytes);
  start.setStatus(CL_COMPLETE);
  Wait(stream);
  EXPECT_EQ(Read(copy), Floats(kFloats, 3));
  // A stream of the library's has a queue, too, once it is asked for.
  const StreamHandle another = MakeStream(own);
  EXPECT_EQ(Execute(twice, another, {x}, y), tim_graph_success);
  const cl::CommandQueue theirs(QueueOf(another), true);
  theirs.enqueueFillBuffer(out, 7.0f, 0, kBytes);
  Wait(another);
  EXPECT_EQ(Read(out), Floats(kFloats, 7));
}

// Nothing beside the tensor changes, from whichever element on it lies.
TEST_F(OclInterop, TakesBuffersFromAnyElementOn) {
  if (!has_device_) return;
  const EngineHandle own = Engine();
  const auto twice = Twice(own);
  const StreamHandle stream = MakeStream(own);
  for (const int64_t first : {1, 32, 64, 100}) {
    SCOPED_TRACE(first);
    const cl::Buffer in = Filled(3, kFloats + first);
    const cl::Buffer out = Filled(-1, kFloats + first + 1);
    const auto offset = static_cast<size_t>(4 * first);
    const TensorHandle y = OfBuffer(Vector(1), own, out, offset);
    EXPECT_EQ(MemObject(y), out());
    EXPECT_EQ(
        ExecuteAfter(twice, stream, OfBuffer(Vector(0), own, in, offset), y)
            .code,
        tim_graph_success);
    Wait(stream);
    Floats expected(kFloats + first + 1, -1);
    std::fill_n(expected.begin() + first, kFloats, 6.0f);
    EXPECT_EQ(Read(out, kFloats + first + 1), expected);
  }
}

TEST_F(OclInterop, TensorsKnowTheirKindOfMemory) {
  if (!has_device_) return;
  const EngineHandle own = Engine();
  const cl::Buffer one = Filled(1), two = Filled(2);
  const TensorHandle of_buffer =
      OfKind(Vector(0), own, tim_graph_ocl_interop_buffer, one());
  EXPECT_EQ(KindOf(of_buffer), tim_graph_ocl_interop_buffer);
  EXPECT_EQ(MemObject(of_buffer), one());
  EXPECT_EQ(tim_graph_ocl_interop_tensor_set_mem_object(of_buffer.get(), two()),
            tim_graph_success);
  EXPECT_EQ(MemObject(of_buffer), two());
  const cl::Buffer less(context_, CL_MEM_READ_WRITE, kBytes - 4);
  EXPECT_INVALID(
      tim_graph_ocl_interop_tensor_set_mem_object(of_buffer.get(), less()));

  const TensorHandle allocated =
      OfKind(Vector(1), own, tim_graph_ocl_interop_buffer);
  ASSERT_NE(MemObject(allocated), nullptr);
  const StreamHandle stream = MakeStream(own);
  EXPECT_EQ(Execute(Twice(own), stream, {of_buffer}, allocated),
            tim_graph_success);
  Wait(stream);
  EXPECT_EQ(Read(cl::Buffer(MemObject(allocated), true)), Floats(kFloats, 4));

  if (KindOf(MakeTensor(Vector(0), own)) != tim_graph_ocl_interop_usm) return;
  const TensorHandle usm = OfKind(Vector(0), own, tim_graph_ocl_interop_usm);
  EXPECT_EQ(KindOf(usm), tim_graph_ocl_interop_usm);
  EXPECT_NE(HandleOf(usm), nullptr);
  cl_mem none = nullptr;
  EXPECT_INVALID(tim_graph_ocl_interop_tensor_get_mem_object(usm.get(), &none));
}

}  // namespace
}  // namespace tim::graph::testing
