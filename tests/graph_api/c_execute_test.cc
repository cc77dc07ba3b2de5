// From an operation to its result through the C boundary alone.
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "graph_api/compiled_partition.h"
#include "graph_api/partition.h"
#include "tests/graph_api/partition_support.h"
#include "tim/graph/c.h"

namespace tim::graph {
namespace {

using testing::Described;
using Floats = std::vector<float>;

#define EXPECT_SUCCESS(call) \
  EXPECT_EQ(call, tim_graph_success) << tim_graph_last_message()

class ThroughC : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("TIMCL_DEVICE", "host", 1);
    EXPECT_SUCCESS(tim_graph_engine_create(&engine_, tim_graph_cpu, 0));
    EXPECT_SUCCESS(tim_graph_stream_create(&stream_, engine_,
                                           tim_graph_stream_default_flags));
    tim_graph_op_t op = nullptr;
    EXPECT_SUCCESS(tim_graph_op_create(&op, 5, tim_graph_op_relu, "relu"));
    EXPECT_SUCCESS(tim_graph_op_add_input(op, &x_));
    EXPECT_SUCCESS(tim_graph_op_add_output(op, &y_));
    EXPECT_SUCCESS(
        tim_graph_partition_create_with_op(&partition_, op, tim_graph_cpu));
    EXPECT_SUCCESS(tim_graph_op_destroy(op));
  }
  void TearDown() override {
    EXPECT_SUCCESS(tim_graph_partition_destroy(partition_));
    EXPECT_SUCCESS(tim_graph_stream_destroy(stream_));
    EXPECT_SUCCESS(tim_graph_engine_destroy(engine_));
  }

  tim_graph_compiled_partition_t Compiled() {
    tim_graph_compiled_partition_t compiled = nullptr;
    EXPECT_SUCCESS(tim_graph_compiled_partition_create(&compiled, partition_));
    const LogicalTensor* in = &x_;
    const LogicalTensor* out = &y_;
    EXPECT_SUCCESS(tim_graph_partition_compile(partition_, compiled, 1, &in, 1,
                                               &out, engine_));
    return compiled;
  }

  const LogicalTensor x_ = Described(0, {2, 2});
  const LogicalTensor y_ = Described(1, {2, 2});
  tim_graph_engine_t engine_ = nullptr;
  tim_graph_stream_t stream_ = nullptr;
  tim_graph_partition_t partition_ = nullptr;
};

TEST_F(ThroughC, AnOperationRuns) {
  tim_graph_compiled_partition_t compiled = Compiled();
  Floats from = {-1, 2, -3, 4};
  Floats to(4, -9);
  tim_graph_tensor_t in = nullptr;
  tim_graph_tensor_t out = nullptr;
  EXPECT_SUCCESS(tim_graph_tensor_create(&in, &x_, engine_, from.data()));
  EXPECT_SUCCESS(tim_graph_tensor_create(&out, &y_, engine_, to.data()));
  const const_tim_graph_tensor_t ins[] = {in};
  const const_tim_graph_tensor_t outs[] = {out};
  EXPECT_SUCCESS(tim_graph_compiled_partition_execute(
      compiled, stream_, 1, const_cast<const_tim_graph_tensor_t*>(ins), 1,
      const_cast<const_tim_graph_tensor_t*>(outs)));
  EXPECT_EQ(to, (Floats{0, 2, 0, 4}));
  EXPECT_EQ(tim_graph_compiled_partition_execute(compiled, stream_, 0, nullptr,
                                                 0, nullptr),
            tim_graph_invalid_arguments);
  size_t pairs = 0;
  const tim_graph_inplace_pair_t* list = nullptr;
  EXPECT_SUCCESS(
      tim_graph_compiled_partition_get_inplace_ports(compiled, &pairs, &list));
  ASSERT_EQ(pairs, 1u);
  EXPECT_EQ(list[0].input_id, 0u);
  EXPECT_EQ(list[0].output_id, 1u);
  LogicalTensor queried = {};
  EXPECT_SUCCESS(
      tim_graph_compiled_partition_query_logical_tensor(compiled, 1, &queried));
  EXPECT_EQ(queried.ndims, 2);
  EXPECT_SUCCESS(tim_graph_compiled_partition_get_scratchpad_logical_tensor(
      compiled, &queried));
  EXPECT_EQ(queried.data_type, tim_graph_u8);
  EXPECT_SUCCESS(tim_graph_tensor_destroy(in));
  EXPECT_SUCCESS(tim_graph_tensor_destroy(out));
  EXPECT_SUCCESS(tim_graph_compiled_partition_destroy(compiled));
}

// The length of a text may count its null.
TEST(ThroughTheBoundary, TextsEndAtTheirNull) {
  tim_graph_op_t op = nullptr;
  EXPECT_SUCCESS(tim_graph_op_create(&op, 5, tim_graph_op_gelu, "gelu"));
  const LogicalTensor x = Described(0, {2, 2});
  const LogicalTensor y = Described(1, {2, 2});
  EXPECT_SUCCESS(tim_graph_op_add_input(op, &x));
  EXPECT_SUCCESS(tim_graph_op_add_output(op, &y));
  const char mode[] = "gelu_tanh";
  EXPECT_SUCCESS(tim_graph_op_set_attr_str(op, tim_graph_op_attr_mode, mode,
                                           sizeof(mode)));
  tim_graph_partition_t partition = nullptr;
  EXPECT_SUCCESS(
      tim_graph_partition_create_with_op(&partition, op, tim_graph_cpu));
  EXPECT_SUCCESS(tim_graph_partition_destroy(partition));
  EXPECT_EQ(tim_graph_op_set_attr_str(op, tim_graph_op_attr_mode, "", 1),
            tim_graph_invalid_arguments);
  EXPECT_SUCCESS(tim_graph_op_destroy(op));
}

TEST_F(ThroughC, EqualCallsGiveOneObject) {
  int capacity = 0;
  EXPECT_SUCCESS(tim_graph_get_compiled_partition_cache_capacity(&capacity));
  EXPECT_EQ(capacity, 1024);
  tim_graph_compiled_partition_t first = Compiled();
  tim_graph_compiled_partition_t second = Compiled();
  EXPECT_EQ(first->compiled, second->compiled);
  EXPECT_SUCCESS(tim_graph_set_compiled_partition_cache_capacity(0));
  tim_graph_compiled_partition_t third = Compiled();
  EXPECT_NE(first->compiled, third->compiled);
  EXPECT_EQ(tim_graph_set_compiled_partition_cache_capacity(-1),
            tim_graph_invalid_arguments);
  EXPECT_SUCCESS(tim_graph_set_compiled_partition_cache_capacity(capacity));
  for (auto* each : {first, second, third}) {
    EXPECT_SUCCESS(tim_graph_compiled_partition_destroy(each));
  }
}

TEST_F(ThroughC, AnEmptyCompiledPartitionIsRefused) {
  tim_graph_compiled_partition_t compiled = nullptr;
  EXPECT_EQ(tim_graph_compiled_partition_create(&compiled, nullptr),
            tim_graph_invalid_arguments);
  EXPECT_SUCCESS(tim_graph_compiled_partition_create(&compiled, partition_));
  LogicalTensor queried = {};
  EXPECT_EQ(
      tim_graph_compiled_partition_query_logical_tensor(compiled, 1, &queried),
      tim_graph_invalid_arguments);
  EXPECT_EQ(tim_graph_partition_compile(partition_, compiled, 0, nullptr, 0,
                                        nullptr, engine_),
            tim_graph_invalid_arguments);
  EXPECT_SUCCESS(tim_graph_compiled_partition_destroy(compiled));
}

TEST_F(ThroughC, CapacitiesOfTheConstantCache) {
  size_t megabytes = 1;
  int flag = -1;
  EXPECT_SUCCESS(
      tim_graph_get_constant_tensor_cache_capacity(tim_graph_cpu, &megabytes));
  EXPECT_EQ(megabytes, 0u);
  EXPECT_SUCCESS(
      tim_graph_set_constant_tensor_cache_capacity(tim_graph_cpu, SIZE_MAX));
  EXPECT_SUCCESS(
      tim_graph_get_constant_tensor_cache_capacity(tim_graph_cpu, &megabytes));
  EXPECT_EQ(megabytes, SIZE_MAX >> 20);
  EXPECT_SUCCESS(tim_graph_get_constant_tensor_cache(&flag));
  EXPECT_EQ(flag, 1);
  EXPECT_SUCCESS(tim_graph_set_constant_tensor_cache(0));
  EXPECT_SUCCESS(tim_graph_get_constant_tensor_cache(&flag));
  EXPECT_EQ(flag, 0);
  EXPECT_EQ(tim_graph_set_constant_tensor_cache(-1),
            tim_graph_invalid_arguments);
  EXPECT_EQ(
      tim_graph_set_constant_tensor_cache_capacity(tim_graph_any_engine, 1),
      tim_graph_invalid_arguments);
}

}  // namespace
}  // namespace tim::graph
