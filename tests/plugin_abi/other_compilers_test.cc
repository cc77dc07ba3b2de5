// Checks 2 and 3 of the specification: plug-ins of another compiler and another
// C++ library, which they bring along, and of other versions of the header.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <utility>
#include <vector>

#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
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
    " -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -O1 -fPIC -shared "
    "-fvisibility=hidden -Wl,--version-script=cmake/tim_plugin.map -iquote ";

bool IsInstalled(const std::string& compiler) {
  const std::string program = compiler.substr(0, compiler.find(' '));
  return structure::RunCommand("command -v " + program).exit_status == 0;
}

// Builds the sample; false where the compiler or its library is not installed.
bool Build(const std::string& compiler, const std::string& source,
           const std::string& library, const std::string& include = "include") {
  if (!IsInstalled(compiler)) return false;
  const auto built = structure::RunCommand(compiler + kCommon + include + " " +
                                           source + " -o " + library);
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
  bool by_clang = false;
  for (const Kind& one : all) {
    SCOPED_TRACE(one.compiler);
    const std::string library = structure::FreshFolder("plugin") +
                                "/libtimcl_" + one.kind +
                                std::to_string(built) + ".so";
    if (!Build(one.compiler, one.source, library)) continue;
    ++built;
    by_clang |= std::string(one.compiler).starts_with("clang++");
    ASSERT_OK(LoadPlugin(library, {}, {}));
    ExpectRuns(one.kind);
    EXPECT_OK(UnloadPlugin(one.kind));
  }
  EXPECT_GE(built, 2);
  EXPECT_EQ(by_clang, IsInstalled("clang++"));
}

// ---- versions ---------------------------------------------------------------

constexpr char kHeader[] = "/tim/plugin/tim_plugin.h";
constexpr char kDemo[] = "samples/plugins/demo_kernel/";

// `text` with `replaced` in place of `words`, which it has once.
std::string Replaced(std::string text, const std::string& words,
                     const std::string& replaced) {
  const size_t at = text.find(words);
  EXPECT_NE(at, std::string::npos) << words;
  EXPECT_EQ(text.find(words, at + 1), std::string::npos) << words;
  return at == std::string::npos ? text
                                 : text.replace(at, words.size(), replaced);
}

// A folder with the header of the next minor version, which has a function more
// in two tables.
std::string LaterHeader() {
  const std::string folder = structure::FreshFolder("later");
  std::string types =
      structure::ReadText("include/tim/plugin/tim_plugin_types.h");
  types = Replaced(types, StrCat("#define TIM_ABI_MINOR ", TIM_ABI_MINOR),
                   StrCat("#define TIM_ABI_MINOR ", TIM_ABI_MINOR + 1));
  structure::WriteText(folder + "/tim/plugin/tim_plugin_types.h", types);
  std::string header = structure::ReadText("include/tim/plugin/tim_plugin.h");
  header = Replaced(header, "} TimDeviceFns;",
                    "TimCode (*added)(TimDevice*); } TimDeviceFns;");
  header = Replaced(header, "} TimHost;", "void (*added)(void); } TimHost;");
  structure::WriteText(folder + kHeader, header);
  return folder;
}

// The demo with all that the next version has.
std::string LaterDemo() {
  const std::string folder = structure::FreshFolder("later_demo");
  std::string text = structure::ReadText(StrCat(kDemo, "demo_kernel.c"));
  text = Replaced(
      text,
      "static const TimDeviceFns kDevice = {\n"
      "    .struct_size = TIM_SIZE_THROUGH(TimDeviceFns, native_handle),",
      "static TimCode Added(TimDevice* device) {\n"
      "  (void)device;\n"
      "  return TIM_OK;\n"
      "}\n"
      "static const TimDeviceFns kDevice = {\n"
      "    .struct_size = TIM_SIZE_THROUGH(TimDeviceFns, added),\n"
      "    .added = Added,");
  text = Replaced(text, "  g_host = host;\n",
                  "  if (TIM_OFFERS(host, TimHost, added)) {\n"
                  "    return Fail(message, TIM_INTERNAL_ERROR, \"too new\");\n"
                  "  }\n"
                  "  g_host = host;\n");
  for (const char* name : {"conv2d.h", "squared_relu.h"}) {
    structure::WriteText(folder + "/" + name,
                         structure::ReadText(std::string(kDemo) + name));
  }
  structure::WriteText(folder + "/demo_kernel.c", text);
  return folder + "/demo_kernel.c";
}

// A folder with the header of version 1.0 as it was released.
std::string FirstHeader() {
  const std::string folder = structure::FreshFolder("first");
  structure::WriteText(
      folder + kHeader,
      structure::ReadText("tests/plugin_abi/tim_plugin_1_0.txt"));
  return folder;
}

// Check 3: whatever is newer, plug-in and library take what both know.
TEST(OtherVersions, PluginsOfTheirsRun) {
  const std::string library =
      structure::FreshFolder("plugin") + "/libtimcl_demo";
  ASSERT_TRUE(Build("gcc -std=c11", StrCat(kDemo, "demo_kernel.c"),
                    library + "1.so", FirstHeader()));
  ASSERT_TRUE(
      Build("gcc -std=c11", LaterDemo(), library + "2.so", LaterHeader()));
  for (const auto& [file, abi] :
       {std::pair(library + "1.so", std::string("1.0")),
        std::pair(library + "2.so", StrCat("1.", TIM_ABI_MINOR + 1))}) {
    SCOPED_TRACE(abi);
    ASSERT_OK(LoadPlugin(file, {}, {}));
    EXPECT_EQ(Plugins()[0].abi, abi);
    ExpectRuns("demo");
    EXPECT_OK(UnloadPlugin("demo"));
  }
}

// A library of the next version, which is no more than what reads tables, with
// a plug-in of version 1.0.
TEST(OtherVersions, LibrariesOfTheirsTakePlugins) {
  const std::string include = LaterHeader();
  const std::string folder = structure::FreshFolder("library");
  const std::string plugin = folder + "/libtimcl_demo.so";
  ASSERT_TRUE(Build("gcc -std=c11", StrCat(kDemo, "demo_kernel.c"), plugin,
                    FirstHeader()));
  structure::WriteText(
      folder + "/tables.cc",
      Replaced(structure::ReadText("src/plugin/tables.cc"),
               "    TIM_OPTIONAL(TimDeviceFns, native_handle),\n",
               "    TIM_OPTIONAL(TimDeviceFns, native_handle),\n"
               "    TIM_OPTIONAL(TimDeviceFns, added),\n"));
  structure::WriteText(folder + "/main.cc", R"(
#include <dlfcn.h>

#include <cstdio>

#include "plugin/tables.h"

int main(int, char** arguments) {
  using Entry = const TimPlugin* (*)(uint16_t, uint16_t);
  void* const library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 1;
  const auto entry =
      reinterpret_cast<Entry>(dlsym(library, "TimPluginGet"));
  const TimPlugin* const given = entry(TIM_ABI_MAJOR, TIM_ABI_MINOR);
  if (given == nullptr) return 2;
  std::vector<std::string> missing;
  TimPlugin plugin{};
  TimDeviceFns device{};
  using namespace tim::plugin;
  if (!ReadTable(PluginTable(), given, &plugin, &missing).ok()) return 3;
  if (!ReadTable(DeviceTable(), plugin.device, &device, &missing).ok()) return 4;
  if (device.added != nullptr) return 5;
  for (const std::string& name : missing) std::puts(name.c_str());
  char text[1024];
  TimMessage message{TIM_SIZE_THROUGH(TimMessage, text), sizeof(text), text};
  TimSinkFns sinks{};
  sinks.struct_size = TIM_SIZE_THROUGH(TimSinkFns, infer_output);
  sinks.infer_output = [](TimInference*, uint32_t, const TimTensorDesc*) {
    return TimCode{0};
  };
  TimHost host{};
  host.struct_size = TIM_SIZE_THROUGH(TimHost, added);
  host.sinks = &sinks;
  if (plugin.initialize(&host, nullptr, 0, &message) != 0) return 6;
  TimDevice* opened = nullptr;
  TimBuffer* buffer = nullptr;
  if (plugin.open(0, &opened, &message) != 0) return 7;
  if (device.allocate(opened, 64, 0, &buffer, &message) != 0) return 8;
  const int32_t sent = 42;
  int32_t received = 0;
  const TimRange range{buffer, 0, sizeof(sent)};
  device.copy_in(opened, nullptr, &sent, range, &message);
  device.copy_out(opened, nullptr, range, &received, &message);
  device.release(opened, buffer);
  plugin.close(opened);
  plugin.shutdown();
  return received == sent ? 0 : 9;
}
)");
  const auto built = structure::RunCommand(
      StrCat("g++ -std=c++20 -iquote ", include,
             " -iquote src -iquote include ", folder, "/main.cc ", folder,
             "/tables.cc src/base/status.cc -ldl -o ", folder, "/library"));
  ASSERT_EQ(built.exit_status, 0) << built.output;
  const auto run = structure::RunCommand(folder + "/library " + plugin);
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_THAT(run.output, ::testing::HasSubstr("TimDeviceFns::added\n"));
  EXPECT_THAT(run.output,
              ::testing::Not(::testing::HasSubstr("TimDeviceFns::copy\n")));
}

// ---- the document -----------------------------------------------------------

// The only block of C in docs/plugins.md is a whole plug-in.
TEST(Documents, ThePluginOfThePageRuns) {
  const std::string page = structure::ReadText("docs/plugins.md");
  const size_t begin = page.find("```c\n");
  ASSERT_NE(begin, std::string::npos);
  const size_t end = page.find("```\n", begin + 5);
  const std::string folder = structure::FreshFolder("quick");
  structure::WriteText(folder + "/quick_relu.c",
                       page.substr(begin + 5, end - begin - 5));
  ASSERT_TRUE(Build("gcc -std=c11", folder + "/quick_relu.c",
                    folder + "/libtimcl_quick.so"));
  ASSERT_OK(LoadPlugin(folder + "/libtimcl_quick.so", {}, {}));
  if (device::CountOpenClDevices() > 0) {
    const auto opencl = device::CreateOpenClDevice(0, {});
    ASSERT_OK(opencl);
    PlugGraph graph(testing::Known());
    graph.Output(graph.Op("tim.Relu", {graph.Input({40})}));
    auto ready = testing::Ready(graph, {device::CreateHostDevice(), *opencl},
                                /*strict=*/true);
    ASSERT_OK(ready);
    EXPECT_THAT(ir::Dump(ready->executable->plan()),
                ::testing::HasSubstr("quick.relu_f32"));
    const std::vector<Floats> inputs = {testing::SomeFloats(40)};
    const auto results = testing::Run(*ready, inputs);
    ASSERT_OK(results);
    testing::ExpectClose(*results, testing::Expected(graph, inputs));
  }
  EXPECT_OK(UnloadPlugin("quick"));
}

}  // namespace
}  // namespace tim::plugin
