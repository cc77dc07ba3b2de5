// An execute of a partition that was executed before compiles nothing and
// allocates little, however large its network is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "graph_api/compiled_partition.h"
#include "tests/graph_api/partition_support.h"
#include "tests/support/status_macros.h"

namespace {

thread_local bool counting = false;
thread_local int allocations = 0;

void* Allocate(size_t bytes, size_t alignment) {
  if (counting) ++allocations;
  const size_t size = (bytes + alignment) / alignment * alignment;
  if (void* memory = std::aligned_alloc(alignment, size)) return memory;
  std::abort();
}

}  // namespace

void* operator new(size_t bytes) {
  return Allocate(bytes, alignof(std::max_align_t));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return Allocate(bytes, alignof(std::max_align_t));
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace tim::graph {
namespace {

using testing::Described;

// Lists of tensors by port; the runtime below has none.
constexpr int kMost = 4;
// Addresses of constants, the key of the cache, and hashes.
constexpr int kMostOfConstants = 8;

// Memory of x and of the result is imported anew where the device does not work
// in the host's: nobody tells whether it is still the same.
int Imports(const tim_graph_engine& engine) {
  const bool cpu =
      engine.device()->info().device_class == ir::DeviceClass::kCpu;
  return cpu ? 0 : 2;
}

// relu(... relu(x w) ... w): as many products as asked for.
testing::TestPartition Products(int count,
                                tim_graph_tensor_property_t weights) {
  const LogicalTensor x = Described(0, {4, 4});
  const LogicalTensor w = testing::WithProperty(Described(1, {4, 4}), weights);
  std::vector<Op> ops;
  LogicalTensor last = x;
  for (int i = 0; i < count; ++i) {
    const auto id = static_cast<size_t>(2 + 2 * i);
    const LogicalTensor product = Described(id, {4, 4});
    const LogicalTensor made = Described(id + 1, {4, 4});
    ops.push_back(testing::MakeOp(id, "MatMul", {last, w}, {product}));
    ops.push_back(testing::MakeOp(id + 1, "ReLU", {product}, {made}));
    last = made;
  }
  return {std::move(ops), {x, w}, {last}};
}

int AllocationsOfExecutes(const std::shared_ptr<tim_graph_engine>& engine,
                          int products, tim_graph_tensor_property_t weights) {
  const CompileResult made = Products(products, weights).CompileFor(engine);
  EXPECT_OK(made.status);
  if (!made.status.ok()) return -1;
  // Aligned for any device here: nothing is copied.
  struct alignas(512) Matrix {
    float values[16] = {};
  };
  const auto memory = std::make_unique<Matrix[]>(3);
  memory[0].values[0] = memory[1].values[0] = 1;
  testing::Tensors in(engine);
  testing::Tensors out(engine);
  in.Add(made.compiled->inputs()[0], memory[0].values);
  in.Add(made.compiled->inputs()[1], memory[1].values);
  out.Add(made.compiled->outputs()[0], memory[2].values);
  Stream stream(engine, tim_graph_stream_default_flags);
  EXPECT_OK(made.compiled->Execute(stream, in.list(), out.list()));
  const int plans = made.compiled->constant_plans_made();
  int most = 0;
  for (int i = 0; i < 3; ++i) {
    allocations = 0;
    counting = true;
    const Status status = made.compiled->Execute(stream, in.list(), out.list());
    counting = false;
    EXPECT_OK(status);
    most = std::max(most, allocations);
  }
  EXPECT_EQ(made.compiled->constant_plans_made(), plans);
  EXPECT_EQ(memory[2].values[0], 1);
  return most;
}

// The host's formulas allocate by themselves.
TEST(ExecuteAllocations, AreFewAndDoNotGrow) {
  const auto engine = testing::OpenClEngine();
  if (engine == nullptr) GTEST_SKIP() << "no OpenCL device";
  for (const int products : {1, 4}) {
    EXPECT_LE(AllocationsOfExecutes(engine, products,
                                    tim_graph_tensor_property_variable),
              kMost + Imports(*engine));
  }
}

// A hash of their bytes tells that they are the same, or a promise does.
TEST(ExecuteAllocations, OfConstantsAreFew) {
  const auto engine = testing::OpenClEngine();
  if (engine == nullptr) GTEST_SKIP() << "no OpenCL device";
  for (const size_t megabytes : {0, 64}) {
    ASSERT_EQ(
        tim_graph_set_constant_tensor_cache_capacity(tim_graph_cpu, megabytes),
        tim_graph_success);
    EXPECT_LE(
        AllocationsOfExecutes(engine, 2, tim_graph_tensor_property_constant),
        kMostOfConstants + Imports(*engine));
  }
}

}  // namespace
}  // namespace tim::graph
