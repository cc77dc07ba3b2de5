// `timcl graph-run`: graph files, the numbers that their inputs get, and how
// far results may be apart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph_api/json_graph.h"
#include "graph_api/lower_ops.h"
#include "graph_api/op_def.h"
#include "graph_api/partitioning.h"
#include "kernels/elements.h"
#include "tests/graph_api/every_kind.h"
#include "tests/graph_api/partition_support.h"
#include "tests/support/long_tests.h"
#include "tests/tools/timcl_program.h"
#include "tools/timcl/graph_difference.h"
#include "tools/timcl/graph_json.h"

namespace tim::tool {
namespace {

namespace fs = std::filesystem;
using graph::LogicalTensor;
using graph::Op;
using graph::testing::Described;
using graph::testing::OfUnknownRank;
using graph::testing::WithProperty;
using graph::testing::WithStrides;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Write(const std::vector<Op>& ops, const std::string& path) {
  std::vector<Op> checked = ops;
  for (Op& op : checked) {
    const Status status = graph::CheckOp(graph::BuiltinOps(), &op);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  WriteText(path, graph::JsonOfGraph(checked, graph::PortsOf(checked), {}));
  return path;
}

Op MakeOp(
    size_t id, tim_graph_op_kind_t kind, std::vector<LogicalTensor> inputs,
    std::vector<LogicalTensor> outputs,
    std::map<tim_graph_op_attr_t, graph::AttributeValue> attributes = {}) {
  return {.id = id,
          .kind = kind,
          .name = "",
          .inputs = std::move(inputs),
          .outputs = std::move(outputs),
          .attributes = std::move(attributes)};
}

// y = (x * w + log(v)) / s, and End of it.
std::vector<Op> Chain(const LogicalTensor& x) {
  const LogicalTensor w =
      WithProperty(Described(1, {5, 7}), tim_graph_tensor_property_constant);
  const LogicalTensor s =
      WithProperty(Described(3, {}), tim_graph_tensor_property_host_scalar);
  const LogicalTensor y = OfUnknownRank(13);
  return {
      MakeOp(0, tim_graph_op_matmul, {x, w}, {OfUnknownRank(10)}),
      MakeOp(1, tim_graph_op_log, {Described(2, {7})}, {OfUnknownRank(11)}),
      MakeOp(2, tim_graph_op_add, {OfUnknownRank(10), OfUnknownRank(11)},
             {OfUnknownRank(12)}),
      MakeOp(3, tim_graph_op_divide, {OfUnknownRank(12), s}, {y}),
      MakeOp(4, tim_graph_op_end, {y}, {}),
  };
}

bool HasOpenCl() { return testing::ContextOn("opencl") != nullptr; }

// ---- Every kind ----

void ExpectRun(const std::vector<Op>& ops, size_t unsupported,
               const std::string& device) {
  const std::string file =
      Write(ops, FreshFolder("every_kind_" + device) + "/graph.json");
  const CommandResult result = Timcl("graph-run '" + file + "' --device " +
                                     device + " --runs 0 --compare");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_THAT(result.output,
              AllOf(HasSubstr(StrCat(
                        ops.size(), " partitions: ", ops.size() - unsupported,
                        " run, ", unsupported, " unsupported, 0 different")),
                    Not(HasSubstr("NaN"))));
}

// All but Wildcard and End.
TEST(TimclGraphRun, EveryKindRunsOnTheHost) {
  ExpectRun(graph::testing::OpsOfEveryKind(), 2, "host");
}

// One or two of each family.
TEST(TimclGraphRun, SomeKindsRunOnOpenCl) {
  if (!HasOpenCl()) GTEST_SKIP() << "no OpenCL device";
  const std::set<std::string> kinds = {
      "Add",     "BatchNormInference", "Concat",     "Convolution",
      "GELU",    "Interpolate",        "LayerNorm",  "MatMul",
      "MaxPool", "Quantize",           "ReduceMean", "ReLUBackward",
      "SoftMax", "StaticTranspose"};
  std::vector<Op> ops = graph::testing::OpsOfEveryKind();
  std::erase_if(ops, [&](const Op& op) { return !kinds.count(op.def->name); });
  ASSERT_EQ(ops.size(), kinds.size());
  ExpectRun(ops, 0, "opencl");
}

// Kernels of nearly all kinds are built for it, which takes a minute.
TEST(TimclGraphRun, EveryKindRunsOnOpenCl) {
  if (!testing::RunsLongTests()) GTEST_SKIP() << "TIMCL_TEST_LONG is not set";
  if (!HasOpenCl()) GTEST_SKIP() << "no OpenCL device";
  ExpectRun(graph::testing::OpsOfEveryKind(), 2, "opencl");
}

// ---- Files ----

TEST(TimclGraphRun, NamesPartitions) {
  const std::string file =
      Write(Chain(Described(0, {3, 5})), FreshFolder("chain") + "/g.json");
  const std::string command = "graph-run '" + file + "' --device host ";
  const CommandResult fused = Timcl(command + "--compare");
  EXPECT_EQ(fused.exit_status, 0) << fused.output;
  EXPECT_THAT(
      fused.output,
      AllOf(HasSubstr("  MatMul_0;Log_1;Add_2;Divide_3  kernels "),
            HasSubstr("  host  "), HasSubstr(" ms  error "),
            HasSubstr(" in tensor 13\n"),
            HasSubstr("  End_4  unsupported: End 'End_4': the library does "
                      "not run this kind\n"),
            HasSubstr("2 partitions: 1 run, 1 unsupported, 0 different\n")));
  const CommandResult debug = Timcl(command + "--policy debug --seed 7");
  EXPECT_EQ(debug.exit_status, 0) << debug.output;
  EXPECT_THAT(debug.output,
              AllOf(HasSubstr("5 partitions: 4 run, 1 unsupported"),
                    Not(HasSubstr("error"))));
  const auto json = TimclJson(command + "--compare");
  EXPECT_EQ(json["engine"], "cpu");
  EXPECT_EQ(json["version"], "3.14.0");
  ASSERT_EQ(json["partitions"].size(), 2u) << json;
  const auto& first = json["partitions"][0];
  EXPECT_EQ(first["operations"].size(), 4u);
  EXPECT_EQ(first["outputs"][0]["id"], 13);
  EXPECT_EQ(first["outputs"][0]["tensor"], "f32 {3, 7}");
  EXPECT_EQ(first["outputs"][0]["nans"], 0);
  EXPECT_EQ(first["outputs"][0]["differs"], false);
  EXPECT_EQ(json["partitions"][1]["supported"], false);
}

TEST(TimclGraphRun, RunsOnGpuEngines) {
  if (!HasOpenCl()) GTEST_SKIP() << "no OpenCL device";
  const std::string file =
      Write(Chain(Described(0, {3, 5})), FreshFolder("gpu") + "/g.json");
  const std::string command = "graph-run '" + file + "' --engine gpu ";
  const CommandResult result =
      Timcl(command + "--compare", "TIMCL_GRAPH_GPU=all");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("1 run, 1 unsupported, 0 different"));
  ExpectFailure(command + "--device host", 2,
                "--device names the device of a cpu engine");
}

TEST(TimclGraphRun, TellsWhatDiffers) {
  if (!HasOpenCl()) GTEST_SKIP() << "no OpenCL device";
  // Sums in another order than the host's, and no tolerance.
  const std::string file =
      Write({MakeOp(0, tim_graph_op_matmul,
                    {Described(0, {33, 1001}), Described(1, {1001, 65})},
                    {OfUnknownRank(2)})},
            FreshFolder("differs") + "/g.json");
  const std::string command =
      "graph-run '" + file + "' --device opencl --compare";
  EXPECT_EQ(Timcl(command).exit_status, 0);
  const CommandResult result = Timcl(command + " --tolerance 0");
  EXPECT_EQ(result.exit_status, 1) << result.output;
  EXPECT_THAT(result.output, AllOf(HasSubstr(" in tensor 2  DIFFERENT\n"),
                                   HasSubstr(" 1 different\n")));
}

TEST(TimclGraphRun, FillsOpenDims) {
  const LogicalTensor open = Described(
      0, {TIM_GRAPH_UNKNOWN_DIM, 5}, tim_graph_f32, tim_graph_layout_type_any);
  const std::string file = Write(Chain(open), FreshFolder("open") + "/g.json");
  const std::string command = "graph-run '" + file + "' --device host ";
  ExpectFailure(command, 2,
                "tensor 0, f32 {?, 5}, has dims that nobody tells; give them "
                "with --shape 0=DIMxDIM");
  const CommandResult result = Timcl(command + "--compare --shape 0=2x5");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  ExpectFailure(command + "--shape 0=2x6", 2,
                "the file has tensor 0 as f32 {?, 5}");
  ExpectFailure(command + "--shape 99=2", 2, "no operation has a tensor 99");
  for (const char* shape : {"0", "0=2x", "0=axb", "x=1", "0=-1x5", "=1"}) {
    ExpectFailure(command + "--shape=" + shape, 2, "expected ID=DIMxDIM");
  }
}

TEST(TimclGraphRun, HonoursStrides) {
  const std::string file = Write(
      {MakeOp(0, tim_graph_op_relu, {WithStrides(Described(0, {3, 4}), {1, 5})},
              {WithStrides(Described(1, {3, 4}), {7, 1})})},
      FreshFolder("strides") + "/g.json");
  const CommandResult result =
      Timcl("graph-run '" + file + "' --device host --compare");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(TimclGraphRun, RefusesFiles) {
  const std::string folder = FreshFolder("refused");
  const auto expect = [&](const std::string& text, int status,
                          const std::string& message) {
    WriteText(folder + "/g.json", text);
    ExpectFailure("graph-run '" + folder + "/g.json' --device host", status,
                  message);
  };
  ExpectFailure("graph-run '" + folder + "/none.json'", 3, "cannot be read");
  expect("{", 2, "g.json': line 1, column 2: no JSON");
  expect(R"({"graph": [{"id": 1, "kind": "Fly"}]})", 2,
         "g.json': op 1: graph[0].kind: expected a kind");
  expect(R"({"graph": [{"id": 1, "kind": "ReLU"}]})", 2,
         "invalid_graph_op: op 1 'ReLU_1' of kind ReLU: expected 1 input");
  const std::string relu =
      R"("kind": "ReLU", "inputs": [{"id": 1, "dtype": "f32", "shape": [3]}],
         "outputs": [{"id": 2, "dtype": "f32", "shape": [3]}]})";
  expect(R"({"graph": [{"id": 1, )" + relu + R"(, {"id": 2, )" + relu + "]}", 2,
         "invalid_graph: tensor 2 is made by");
  expect(R"({"graph": [{"id": 1, "kind": "ReLU",
             "inputs": [{"id": 1, "dtype": "f32",
                         "shape": [1048576, 1048576, 1048576]}],
             "outputs": [{"id": 2, "dtype": "f32"}]}]})",
         2, "graph-run takes less");
}

// ---- Dumps ----

std::map<std::string, std::string> FilesIn(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    files[entry.path().filename()] = ReadText(entry.path());
  }
  return files;
}

// A graph as it was dumped becomes the same graph, and so do its partitions,
// whose numbers are those of their process.
TEST(TimclGraphRun, WritesWhatWasRead) {
  const std::string folder = FreshFolder("dumps");
  const std::string from = folder + "/from";
  fs::create_directories(from);
  const std::string file =
      Write(Chain(Described(0, {3, 5})), folder + "/g.json");
  const CommandResult written = Timcl(
      "graph-run '" + file + "' --device host",
      "TIMCL_GRAPH_DUMP=graph,subgraph TIMCL_GRAPH_DUMP_DIR='" + from + "'");
  EXPECT_EQ(written.exit_status, 0) << written.output;
  const auto files = FilesIn(from);
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files.at("graph-0.json"), ReadText(file));
  for (const auto& [name, text] : files) {
    const std::string to = folder + "/to_" + name;
    const CommandResult again = Timcl("graph-run '" + from + "/" + name +
                                      "' --device host --dump '" + to + "'");
    EXPECT_EQ(again.exit_status, 0) << again.output;
    const auto dumped = FilesIn(to);
    // Notes on partitions are no attributes of the ops.
    const bool notes = name.find("partitioning") != std::string::npos;
    EXPECT_EQ(dumped.at("graph-0.json"),
              notes ? files.at("graph-0.json") : text)
        << name;
    if (notes || name == "graph-0.json") {
      EXPECT_EQ(dumped, files) << name;
    }
  }
}

TEST(TimclGraphRun, WritesEveryKindAsItWasRead) {
  const std::string folder = FreshFolder("every_kind_dumped");
  const std::string file =
      Write(graph::testing::OpsOfEveryKind(), folder + "/g.json");
  const auto read = ReadGraphJson(ReadText(file));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(Write(read->ops, folder + "/again.json"), folder + "/again.json");
  EXPECT_EQ(ReadText(folder + "/again.json"), ReadText(file));
}

// ---- Numbers ----

ValueRange RangeIn(const std::vector<Op>& ops, const LogicalTensor& tensor) {
  std::vector<Op> checked = ops;
  for (Op& op : checked) {
    EXPECT_TRUE(graph::CheckOp(graph::BuiltinOps(), &op).ok());
  }
  return RangeFor(tensor, checked);
}

TEST(GraphValues, SuitTheOpsThatReadThem) {
  const std::vector<Op> chain = Chain(Described(0, {3, 5}));
  const ValueRange x = RangeIn(chain, chain[0].inputs[0]);
  EXPECT_EQ(x.least, -1);
  EXPECT_EQ(x.greatest, 1);
  const ValueRange weights = RangeIn(chain, chain[0].inputs[1]);
  EXPECT_LT(weights.greatest, 0.8);
  EXPECT_EQ(weights.least, -weights.greatest);
  EXPECT_EQ(RangeIn(chain, chain[1].inputs[0]).least, 0.5);
  EXPECT_EQ(RangeIn(chain, chain[3].inputs[1]).least, 0.5);
  // Through what only moves them.
  const LogicalTensor moved = Described(1, {4, 3});
  EXPECT_EQ(
      RangeIn({MakeOp(0, tim_graph_op_static_transpose, {Described(0, {3, 4})},
                      {moved}, {{tim_graph_op_attr_order, graph::Dims{1, 0}}}),
               MakeOp(1, tim_graph_op_sqrt, {moved}, {Described(2, {4, 3})})},
              Described(0, {3, 4}))
          .least,
      0.5);
  const LogicalTensor codes = Described(0, {3}, tim_graph_u8);
  EXPECT_EQ(
      RangeIn({MakeOp(0, tim_graph_op_dequantize, {codes}, {Described(1, {3})},
                      {{tim_graph_op_attr_scales, graph::Floats{1}}})},
              codes)
          .greatest,
      255);
}

std::vector<float> Numbers(const GraphTensor& tensor) {
  const auto row = RowOf(tensor.description);
  EXPECT_TRUE(row.ok());
  const kernels::ElementReader reader({&*row, tensor.memory.get()});
  std::vector<float> numbers;
  ForEachElement(tensor.description,
                 [&](int64_t place) { numbers.push_back(reader.Real(place)); });
  return numbers;
}

GraphTensor Filled(const LogicalTensor& description, uint64_t seed = 1,
                   const ValueRange& range = {}) {
  auto tensor = AllocateTensor(description);
  EXPECT_TRUE(tensor.ok()) << tensor.status().ToString();
  EXPECT_TRUE(Fill(range, seed, &*tensor).ok());
  return *tensor;
}

TEST(GraphValues, AreTheSameForASeed) {
  const auto one = Numbers(Filled(Described(3, {4, 5})));
  ASSERT_EQ(one.size(), 20u);
  EXPECT_EQ(Numbers(Filled(WithStrides(Described(3, {4, 5}), {1, 9}))), one);
  EXPECT_NE(Numbers(Filled(Described(4, {4, 5}))), one);
  EXPECT_NE(Numbers(Filled(Described(3, {4, 5}), 2)), one);
  EXPECT_LE(*std::max_element(one.begin(), one.end()), 1);
  EXPECT_LT(*std::min_element(one.begin(), one.end()), -0.5);
  for (const float code : Numbers(Filled(Described(0, {99}, tim_graph_s4), 1,
                                         {.least = -8, .greatest = 7}))) {
    EXPECT_TRUE(code >= -8 && code <= 7 && code == std::trunc(code)) << code;
  }
}

TEST(GraphValues, HaveNoMemoryBeyondTheirStrides) {
  EXPECT_EQ(Filled(WithStrides(Described(0, {10, 10}), {1, 1})).bytes, 19 * 4);
  EXPECT_EQ(Filled(Described(0, {4, 0})).bytes, 4);
  EXPECT_TRUE(Numbers(Filled(Described(0, {4, 0}))).empty());
  EXPECT_EQ(Numbers(Filled(Described(0, {}))).size(), 1u);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(AllocateTensor(WithStrides(Described(0, {2, 2}), {1, -1}))
                .status()
                .code(),
            StatusCode::kUnimplemented);
  for (const LogicalTensor& wrong :
       {WithStrides(Described(0, {3, 3}), {kMost, kMost}), OfUnknownRank(0),
        WithStrides(Described(0, {kMost, kMost}), {kMost, 1})}) {
    EXPECT_EQ(AllocateTensor(wrong).status().code(),
              StatusCode::kInvalidArgument);
  }
}

// ---- Differences ----

GraphTensor Of(const std::vector<float>& numbers, tim_graph_data_type_t type) {
  GraphTensor tensor =
      Filled(Described(0, {static_cast<int64_t>(numbers.size())}, type));
  const auto row = RowOf(tensor.description);
  EXPECT_TRUE(row.ok());
  kernels::ElementWriter writer({&*row, tensor.memory.get()});
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (ir::IsInteger(row->type)) {
      writer.StoreCode(static_cast<int64_t>(i),
                       static_cast<int64_t>(numbers[i]));
    } else {
      writer.StoreReal(static_cast<int64_t>(i), numbers[i]);
    }
  }
  return tensor;
}

GraphDifference Between(const std::vector<float>& a,
                        const std::vector<float>& b,
                        tim_graph_data_type_t type = tim_graph_f32) {
  const auto difference =
      Compare(Of(a, type), Of(b, type), {.real = 0.01, .codes = 1});
  EXPECT_TRUE(difference.ok());
  return *difference;
}

TEST(GraphDifference, IsOfTheGreatestMagnitude) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Between({1, -4}, {1, -4}).error, 0);
  EXPECT_NEAR(Between({1.02f, -4}, {1, -4}).error, 0.005, 1e-6);
  EXPECT_FALSE(Between({1.02f, -4}, {1, -4}).differs());
  EXPECT_TRUE(Between({1.05f, -4}, {1, -4}).differs());
  EXPECT_FALSE(Between({kNan, kInf, -kInf}, {kNan, kInf, -kInf}).differs());
  EXPECT_EQ(Between({kNan, 1}, {kNan, 1}).nans, 1);
  EXPECT_TRUE(Between({kNan, 1}, {0, 1}).differs());
  EXPECT_TRUE(Between({0, 1}, {kNan, 1}).differs());
  EXPECT_TRUE(Between({1, kInf}, {1, 1}).differs());
  EXPECT_TRUE(Between({kNan, 1, 2}, {0, 1, 5}).differs());
  EXPECT_TRUE(Between({0.1f}, {0}).differs());
  EXPECT_FALSE(Between({}, {}).differs());
}

TEST(GraphDifference, CountsCodes) {
  EXPECT_FALSE(Between({1, 200}, {2, 199}, tim_graph_u8).differs());
  EXPECT_TRUE(Between({1, 200}, {3, 200}, tim_graph_u8).differs());
  EXPECT_TRUE(Between({1}, {2}, tim_graph_s32).differs());
  EXPECT_TRUE(Between({1}, {0}, tim_graph_boolean).differs());
  EXPECT_FALSE(Between({1}, {1}, tim_graph_boolean).differs());
}

TEST(GraphDifference, IsAllowedByTheCoarsestType) {
  const auto tolerance = [](tim_graph_data_type_t type, double real) {
    Op op = MakeOp(0, tim_graph_op_wildcard, {}, {Described(0, {1}, type)});
    EXPECT_TRUE(graph::CheckOp(graph::BuiltinOps(), &op).ok());
    return ToleranceOf(*graph::PartitionOfOp(op, tim_graph_cpu), real);
  };
  EXPECT_EQ(tolerance(tim_graph_f32, -1).real, 1e-4);
  EXPECT_EQ(tolerance(tim_graph_f32, -1).codes, 0);
  EXPECT_EQ(tolerance(tim_graph_bf16, -1).real, 3e-2);
  EXPECT_EQ(tolerance(tim_graph_bf16, 0.5).real, 0.5);
  EXPECT_EQ(tolerance(tim_graph_u8, -1).codes, 1);
}

}  // namespace
}  // namespace tim::tool
