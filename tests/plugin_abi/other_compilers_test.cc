// Check 2 of the specification: plug-ins of another compiler and another C++
// library, which they bring along.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "plugin/plugins.h"
#include "tests/plugin_abi/plug_graph.h"
#include "tests/structure/source_tree.h"
#include "tests/support/status_macros.h"

namespace tim::plugin {
namespace {

using testing::CountSteps;
using testing::Floats;
using testing::PlugGraph;

constexpr char kCommon[] =
    " -O1 -fPIC -shared -fvisibility=hidden -iquote include "
    "-Wl,--version-script=cmake/tim_plugin.map ";

// Builds the sample; false where the compiler or its library is not installed.
bool Build(const std::string& compiler, const std::string& source,
           const std::string& library) {
  const std::string program = compiler.substr(0, compiler.find(' '));
  if (structure::RunCommand("command -v " + program).exit_status != 0) {
    return false;
  }
  const auto built =
      structure::RunCommand(compiler + kCommon + source + " -o " + library);
  // A library that is missing is no mistake of the sample.
  if (built.exit_status != 0) {
    EXPECT_THAT(built.output,
                ::testing::AnyOf(::testing::HasSubstr("file not found"),
                                 ::testing::HasSubstr("cannot find")));
    return false;
  }
  chmod(library.c_str(), 0700);
  return true;
}

void ExpectRuns(const std::string& kind) {
  const auto devices = testing::HostAnd(kind);
  ASSERT_OK(devices);
  PlugGraph graph(testing::Known());
  graph.Output(graph.Op("tim.Relu", {graph.Input({40})}));
  auto ready = testing::Ready(graph, *devices, /*strict=*/true);
  ASSERT_OK(ready);
  const ir::Plan& plan = ready->executable->plan();
  EXPECT_EQ(CountSteps<ir::DeviceCall>(plan) + CountSteps<ir::GraphCall>(plan),
            1);
  const std::vector<Floats> inputs = {testing::SomeFloats(40)};
  const auto results = testing::Run(*ready, inputs);
  ASSERT_OK(results);
  testing::ExpectClose(*results, testing::Expected(graph, inputs));
}

TEST(OtherCompilers, PluginsOfTheirsRun) {
  struct Kind {
    const char* compiler;
    const char* source;
    const char* kind;
  };
  const Kind all[] = {
      {"gcc -std=c11", "samples/plugins/demo_kernel/demo_kernel.c", "demo"},
      {"clang -std=c11", "samples/plugins/demo_kernel/demo_kernel.c", "demo"},
      {"g++ -std=c++14 -static-libstdc++ -static-libgcc",
       "samples/plugins/demo_graph/demo_graph.cc", "demo_graph"},
      {"clang++ -std=c++14 -static-libstdc++ -static-libgcc",
       "samples/plugins/demo_graph/demo_graph.cc", "demo_graph"},
      {"clang++ -std=c++14 -stdlib=libc++",
       "samples/plugins/demo_graph/demo_graph.cc", "demo_graph"},
  };
  int built = 0;
  for (const Kind& one : all) {
    SCOPED_TRACE(one.compiler);
    const std::string library = structure::FreshFolder("plugin") +
                                "/libtimcl_" + one.kind +
                                std::to_string(built) + ".so";
    if (!Build(one.compiler, one.source, library)) continue;
    ++built;
    ASSERT_OK(LoadPlugin(library, {}, {}));
    ExpectRuns(one.kind);
    EXPECT_OK(UnloadPlugin(one.kind));
  }
  EXPECT_GE(built, 2);
}

}  // namespace
}  // namespace tim::plugin
