// include <- base <- ir <- kernels <- {ops, compiler, device} <- runtime <- vx
// <- {samples, bench, tools, tests}; custom_ops includes include/ only, and
// samples that and custom_ops, as bench may, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

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
      {"ops", {"include", "base", "ir", "kernels"}},
      {"compiler", {"include", "base", "ir", "kernels"}},
      {"device", {"include", "base", "ir", "kernels"}},
      {"runtime",
       {"include", "base", "ir", "kernels", "ops", "compiler", "device"}},
      {"vx",
       {"include", "base", "ir", "kernels", "ops", "compiler", "device",
        "runtime"}},
      {"custom_ops", {"include"}},
      {"samples", {"include", "custom_ops"}},
      {"bench",
       {"include", "base", "ir", "kernels", "ops", "compiler", "device",
        "runtime", "vx", "custom_ops"}},
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

std::vector<std::string> Violations(const std::string& path,
                                    const std::string& text) {
  static const std::regex include(
      R"re(^\s*#\s*include\s*(["<])([^">]+)[">])re");
  const std::string layer = LayerOfFile(path);
  std::vector<std::string> violations;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::smatch match;
    if (!std::regex_search(line, match, include)) continue;
    const std::string name = match[2];
    const std::string where = path + ":" + std::to_string(number) + ": ";
    if (match[1] == "<") {
      // The standard library's headers have neither folder nor extension.
      if (layer == "include" && name.find_first_of("./") != std::string::npos)
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
      {"src/compiler/compiler.cc", "ops/builtin.h"},
      {"src/compiler/compiler.cc", "device/device.h"},
      {"src/device/device.cc", "compiler/compiler.h"},
      {"src/runtime/executable.cc", "vx/graph/graph_impl.h"},
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

}  // namespace
}  // namespace tim::structure
