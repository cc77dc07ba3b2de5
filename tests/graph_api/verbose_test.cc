// Verbose lines of compiles, executes and refusals, as a program that reads
// them takes them apart.
#include "graph_api/verbose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "graph_api/verbose_lines.h"
#include "tests/graph_api/partition_support.h"
#include "tim/graph/graph.hpp"
#include "tim/graph/settings.hpp"

namespace tim::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Fields = std::vector<std::string>;
using lt = logical_tensor;
using Floats = std::vector<float>;

// Set before the options are read.
[[maybe_unused]] const int kOnHost = setenv("TIMCL_DEVICE", "host", 1);
[[maybe_unused]] const int kVerbose = setenv("TIMCL_GRAPH_VERBOSE", "all", 1);

Fields Split(const std::string& text, char between) {
  Fields parts;
  size_t from = 0;
  for (size_t end; (end = text.find(between, from)) != std::string::npos;) {
    parts.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  parts.push_back(text.substr(from));
  return parts;
}

// Fields of the lines that `call()` prints.
std::vector<Fields> LinesOf(const std::function<void()>& call) {
  ::testing::internal::CaptureStdout();
  call();
  std::vector<Fields> lines;
  for (const std::string& line :
       Split(::testing::internal::GetCapturedStdout(), '\n')) {
    if (!line.empty()) lines.push_back(Split(line, ','));
  }
  return lines;
}

std::vector<Fields> Of(const std::string& what,
                       const std::vector<Fields>& lines) {
  std::vector<Fields> found;
  for (const Fields& line : lines) {
    if (line.size() > 1 && line[1] == what) found.push_back(line);
  }
  return found;
}

lt F32(size_t id, const lt::dims& dims,
       lt::property_type property = lt::property_type::undef) {
  return {id, lt::data_type::f32, dims, lt::layout_type::strided, property};
}

// y = relu(x * w) on a cpu engine.
class Product {
 public:
  explicit Product(int64_t rows)
      : x_(F32(0, {rows, 2})),
        y_(F32(3, {rows, 3})),
        in_(static_cast<size_t>(rows) * 2, 1.0f),
        out_(static_cast<size_t>(rows) * 3) {
    class graph g(engine::kind::cpu);
    g.add_op(op(7, op::kind::MatMul, {x_, w_}, {product_}, "a,product"));
    g.add_op(op(8, op::kind::ReLU, {product_}, {y_}));
    g.finalize();
    part_ = g.get_partitions().at(0);
  }

  ~Product() { stream_.wait(); }  // runs use its memory

  size_t id() const { return part_.get_id(); }
  void Compile() { compiled_ = part_.compile({x_, w_}, {y_}, engine_); }
  void Execute() {
    compiled_.execute(
        stream_,
        {tensor(x_, engine_, in_.data()), tensor(w_, engine_, weights_.data())},
        {tensor(y_, engine_, out_.data())});
  }
  const Floats& out() const { return out_; }

 private:
  engine engine_{engine::kind::cpu, 0};
  stream stream_{engine_, stream::flags::asynchronous};
  const lt x_, y_;
  const lt w_ = F32(1, {2, 3});
  const lt product_{2, lt::data_type::f32};
  Floats in_, weights_ = {1, 2, 3, 4, 5, 6}, out_;
  partition part_;
  compiled_partition compiled_;
};

TEST(Verbose, LinesTellWhatIsCompiledAndExecuted) {
  Product product(4);
  const auto compiled = LinesOf([&] { product.Compile(); });
  ASSERT_THAT(compiled, SizeIs(1));
  const Fields line = compiled[0];
  ASSERT_THAT(line, SizeIs(12));
  EXPECT_EQ(line[0], "timcl_graph");
  EXPECT_EQ(line[1], "compile:cache_miss");
  EXPECT_EQ(line[2], "cpu");
  EXPECT_EQ(line[3], std::to_string(product.id()));
  EXPECT_EQ(line[4], "a_product;ReLU_8");
  EXPECT_EQ(line[5], "");
  EXPECT_THAT(Split(line[6], ' '),
              ElementsAre("in0_f32:0:strided:undef:4x2:2s1",
                          "in1_f32:1:strided:undef:2x3:3s1",
                          "out0_f32:3:strided:undef:4x3:3s1"));
  EXPECT_EQ(line[7], "fpm:strict");
  EXPECT_THAT(line[8], ::testing::StartsWith("scratchpad:"));
  EXPECT_THAT(line[9], HasSubstr("host:tim.Matmul"));
  EXPECT_THAT(line[10], ::testing::Not(IsEmpty()));
  EXPECT_GT(std::stod(line[11]), 0);

  // The run of an asynchronous stream is over when its line is printed.
  const auto executed = LinesOf([&] { product.Execute(); });
  EXPECT_EQ(product.out(), (Floats{5, 7, 9, 5, 7, 9, 5, 7, 9, 5, 7, 9}));
  ASSERT_THAT(executed, SizeIs(1));
  ASSERT_THAT(executed[0], SizeIs(12));
  EXPECT_EQ(executed[0][1], "exec");
  EXPECT_GT(std::stod(executed[0][11]), 0);
  for (size_t field = 2; field < 11; ++field) {
    EXPECT_EQ(executed[0][field], line[field]);
  }
}

TEST(Verbose, EqualCompilesHitTheCacheInAMoment) {
  Product product(5);
  product.Compile();
  double fastest = 1e9;  // others may have the processor meanwhile
  for (int i = 0; i < 10; ++i) {
    const auto lines = LinesOf([&] { product.Compile(); });
    ASSERT_THAT(lines, SizeIs(1));
    EXPECT_EQ(lines[0].at(1), "compile:cache_hit");
    fastest = std::min(fastest, std::stod(lines[0].at(11)));
  }
  EXPECT_LT(fastest, 1);
}

TEST(Verbose, RefusalsHaveTheirReason) {
  const engine host(engine::kind::cpu, 0);
  class graph g(engine::kind::cpu);
  g.add_op(op(4, op::kind::Wildcard, {F32(0, {2})}, {F32(1, {2})}, "odd"));
  g.finalize();
  std::vector<partition> parts;
  auto lines = LinesOf([&] { parts = g.get_partitions(); });
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0].at(1), "dispatch");
  EXPECT_THAT(lines[0].at(2), HasSubstr("op 4: Wildcard 'odd': the library"));

  lines = LinesOf([&] {
    EXPECT_THROW(parts.at(0).compile({F32(0, {2})}, {F32(1, {2})}, host),
                 error);
  });
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0].at(1), "check");
  EXPECT_THAT(lines[0].at(2), HasSubstr("Wildcard 'odd': the library"));

  // One field, whatever the text is made of.
  lines = LinesOf([&] {
    EXPECT_THROW(g.add_op(op(5, op::kind::ReLU, {}, {F32(1, {2})}, "a,\nb")),
                 error);
  });
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_THAT(lines[0], SizeIs(3));
  EXPECT_EQ(lines[0].at(1), "check");
  EXPECT_THAT(lines[0].at(2), HasSubstr("a; b"));

  lines = LinesOf([] {
    verbose::Dispatch("step 'x' runs on the host");
    verbose::Refusal(tim_graph_unimplemented, "of rank 9");
    verbose::Refusal(tim_graph_runtime_error, "lost");
    verbose::Refusal(tim_graph_out_of_memory, "full");
    verbose::Refusal(tim_graph_invalid_shape, "[2] and [3]");
  });
  EXPECT_THAT(lines,
              ElementsAre(ElementsAre("timcl_graph", "dispatch",
                                      "step 'x' runs on the host"),
                          ElementsAre("timcl_graph", "dispatch", "of rank 9"),
                          ElementsAre("timcl_graph", "error", "lost"),
                          ElementsAre("timcl_graph", "error", "full"),
                          ElementsAre("timcl_graph", "check", "[2] and [3]")));
}

TEST(Verbose, PortsAndFormats) {
  LogicalTensor scalar = testing::Described(9, {}, tim_graph_s32);
  scalar.property = tim_graph_tensor_property_host_scalar;
  EXPECT_EQ(verbose::PortText("in", 2, scalar),
            "in2_s32:9:strided:host_scalar::");
  LogicalTensor opaque = testing::Described(5, {2, 3}, tim_graph_bf16);
  opaque.layout_type = tim_graph_layout_type_opaque;
  opaque.layout.layout_id = 77;
  opaque.property = tim_graph_tensor_property_constant;
  EXPECT_EQ(verbose::PortText("out", 0, opaque),
            "out0_bf16:5:opaque:constant:2x3:77");
  Op conv;
  conv.attributes = {{tim_graph_op_attr_data_format, std::string("NXC")},
                     {tim_graph_op_attr_weights_format, std::string("OIX")}};
  Op bias;
  bias.attributes = {{tim_graph_op_attr_data_format, std::string("NXC")}};
  EXPECT_EQ(verbose::FormatsText({conv, bias, Op()}), "data:NXC;weights:OIX");
  EXPECT_EQ(verbose::FormatsText({}), "");
}

TEST(Verbose, KernelsOfAPlan) {
  const auto step = [](const char* kernel, ir::Action action) {
    ir::Step made;
    made.kernel = kernel;
    made.action = std::move(action);
    return made;
  };
  ir::Plan plan;
  EXPECT_EQ(verbose::KernelsText(plan), "none");
  ir::HostCall call;
  call.op = "tim.Softmax@1";
  plan.steps = {step("conv2d_tile", ir::KernelLaunch()), step("", ir::Copy()),
                step("relu", ir::KernelLaunch()),
                step("conv2d_tile", ir::KernelLaunch()), step("", call)};
  EXPECT_EQ(verbose::KernelsText(plan),
            "conv2d_tile;copy;relu;host:tim.Softmax@1");
}

// The last one: the function wins over the variable from here on.
TEST(Verbose, LevelsOfTheFunction) {
  const auto count = [](int level) {
    EXPECT_EQ(set_verbose(level), status::success);
    Product product(6);
    return LinesOf([&] {
      product.Compile();
      product.Execute();
    });
  };
  EXPECT_THAT(count(0), IsEmpty());
  const auto first = count(1);
  EXPECT_THAT(first, SizeIs(1));
  EXPECT_THAT(Of("exec", first), SizeIs(1));
  const auto second = count(2);
  EXPECT_THAT(second, SizeIs(2));
  EXPECT_THAT(Of("exec", second), SizeIs(1));
  EXPECT_THAT(LinesOf([] {
                EXPECT_EQ(set_verbose(3), status::invalid_arguments);
                EXPECT_EQ(set_verbose(-1), status::invalid_arguments);
              }),
              IsEmpty());
  EXPECT_EQ(Verbose(), kVerboseCompile | kVerboseExecute);
}

}  // namespace
}  // namespace tim::graph
