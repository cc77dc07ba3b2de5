// Logical tensors: every constructor, sizes, and what is refused.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tim/graph/graph.hpp"

namespace tim::graph {
namespace {

using lt = logical_tensor;
using dt = lt::data_type;
using layout = lt::layout_type;
using property = lt::property_type;

template <typename Call>
tim_graph_status_t CodeOf(const Call& call) {
  try {
    call();
  } catch (const error& failure) {
    return failure.status;
  }
  return tim_graph_success;
}

TEST(LogicalTensor, Constructors) {
  EXPECT_EQ(lt().get_id(), 0u);
  EXPECT_EQ(lt().get_layout_type(), layout::undef);
  const lt unknown(1, dt::f32);
  EXPECT_EQ(CodeOf([&] { unknown.get_dims(); }), tim_graph_invalid_arguments);
  const lt ranked(2, dt::s8, 2, layout::strided, property::constant);
  EXPECT_EQ(ranked.get_dims(), lt::dims(2, TIM_GRAPH_UNKNOWN_DIM));
  EXPECT_EQ(ranked.get_strides(), lt::dims(2, TIM_GRAPH_UNKNOWN_DIM));
  EXPECT_EQ(ranked.get_property_type(), property::constant);
  const lt dense(3, dt::f32, {2, 0, 4}, layout::strided);
  EXPECT_EQ(dense.get_strides(), (lt::dims{4, 4, 1}));
  EXPECT_EQ(lt(4, dt::f32, {}, layout::any).get_dims(), lt::dims());
  const lt opaque(5, dt::f32, {2, 3}, size_t{16});
  EXPECT_EQ(opaque.get_layout_id(), 16u);
  EXPECT_EQ(CodeOf([&] { dense.get_layout_id(); }),
            tim_graph_invalid_arguments);
  EXPECT_EQ(CodeOf([&] { opaque.get_strides(); }), tim_graph_invalid_arguments);
}

TEST(LogicalTensor, Sizes) {
  const auto size = [](dt type, const lt::dims& dims) {
    return lt(0, type, dims, layout::strided).get_mem_size();
  };
  for (const dt type : {dt::boolean, dt::s8, dt::u8, dt::f8_e5m2, dt::f8_e4m3})
    EXPECT_EQ(size(type, {3, 5}), 15u);
  for (const dt type : {dt::f16, dt::bf16}) EXPECT_EQ(size(type, {3, 5}), 30u);
  for (const dt type : {dt::f32, dt::s32}) EXPECT_EQ(size(type, {3, 5}), 60u);
  EXPECT_EQ(size(dt::s64, {3, 5}), 120u);
  for (const dt type : {dt::s4, dt::u4}) EXPECT_EQ(size(type, {3, 5}), 8u);
  EXPECT_EQ(lt(0, dt::f32, 0, layout::strided).get_mem_size(), 4u);
  EXPECT_EQ(size(dt::f32, {3, 0}), 0u);
  EXPECT_EQ(lt(0, dt::f32, {2, 3}, lt::dims{8, 1}).get_mem_size(), 64u);
  EXPECT_EQ(lt(0, dt::f32, {1, 3}, lt::dims{99, 1}).get_mem_size(), 12u);
  EXPECT_EQ(size(dt::f32, {2, -1}), SIZE_MAX);
  EXPECT_EQ(lt(0, dt::f32, {2, 3}, layout::any).get_mem_size(), SIZE_MAX);
}

TEST(LogicalTensor, Refused) {
  const auto refused = [](const auto& call) {
    return CodeOf(call) == tim_graph_invalid_arguments;
  };
  EXPECT_TRUE(refused([] { lt(0, dt::f32, 13, layout::any); }));
  EXPECT_TRUE(refused([] { lt(0, dt::f32, -2, layout::any); }));
  EXPECT_TRUE(refused([] { lt(0, dt::f32, lt::dims(13, 1), layout::any); }));
  EXPECT_TRUE(refused([] { lt(0, dt::f32, {2, 3}, lt::dims{1}); }));
  EXPECT_TRUE(refused(
      [] { lt(0, dt::f32, 1, layout::strided, property::host_scalar); }));
  EXPECT_TRUE(refused(
      [] { lt(0, dt::f16, 0, layout::strided, property::host_scalar); }));
  EXPECT_FALSE(refused(
      [] { lt(0, dt::s64, 0, layout::strided, property::host_scalar); }));
  EXPECT_TRUE(refused([] { lt(0, static_cast<dt>(99), 1, layout::any); }));
  EXPECT_TRUE(refused([] { lt(0, dt::f32, 1, static_cast<layout>(4)); }));
  EXPECT_TRUE(refused([] { lt(0, dt::f32, 1, static_cast<layout>(-1)); }));
  EXPECT_TRUE(refused(
      [] { lt(0, dt::f32, 1, layout::any, static_cast<property>(4)); }));
}

TEST(LogicalTensor, Equality) {
  const lt a(1, dt::f32, {2, 3}, layout::strided);
  EXPECT_TRUE(a.is_equal(lt(1, dt::f32, {2, 3}, lt::dims{3, 1})));
  EXPECT_FALSE(a.is_equal(lt(1, dt::f32, {2, 3}, lt::dims{1, 2})));
  EXPECT_FALSE(a.is_equal(lt(2, dt::f32, {2, 3}, layout::strided)));
  EXPECT_FALSE(a.is_equal(lt(1, dt::f32, {2, 3}, layout::any)));
  EXPECT_FALSE(a.is_equal(lt(1, dt::s32, {2, 3}, layout::strided)));
  EXPECT_TRUE(lt(1, dt::f32, {2, 3}, layout::any)
                  .is_equal(lt(1, dt::f32, {2, 3}, layout::any)));
}

}  // namespace
}  // namespace tim::graph
