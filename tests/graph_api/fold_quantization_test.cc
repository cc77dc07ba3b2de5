// Graphs with Dequantize and Quantize before and behind FoldQuantization(), by
// the host references of their nodes.
#include "compiler/quantization/fold_quantization.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compiler.h"
#include "graph_api/expand_channels.h"
#include "graph_api/lower_ops.h"
#include "graph_api/op_def.h"
#include "ir/evaluate.h"
#include "ops/builtin.h"
#include "tests/graph_api/evaluated_op.h"

namespace tim::graph {
namespace {

using Codes = std::vector<uint8_t>;
using Attributes = std::vector<std::pair<tim_graph_op_attr_t, AttributeValue>>;

LogicalTensor TensorOf(size_t id, tim_graph_data_type_t type,
                       const Dims& dims = {}) {
  LogicalTensor tensor = {};
  tensor.id = id;
  tensor.ndims = dims.empty() ? -1 : static_cast<int>(dims.size());
  std::copy(dims.begin(), dims.end(), tensor.dims);
  tensor.data_type = type;
  tensor.layout_type = tim_graph_layout_type_strided;
  return tensor;
}

// Ops whose inputs are 8-bit codes, and whose output is the last op's.
struct Chain {
  std::vector<Op> ops = {};
  std::vector<LogicalTensor> inputs = {};
  std::vector<Codes> content = {};
  std::set<size_t> constants = {};  // Numbers of inputs.

  size_t Input(tim_graph_data_type_t type, const Dims& dims, uint32_t seed) {
    const Array random = Random(dims, seed);
    Codes codes;
    for (const double value : random.values) {
      const int shift = type == tim_graph_u8 ? 128 : 0;
      codes.push_back(
          static_cast<uint8_t>(static_cast<int>(value * 127) + shift));
    }
    content.push_back(codes);
    inputs.push_back(TensorOf(inputs.size(), type, dims));
    return inputs.back().id;
  }

  size_t Add(tim_graph_op_kind_t kind, const std::vector<size_t>& from,
             const Attributes& attributes = {},
             tim_graph_data_type_t type = tim_graph_f32) {
    Op op;
    op.id = ops.size();
    op.kind = kind;
    op.name = StrCat("op", ops.size());
    for (const size_t id : from) {
      op.inputs.push_back(id < inputs.size() ? inputs[id]
                                             : ops[id - 100].outputs[0]);
    }
    op.outputs.push_back(TensorOf(100 + ops.size(), type));
    for (const auto& [attribute, value] : attributes) {
      op.attributes.insert_or_assign(attribute, value);
    }
    const Status status = CheckOp(BuiltinOps(), &op);
    EXPECT_TRUE(status.ok()) << status.ToString();
    ops.push_back(op);
    return op.outputs[0].id;
  }

  size_t Dequantize(size_t from, Floats scales, Dims zps,
                    int64_t channels = -1) {
    Attributes attributes = {{tim_graph_op_attr_scales, scales}};
    if (!zps.empty()) attributes.push_back({tim_graph_op_attr_zps, zps});
    if (channels >= 0) {
      attributes.push_back(
          {tim_graph_op_attr_qtype, std::string("per_channel")});
      attributes.push_back({tim_graph_op_attr_axis, channels});
    }
    return Add(tim_graph_op_dequantize, {from}, attributes);
  }
  size_t Quantize(size_t from, float scale, int64_t zero) {
    return Add(tim_graph_op_quantize, {from},
               {{tim_graph_op_attr_scales, Floats{scale}},
                {tim_graph_op_attr_zps, Dims{zero}}},
               tim_graph_u8);
  }
};

struct Outcome {
  compiler::FoldedQuantization folded = {};
  Codes codes = {};
  std::string dump = "";
};

enum class Fold : uint8_t { kNo, kYes };

Result<ir::Graph> GraphOf(const Chain& chain) {
  KnownInputs known;
  for (const size_t i : chain.constants) {
    known[i] =
        ir::MakeConstant(chain.content[i].data(), chain.content[i].size());
  }
  TIM_ASSIGN_OR_RETURN(LoweredOps lowered,
                       LowerOps("test", chain.ops, chain.inputs, {}, known));
  for (size_t i = 0; i < chain.inputs.size(); ++i) {
    if (chain.constants.count(i) != 0) continue;
    lowered.graph.AddInput(lowered.tensors.at(i).id);
  }
  lowered.graph.AddOutput(
      lowered.tensors.at(chain.ops.back().outputs[0].id).id);
  return std::move(lowered.graph);
}

Result<Outcome> RunChain(const Chain& chain, Fold fold) {
  TIM_ASSIGN_OR_RETURN(ir::Graph graph, GraphOf(chain));
  std::vector<ir::TensorDesc> descs;
  std::vector<ir::ConstTensor> inputs;
  descs.reserve(chain.inputs.size());
  for (size_t i = 0; i < chain.inputs.size(); ++i) {
    if (chain.constants.count(i) != 0) continue;
    descs.push_back(graph.value(graph.inputs()[descs.size()]).desc);
    inputs.push_back({&descs.back(), chain.content[i].data()});
  }
  Outcome outcome;
  if (fold == Fold::kYes) {
    TIM_ASSIGN_OR_RETURN(outcome.folded, compiler::FoldQuantization(&graph));
    TIM_RETURN_IF_ERROR(ExpandChannels(&graph));
  }
  TIM_RETURN_IF_ERROR(graph.CheckChains());
  TIM_RETURN_IF_ERROR(compiler::InferGraph(&graph, ops::BuiltinOperators()));
  outcome.dump = graph.Dump();
  const ir::TensorDesc desc = graph.value(graph.outputs()[0]).desc;
  outcome.codes.resize(static_cast<size_t>(*ir::ByteSize(desc)));
  const ir::MutableTensor output = {&desc, outcome.codes.data()};
  TIM_RETURN_IF_ERROR(ir::Evaluate(graph, inputs, {&output, 1}));
  return outcome;
}

int MostApart(const Codes& a, const Codes& b) {
  int most = a.size() == b.size() ? 0 : 256;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    most = std::max(most, std::abs(int{a[i]} - int{b[i]}));
  }
  return most;
}

void ExpectFolded(const Chain& chain, int sums, int elements, int apart) {
  const Result<Outcome> plain = RunChain(chain, Fold::kNo);
  const Result<Outcome> folded = RunChain(chain, Fold::kYes);
  ASSERT_TRUE(plain.ok()) << plain.status().ToString();
  ASSERT_TRUE(folded.ok()) << folded.status().ToString();
  EXPECT_EQ(folded->folded.sums, sums) << folded->dump;
  EXPECT_EQ(folded->folded.elements, elements) << folded->dump;
  EXPECT_LE(MostApart(plain->codes, folded->codes), apart);
  const std::set<uint8_t> values(plain->codes.begin(), plain->codes.end());
  EXPECT_GT(values.size(), 8u) << "too few codes to tell anything";
}

Attributes Windows() {
  return {{tim_graph_op_attr_strides, Dims{1, 1}},
          {tim_graph_op_attr_dilations, Dims{1, 1}},
          {tim_graph_op_attr_pads_begin, Dims{1, 1}},
          {tim_graph_op_attr_pads_end, Dims{1, 1}}};
}

// u8 [N, H, W, C] and s8 weights [H, W, I, O] with a scale for each output.
Chain ConvolutionChain(const Dims& zps) {
  Chain chain;
  const size_t x = chain.Input(tim_graph_u8, {1, 6, 5, 4}, 1);
  const size_t w = chain.Input(tim_graph_s8, {3, 3, 4, 6}, 2);
  const size_t other = chain.Input(tim_graph_u8, {1, 6, 5, 6}, 3);
  chain.constants = {w};
  const size_t real = chain.Dequantize(x, {0.02f}, {128});
  const size_t weights = chain.Dequantize(
      w, {0.01f, 0.02f, 0.005f, 0.03f, 0.011f, 0.007f}, zps, 3);
  size_t y = chain.Add(tim_graph_op_convolution, {real, weights}, Windows());
  y = chain.Add(tim_graph_op_add, {y, chain.Dequantize(other, {0.03f}, {100})});
  y = chain.Add(tim_graph_op_relu, {y});
  chain.Quantize(y, 0.1f, 3);
  return chain;
}

// The sum reads codes, Add reads codes, ReLU writes codes.
TEST(FoldQuantization, ConvolutionAddReluOfChannelsLast) {
  ExpectFolded(ConvolutionChain({}), 1, 2, 1);
}

// The sum writes codes, which the limits are of.
TEST(FoldQuantization, LimitsBehindASumAreOfCodes) {
  for (const auto kind : {tim_graph_op_relu, tim_graph_op_clamp}) {
    Chain chain;
    const size_t x = chain.Input(tim_graph_u8, {1, 6, 5, 4}, 1);
    const size_t w = chain.Input(tim_graph_s8, {3, 3, 4, 6}, 2);
    chain.constants = {w};
    const size_t y = chain.Add(
        tim_graph_op_convolution,
        {chain.Dequantize(x, {0.02f}, {128}), chain.Dequantize(w, {0.01f}, {})},
        Windows());
    Attributes limits;
    if (kind == tim_graph_op_clamp) {
      limits = {{tim_graph_op_attr_min, -1.0f}, {tim_graph_op_attr_max, 2.0f}};
    }
    chain.Quantize(chain.Add(kind, {y}, limits), 0.04f, 60);
    ExpectFolded(chain, 1, 1, 1);
  }
}

// Conversions that do not say that they may be folded are operators like any.
TEST(FoldQuantization, OtherConversionsStay) {
  Result<ir::Graph> graph = GraphOf(ConvolutionChain({}));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  for (const ir::NodeId id : graph->NodeIds()) {
    ir::Node& node = graph->node(id);
    if (node.schema->name == "DataConvert") {
      node.attributes.Set("foldable", false);
    }
  }
  const std::string before = graph->Dump();
  const auto folded = compiler::FoldQuantization(&*graph);
  ASSERT_TRUE(folded.ok()) << folded.status().ToString();
  EXPECT_EQ(folded->sums + folded->elements, 0);
  EXPECT_EQ(graph->Dump(), before);
}

TEST(FoldQuantization, WeightsMustBeConstantsOfZeroPointZero) {
  ExpectFolded(ConvolutionChain({0, 0, 1, 0, 0, 0}), 0, 2, 0);
  Chain unknown = ConvolutionChain({});
  unknown.constants.clear();
  ExpectFolded(unknown, 0, 2, 0);
}

// A bias of its own scale beside products of 0.0002.
Chain BiasChain(float scale) {
  Chain chain;
  const size_t x = chain.Input(tim_graph_u8, {1, 6, 5, 4}, 1);
  const size_t w = chain.Input(tim_graph_s8, {3, 3, 4, 6}, 2);
  const size_t bias = chain.Input(tim_graph_s8, {6}, 3);
  chain.constants = {w, bias};
  chain.Quantize(chain.Add(tim_graph_op_convolution,
                           {chain.Dequantize(x, {0.02f}, {128}),
                            chain.Dequantize(w, {0.01f}, {}),
                            chain.Dequantize(bias, {0.00013f}, {})},
                           Windows()),
                 scale, 128);
  return chain;
}

TEST(FoldQuantization, CodesAreNoFinerThanARoundedBias) {
  ExpectFolded(BiasChain(0.05f), 1, 0, 1);
  const Result<Outcome> fine = RunChain(BiasChain(0.0001f), Fold::kYes);
  ASSERT_TRUE(fine.ok()) << fine.status().ToString();
  EXPECT_EQ(fine->folded.sums, 0) << fine->dump;
}

// The scales are of channels that are read.
TEST(FoldQuantization, ScalesOfOtherAxesStayFloats) {
  Chain chain;
  const size_t x = chain.Input(tim_graph_u8, {1, 6, 5, 3}, 1);
  const size_t w = chain.Input(tim_graph_s8, {3, 3, 3, 6}, 2);
  chain.constants = {w};
  const size_t real = chain.Dequantize(x, {0.02f}, {128});
  const size_t weights = chain.Dequantize(w, {0.01f, 0.02f, 0.005f}, {}, 2);
  chain.Quantize(
      chain.Add(tim_graph_op_convolution, {real, weights}, Windows()), 0.1f,
      128);
  ExpectFolded(chain, 0, 0, 0);
}

TEST(FoldQuantization, MatMul) {
  Chain chain;
  const size_t a = chain.Input(tim_graph_u8, {7, 33}, 1);
  const size_t b = chain.Input(tim_graph_s8, {33, 9}, 2);
  chain.constants = {b};
  chain.Quantize(
      chain.Add(tim_graph_op_matmul, {chain.Dequantize(a, {0.02f}, {120}),
                                      chain.Dequantize(b, {0.01f}, {})}),
      0.05f, 128);
  ExpectFolded(chain, 1, 0, 1);
}

TEST(FoldQuantization, PoolsAndConcat) {
  Chain chain;
  const size_t a = chain.Input(tim_graph_u8, {1, 6, 6, 3}, 1);
  const size_t b = chain.Input(tim_graph_u8, {1, 6, 6, 3}, 2);
  const size_t joined = chain.Add(tim_graph_op_concat,
                                  {chain.Dequantize(a, {0.02f}, {120}),
                                   chain.Dequantize(b, {0.02f}, {120})},
                                  {{tim_graph_op_attr_axis, int64_t{1}}});
  chain.Quantize(joined, 0.03f, 110);
  ExpectFolded(chain, 0, 1, 1);

  Chain pool;
  const size_t x = pool.Input(tim_graph_u8, {1, 6, 6, 3}, 1);
  pool.Quantize(
      pool.Add(tim_graph_op_max_pool, {pool.Dequantize(x, {0.02f}, {120})},
               {{tim_graph_op_attr_strides, Dims{2, 2}},
                {tim_graph_op_attr_kernel, Dims{2, 2}},
                {tim_graph_op_attr_pads_begin, Dims{0, 0}},
                {tim_graph_op_attr_pads_end, Dims{0, 0}}}),
      0.02f, 120);
  ExpectFolded(pool, 0, 1, 1);
}

// Arithmetic in place of conversions that no kernel has.
TEST(FoldQuantization, ScalesOfChannelsBecomeArithmetic) {
  Chain chain;
  const size_t x = chain.Input(tim_graph_s8, {3, 4, 5}, 1);
  const size_t real =
      chain.Dequantize(x, {0.01f, 0.02f, 0.03f, 0.04f}, {1, 2, 3, 4}, 1);
  chain.Add(
      tim_graph_op_quantize, {real},
      {{tim_graph_op_attr_scales, Floats{0.01f, 0.02f, 0.03f, 0.04f, 0.05f}},
       {tim_graph_op_attr_qtype, std::string("per_channel")},
       {tim_graph_op_attr_axis, int64_t{2}}},
      tim_graph_s8);
  ExpectFolded(chain, 0, 0, 0);
  const Result<Outcome> folded = RunChain(chain, Fold::kYes);
  ASSERT_TRUE(folded.ok());
  EXPECT_NE(folded->dump.find("tim.Div"), std::string::npos) << folded->dump;
}

}  // namespace
}  // namespace tim::graph
