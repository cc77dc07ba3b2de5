// Check 11 of the specification, its second half: edits that change what a
// graph gives are dropped.  A plug-in in this process, by the header for C++.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "plugin/plugins.h"
#include "tests/plugin_abi/plug_graph.h"
#include "tests/support/status_macros.h"
#include "tim/plugin/plugin.h"

namespace tim::plugin {
namespace {

using testing::Floats;
using ::testing::HasSubstr;
using testing::PlugGraph;

std::string g_edit;  // NOLINT: of the test that runs

class Editor final : public plug::Device {
 public:
  // Nothing is put there: the device has no kernels.
  TimBuffer* Allocate(std::uint64_t bytes, std::int32_t) override {
    return reinterpret_cast<TimBuffer*>(new std::vector<char>(bytes));
  }
  void Release(TimBuffer* buffer) override {
    delete reinterpret_cast<std::vector<char>*>(buffer);
  }
  void CopyIn(const void*, const TimRange&) override {}
  void CopyOut(const TimRange&, void*) override {}

  // The graph is that of EditedGraph().
  void Optimize(const plug::Graph& graph, std::int32_t,
                TimEdits* edits) override {
    const plug::Node first = graph.node(0);
    const std::int32_t output = graph.output_of(first, 0);
    if (g_edit == "shape") {
      const std::int32_t other = graph.output_of(graph.node(1), 0);
      plug::Check(plug::Sinks().replace_uses(edits, output, other), "shape");
    } else if (g_edit == "meaning") {
      const std::int32_t input = graph.input_of(first, 0);
      std::int32_t made = -1;
      std::uint32_t node = 0;
      plug::Check(plug::Sinks().add_node(edits, "tim.Abs", "abs", &input, 1, 1,
                                         &made, &node),
                  "add_node");
      plug::Check(plug::Sinks().replace_uses(edits, output, made), "replace");
    } else if (g_edit == "unknown") {
      std::int32_t made = -1;
      static_cast<void>(plug::Sinks().add_node(edits, "tim.NoSuch", "", nullptr,
                                               0, 1, &made, nullptr));
    } else if (g_edit == "throws") {
      throw std::runtime_error("it does not like this graph");
    }
  }
};

struct EditorPlugin {
  static const char* Kind() { return "editor"; }
  static const char* Vendor() { return "tests"; }
  static const char* Version() { return "1"; }
  static bool HasGraphs() { return true; }
  static bool Optimizes() { return true; }
  static void Initialize(const TimOption*, std::uint32_t) {}
  static void Shutdown() {}
  static std::uint32_t DeviceCount() { return 1; }
  static void Describe(std::uint32_t, TimDeviceProps* out) {
    out->score = 1;
    std::snprintf(out->name, sizeof(out->name), "editor");
    out->memory_bytes = out->max_allocation_bytes = 1 << 20;
    out->alignment = 64;
  }
  static plug::Device* Open(std::uint32_t) { return new Editor(); }
};

class Edits : public ::testing::TestWithParam<bool> {
 protected:
  void Load(const std::string& edit) {
    g_edit = edit;
    ASSERT_OK(LoadPluginTable(plug::Table<EditorPlugin>(), {},
                              {.watch = {.check = GetParam()}}));
  }
  // Two outputs of other shapes, each of one node.
  static PlugGraph EditedGraph() {
    PlugGraph graph(testing::Known());
    graph.Output(graph.Op("tim.Relu", {graph.Input({4})}));
    graph.Output(graph.Op("tim.Neg", {graph.Input({5})}));
    return graph;
  }
  // Edits are not made, and the plan has the reason.
  void ExpectDropped(const std::string& reason) {
    {
      const auto devices = testing::HostAnd("editor");
      ASSERT_OK(devices);
      const PlugGraph graph = EditedGraph();
      auto ready = testing::Ready(graph, *devices);
      ASSERT_OK(ready);
      std::string refused;
      for (const ir::Decision& one : ready->executable->plan().decisions) {
        for (const std::string& text : one.refused) refused += text + "\n";
      }
      EXPECT_THAT(refused, HasSubstr("edits of editor at level 0 are dropped"));
      EXPECT_THAT(refused, HasSubstr(reason));
      const std::vector<Floats> inputs = {testing::SomeFloats(4),
                                          testing::SomeFloats(5)};
      const auto results = testing::Run(*ready, inputs);
      ASSERT_OK(results);
      testing::ExpectClose(*results, testing::Expected(graph, inputs));
      EXPECT_ERROR(testing::Ready(graph, *devices, /*strict=*/true), reason);
    }
    EXPECT_OK(UnloadPlugin("editor"));
  }
};

TEST_P(Edits, ThatChangeAShapeAreDropped) {
  Load("shape");
  ExpectDropped("output 0 was float32 [4] and is float32 [5]");
}

TEST_P(Edits, ThatAddUnknownOperatorsAreDropped) {
  Load("unknown");
  ExpectDropped("there is no operator tim.NoSuch");
}

TEST_P(Edits, ThatFailAreDropped) {
  Load("throws");
  ExpectDropped("it does not like this graph");
}

// Only TIMCL_PLUGIN_CHECK sees that a graph means something else.
TEST_P(Edits, ThatChangeTheMeaningAreFoundByTheCheck) {
  Load("meaning");
  if (GetParam()) return ExpectDropped("output 0 of the edited graph: element");
  {
    const auto devices = testing::HostAnd("editor");
    ASSERT_OK(devices);
    EXPECT_OK(testing::Ready(EditedGraph(), *devices));
  }
  EXPECT_OK(UnloadPlugin("editor"));
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutCheck, Edits, ::testing::Bool());

}  // namespace
}  // namespace tim::plugin
