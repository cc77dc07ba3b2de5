// Programs and allocators of engines in a client's context.
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

class OclEngines : public OclInteropTest {};

std::vector<uint8_t> BlobOf(const EngineHandle& engine) {
  size_t size = 0;
  EXPECT_EQ(
      tim_graph_ocl_interop_engine_get_cache_blob(engine.get(), &size, nullptr),
      tim_graph_success);
  std::vector<uint8_t> blob(size);
  size -= 1;
  EXPECT_INVALID(tim_graph_ocl_interop_engine_get_cache_blob(
      engine.get(), &size, blob.data()));
  size += 1;
  EXPECT_EQ(tim_graph_ocl_interop_engine_get_cache_blob(engine.get(), &size,
                                                        blob.data()),
            tim_graph_success);
  return blob;
}

TEST_F(OclEngines, BlobsAreTakenOrIgnored) {
  if (!has_device_) return;
  const EngineHandle first = Engine();
  Twice(first);
  const std::vector<uint8_t> blob = BlobOf(first);
  EXPECT_GT(blob.size(), 1000u);
  size_t size = 0;
  EXPECT_EQ(
      tim_graph_ocl_interop_engine_get_cache_blob_id(id_(), &size, nullptr),
      tim_graph_success);
  EXPECT_GT(size, 0u);
  std::vector<uint8_t> damaged = blob;
  damaged[damaged.size() / 2] ^= 0x55;
  damaged.resize(damaged.size() - 3);
  for (const auto& taken : {blob, damaged, std::vector<uint8_t>{1, 2, 3}}) {
    const EngineHandle second = Engine(taken);
    const StreamHandle stream = MakeStream(second);
    const cl::Buffer out = Filled(0);
    EXPECT_EQ(
        Execute(Twice(second), stream, {OfBuffer(Vector(0), second, Filled(5))},
                OfBuffer(Vector(1), second, out)),
        tim_graph_success);
    Wait(stream);
    EXPECT_EQ(Read(out), Floats(kFloats, 10));
  }
}

// Memory of the callbacks, of which none is left.
struct Counted {
  std::map<void*, size_t> blocks;
  int calls = 0;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
};
Counted g_counted;

void* CountedAllocate(size_t size, size_t alignment, cl_device_id device,
                      cl_context context) {
  const size_t whole = (size + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, whole);
  g_counted.blocks[memory] = size;
  g_counted.device = device;
  g_counted.context = context;
  ++g_counted.calls;
  return memory;
}
void CountedFree(void* memory, cl_device_id, cl_context, cl_event) {
  g_counted.blocks.erase(memory);
  std::free(memory);
}
void* NoMemory(size_t, size_t, cl_device_id, cl_context) { return nullptr; }

TEST_F(OclEngines, AnAllocatorGivesTheMemoryOfTensors) {
  if (!has_device_) return;
  if (id_.getInfo<CL_DEVICE_TYPE>() != CL_DEVICE_TYPE_CPU) {
    GTEST_SKIP() << "the test's memory is that of the host";
  }
  const auto engine_of = [&](tim_graph_ocl_allocate_f allocate) {
    const AllocatorHandle allocator = Made<tim_graph_allocator>(
        tim_graph_ocl_interop_allocator_create, allocate, CountedFree);
    return Made<tim_graph_engine>(
        tim_graph_ocl_interop_make_engine_with_allocator, id_(), context_(),
        allocator.get());
  };
  g_counted = {};
  {
    const EngineHandle own = engine_of(CountedAllocate);
    const TensorHandle in = MakeTensor(Vector(0), own);
    const TensorHandle out = MakeTensor(Vector(1), own);
    EXPECT_EQ(g_counted.blocks.at(HandleOf(in)), kBytes);
    EXPECT_EQ(g_counted.device, id_());
    EXPECT_EQ(g_counted.context, context_());
    std::fill_n(static_cast<float*>(HandleOf(in)), kFloats, 2.5f);
    const StreamHandle stream = MakeStream(own);
    EXPECT_EQ(Execute(Twice(own), stream, {in}, out), tim_graph_success);
    Wait(stream);
    EXPECT_EQ(static_cast<float*>(HandleOf(out))[kFloats - 1], 5);
  }
  EXPECT_GE(g_counted.calls, 2);
  EXPECT_TRUE(g_counted.blocks.empty());

  const EngineHandle empty = engine_of(NoMemory);
  const LogicalTensor x = Vector(0);
  tim_graph_tensor* tensor = nullptr;
  EXPECT_EQ(tim_graph_tensor_create(&tensor, &x, empty.get(),
                                    TIM_GRAPH_MEMORY_ALLOCATE),
            tim_graph_out_of_memory);
}

}  // namespace
}  // namespace tim::graph::testing
