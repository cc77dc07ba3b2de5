// A program that knows the names of the original API alone: a convolution, its
// bias and an activation as one partition on a cpu engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "oneapi/dnnl/dnnl_graph.hpp"

namespace dnnl {
namespace graph {
namespace client {

using lt = logical_tensor;
using dt = lt::data_type;
using layout = lt::layout_type;
using property = lt::property_type;

TEST(Client, ConvolutionBiasAndActivationAreOnePartition) {
  const engine eng(engine::kind::cpu, 0);
  stream strm(eng);
  const lt src(0, dt::f32, {1, 1, 3, 3}, layout::strided);
  const lt weights(1, dt::f32, {1, 1, 2, 2}, layout::strided,
                   property::constant);
  const lt bias(2, dt::f32, lt::dims{1}, layout::strided, property::constant);
  const lt conv_dst(3, dt::f32, 4, layout::undef);
  const lt bias_dst(4, dt::f32, 4, layout::undef);
  const lt dst(5, dt::f32, 4, layout::any);

  op conv(0, op::kind::Convolution, {src, weights}, {conv_dst}, "conv");
  conv.set_attr(op::attr::strides, lt::dims{1, 1})
      .set_attr(op::attr::pads_begin, lt::dims{0, 0})
      .set_attr(op::attr::pads_end, lt::dims{0, 0})
      .set_attr(op::attr::dilations, lt::dims{1, 1})
      .set_attr<std::string>(op::attr::data_format, "NCX")
      .set_attr<std::string>(op::attr::weights_format, "OIX");
  op add(1, op::kind::BiasAdd, {conv_dst, bias}, {bias_dst}, "bias");
  add.set_attr<std::string>(op::attr::data_format, "NCX");
  const op relu(2, op::kind::ReLU, {bias_dst}, {dst}, "relu");

  graph g(engine::kind::cpu);  // the class, not the name space
  // In an order that is not that of the tensors.
  g.add_op(relu);
  g.add_op(conv);
  g.add_op(add);
  g.finalize();
  const std::vector<partition> parts = g.get_partitions();
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_TRUE(parts[0].is_supported());
  EXPECT_EQ(parts[0].get_ops(), (std::vector<size_t>{0, 1, 2}));
  ASSERT_EQ(parts[0].get_input_ports().size(), 3u);
  ASSERT_EQ(parts[0].get_output_ports().size(), 1u);

  const lt out(5, dt::f32, 4, layout::strided);
  const compiled_partition compiled =
      parts[0].compile({src, weights, bias}, {out}, eng);
  const lt made = compiled.query_logical_tensor(5);
  EXPECT_EQ(made.get_dims(), (lt::dims{1, 1, 2, 2}));
  ASSERT_EQ(made.get_mem_size(), 4 * sizeof(float));

  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<float> w = {1, 0, 0, -2};
  std::vector<float> b = {9.5F};
  std::vector<float> y(4, -1);
  compiled.execute(strm,
                   {tensor(src, eng, x.data()), tensor(weights, eng, w.data()),
                    tensor(bias, eng, b.data())},
                   {tensor(made, eng, y.data())});
  strm.wait();
  // x(i, j) - 2 x(i + 1, j + 1) + 9.5, below 0: 0
  EXPECT_EQ(y, (std::vector<float>{0.5F, 0, 0, 0}));
}

TEST(Client, ErrorsHaveTheCodeAndTheReason) {
  try {
    const engine none(engine::kind::cpu, 7);
    FAIL() << "there is one cpu engine";
  } catch (const dnnl::error& failure) {
    EXPECT_EQ(failure.status, dnnl_invalid_arguments);
    const dnnl::error copy = failure;
    EXPECT_STREQ(copy.what(), failure.message);
    EXPECT_NE(std::string(copy.what()).find(": "), std::string::npos);
  }
}

TEST(Client, NamesOfC) {
  static_assert(std::is_same<dnnl_graph_op_t, tim_graph_op_t>::value, "one");
  EXPECT_EQ(dnnl_graph_op_last_symbol, 88);
  EXPECT_EQ(DNNL_GPU_RUNTIME, DNNL_RUNTIME_OCL);
  EXPECT_EQ(dnnl::version()->major, DNNL_VERSION_MAJOR);
  EXPECT_EQ(dnnl_get_effective_cpu_isa(), dnnl_cpu_isa_avx512_core_fp16);
  EXPECT_EQ(dnnl::convert_to_c(engine::kind::gpu), dnnl_gpu);
}

// Names without dnnl::graph before them are those of this name space, though
// dnnl has an ocl_interop, too.
TEST(Client, NestedNamesInsideOfTheNameSpace) {
  const allocator plain = ocl_interop::make_allocator(nullptr, nullptr);
  EXPECT_TRUE(static_cast<bool>(plain));
  EXPECT_EQ(get_compiled_partition_cache_capacity(), 1024);
  const engine eng = make_engine_with_allocator(engine::kind::cpu, 0, {});
  EXPECT_EQ(eng.get_kind(), dnnl::engine::kind::cpu);
}

}  // namespace client
}  // namespace graph
}  // namespace dnnl
