// include <- base <- ir <- {kernels, binary} <- {ops, compiler, device} <-
// runtime <- {vx, graph_api, values, devices} <- {samples, bench, tools,
// tests}; bridges stands on vx and values; expr stands on kernels, and
// graph_api on it, too; models stands on include, custom_ops and base;
// custom_ops includes include/ only, and samples that and custom_ops, as bench
// may, too.
//
// Within a folder of src or ops its subfolders are rooms, and the files that
// lie in it directly are one more, ".", which may be its front or its ground
// floor. No room reaches itself through what it includes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// What each layer may include beside itself.
const std::map<std::string, std::set<std::string>>& Below() {
  static const std::map<std::string, std::set<std::string>> below = {
      {"include", {}},
      {"base", {"include"}},
      {"ir", {"include", "base"}},
      {"kernels", {"include", "base", "ir"}},
      {"binary", {"include", "base", "ir"}},
      {"ops", {"include", "base", "ir", "kernels", "binary"}},
      {"compiler", {"include", "base", "ir", "kernels", "binary"}},
      {"device", {"include", "base", "ir", "kernels", "binary"}},
      {"plugin",
       {"include", "base", "ir", "kernels", "binary", "ops", "compiler",
        "device"}},
      {"runtime",
       {"include", "base", "ir", "kernels", "binary", "ops", "compiler",
        "device", "plugin"}},
      {"vx",
       {"include", "base", "ir", "kernels", "binary", "ops", "compiler",
        "device", "runtime"}},
      {"devices",
       {"include", "base", "ir", "kernels", "binary", "ops", "compiler",
        "device", "plugin", "runtime"}},
      {"expr", {"include", "base", "ir", "kernels"}},
      {"graph_api",
       {"include", "base", "ir", "kernels", "binary", "ops", "compiler",
        "device", "runtime", "expr"}},
      {"values",
       {"include", "base", "ir", "kernels", "binary", "ops", "compiler",
        "device", "runtime"}},
      {"bridges",
       {"include", "base", "ir", "kernels", "binary", "ops", "compiler",
        "device", "runtime", "vx", "values"}},
      {"models", {"include", "base", "custom_ops"}},
      {"custom_ops", {"include"}},
      {"samples", {"include", "custom_ops"}},
      {"bench",
       {"include", "base", "ir", "kernels", "binary", "ops", "compiler",
        "device", "runtime", "vx", "graph_api", "expr", "custom_ops"}},
  };
  return below;
}

std::string FirstFolder(const std::string& path) {
  return path.substr(0, path.find('/'));
}

std::string LayerOfFile(std::string path) {
  if (path.rfind("src/", 0) == 0) path.erase(0, 4);
  return FirstFolder(path);
}

std::string LayerOfInclude(const std::string& name) {
  const std::string folder = FirstFolder(name);
  return folder == "tim" ? "include" : folder;
}

bool IsCopied(const std::string& path) {
  return path.rfind("samples/", 0) == 0 ||
         path.rfind("custom_ops/template/", 0) == 0;
}

struct Include {
  int line = 0;
  bool angled = false;  // <name>
  std::string name;
};

std::vector<Include> IncludesOf(const std::string& text) {
  static const std::regex include(
      R"re(^\s*#\s*include\s*(["<])([^">]+)[">])re");
  std::vector<Include> includes;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::smatch match;
    if (!std::regex_search(line, match, include)) continue;
    includes.push_back({number, match[1] == "<", match[2]});
  }
  return includes;
}

std::vector<std::string> Violations(const std::string& path,
                                    const std::string& text) {
  const std::string layer = LayerOfFile(path);
  std::vector<std::string> violations;
  for (const auto& [line, angled, name] : IncludesOf(text)) {
    const std::string where = path + ":" + std::to_string(line) + ": ";
    if (angled) {
      // The standard library's headers have neither folder nor extension, but
      // for those of C.
      static const std::set<std::string> of_c = {"stddef.h", "stdint.h"};
      if (layer == "include" && of_c.count(name) == 0 &&
          name.find_first_of("./") != std::string::npos)
        violations.push_back(where + "<" + name + "> is not standard C++");
      continue;
    }
    // What is copied out of the tree includes its own files as siblings.
    if (IsCopied(path) && name.find('/') == std::string::npos) continue;
    const std::string target = LayerOfInclude(name);
    if (Below().count(target) == 0)
      violations.push_back(where + name + " does not start with a layer");
    else if (target != layer && Below().at(layer).count(target) == 0)
      violations.push_back(where + layer + " includes " + name);
  }
  return violations;
}

TEST(IncludeDirection, HoldsInEveryFile) {
  std::size_t count = 0;
  for (const char* folder :
       {"include", "src", "ops", "custom_ops", "samples", "bench"}) {
    for (const std::string& path :
         FilesUnder(folder, {".h", ".cc", ".cl", ".clh"})) {
      ++count;
      ASSERT_EQ(Below().count(LayerOfFile(path)), 1u) << path;
      EXPECT_THAT(Violations(path, ReadText(path)), IsEmpty());
    }
  }
  EXPECT_GT(count, 50u) << "the tree was not found";
}

TEST(IncludeDirection, PlantedViolationsAreSeen) {
  EXPECT_THAT(Violations("ops/relu.cc", "\n#include \"vx/graph.h\"\n"),
              testing::ElementsAre(HasSubstr("ops/relu.cc:2")));
  const char* const up[][2] = {
      {"src/base/log.cc", "ir/graph.h"},
      {"src/ir/graph.cc", "kernels/kernel_sources.h"},
      {"src/kernels/requantize.cc", "compiler/compiler.h"},
      {"src/binary/graph_writer.cc", "kernels/kernel_sources.h"},
      {"src/kernels/requantize.cc", "binary/graph_file.h"},
      {"src/binary/graph_writer.cc", "compiler/compiler.h"},
      {"src/compiler/compiler.cc", "ops/builtin.h"},
      {"src/compiler/compiler.cc", "device/device.h"},
      {"src/device/device.cc", "compiler/compiler.h"},
      {"src/runtime/executable.cc", "vx/graph/graph_impl.h"},
      {"src/models/build/value.cc", "vx/graph/graph_impl.h"},
      {"src/models/build/value.cc", "ir/graph.h"},
      {"src/vx/graph/graph.cc", "models/build/value.h"},
      {"src/vx/graph/graph.cc", "values/graph_state.h"},
      {"src/values/graph.cc", "vx/graph/graph_impl.h"},
      {"src/values/graph.cc", "bridges/from_vx.h"},
      {"src/bridges/from_vx.cc", "graph_api/tensor.h"},
      {"src/vx/graph/graph.cc", "tests/support/data/random.h"},
      {"custom_ops/hswish.cc", "base/status.h"},
      {"custom_ops/hswish.cc", "hswish.h"},
      {"samples/digits/main.cc", "base/status.h"},
      {"include/tim/vx/graph.h", "base/status.h"},
      {"src/vx/graph/graph.cc", "bench/networks/network.h"},
      {"ops/relu.cc", "src/ir/graph.h"},
      {"ops/relu.cc", "builtin.h"},
  };
  for (const auto& [path, name] : up)
    EXPECT_THAT(Violations(path, "#include \"" + std::string(name) + "\""),
                SizeIs(1))
        << path << " " << name;
  EXPECT_THAT(Violations("include/tim/vx/graph.h", "#include <CL/cl.h>"),
              SizeIs(1));
}

TEST(IncludeDirection, IncludesOfLowerLayersArePermitted) {
  EXPECT_THAT(Violations("src/vx/graph/graph.cc",
                         "#include \"ops/builtin.h\"\n#include <CL/cl.h>\n"),
              IsEmpty());
  EXPECT_THAT(Violations("samples/digits/main.cc", "#include \"lenet.h\""),
              IsEmpty());
  EXPECT_THAT(Violations("ops/normalization/softmax.cl",
                         "#include \"kernels/exact.clh\""),
              IsEmpty());
}

// ---- rooms ------------------------------------------------------------------

// A file of src or ops that includes another.
struct Edge {
  std::string from;
  int line = 0;
  std::string to;
};

// Includes of a text that stands at `path`.
std::vector<Edge> EdgesOf(const std::string& path, const std::string& text) {
  std::vector<Edge> edges;
  for (const Include& include : IncludesOf(text)) {
    if (include.angled) continue;
    const bool in_ops = FirstFolder(include.name) == "ops";
    edges.push_back(
        {path, include.line, in_ops ? include.name : "src/" + include.name});
  }
  return edges;
}

std::vector<Edge> EdgesOfTree() {
  std::vector<Edge> edges;
  for (const char* folder : {"src", "ops"}) {
    for (const std::string& path :
         FilesUnder(folder, {".h", ".cc", ".cl", ".clh"})) {
      const auto found = EdgesOf(path, ReadText(path));
      edges.insert(edges.end(), found.begin(), found.end());
    }
  }
  return edges;
}

// "" where the file is not in the folder.
std::string RoomOf(const std::string& folder, const std::string& path) {
  if (path.rfind(folder + "/", 0) != 0) return "";
  const std::string rest = path.substr(folder.size() + 1);
  return rest.find('/') == std::string::npos ? "." : FirstFolder(rest);
}

using Rooms = std::map<std::string, std::set<std::string>>;

// Whether `from` comes to `to` by at least one include.
bool Reaches(const Rooms& includes, const std::string& from,
             const std::string& to) {
  std::set<std::string> seen;
  std::vector<std::string> open = {from};
  while (!open.empty()) {
    const auto room = includes.find(open.back());
    open.pop_back();
    if (room == includes.end()) continue;
    for (const std::string& next : room->second) {
      if (next == to) return true;
      if (seen.insert(next).second) open.push_back(next);
    }
  }
  return false;
}

// The includes by which a room of the folder reaches itself.
std::vector<std::string> Circles(const std::string& folder,
                                 const std::vector<Edge>& edges) {
  Rooms includes;
  std::vector<Edge> between;
  for (const Edge& edge : edges) {
    const std::string from = RoomOf(folder, edge.from);
    const std::string to = RoomOf(folder, edge.to);
    if (from.empty() || to.empty() || from == to) continue;
    includes[from].insert(to);
    between.push_back(edge);
  }
  std::vector<std::string> circles;
  for (const Edge& edge : between) {
    const std::string from = RoomOf(folder, edge.from);
    const std::string to = RoomOf(folder, edge.to);
    if (!Reaches(includes, to, from)) continue;
    circles.push_back(edge.from + ":" + std::to_string(edge.line) + ": '" +
                      from + "' includes " + edge.to + ", and '" + to +
                      "' comes back to '" + from + "'");
  }
  return circles;
}

// All that have rooms.
std::set<std::string> FoldersWithRooms(const std::vector<Edge>& edges) {
  std::set<std::string> folders;
  for (const Edge& edge : edges) {
    std::string folder = edge.from.substr(0, edge.from.rfind('/'));
    for (size_t end; (end = folder.rfind('/')) != std::string::npos;) {
      folder.resize(end);
      folders.insert(folder);
    }
  }
  return folders;
}

// The table of passes stands beside what the passes share.
bool HasCircles(const std::string& folder) { return folder == "src/compiler"; }

TEST(Rooms, OfAFolderStandOnEachOtherOneWay) {
  const std::vector<Edge> edges = EdgesOfTree();
  const std::set<std::string> folders = FoldersWithRooms(edges);
  EXPECT_THAT(folders, testing::IsSupersetOf(
                           {"ops", "src", "src/vx", "src/device/opencl"}));
  for (const std::string& folder : folders) {
    if (HasCircles(folder)) {
      EXPECT_FALSE(Circles(folder, edges).empty())
          << folder << " has no circle any more: hold it to the rule";
    } else {
      EXPECT_THAT(Circles(folder, edges), IsEmpty());
    }
  }
}

// What a room includes of another, turned around, closes a circle.
TEST(Rooms, PlantedUpwardIncludesAreSeen) {
  const std::vector<Edge> tree = EdgesOfTree();
  for (const std::string folder : {"src/vx", "src/device/opencl", "ops"}) {
    std::set<std::pair<std::string, std::string>> planted;
    for (const Edge& edge : tree) {
      const std::string from = RoomOf(folder, edge.from);
      const std::string to = RoomOf(folder, edge.to);
      if (from.empty() || to.empty() || from == to) continue;
      if (!planted.insert({from, to}).second) continue;
      const std::string name =
          edge.from.substr(edge.from.rfind("src/", 0) == 0 ? 4 : 0);
      std::vector<Edge> edges = tree;
      for (const Edge& up : EdgesOf(edge.to, "\n#include \"" + name + "\"\n"))
        edges.push_back(up);
      EXPECT_THAT(Circles(folder, edges),
                  testing::Contains(HasSubstr(edge.to + ":2: '" + to +
                                              "' includes " + edge.from)));
    }
    EXPECT_GT(planted.size(), 5u) << folder;
  }
}

TEST(Rooms, ReachThemselvesThroughOthers) {
  std::vector<Edge> edges;
  const auto add = [&](const std::string& path, const std::string& name) {
    for (const Edge& edge : EdgesOf(path, "#include \"" + name + "\""))
      edges.push_back(edge);
  };
  add("src/vx/graph/graph.cc", "vx/tensor/tensor.h");
  add("src/vx/tensor/tensor.cc", "vx/failure.h");
  add("src/vx/tensor/tensor.cc", "vx/tensor/storage.h");
  add("src/vx/tensor/storage.cc", "vx/tensor/tensor.h");
  add("src/vx/tensor/tensor.cc", "ir/tensor_desc.h");
  add("src/ir/graph.cc", "ir/verify/verify.h");
  EXPECT_THAT(Circles("src/vx", edges), IsEmpty());
  EXPECT_THAT(Circles("src/ir", edges), IsEmpty());
  add("src/vx/failure.cc", "vx/graph/graph.h");
  EXPECT_THAT(Circles("src/vx", edges), SizeIs(3));
  EXPECT_THAT(Circles("src/vx", edges),
              testing::Contains("src/vx/failure.cc:1: '.' includes "
                                "src/vx/graph/graph.h, and 'graph' comes back "
                                "to '.'"));
  EXPECT_THAT(Circles("src/ir", edges), IsEmpty());
  add("ops/doubts/sums.h", "ops/elements/convert.clh");
  add("ops/elements/unary.cl", "ops/doubts/codes.h");
  EXPECT_THAT(Circles("ops", edges), SizeIs(2));
}

}  // namespace
}  // namespace tim::structure
