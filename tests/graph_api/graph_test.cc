// Graphs: ops that are added, how tensors connect them, what is refused.
#include "tim/graph/graph.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tim::graph {
namespace {

using data_type = logical_tensor::data_type;
using layout_type = logical_tensor::layout_type;

logical_tensor Float(size_t id, const logical_tensor::dims& dims = {2, 3}) {
  return {id, data_type::f32, dims, layout_type::strided};
}

op Relu(size_t id, size_t from, size_t to) {
  return {id, op::kind::ReLU, {Float(from)}, {Float(to)}};
}

// Status and message of what `call` throws.
struct Failure {
  tim_graph_status_t status = tim_graph_success;
  std::string message;
};
template <typename Call>
Failure FailureOf(const Call& call) {
  try {
    call();
  } catch (const error& failure) {
    return {failure.status, failure.what()};
  }
  return {};
}
bool Says(const Failure& failure, const std::string& text) {
  return failure.message.find(text) != std::string::npos;
}

TEST(Graph, NoKindOfEngineButCpuAndGpu) {
  const Failure failure = FailureOf([] { graph of(engine::kind::any); });
  EXPECT_EQ(failure.status, tim_graph_invalid_arguments);
  EXPECT_TRUE(Says(failure, "any")) << failure.message;
}

TEST(Graph, FpmathModeUntilFinalized) {
  graph of(engine::kind::cpu, fpmath_mode::bf16);
  of.set_fpmath_mode(fpmath_mode::f16, true);
  of.finalize();
  EXPECT_EQ(FailureOf([&] { of.set_fpmath_mode(fpmath_mode::strict); }).status,
            tim_graph_invalid_graph);
  fpmath_mode mode = fpmath_mode::strict;
  bool apply_to_int = false;
  of.get_fpmath_mode(mode, apply_to_int);
  EXPECT_EQ(mode, fpmath_mode::f16);
  EXPECT_TRUE(apply_to_int);
}

TEST(Graph, DefaultFpmathModeIsTheProcess) {
  EXPECT_EQ(set_default_fpmath_mode(fpmath_mode::tf32), status::success);
  const graph of(engine::kind::cpu);
  EXPECT_EQ(set_default_fpmath_mode(fpmath_mode::strict), status::success);
  fpmath_mode mode = fpmath_mode::strict;
  bool apply_to_int = true;
  of.get_fpmath_mode(mode, apply_to_int);
  EXPECT_EQ(mode, fpmath_mode::tf32);
  EXPECT_FALSE(apply_to_int);
  EXPECT_EQ(set_default_fpmath_mode(static_cast<fpmath_mode>(9)),
            status::invalid_arguments);
}

TEST(Graph, EqualOpIsIgnoredAndAnotherOneRefused) {
  graph of(engine::kind::cpu);
  of.add_op(Relu(1, 10, 11));
  EXPECT_EQ(of.add_op(Relu(1, 10, 11)), status::success);
  EXPECT_EQ(of.add_op(Relu(1, 10, 12), false), status::invalid_graph_op);
  const Failure failure = FailureOf([&] { of.add_op(Relu(1, 10, 12)); });
  EXPECT_EQ(failure.status, tim_graph_invalid_graph_op);
  EXPECT_TRUE(Says(failure, "another op with this id")) << failure.message;
  of.finalize();
  EXPECT_EQ(of.get_partitions().size(), 1u);
}

TEST(Graph, KindsThatDoNotExistAreRefused) {
  graph of(engine::kind::cpu);
  const op odd(3, static_cast<op::kind>(12345), {Float(1)}, {Float(2)}, "odd");
  const Failure failure = FailureOf([&] { of.add_op(odd); });
  EXPECT_EQ(failure.status, tim_graph_invalid_graph_op);
  EXPECT_TRUE(Says(failure, "'odd'") && Says(failure, "12345"))
      << failure.message;
}

TEST(Graph, TwoDescriptionsOfATensor) {
  graph of(engine::kind::cpu);
  of.add_op(Relu(1, 10, 11));
  of.add_op(op(2, op::kind::ReLU, {Float(11, {3, 2})}, {Float(12, {3, 2})}));
  const Failure failure = FailureOf([&] { of.finalize(); });
  EXPECT_EQ(failure.status, tim_graph_invalid_graph);
  EXPECT_TRUE(Says(failure, "tensor 11 is f32 {2, 3} for op 1 'ReLU_1'"))
      << failure.message;
  EXPECT_FALSE(of.is_finalized());
}

TEST(Graph, TwoProducersOfATensor) {
  graph of(engine::kind::cpu);
  of.add_op(Relu(1, 10, 11));
  of.add_op(Relu(2, 12, 11));
  const Failure failure = FailureOf([&] { of.finalize(); });
  EXPECT_EQ(failure.status, tim_graph_invalid_graph);
  EXPECT_TRUE(Says(failure, "tensor 11 is made by op 1")) << failure.message;
}

TEST(Graph, Cycle) {
  graph of(engine::kind::cpu);
  of.add_op(Relu(1, 10, 11));
  of.add_op(Relu(2, 11, 10));
  of.add_op(Relu(3, 11, 12));  // behind the cycle, not of it
  const Failure failure = FailureOf([&] { of.finalize(); });
  EXPECT_EQ(failure.status, tim_graph_invalid_graph);
  EXPECT_TRUE(Says(failure, "'ReLU_1' reads") && Says(failure, "'ReLU_2'"))
      << failure.message;
  EXPECT_FALSE(Says(failure, "'ReLU_3'")) << failure.message;
}

TEST(Graph, OpThatReadsItself) {
  graph of(engine::kind::cpu);
  of.add_op(Relu(1, 10, 10));
  EXPECT_EQ(FailureOf([&] { of.finalize(); }).status, tim_graph_invalid_graph);
}

TEST(Graph, OrderOfCalls) {
  graph of(engine::kind::cpu);
  of.add_op(Relu(1, 10, 11));
  EXPECT_EQ(FailureOf([&] { of.get_partitions(); }).status,
            tim_graph_invalid_graph);
  of.finalize();
  of.finalize();
  EXPECT_TRUE(of.is_finalized());
  EXPECT_EQ(of.add_op(Relu(2, 11, 12), false), status::invalid_graph);
}

TEST(Graph, WithoutOps) {
  graph of(engine::kind::gpu);
  of.finalize();
  EXPECT_TRUE(of.get_partitions().empty());
}

TEST(Op, AttributesThatAreNone) {
  op of(1, op::kind::Elu);
  EXPECT_EQ(
      FailureOf([&] { of.set_attr(op::attr::mode, std::string()); }).status,
      tim_graph_invalid_arguments);
  // A scalar is a list of one where the attribute is a list.
  op sum(2, op::kind::ReduceSum, {Float(1)}, {Float(2, {1, 3})});
  sum.set_attr<int64_t>(op::attr::axes, 0).set_attr(op::attr::keep_dims, true);
  graph all(engine::kind::cpu);
  EXPECT_EQ(all.add_op(sum), status::success);
  sum.set_attr(op::attr::axes, std::vector<float>{0});
  op wrong(3, op::kind::ReduceSum, {Float(1)}, {Float(3, {1, 3})});
  wrong.set_attr(op::attr::axes, std::vector<float>{0, 1});
  const Failure failure = FailureOf([&] { all.add_op(wrong); });
  EXPECT_EQ(failure.status, tim_graph_invalid_graph_op);
  EXPECT_TRUE(Says(failure, "'axes' is a list of floats")) << failure.message;
}

TEST(Op, EmptyHandles) {
  const op none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none, op());
  const Failure failure = FailureOf([&] { none.get(); });
  EXPECT_EQ(failure.status, tim_graph_invalid_arguments);
  EXPECT_EQ(failure.message, "object is not initialized");
  EXPECT_EQ(none.get(true), nullptr);
}

}  // namespace
}  // namespace tim::graph
