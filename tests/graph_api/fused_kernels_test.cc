// Chains of ops that become one kernel, counted in the plans that executes of
// their partitions have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "graph_api/constant_plans.h"
#include "graph_api/graph.h"
#include "graph_api/logical_tensor.h"
#include "ir/graph.h"
#include "tests/graph_api/evaluated_op.h"
#include "tests/graph_api/partition_support.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/status_macros.h"

namespace tim::graph {
namespace {

TIM_FOR_CPU_KERNELS();

using testing::Described;
using testing::OfUnknownRank;
using testing::WithProperty;
using Attributes = std::map<tim_graph_op_attr_t, AttributeValue>;
using EnginePtr = std::shared_ptr<tim_graph_engine>;
using Bytes = std::vector<std::byte>;

Bytes BytesOf(const LogicalTensor& tensor, uint32_t seed) {
  const Array random = Random(DimsOf(tensor), seed);
  Bytes bytes;
  for (const double value : random.values) {
    if (tensor.data_type == tim_graph_f32) {
      const auto real = static_cast<float>(value);
      const auto* first = reinterpret_cast<const std::byte*>(&real);
      bytes.insert(bytes.end(), first, first + sizeof(real));
    } else {
      const int zero = tensor.data_type == tim_graph_u8 ? 128 : 0;
      bytes.push_back(
          static_cast<std::byte>(static_cast<int>(value * 127) + zero));
    }
  }
  return bytes;
}

// Ops that follow each other; the first tensor is the input.
class Chain {
 public:
  explicit Chain(const LogicalTensor& input) : last_(input) { Give(input); }

  Chain& Then(tim_graph_op_kind_t kind, Attributes attributes = {},
              const std::vector<LogicalTensor>& others = {},
              tim_graph_data_type_t type = tim_graph_f32) {
    Op op = {.id = ops_.size(), .kind = kind, .name = ""};
    op.inputs = {last_};
    op.inputs.insert(op.inputs.end(), others.begin(), others.end());
    op.outputs = {last_ = OfUnknownRank(100 + ops_.size(), type)};
    op.attributes = std::move(attributes);
    ops_.push_back(std::move(op));
    return *this;
  }

  // Read by ops beside the last result.
  LogicalTensor Constant(const Dims& dims,
                         tim_graph_data_type_t type = tim_graph_f32) {
    return Give(WithProperty(Described(content_.size(), dims, type),
                             tim_graph_tensor_property_constant));
  }
  LogicalTensor Input(const Dims& dims, tim_graph_data_type_t type) {
    return Give(Described(content_.size(), dims, type));
  }
  // The result of an op that others read.
  LogicalTensor Made(tim_graph_op_kind_t kind, const LogicalTensor& input,
                     Attributes attributes) {
    const LogicalTensor last = std::exchange(last_, input);
    Then(kind, std::move(attributes));
    return std::exchange(last_, last);
  }

  Partitions Parts(const PartitionOptions& options = {}) const {
    Graph graph({.kind = tim_graph_cpu});
    for (const Op& op : ops_) EXPECT_OK(graph.AddOp(BuiltinOps(), op));
    EXPECT_OK(graph.Finalize());
    EXPECT_OK(graph.Filter(options));
    return graph.partitions();
  }

  // The plan of an execute with the constants.
  ir::Plan PlanOn(const EnginePtr& engine) const {
    const auto compiled = CompiledOn(engine, *Parts().at(0));
    if (compiled == nullptr) return {};
    KnownInputs known;
    for (const LogicalTensor& input : compiled->inputs()) {
      if (input.property != tim_graph_tensor_property_constant) continue;
      const Bytes& bytes = content_.at(input.id);
      known[input.id] = ir::MakeConstant(bytes.data(), bytes.size());
    }
    const auto plan = MakePlan(compiled->source(), known);
    EXPECT_OK(plan);
    return plan.ok() ? (*plan)->plan() : ir::Plan();
  }

  // The last result, partition by partition.
  Bytes Run(const EnginePtr& engine, tim_graph_partition_policy_t policy) {
    Stream stream(engine, tim_graph_stream_default_flags);
    for (const auto& part : Parts({.policy = policy})) {
      const auto compiled = CompiledOn(engine, *part);
      if (compiled == nullptr) return {};
      testing::Tensors in(engine);
      testing::Tensors out(engine);
      for (const LogicalTensor& port : compiled->inputs()) {
        in.Add(port, content_.at(port.id).data());
      }
      const LogicalTensor made = compiled->outputs()[0];
      shapes_[made.id] = made;
      content_[made.id].resize(MemorySizeOf(made));
      out.Add(made, content_[made.id].data());
      EXPECT_OK(compiled->Execute(stream, in.list(), out.list()));
    }
    return content_.at(last_.id);
  }

 private:
  std::shared_ptr<const CompiledPartition> CompiledOn(
      const EnginePtr& engine, const Partition& part) const {
    std::vector<LogicalTensor> inputs = part.ports().inputs;
    for (LogicalTensor& input : inputs) {
      const auto made = shapes_.find(input.id);
      if (made != shapes_.end()) input = made->second;
    }
    std::vector<LogicalTensor> outputs = part.ports().outputs;
    outputs[0].layout_type = tim_graph_layout_type_strided;
    const CompileResult made = Compile(part.source(), inputs, outputs, engine);
    EXPECT_OK(made.status);
    return made.compiled;
  }

  LogicalTensor Give(const LogicalTensor& tensor) {
    content_[tensor.id] = BytesOf(tensor, static_cast<uint32_t>(tensor.id));
    return tensor;
  }

  std::vector<Op> ops_;
  std::map<size_t, Bytes> content_;
  std::map<size_t, LogicalTensor> shapes_;  // Results of partitions before.
  LogicalTensor last_;
};

std::string NameOf(const ir::Step& step) {
  const auto* call = std::get_if<ir::HostCall>(&step.action);
  return call != nullptr ? call->op : step.kernel;
}

// Steps that compute: memory that is copied or has another layout behind them
// is not counted.
std::vector<std::string> KernelsOf(const ir::Plan& plan) {
  std::vector<std::string> kernels;
  for (const ir::Step& step : plan.steps) {
    if (std::holds_alternative<ir::Copy>(step.action)) continue;
    const std::string name = NameOf(step);
    if (name.find("eorder") == std::string::npos) kernels.push_back(name);
  }
  return kernels;
}

Attributes Windows() {
  return {{tim_graph_op_attr_strides, Dims{1, 1}},
          {tim_graph_op_attr_dilations, Dims{1, 1}},
          {tim_graph_op_attr_pads_begin, Dims{1, 1}},
          {tim_graph_op_attr_pads_end, Dims{1, 1}},
          {tim_graph_op_attr_data_format, std::string("NCX")},
          {tim_graph_op_attr_weights_format, std::string("OIX")}};
}

Chain ConvolutionBiasRelu() {
  Chain chain(Described(0, {1, 16, 8, 8}));
  const LogicalTensor weights = chain.Constant({32, 16, 3, 3});
  const LogicalTensor bias = chain.Constant({32});
  chain.Then(tim_graph_op_convolution, Windows(), {weights})
      .Then(tim_graph_op_bias_add,
            {{tim_graph_op_attr_data_format, std::string("NCX")}}, {bias})
      .Then(tim_graph_op_relu);
  return chain;
}

TEST(FusedKernels, ConvolutionBiasAndReluAreOnePartition) {
  const Partitions parts = ConvolutionBiasRelu().Parts();
  ASSERT_EQ(parts.size(), 1u);
  ASSERT_EQ(parts[0]->ops().size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(parts[0]->ops()[i].id, i);
  Chain twice(Described(0, {1, 16, 8, 8}));
  const LogicalTensor weights = twice.Constant({16, 16, 3, 3});
  twice.Then(tim_graph_op_convolution, Windows(), {weights})
      .Then(tim_graph_op_relu)
      .Then(tim_graph_op_convolution, Windows(), {weights});
  EXPECT_EQ(twice.Parts().size(), 1u);
  const Partitions anchored = twice.Parts({.max_anchors = 1});
  ASSERT_EQ(anchored.size(), 2u);
  EXPECT_EQ(anchored[0]->ops().size(), 2u);
}

TEST(FusedKernels, ConvolutionBiasAndReluAreOneKernel) {
  const EnginePtr engine = testing::OpenClEngine();
  if (engine == nullptr) GTEST_SKIP() << "no OpenCL device";
  const ir::Plan plan = ConvolutionBiasRelu().PlanOn(engine);
  EXPECT_EQ(KernelsOf(plan).size(), 1u)
      << ::testing::PrintToString(KernelsOf(plan));
  for (const ir::Step& step : plan.steps) EXPECT_NE(step.device, 0);
}

Attributes Scale(float scale, int64_t zero) {
  return {{tim_graph_op_attr_scales, Floats{scale}},
          {tim_graph_op_attr_zps, Dims{zero}}};
}

struct QuantizedCase {
  int64_t inputs = 16;
  int64_t outputs = 32;
  tim_graph_data_type_t type = tim_graph_u8;
  int64_t stride = 1;
  bool residual = true;
};

// Activations of one scale, s8 weights with a scale for each output channel.
Chain QuantizedConvolution(const QuantizedCase& of) {
  const LogicalTensor codes = Described(0, {1, of.inputs, 8, 8}, of.type);
  Chain chain(codes);
  const LogicalTensor weights =
      chain.Constant({of.outputs, of.inputs, 3, 3}, tim_graph_s8);
  Floats scales;
  for (int64_t i = 0; i < of.outputs; ++i) {
    scales.push_back(0.002f * static_cast<float>(1 + i % 5));
  }
  const LogicalTensor real_weights =
      chain.Made(tim_graph_op_dequantize, weights,
                 {{tim_graph_op_attr_scales, scales},
                  {tim_graph_op_attr_qtype, std::string("per_channel")},
                  {tim_graph_op_attr_axis, int64_t{0}}});
  const int64_t zero = of.type == tim_graph_u8 ? 128 : 0;
  const int64_t side = 8 / of.stride;
  LogicalTensor residual = {};
  if (of.residual) {
    const LogicalTensor other =
        chain.Input({1, of.outputs, side, side}, of.type);
    residual =
        chain.Made(tim_graph_op_dequantize, other, Scale(0.03f, zero - 28));
  }
  Attributes windows = Windows();
  windows[tim_graph_op_attr_strides] = Dims{of.stride, of.stride};
  chain.Then(tim_graph_op_dequantize, Scale(0.02f, zero))
      .Then(tim_graph_op_convolution, windows, {real_weights});
  if (of.residual) chain.Then(tim_graph_op_add, {}, {residual});
  chain.Then(tim_graph_op_relu)
      .Then(tim_graph_op_quantize, Scale(0.05f, zero - 125), {}, of.type);
  return chain;
}

std::vector<QuantizedCase> QuantizedCases() {
  return {{},
          {.inputs = 5, .outputs = 19, .type = tim_graph_s8},
          {.stride = 2},
          {.outputs = 19, .residual = false}};
}

TEST(FusedKernels, AQuantizedConvolutionAddAndReluAreOneKernel) {
  const EnginePtr engine = testing::OpenClEngine();
  if (engine == nullptr) GTEST_SKIP() << "no OpenCL device";
  for (const QuantizedCase& of : QuantizedCases()) {
    const ir::Plan plan = QuantizedConvolution(of).PlanOn(engine);
    EXPECT_EQ(KernelsOf(plan).size(), 1u)
        << ::testing::PrintToString(KernelsOf(plan));
    for (const ir::Step& step : plan.steps) EXPECT_NE(step.device, 0);
  }
}

int MostApart(const Bytes& a, const Bytes& b) {
  int most = a.size() == b.size() ? 0 : 256;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const auto code_of = [&](std::byte byte) { return static_cast<int>(byte); };
    most = std::max(most, std::abs(code_of(a[i]) - code_of(b[i])) % 255);
  }
  return most;
}

// Codes of the host are the reference's; op by op they may be others by one.
TEST(FusedKernels, QuantizedConvolutionsGiveTheCodesOfTheHost) {
  const EnginePtr engine = testing::OpenClEngine();
  if (engine == nullptr) GTEST_SKIP() << "no OpenCL device";
  const auto fusion = tim_graph_partition_policy_fusion;
  for (const QuantizedCase& of : QuantizedCases()) {
    Chain chain = QuantizedConvolution(of);
    const Bytes host = chain.Run(testing::HostEngine(), fusion);
    const Bytes found = chain.Run(engine, fusion);
    EXPECT_EQ(found, host);
    const Bytes debug =
        chain.Run(testing::HostEngine(), tim_graph_partition_policy_debug);
    EXPECT_LE(MostApart(found, debug), 1);
    EXPECT_GT(std::set<std::byte>(found.begin(), found.end()).size(), 20u)
        << "too few codes to tell anything";
  }
}

}  // namespace
}  // namespace tim::graph
