// Tensors, streams and engines of the C boundary: ownership and errors.
#include "graph_api/tensor.h"

#include <gtest/gtest.h>

#include "graph_api/engine.h"
#include "graph_api/stream.h"
#include "tests/graph_api/partition_support.h"
#include "tim/graph/c.h"

namespace tim::graph {
namespace {

using testing::Described;
using testing::OfUnknownRank;
using testing::WithProperty;

constexpr auto kBad = tim_graph_invalid_arguments;

class TensorsOfC : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("TIMCL_DEVICE", "host", 1);
    ASSERT_EQ(tim_graph_engine_create(&engine_, tim_graph_cpu, 0),
              tim_graph_success)
        << tim_graph_last_message();
  }
  void TearDown() override {
    if (engine_ != nullptr) tim_graph_engine_destroy(engine_);
  }

  tim_graph_engine_t engine_ = nullptr;
};

TEST_F(TensorsOfC, GiveBackWhatTheyWereGiven) {
  float values[4] = {};
  const LogicalTensor lt = Described(3, {4});
  tim_graph_tensor_t tensor = nullptr;
  ASSERT_EQ(tim_graph_tensor_create(&tensor, &lt, engine_, values),
            tim_graph_success);
  void* handle = nullptr;
  EXPECT_EQ(tim_graph_tensor_get_data_handle(tensor, &handle),
            tim_graph_success);
  EXPECT_EQ(handle, values);
  EXPECT_EQ(tim_graph_tensor_set_data_handle(tensor, nullptr),
            tim_graph_success);
  EXPECT_EQ(tim_graph_tensor_get_data_handle(tensor, &handle),
            tim_graph_success);
  EXPECT_EQ(handle, nullptr);
  tim_graph_engine_t engine = nullptr;
  EXPECT_EQ(tim_graph_tensor_get_engine(tensor, &engine), tim_graph_success);
  EXPECT_EQ(engine, engine_);
  LogicalTensor described = {};
  EXPECT_EQ(tim_graph_tensor_get_logical_tensor(tensor, &described),
            tim_graph_success);
  EXPECT_EQ(described.id, 3u);
  EXPECT_EQ(tim_graph_tensor_destroy(tensor), tim_graph_success);
}

TEST_F(TensorsOfC, MemoryOfTheLibrary) {
  const LogicalTensor lt = Described(3, {4, 5});
  tim_graph_tensor_t tensor = nullptr;
  ASSERT_EQ(
      tim_graph_tensor_create(&tensor, &lt, engine_, TIM_GRAPH_MEMORY_ALLOCATE),
      tim_graph_success);
  void* handle = nullptr;
  EXPECT_EQ(tim_graph_tensor_get_data_handle(tensor, &handle),
            tim_graph_success);
  ASSERT_NE(handle, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(handle) % 64, 0u);
  static_cast<float*>(handle)[19] = 1;
  EXPECT_EQ(tim_graph_tensor_destroy(tensor), tim_graph_success);
  const LogicalTensor open = OfUnknownRank(4);
  EXPECT_EQ(tim_graph_tensor_create(&tensor, &open, engine_,
                                    TIM_GRAPH_MEMORY_ALLOCATE),
            kBad);
}

TEST_F(TensorsOfC, Scalars) {
  const LogicalTensor lt =
      WithProperty(Described(1, {}), tim_graph_tensor_property_host_scalar);
  float value = 2.5f;
  tim_graph_tensor_t tensor = nullptr;
  EXPECT_EQ(tim_graph_tensor_create(&tensor, &lt, engine_, &value), kBad);
  EXPECT_EQ(tim_graph_tensor_create_scalar(&tensor, &lt, nullptr), kBad);
  const LogicalTensor plain = Described(1, {});
  EXPECT_EQ(tim_graph_tensor_create_scalar(&tensor, &plain, &value), kBad);
  ASSERT_EQ(tim_graph_tensor_create_scalar(&tensor, &lt, &value),
            tim_graph_success);
  value = 0;
  EXPECT_EQ(*static_cast<const float*>(tensor->host_memory()), 2.5f);
  void* handle = &value;
  EXPECT_EQ(tim_graph_tensor_get_data_handle(tensor, &handle),
            tim_graph_success);
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(tim_graph_tensor_set_data_handle(tensor, &value), kBad);
  tim_graph_engine_t engine = engine_;
  EXPECT_EQ(tim_graph_tensor_get_engine(tensor, &engine), tim_graph_success);
  EXPECT_EQ(engine, nullptr);
  EXPECT_EQ(tim_graph_tensor_destroy(tensor), tim_graph_success);
}

TEST_F(TensorsOfC, EnginesMayGoFirst) {
  const LogicalTensor lt = Described(3, {4});
  tim_graph_tensor_t tensor = nullptr;
  tim_graph_stream_t stream = nullptr;
  ASSERT_EQ(
      tim_graph_tensor_create(&tensor, &lt, engine_, TIM_GRAPH_MEMORY_ALLOCATE),
      tim_graph_success);
  ASSERT_EQ(tim_graph_stream_create(&stream, engine_, 1), tim_graph_success);
  tim_graph_engine_t const first = engine_;
  EXPECT_EQ(tim_graph_engine_destroy(std::exchange(engine_, nullptr)),
            tim_graph_success);
  tim_graph_engine_t engine = nullptr;
  EXPECT_EQ(tim_graph_stream_get_engine(stream, &engine), tim_graph_success);
  EXPECT_EQ(engine, first);
  tim_graph_engine_kind_t kind = tim_graph_any_engine;
  EXPECT_EQ(tim_graph_engine_get_kind(engine, &kind), tim_graph_success);
  EXPECT_EQ(kind, tim_graph_cpu);
  EXPECT_EQ(tim_graph_stream_wait(stream), tim_graph_success);
  EXPECT_EQ(tim_graph_stream_destroy(stream), tim_graph_success);
  EXPECT_EQ(tim_graph_tensor_destroy(tensor), tim_graph_success);
}

TEST_F(TensorsOfC, NullsAreNamed) {
  const LogicalTensor lt = Described(3, {4});
  tim_graph_tensor_t tensor = nullptr;
  tim_graph_stream_t stream = nullptr;
  EXPECT_EQ(tim_graph_tensor_create(nullptr, &lt, engine_, nullptr), kBad);
  EXPECT_EQ(tim_graph_tensor_create(&tensor, nullptr, engine_, nullptr), kBad);
  EXPECT_EQ(tim_graph_tensor_create(&tensor, &lt, nullptr, nullptr), kBad);
  EXPECT_STREQ(tim_graph_last_message(), "the engine is null");
  EXPECT_EQ(tim_graph_stream_create(&stream, nullptr, 1), kBad);
  EXPECT_EQ(tim_graph_stream_create(nullptr, engine_, 1), kBad);
  EXPECT_EQ(tim_graph_stream_create(&stream, engine_, 0x800), kBad);
  EXPECT_EQ(tim_graph_stream_wait(nullptr), kBad);
}

TEST(EnginesOfC, AreCounted) {
  EXPECT_EQ(tim_graph_engine_get_count(tim_graph_cpu), 1u);
  tim_graph_engine_t engine = nullptr;
  EXPECT_EQ(tim_graph_engine_create(&engine, tim_graph_cpu, 1), kBad);
  EXPECT_EQ(tim_graph_engine_create(&engine, tim_graph_any_engine, 0), kBad);
  EXPECT_EQ(tim_graph_engine_create(&engine, tim_graph_gpu,
                                    tim_graph_engine_get_count(tim_graph_gpu)),
            kBad);
  EXPECT_EQ(engine, nullptr);
}

}  // namespace
}  // namespace tim::graph
