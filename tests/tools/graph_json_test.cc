// Reading graph files: what they may have in many forms, and what is refused
// with its place.
#include "tools/timcl/graph_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "graph_api/graph.h"
#include "graph_api/json_graph.h"
#include "graph_api/lower_ops.h"
#include "graph_api/op_def.h"
#include "graph_api/partitioning.h"
#include "tests/graph_api/every_kind.h"
#include "tests/graph_api/partition_support.h"
#include "tim/graph/c_extension.h"
#include "tools/timcl/graph_runner.h"
#include "tools/timcl/graph_tensor.h"

namespace tim::tool {
namespace {

using graph::Dims;
using graph::Floats;
using graph::LogicalTensor;
using graph::Op;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kTensor[] =
    R"({"id": 0, "dtype": "f32", "shape": [2, 3], "stride": [3, 1],
        "layout_type": "strided", "property_type": "variable"})";

std::string WithOp(const std::string& op) {
  return R"({"graph": [)" + op + "]}";
}

std::string WithAttributes(const std::string& attributes,
                           const std::string& kind = "Convolution") {
  return WithOp(R"({"id": 3, "name": "a", "kind": ")" + kind +
                R"(", "attrs": {)" + attributes + "}}");
}

std::string WithTensor(const std::string& tensor) {
  return WithOp(R"({"id": 3, "kind": "ReLU", "inputs": [)" + tensor + "]}");
}

GraphJson Read(const std::string& text) {
  auto graph = ReadGraphJson(text);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString() << "\n" << text;
  return graph.ok() ? *std::move(graph) : GraphJson();
}

Op ReadOp(const std::string& text) {
  const GraphJson graph = Read(text);
  return graph.ops.empty() ? Op() : graph.ops[0];
}

LogicalTensor ReadTensor(const std::string& tensor) {
  const Op op = ReadOp(WithTensor(tensor));
  return op.inputs.empty() ? LogicalTensor{} : op.inputs[0];
}

void ExpectRefused(const std::string& text, const std::string& message) {
  const auto graph = ReadGraphJson(text);
  ASSERT_FALSE(graph.ok()) << text;
  EXPECT_EQ(graph.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(graph.status().message(), HasSubstr(message));
}

TEST(GraphJson, ReadsOpsOfEveryKindAsTheyAreWritten) {
  const auto ops = graph::testing::OpsOfEveryKind();
  ASSERT_EQ(ops.size(), graph::BuiltinOps().All().size());
  const graph::Ports ports = graph::PortsOf(ops);
  const graph::GraphTraits traits = {.kind = tim_graph_gpu,
                                     .fpmath_mode = tim_graph_fpmath_mode_tf32,
                                     .fpmath_applies_to_int = true};
  const std::string text = graph::JsonOfGraph(ops, ports, traits);
  GraphJson read = Read(text);
  EXPECT_EQ(read.version, "3.14.0");
  EXPECT_EQ(read.input_ports.size(), ports.inputs.size());
  EXPECT_EQ(read.output_ports.size(), ports.outputs.size());
  for (Op& op : read.ops) {
    const Status status = graph::CheckOp(graph::BuiltinOps(), &op);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  EXPECT_EQ(graph::JsonOfGraph(read.ops, graph::PortsOf(read.ops), read.traits),
            text);
}

// Attributes that only the registered kind has, and one that others have, too.
TEST(GraphJson, ReadsRegisteredKindsAsTheyAreWritten) {
  tim_graph_op_kind_t kind = tim_graph_op_last_symbol;
  ASSERT_EQ(tim_graph_register_expression(
                "demo", "Affine",
                "op affine(X) -> (O) attr (float by = 2.0, float beta = 0.0) {"
                " O = X * by + beta; }",
                &kind),
            tim_graph_success)
      << tim_graph_last_message();
  Op op = {.id = 4, .kind = kind, .name = ""};
  op.inputs = {graph::testing::Described(0, {2, 3})};
  op.outputs = {graph::testing::Described(1, {2, 3})};
  op.named = {{"by", 3.0f}, {"beta", 0.5f}};
  ASSERT_TRUE(graph::CheckOp(graph::BuiltinOps(), &op).ok());
  const graph::Ports ports = graph::PortsOf({op});
  const std::string text = graph::JsonOfGraph({op}, ports, {});
  EXPECT_THAT(text, HasSubstr("\"demo.Affine@1\""));
  const GraphJson read = Read(text);
  EXPECT_THAT(read.ignored, IsEmpty());
  graph::Graph whole(read.traits);
  for (const Op& one : read.ops) {
    ASSERT_TRUE(whole.AddOp(graph::BuiltinOps(), one).ok());
  }
  EXPECT_EQ(graph::JsonOfGraph(whole.ops(), ports, read.traits), text);
  // The newest of a name, which runs.
  std::string newest = text;
  newest.erase(newest.find("@1"), 2);
  EXPECT_EQ(Read(newest).ops.at(0).kind, kind);
  ASSERT_TRUE(whole.Finalize().ok());
  ASSERT_TRUE(whole.Filter({}).ok());
  ASSERT_EQ(whole.partitions().size(), 1u);
  auto x = AllocateTensor(op.inputs[0]);
  ASSERT_TRUE(x.ok());
  std::fill_n(reinterpret_cast<float*>(x->memory.get()), 6, 2.0f);
  GraphTensors tensors;
  tensors.emplace(0, *std::move(x));
  const auto runner = GraphRunner::Create(tim_graph_cpu, "host");
  ASSERT_TRUE(runner.ok()) << runner.status().ToString();
  const auto run = runner->Run(whole.partitions()[0], tensors, 0, "");
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  EXPECT_EQ(reinterpret_cast<const float*>(run->outputs.at(0).memory.get())[5],
            6.5f);
  const auto expected = Evaluate(*whole.partitions()[0], tensors);
  ASSERT_TRUE(expected.ok()) << expected.status().ToString();
  ExpectRefused(WithOp(R"({"id": 1, "kind": "demo.Affine@7"})"),
                "one that is registered");
}

TEST(GraphJson, ReadsWhatNeedNotBeThere) {
  const GraphJson graph = Read(WithOp(R"({"id": 1, "kind": "End"})"));
  EXPECT_EQ(graph.traits.kind, tim_graph_cpu);
  EXPECT_EQ(graph.traits.fpmath_mode, tim_graph_fpmath_mode_strict);
  EXPECT_FALSE(graph.traits.fpmath_applies_to_int);
  EXPECT_THAT(graph.input_ports, IsEmpty());
  EXPECT_EQ(graph.ops.at(0).name, "");
  const LogicalTensor tensor = ReadTensor(R"({"id": 9})");
  EXPECT_EQ(tensor.ndims, TIM_GRAPH_UNKNOWN_NDIMS);
  EXPECT_EQ(tensor.data_type, tim_graph_data_type_undef);
  EXPECT_EQ(tensor.layout_type, tim_graph_layout_type_undef);
  EXPECT_EQ(tensor.property, tim_graph_tensor_property_undef);
  EXPECT_THAT(Read(R"({"graph": []})").ops, IsEmpty());
}

TEST(GraphJson, ReadsHeads) {
  const GraphJson graph = Read(
      R"({"version": "3.5.0", "engine_kind": "GPU", "fpmath_mode": "bf16",
          "fpmath_mode_apply_to_int": "true", "input_ports": ["7", 18446744073709551615],
          "output_ports": [3.0], "graph": [], "more": {"a": [1]}})");
  EXPECT_EQ(graph.version, "3.5.0");
  EXPECT_EQ(graph.traits.kind, tim_graph_gpu);
  EXPECT_EQ(graph.traits.fpmath_mode, tim_graph_fpmath_mode_bf16);
  EXPECT_TRUE(graph.traits.fpmath_applies_to_int);
  EXPECT_THAT(graph.input_ports,
              ElementsAre(7, std::numeric_limits<size_t>::max()));
  EXPECT_THAT(graph.output_ports, ElementsAre(3));
  EXPECT_EQ(Read(R"({"engine_kind": "any", "graph": []})").traits.kind,
            tim_graph_cpu);
}

TEST(GraphJson, ReadsNamesOfOlderFiles) {
  for (const auto& [name, kind] :
       {std::pair("BiasAddBackprop", tim_graph_op_bias_add_backward),
        {"ConvolutionBackpropData", tim_graph_op_convolution_backward_data},
        {"ConvolutionBackpropFilters",
         tim_graph_op_convolution_backward_weights},
        {"ConvTransposeBackpropFilters",
         tim_graph_op_conv_transpose_backward_weights},
        {"BatchNormTrainingBackprop", tim_graph_op_batch_norm_backward},
        {"SoftPlusBackprop", tim_graph_op_softplus_backward},
        {"HardTanh", tim_graph_op_clamp},
        {"HardTanhBackprop", tim_graph_op_clamp_backward},
        {"softmax", tim_graph_op_softmax}}) {
    EXPECT_EQ(ReadOp(WithAttributes("", name)).kind, kind) << name;
  }
  const Op op = ReadOp(WithAttributes(
      R"("filter_format": {"type": "string", "value": "OIX"},
         "output_shape": {"type": "s64[]", "value": [1, 2]})"));
  EXPECT_EQ(op.String(tim_graph_op_attr_weights_format), "OIX");
  EXPECT_EQ(op.Ints(tim_graph_op_attr_dst_shape), Dims({1, 2}));
}

TEST(GraphJson, ReadsAttributesInManyForms) {
  const Op op = ReadOp(WithAttributes(
      R"("strides": {"type": "s64[]", "value": ["2", 1.0]},
         "pads_begin": {"type": "s64[]", "value": []},
         "pads_end": {"value": ""}, "kernel": 3,
         "groups": {"type": "s64", "value": [4]},
         "epsilon": {"type": "f32", "value": "1e-3"},
         "scales": {"type": "f32[]", "value": [1, 0.5, -0]},
         "max": {"type": "f32", "value": inf}, "min": {"type": "f32", "value": "-inf"},
         "alpha": {"type": "f32", "value": -nan},
         "keep_dims": {"type": "bool", "value": 1}, "use_dst": {"value": "false"},
         "partition_id": {"type": "string", "value": "7"}, "matched": true,
         "invented": {"type": "s64", "value": 1})"));
  EXPECT_EQ(op.Ints(tim_graph_op_attr_strides), Dims({2, 1}));
  EXPECT_EQ(op.Ints(tim_graph_op_attr_pads_begin), Dims());
  EXPECT_EQ(op.Ints(tim_graph_op_attr_pads_end), Dims());
  EXPECT_EQ(op.Ints(tim_graph_op_attr_kernel), Dims({3}));
  EXPECT_EQ(op.Int(tim_graph_op_attr_groups), 4);
  EXPECT_EQ(op.Float(tim_graph_op_attr_epsilon), 1e-3f);
  EXPECT_EQ(op.FloatList(tim_graph_op_attr_scales), Floats({1, 0.5, 0}));
  EXPECT_EQ(op.Float(tim_graph_op_attr_max), INFINITY);
  EXPECT_EQ(op.Float(tim_graph_op_attr_min), -INFINITY);
  EXPECT_TRUE(std::isnan(op.Float(tim_graph_op_attr_alpha)));
  EXPECT_TRUE(op.Bool(tim_graph_op_attr_keep_dims));
  EXPECT_FALSE(op.Bool(tim_graph_op_attr_use_dst));
  EXPECT_EQ(op.attributes.size(), 12u);
  const GraphJson graph =
      Read(WithAttributes(R"("invented": 1, "backend": 2)"));
  EXPECT_THAT(graph.ignored, ElementsAre("attribute 'invented'"));
}

TEST(GraphJson, ReadsTensorsInManyForms) {
  LogicalTensor tensor = ReadTensor(kTensor);
  EXPECT_EQ(graph::DimsOf(tensor), Dims({2, 3}));
  EXPECT_EQ(tensor.property, tim_graph_tensor_property_variable);
  tensor = ReadTensor(R"({"id": "12", "dtype": "BF16", "shape": ["4", -1],
      "layout_type": "strided", "property_type": "constant"})");
  EXPECT_EQ(tensor.id, 12u);
  EXPECT_EQ(tensor.data_type, tim_graph_bf16);
  EXPECT_EQ(graph::DimsOf(tensor), Dims({4, TIM_GRAPH_UNKNOWN_DIM}));
  EXPECT_EQ(tensor.layout.strides[0], TIM_GRAPH_UNKNOWN_DIM);
  tensor = ReadTensor(R"({"id": 1, "dtype": "s8", "shape": [4, 5],
      "stride": [1, 4]})");
  EXPECT_EQ(tensor.layout_type, tim_graph_layout_type_strided);
  EXPECT_EQ(tensor.layout.strides[1], 4);
  tensor = ReadTensor(R"({"id": 1, "shape": [2, 5], "layout_type": "strided",
      "stride": [-9223372036854775808]})");
  EXPECT_EQ(tensor.layout.strides[0], 5);
  tensor = ReadTensor(R"({"id": 1, "shape": [-9223372036854775808],
      "stride": [-9223372036854775808], "layout_type": "any"})");
  EXPECT_EQ(tensor.ndims, TIM_GRAPH_UNKNOWN_NDIMS);
  for (const char* scalar : {"\"\"", "[]", "[\"\"]"}) {
    tensor = ReadTensor(StrCat(R"({"id": 1, "dtype": "s64", "shape": )", scalar,
                               R"(, "stride": )", scalar,
                               R"(, "layout_type": "strided",
                                    "property_type": "host_scalar"})"));
    EXPECT_EQ(tensor.ndims, 0) << scalar;
    EXPECT_EQ(tensor.property, tim_graph_tensor_property_host_scalar);
  }
  for (const auto& [name, type] : {std::pair("f8_e5m2", tim_graph_f8_e5m2),
                                   {"s4", tim_graph_s4},
                                   {"boolean", tim_graph_boolean},
                                   {"bool", tim_graph_boolean},
                                   {"undef", tim_graph_data_type_undef}}) {
    EXPECT_EQ(
        ReadTensor(StrCat(R"({"id": 1, "dtype": ")", name, "\"}")).data_type,
        type);
  }
}

TEST(GraphJson, TakesOverWhatOneUseOfATensorKnows) {
  const auto op = [](const std::string& id, const std::string& in,
                     const std::string& out) {
    return R"({"id": )" + id + R"(, "kind": "ReLU", "inputs": [)" + in +
           R"(], "outputs": [)" + out + "]}";
  };
  const std::string open =
      R"({"id": 1, "shape": [-1, 3], "layout_type": "any"})";
  const std::string more =
      R"({"id": 1, "dtype": "f16", "shape": [2, -1], "layout_type": "strided",
          "property_type": "variable"})";
  const GraphJson graph = Read(WithOp(op("0", R"({"id": 0})", open) + "," +
                                      op("1", more, R"({"id": 2})")));
  for (const LogicalTensor& tensor :
       {graph.ops.at(0).outputs.at(0), graph.ops.at(1).inputs.at(0)}) {
    EXPECT_EQ(graph::DimsOf(tensor), Dims({2, 3}));
    EXPECT_EQ(tensor.data_type, tim_graph_f16);
    EXPECT_EQ(tensor.property, tim_graph_tensor_property_variable);
    EXPECT_EQ(tensor.layout_type, tim_graph_layout_type_strided);
    EXPECT_EQ(tensor.layout.strides[0], 3);
  }
}

TEST(GraphJson, RefusesWhatIsNoJson) {
  ExpectRefused("", "line 1, column 1: no JSON");
  ExpectRefused("{\"graph\": [,]}", "no JSON");
  ExpectRefused("{\n \"graph\" 1}", "line 2, column 10: no JSON: ");
  ExpectRefused(R"({"graph": [)", "no JSON");
  ExpectRefused(R"({"graph": [1e999]})", "no JSON");
  ExpectRefused(std::string(1000000, '['), "nested more than 64 deep");
  ExpectRefused("{\"\xff\": 1}", "no JSON");
}

TEST(GraphJson, RefusesWithThePlace) {
  ExpectRefused("[]", "the file: expected an object, found an array");
  ExpectRefused("{}", "the file: expected a member \"graph\"");
  ExpectRefused(R"({"graph": 3})", "graph: expected an array, found 3");
  ExpectRefused(R"({"graph": [7]})", "graph[0]: expected an object, found 7");
  ExpectRefused(R"({"graph": [], "engine_kind": "tpu"})",
                "engine_kind: expected an engine kind");
  ExpectRefused(R"({"graph": [], "fpmath_mode": "loose"})", "fpmath_mode: ");
  ExpectRefused(R"({"graph": [], "input_ports": [1, -2]})",
                "input_ports[1]: expected an id");
  ExpectRefused(WithOp("{}"), "graph[0]: expected a member \"id\"");
  ExpectRefused(WithOp(R"({"id": 1})"), "expected a member \"kind\"");
  ExpectRefused(WithOp(R"({"id": 1, "name": "a", "kind": "Conv"})"),
                "op 1 'a': graph[0].kind: expected a kind of operation");
  ExpectRefused(
      WithAttributes(R"("strides": {"type": "s64[]"})"),
      "op 3 'a': graph[0].attrs.strides: expected a member \"value\"");
  ExpectRefused(
      WithAttributes(R"("strides": {"type": "s64[]", "value": [1, 1.5]})"),
      "graph[0].attrs.strides.value[1]: expected an integer of 64 bits, found "
      "1.5");
  ExpectRefused(WithAttributes(R"("groups": {"value": [1, 2]})"),
                "graph[0].attrs.groups.value: expected an integer");
  ExpectRefused(WithAttributes(R"("groups": 18446744073709551615)"),
                "graph[0].attrs.groups: expected an integer of 64 bits");
  ExpectRefused(WithAttributes(R"("epsilon": {"value": "small"})"),
                "epsilon.value: expected a number, found \"small\"");
  ExpectRefused(WithAttributes(R"("auto_pad": {"value": 3})"),
                "auto_pad.value: expected a text");
  ExpectRefused(WithAttributes(R"("keep_dims": {"value": 2})"),
                "keep_dims.value: expected true, false, 1 or 0");
  const std::string place = "op 3: graph[0].inputs[0]";
  ExpectRefused(WithTensor("5"), place + ": expected an object");
  ExpectRefused(WithTensor(R"({"id": -1})"), place + ".id: expected an id");
  ExpectRefused(WithTensor(R"({"id": 1, "dtype": "f33"})"),
                place + ".dtype: expected a type");
  ExpectRefused(WithTensor(R"({"id": 1, "shape": [1, {}]})"),
                place + ".shape[1]: expected an integer");
  ExpectRefused(
      WithTensor(R"({"id": 1, "shape": [1,1,1,1,1,1,1,1,1,1,1,1,1]})"),
      place + ".shape: expected at most 12 numbers");
  ExpectRefused(WithTensor(R"({"id": 1, "shape": [2, 3], "stride": [1]})"),
                place + ".stride: expected 2 strides");
  ExpectRefused(WithTensor(R"({"id": 1, "layout_type": "blocked"})"),
                place + ".layout_type: expected a layout");
  ExpectRefused(WithTensor(R"({"id": 1, "property_type": "odd"})"),
                place + ".property_type: expected a property");
  ExpectRefused(WithTensor(R"({"id": 1, "dtype": "f32", "shape": [2],
                     "property_type": "host_scalar"})"),
                "is a host scalar, which has rank 0");
}

}  // namespace
}  // namespace tim::tool
