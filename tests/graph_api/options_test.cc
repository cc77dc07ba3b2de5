// Variables of the partition front: what they are parsed to, and README.md's
// table of them.
#include "graph_api/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "graph_api/verbose.h"
#include "graph_api/verbose_filter.h"
#include "tests/structure/source_tree.h"

namespace tim::graph {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Settings = std::vector<std::pair<std::string, std::string>>;

Settings settings;

GraphOptions Parsed(Settings set, std::string* warnings) {
  settings = std::move(set);
  return ParseGraphOptions(
      [](const char* name) -> const char* {
        for (const auto& [known, value] : settings) {
          if (known == name) return value.c_str();
        }
        return nullptr;
      },
      warnings);
}

TEST(GraphOptions, AreReadFromVariables) {
  std::string warnings;
  const GraphOptions options =
      Parsed({{"TIMCL_GRAPH_PARTITION", "max_ops=8,max_anchors=1"},
              {"TIMCL_GRAPH_VERBOSE", "profile_exec,dispatch"},
              {"TIMCL_GRAPH_DUMP", "graph,subgraph"},
              {"TIMCL_GRAPH_DUMP_DIR", "/d"},
              {"TIMCL_GRAPH_COMPILED_CACHE", "7"},
              {"TIMCL_GRAPH_CONSTANT_CACHE", "gpu:3;cpu:64"},
              {"TIMCL_DEFAULT_FPMATH_MODE", "bf16"},
              {"TIMCL_GRAPH_GPU", "all"},
              {"TIMCL_GRAPH_OFFLOAD", "opencl:0"},
              {"TIMCL_GRAPH_CHECK", "1"}},
             &warnings);
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(options.partition.max_ops, 8u);
  EXPECT_EQ(options.partition.max_anchors, 1u);
  EXPECT_EQ(options.partition.min_ops, 1u);
  EXPECT_EQ(options.verbose, kVerboseExecute | kVerboseDispatch);
  EXPECT_EQ(options.dump, 3u);
  EXPECT_EQ(options.dump_dir, "/d");
  EXPECT_EQ(options.compiled_entries, 7);
  EXPECT_EQ(options.cpu_constant_megabytes, 64u);
  EXPECT_EQ(options.gpu_constant_megabytes, 3u);
  EXPECT_EQ(options.fpmath_mode, tim_graph_fpmath_mode_bf16);
  EXPECT_TRUE(options.all_are_gpus);
  EXPECT_EQ(options.offload, "opencl:0");
  EXPECT_TRUE(options.check);
}

TEST(GraphOptions, AreReadFromAliasesWhereOursAreUnset) {
  std::string warnings;
  GraphOptions options =
      Parsed({{"DNNL_GRAPH_DUMP", "graph"},
              {"ONEDNN_VERBOSE", "profile,check"},
              {"DNNL_GRAPH_COMPILED_PARTITION_CACHE_CAPACITY", "0"},
              {"ONEDNN_GRAPH_CONSTANT_TENSOR_CACHE_CAPACITY", "cpu:64"},
              {"ONEDNN_DEFAULT_FPMATH_MODE", "ANY"}},
             &warnings);
  EXPECT_EQ(options.dump, 2u);
  EXPECT_EQ(options.verbose, kVerboseCompile | kVerboseExecute | kVerboseCheck);
  EXPECT_EQ(options.compiled_entries, 0);
  EXPECT_EQ(options.cpu_constant_megabytes, 64u);
  EXPECT_EQ(options.fpmath_mode, tim_graph_fpmath_mode_any);
  options = Parsed({{"TIMCL_GRAPH_DUMP", "none"},
                    {"ONEDNN_GRAPH_DUMP", "graph"},
                    {"TIMCL_GRAPH_VERBOSE", ""},
                    {"ONEDNN_VERBOSE", "2"},
                    {"ONEDNN_DEFAULT_FPMATH_MODE", ""},
                    {"TIMCL_GRAPH_COMPILED_CACHE", "7"},
                    {"DNNL_GRAPH_COMPILED_PARTITION_CACHE_CAPACITY", "8"}},
                   &warnings);
  EXPECT_EQ(options.dump, 0u);
  EXPECT_EQ(options.verbose, kVerboseCompile | kVerboseExecute);
  EXPECT_EQ(options.compiled_entries, 7);
  EXPECT_EQ(options.fpmath_mode, tim_graph_fpmath_mode_strict);
  options =
      Parsed({{"ONEDNN_GRAPH_DUMP", "subgraph"}, {"DNNL_GRAPH_DUMP", "graph"}},
             &warnings);
  EXPECT_EQ(options.dump, 1u);
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(GraphOptions, VerboseHasWordsLevelsAndFilters) {
  const unsigned all = kVerboseError | kVerboseCheck | kVerboseDispatch |
                       kVerboseCompile | kVerboseExecute;
  const std::pair<const char*, unsigned> expected[] = {
      {"none", 0},
      {"0", 0},
      {"1", kVerboseExecute},
      {"2", kVerboseCompile | kVerboseExecute},
      {"error", kVerboseError},
      {"check,dispatch", kVerboseCheck | kVerboseDispatch},
      {"profile_create", kVerboseCompile},
      {"all", all},
      {"all,warn,profile_externals,debuginfo=3", all},
      {"filter=graph,profile_exec", kVerboseExecute},
      {"profile_exec,filter=prim|gr.*h", kVerboseExecute},
      {"filter=^graph$,1", kVerboseExecute},
      {"filter=primitive,all", 0},
      {"all,filter=^graphs", 0}};
  for (const auto& [text, flags] : expected) {
    std::string warnings;
    EXPECT_EQ(Parsed({{"ONEDNN_VERBOSE", text}}, &warnings).verbose, flags)
        << text;
    EXPECT_THAT(warnings, IsEmpty());
  }
}

TEST(GraphOptions, FiltersArePatterns) {
  for (const char* pattern : {"", "graph", "g", "ap", ".*", "g.*h", "^gr+a",
                              "h$", "x|ph", "gx*r", "graph$"}) {
    EXPECT_TRUE(FilterTakes(pattern, "graph")) << pattern;
  }
  for (const char* pattern :
       {"graphs", "^ap", "ap$", "gr+r", "x|y", "grap$", "......", "x+"}) {
    EXPECT_FALSE(FilterTakes(pattern, "graph")) << pattern;
  }
}

TEST(GraphOptions, IllegalValuesLeaveDefaultsAndSayWhatIsLegal) {
  const std::pair<const char*, const char*> bad[] = {
      {"TIMCL_GRAPH_PARTITION", "max_ops"},
      {"TIMCL_GRAPH_PARTITION", "max_ops="},
      {"TIMCL_GRAPH_PARTITION", "max_ops=-1"},
      {"TIMCL_GRAPH_PARTITION", "depth=3"},
      {"TIMCL_GRAPH_PARTITION", "max_ops=2x"},
      {"TIMCL_GRAPH_PARTITION", "max_ops=2,min_ops=3"},
      {"TIMCL_GRAPH_VERBOSE", "loud"},
      {"ONEDNN_VERBOSE", "profile,3"},
      {"ONEDNN_GRAPH_DUMP", "all"},
      {"TIMCL_GRAPH_COMPILED_CACHE", "-1"},
      {"TIMCL_GRAPH_COMPILED_CACHE", "many"},
      {"TIMCL_GRAPH_CONSTANT_CACHE", "cpu:-1"},
      {"TIMCL_GRAPH_CONSTANT_CACHE", "gpu:8;64"},
      {"TIMCL_DEFAULT_FPMATH_MODE", "F8"},
      {"TIMCL_GRAPH_GPU", "some"},
      {"TIMCL_GRAPH_CHECK", "yes"}};
  for (const auto& [name, value] : bad) {
    std::string warnings;
    const GraphOptions options = Parsed({{name, value}}, &warnings);
    EXPECT_THAT(warnings,
                HasSubstr(StrCat(name, "='", value, "' is ignored: ")));
    EXPECT_EQ(std::count(warnings.begin(), warnings.end(), '\n'), 1);
    EXPECT_EQ(options.partition.max_ops, 0u);
    EXPECT_EQ(options.verbose, 0u);
    EXPECT_EQ(options.dump, 0u);
    EXPECT_EQ(options.compiled_entries, 1024);
    EXPECT_EQ(options.gpu_constant_megabytes, 0u);
    EXPECT_EQ(options.fpmath_mode, tim_graph_fpmath_mode_strict);
    EXPECT_FALSE(options.all_are_gpus);
    EXPECT_FALSE(options.check);
  }
  std::string warnings;
  Parsed({{"TIMCL_GRAPH_CONSTANT_CACHE", "64"},
          {"TIMCL_DEFAULT_FPMATH_MODE", "F8"},
          {"TIMCL_GRAPH_VERBOSE", "loud"}},
         &warnings);
  EXPECT_THAT(warnings, HasSubstr("as in cpu:64;gpu:0"));
  EXPECT_THAT(warnings, HasSubstr("expected STRICT, BF16"));
  EXPECT_THAT(warnings, HasSubstr("profile_exec, profile, all, 0, 1, 2"));
}

TEST(GraphOptions, AreListedInTheReadme) {
  EXPECT_NE(structure::ReadText("README.md").find(GraphOptionTableMarkdown()),
            std::string::npos)
      << "README.md must contain this text:\n"
      << GraphOptionTableMarkdown();
}

}  // namespace
}  // namespace tim::graph
