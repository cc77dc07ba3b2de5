#include "graph_api/dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "graph_api/json_graph.h"
#include "graph_api/op_def.h"
#include "graph_api/partitioning.h"
#include "tests/graph_api/partition_support.h"

namespace tim::graph {
namespace {

using testing::Described;
using ::testing::HasSubstr;
using testing::OfUnknownRank;

OpDef ClampDef() {
  OpDef def;
  def.name = "Clamp";
  def.lower = [](const Op&, Lowering&) { return OkStatus(); };
  return def;
}

Op Clamp(const OpDef& def) {
  Op op;
  op.id = 5;
  op.name = "a \"clamp\"";
  op.def = &def;
  op.inputs = {Described(1, {2, 3})};
  op.outputs = {OfUnknownRank(2)};
  op.attributes = {
      {tim_graph_op_attr_min, -1.5f},
      {tim_graph_op_attr_max, std::numeric_limits<float>::infinity()}};
  return op;
}

TEST(JsonGraph, WritesOpsAttributesAndTensors) {
  const OpDef def = ClampDef();
  const std::vector<Op> ops = {Clamp(def)};
  const std::string json =
      JsonOfGraph(ops, PortsOf(ops), {.kind = tim_graph_gpu});
  EXPECT_THAT(json, HasSubstr(R"("version": "3.14.0", "engine_kind": "gpu", )"
                              R"("fpmath_mode": "strict", )"
                              R"("fpmath_mode_apply_to_int": "false", )"
                              R"("input_ports": [1], "output_ports": [2])"));
  EXPECT_THAT(json, HasSubstr(R"({"id": 5, "name": "a \"clamp\"", )"
                              R"("kind": "Clamp", "attrs": {)"));
  EXPECT_THAT(json, HasSubstr(R"("min": {"type": "f32", "value": -1.5})"));
  EXPECT_THAT(json, HasSubstr(R"("max": {"type": "f32", "value": "inf"})"));
  EXPECT_THAT(json, HasSubstr(R"({"id": 1, "dtype": "f32", "shape": [2, 3], )"
                              R"("stride": [3, 1], "layout_type": "strided", )"
                              R"("property_type": "undef"})"));
  EXPECT_THAT(json, HasSubstr(R"("shape": [-9223372036854775808])"));
}

TEST(Dump, WritesGraphAndPartitioning) {
  const OpDef def = ClampDef();
  const std::vector<Op> ops = {Clamp(def)};
  const auto partitions = MakePartitions(ops, {}, {});
  ASSERT_TRUE(partitions.ok()) << partitions.status().ToString();
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "graph_dump";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(DumpPartitioning(folder, ops, {}, *partitions).ok());
  const CompileSource source = partitions->front()->source();
  ASSERT_TRUE(
      DumpCompiled(folder, source, *source.inputs, {Described(2, {2, 3})})
          .ok());
  std::string text;
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ostringstream content;
    content << std::ifstream(entry.path()).rdbuf();
    text += content.str();
    ++files;
  }
  EXPECT_EQ(files, 3u);
  EXPECT_THAT(text,
              HasSubstr(R"("partition_id": {"type": "string", "value": ")" +
                        std::to_string(source.id)));
  EXPECT_THAT(text, HasSubstr(R"("backend": {"type": "string")"));
  EXPECT_FALSE(DumpPartitioning(folder / "none", ops, {}, *partitions).ok());
}

TEST(Dump, ModesWinOverTheVariableAndOtherBitsAreRefused) {
  EXPECT_EQ(DumpModes(), 0u);
  EXPECT_EQ(tim_graph_set_dump_mode(tim_graph_dump_mode_graph),
            tim_graph_success);
  EXPECT_EQ(DumpModes(), 2u);
  EXPECT_EQ(tim_graph_set_dump_mode(static_cast<tim_graph_dump_mode_t>(3)),
            tim_graph_success);
  EXPECT_EQ(DumpModes(), 3u);
  EXPECT_EQ(SetDumpMode(4).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(DumpModes(), 3u);
  EXPECT_EQ(tim_graph_set_dump_mode(tim_graph_dump_mode_none),
            tim_graph_success);
}

}  // namespace
}  // namespace tim::graph
