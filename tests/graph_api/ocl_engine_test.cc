// Programs and allocators of engines in a client's context.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "graph_api/constant_cache.h"
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

// Elements of a buffer by strides, from byte `offset` on.
Floats Picked(const Floats& buffer, const LogicalTensor& tensor,
              size_t offset) {
  Floats out;
  for (int64_t i = 0; i < tensor.dims[0]; ++i) {
    for (int64_t k = 0; k < tensor.dims[1]; ++k) {
      const int64_t at =
          i * tensor.layout.strides[0] + k * tensor.layout.strides[1];
      out.push_back(buffer[offset / sizeof(float) + static_cast<size_t>(at)]);
    }
  }
  return out;
}

TEST_F(OclEngines, StridedBuffersKeepWhatLiesBetween) {
  if (!has_device_) return;
  constexpr int64_t kSize = 64;
  const EngineHandle engine = Engine();
  const LogicalTensor in = WithStrides(Described(0, {4, 6}), {1, 5});
  const LogicalTensor out = WithStrides(Described(1, {4, 6}), {9, 1});
  const auto twice = Twice(in, out, engine);
  const StreamHandle stream = MakeStream(engine);
  Floats numbers(kSize);
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<float>(i) + 1;
  }
  const cl::Buffer from = Filled(0, kSize);
  queue_.enqueueWriteBuffer(from, CL_TRUE, 0, kSize * sizeof(float),
                            numbers.data());
  // 20: no multiple of what devices want.
  for (const size_t offset : {size_t{0}, size_t{20}}) {
    const cl::Buffer to = Filled(-1, kSize);
    ASSERT_EQ(Execute(twice, stream, {OfBuffer(in, engine, from, offset)},
                      OfBuffer(out, engine, to, offset)),
              tim_graph_success)
        << tim_graph_last_message();
    Wait(stream);
    const Floats made = Read(to, kSize);
    Floats expected = Picked(numbers, in, offset);
    for (float& value : expected) value *= 2;
    EXPECT_EQ(Picked(made, out, offset), expected);
    EXPECT_EQ(std::count(made.begin(), made.end(), -1.0f), kSize - 24);
  }
}

// Five axes, no two of which step through memory as one.
TEST_F(OclEngines, AnyStridesAreTaken) {
  if (!has_device_) return;
  const EngineHandle engine = Engine();
  const Dims dims = {2, 2, 3, 2, 2};
  const LogicalTensor in = WithStrides(Described(0, dims), {1, 50, 3, 12, 25});
  const LogicalTensor out = WithStrides(Described(1, dims), {40, 2, 5, 20, 90});
  constexpr int64_t kSize = 200;
  Floats numbers(kSize);
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<float>(i) + 1;
  }
  const cl::Buffer from = Filled(0, kSize);
  queue_.enqueueWriteBuffer(from, CL_TRUE, 0, kSize * sizeof(float),
                            numbers.data());
  const cl::Buffer to = Filled(-1, kSize);
  const StreamHandle stream = MakeStream(engine);
  ASSERT_EQ(Execute(Twice(in, out, engine), stream,
                    {OfBuffer(in, engine, from)}, OfBuffer(out, engine, to)),
            tim_graph_success)
      << tim_graph_last_message();
  Wait(stream);
  Floats expected(kSize, -1);
  for (int64_t i = 0; i < 48; ++i) {
    const int64_t at[] = {i / 24, i / 12 % 2, i / 4 % 3, i / 2 % 2, i % 2};
    int64_t source = 0, target = 0;
    for (size_t k = 0; k < 5; ++k) {
      source += at[k] * in.layout.strides[k];
      target += at[k] * out.layout.strides[k];
    }
    expected[static_cast<size_t>(target)] =
        2 * numbers[static_cast<size_t>(source)];
  }
  EXPECT_EQ(Read(to, kSize), expected);
}

TEST_F(OclEngines, InPlacePairsShareABuffer) {
  if (!has_device_) return;
  const EngineHandle engine = Engine();
  const auto twice = Twice(engine);
  const auto& pairs = twice.compiled->in_place();
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].input_id, 0u);
  EXPECT_EQ(pairs[0].output_id, 1u);
  const StreamHandle stream = MakeStream(engine);
  const cl::Buffer buffer = Filled(1);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(Execute(twice, stream, {OfBuffer(Vector(0), engine, buffer)},
                      OfBuffer(Vector(1), engine, buffer)),
              tim_graph_success);
  }
  Wait(stream);
  EXPECT_EQ(Read(buffer), Floats(kFloats, 8));
}

// Weights are read when their plan is made, where constants have a cache.
TEST_F(OclEngines, ConstantsAreReadOnce) {
  if (!has_device_) return;
  const EngineHandle engine = Engine();
  const LogicalTensor src = Described(0, {2, 4});
  const LogicalTensor weights =
      WithProperty(Described(1, {4, 4}), tim_graph_tensor_property_constant);
  const LogicalTensor dst = Described(2, {2, 4});
  const StreamHandle stream = MakeStream(engine);
  const cl::Buffer ones = Filled(1, 8);
  const auto product_of = [&](const tim_graph_compiled_partition& compiled,
                              const cl::Buffer& matrix) {
    const cl::Buffer out = Filled(0, 8);
    EXPECT_EQ(Execute(compiled, stream,
                      {OfBuffer(src, engine, ones),
                       OfBuffer(weights, engine, matrix)},
                      OfBuffer(dst, engine, out)),
              tim_graph_success)
        << tim_graph_last_message();
    Wait(stream);
    return Read(out, 8)[7];
  };
  const auto change = [&](const cl::Buffer& matrix, float value) {
    queue_.enqueueFillBuffer(matrix, value, 0, 16 * sizeof(float));
    queue_.finish();
  };
  ConstantCache& cache = ConstantCache::OfProcess();
  for (const size_t megabytes : {size_t{64}, size_t{0}}) {
    cache.set_capacity(tim_graph_gpu, megabytes);
    const auto product =
        CompiledOp("MatMul", {src, weights}, {src, weights}, dst, engine);
    const cl::Buffer matrix = Filled(2, 16);
    EXPECT_EQ(product_of(product, matrix), 8);
    change(matrix, 3);
    EXPECT_EQ(product_of(product, matrix), megabytes > 0 ? 8 : 12);
    EXPECT_EQ(product_of(product, Filled(5, 16)), 20);
    EXPECT_EQ(product.compiled->constant_plans_made(), megabytes > 0 ? 2 : 0);
    if (megabytes == 0) continue;
    const TensorHandle in[] = {OfBuffer(src, engine, ones),
                               OfBuffer(weights, engine, matrix)};
    const TensorHandle out = OfBuffer(dst, engine, Filled(0, 8));
    const const_tim_graph_tensor_t inputs[] = {in[0].get(), in[1].get()};
    const const_tim_graph_tensor_t outputs[] = {out.get()};
    const Status changed =
        product.compiled->Execute(*stream, inputs, outputs, nullptr, true);
    EXPECT_EQ(changed.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(changed.ToString().find("tensor 1 is a constant"),
              std::string::npos)
        << changed.ToString();
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
