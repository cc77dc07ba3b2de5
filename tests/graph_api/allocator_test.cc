// Memory by functions of the client.
#include "graph_api/allocator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <set>
#include <utility>

#include "tests/graph_api/partition_support.h"
#include "tim/graph/c.h"

namespace tim::graph {
namespace {

using testing::Described;

std::set<void*> g_given;
size_t g_alignment = 0;
bool g_fails = false;

void* Give(size_t size, size_t alignment) {
  g_alignment = alignment;
  if (g_fails) return nullptr;
  void* const memory = std::aligned_alloc(
      alignment, (size + alignment - 1) / alignment * alignment);
  g_given.insert(memory);
  return memory;
}

void Take(void* memory) {
  EXPECT_EQ(g_given.erase(memory), 1u);
  std::free(memory);
}

TEST(Allocator, GivesTheMemoryOfTensorsAndOutlivesItsObject) {
  setenv("TIMCL_DEVICE", "host", 1);
  tim_graph_allocator_t allocator = nullptr;
  tim_graph_engine_t engine = nullptr;
  ASSERT_EQ(tim_graph_allocator_create(&allocator, Give, Take),
            tim_graph_success);
  ASSERT_EQ(tim_graph_make_engine_with_allocator(&engine, tim_graph_cpu, 0,
                                                 allocator),
            tim_graph_success);
  EXPECT_EQ(tim_graph_allocator_destroy(allocator), tim_graph_success);
  const LogicalTensor lt = Described(0, {100});
  tim_graph_tensor_t tensor = nullptr;
  ASSERT_EQ(
      tim_graph_tensor_create(&tensor, &lt, engine, TIM_GRAPH_MEMORY_ALLOCATE),
      tim_graph_success);
  void* handle = nullptr;
  EXPECT_EQ(tim_graph_tensor_get_data_handle(tensor, &handle),
            tim_graph_success);
  EXPECT_EQ(g_given.count(handle), 1u);
  EXPECT_EQ(g_alignment, 64u);
  // Memory of the client's, from now on.
  float own[100];
  EXPECT_EQ(tim_graph_tensor_set_data_handle(tensor, own), tim_graph_success);
  EXPECT_TRUE(g_given.empty());
  EXPECT_EQ(tim_graph_tensor_destroy(tensor), tim_graph_success);
  g_fails = true;
  EXPECT_EQ(
      tim_graph_tensor_create(&tensor, &lt, engine, TIM_GRAPH_MEMORY_ALLOCATE),
      tim_graph_out_of_memory);
  g_fails = false;
  ASSERT_EQ(
      tim_graph_tensor_create(&tensor, &lt, engine, TIM_GRAPH_MEMORY_ALLOCATE),
      tim_graph_success);
  EXPECT_EQ(tim_graph_engine_destroy(engine), tim_graph_success);
  EXPECT_EQ(g_given.size(), 1u);
  EXPECT_EQ(tim_graph_tensor_destroy(tensor), tim_graph_success);
  EXPECT_TRUE(g_given.empty());
}

TEST(Allocator, WithoutFunctionsIsTheLibrarysOwn) {
  setenv("TIMCL_DEVICE", "host", 1);
  tim_graph_allocator_t allocator = nullptr;
  ASSERT_EQ(tim_graph_allocator_create(&allocator, Give, nullptr),
            tim_graph_success);
  tim_graph_engine_t engine = nullptr;
  ASSERT_EQ(tim_graph_make_engine_with_allocator(&engine, tim_graph_cpu, 0,
                                                 allocator),
            tim_graph_success);
  const LogicalTensor lt = Described(0, {3});
  tim_graph_tensor_t tensor = nullptr;
  ASSERT_EQ(
      tim_graph_tensor_create(&tensor, &lt, engine, TIM_GRAPH_MEMORY_ALLOCATE),
      tim_graph_success);
  EXPECT_TRUE(g_given.empty());
  EXPECT_EQ(tim_graph_tensor_destroy(tensor), tim_graph_success);
  EXPECT_EQ(tim_graph_engine_destroy(engine), tim_graph_success);
  EXPECT_EQ(tim_graph_allocator_destroy(allocator), tim_graph_success);
  EXPECT_EQ(
      tim_graph_make_engine_with_allocator(&engine, tim_graph_cpu, 0, nullptr),
      tim_graph_invalid_arguments);
}

}  // namespace
}  // namespace tim::graph
