// Checks 3 and 4 of the specification: what is loaded and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "device/device_sources.h"
#include "device/host/host_device.h"
#include "plugin/host_table.h"
#include "plugin/named_files.h"
#include "plugin/plugins.h"
#include "plugin/tables.h"
#include "tests/plugin_abi/plug_graph.h"
#include "tests/support/status_macros.h"

namespace tim::plugin {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// A plug-in in this process, whose tables a test changes.
struct Tables {
  TimPlugin plugin{};
  TimDeviceFns device{};

  Tables() {
    plugin.struct_size = TIM_SIZE_THROUGH(TimPlugin, ops);
    plugin.abi_major = TIM_ABI_MAJOR;
    plugin.kind = "local";
    plugin.vendor = "tests";
    plugin.version = "1";
    plugin.initialize = [](const TimHost*, const TimOption*, uint32_t,
                           TimMessage*) -> TimCode { return TIM_OK; };
    plugin.shutdown = [] {};
    plugin.device_count = []() -> uint32_t { return 0; };
    plugin.describe = [](uint32_t, TimDeviceProps*, TimMessage*) -> TimCode {
      return TIM_NOT_FOUND;
    };
    plugin.open = [](uint32_t, TimDevice**, TimMessage*) -> TimCode {
      return TIM_NOT_FOUND;
    };
    plugin.close = [](TimDevice*) {};
    plugin.device = &device;
    device.struct_size = TIM_SIZE_THROUGH(TimDeviceFns, native_handle);
    device.allocate = [](TimDevice*, uint64_t, int32_t, TimBuffer**,
                         TimMessage*) -> TimCode { return TIM_OUT_OF_MEMORY; };
    device.release = [](TimDevice*, TimBuffer*) {};
    device.copy_in = [](TimDevice*, TimStream*, const void*, TimRange,
                        TimMessage*) -> TimCode { return TIM_OK; };
    device.copy_out = [](TimDevice*, TimStream*, TimRange, void*,
                         TimMessage*) -> TimCode { return TIM_OK; };
  }
};

Status Load(const Tables& tables) {
  return LoadPluginTable(&tables.plugin, {}, {});
}

TEST(Load, ASoundTableIsLoaded) {
  const Tables tables;
  ASSERT_OK(Load(tables));
  EXPECT_THAT(Plugins()[0].not_offered, Contains("TimDeviceFns::copy"));
  EXPECT_ERROR(Load(tables), "kind 'local' is taken by another plug-in");
  EXPECT_ERROR(UnloadPlugin(""), "there is no plug-in ''; there are local");
  EXPECT_OK(UnloadPlugin("local"));
  EXPECT_ERROR(UnloadPlugin("local"),
               "there is no plug-in 'local'; none is loaded");
}

TEST(Load, WhatDoesNotFitIsRefused) {
  struct Mistake {
    const char* words;
    void (*make)(Tables& tables);
  };
  const Mistake mistakes[] = {
      {"it has version 2.0 of the plug-in interface, this library 1.0",
       [](Tables& t) { t.plugin.abi_major = 2; }},
      {"TimPlugin has a struct_size of 8; version 1.0 of it has 120 bytes",
       [](Tables& t) { t.plugin.struct_size = 8; }},
      {"TimDeviceFns has a struct_size of 16; version 1.0 of it has ",
       [](Tables& t) { t.device.struct_size = 16; }},
      {"TimDeviceFns: copy_out is missing",
       [](Tables& t) { t.device.copy_out = nullptr; }},
      {"TimDeviceFns: create_stream is offered without destroy_stream",
       [](Tables& t) {
         t.device.create_stream = [](TimDevice*, TimStream**,
                                     TimMessage*) -> TimCode { return TIM_OK; };
       }},
      {"TimDeviceFns: create_stream is offered without record",
       [](Tables& t) {
         t.device.create_stream = [](TimDevice*, TimStream**,
                                     TimMessage*) -> TimCode { return TIM_OK; };
         t.device.destroy_stream = [](TimDevice*, TimStream*) {};
         t.device.create_event = [](TimDevice*, TimEvent**,
                                    TimMessage*) -> TimCode { return TIM_OK; };
         t.device.destroy_event = [](TimDevice*, TimEvent*) {};
       }},
      {"TimPlugin: initialize is missing",
       [](Tables& t) { t.plugin.initialize = nullptr; }},
      {"TimPlugin: device_count is offered without open",
       [](Tables& t) { t.plugin.open = nullptr; }},
      {"kind 'host' is not legal", [](Tables& t) { t.plugin.kind = "host"; }},
      {"kind 'A' is not legal", [](Tables& t) { t.plugin.kind = "A"; }},
      {"kind is missing", [](Tables& t) { t.plugin.kind = nullptr; }},
      {"an exception left TimPlugin::initialize()",
       [](Tables& t) {
         t.plugin.initialize = [](const TimHost*, const TimOption*, uint32_t,
                                  TimMessage*) -> TimCode { throw 1; };
       }},
  };
  for (const Mistake& mistake : mistakes) {
    SCOPED_TRACE(mistake.words);
    Tables tables;
    mistake.make(tables);
    EXPECT_ERROR(Load(tables), mistake.words);
    EXPECT_TRUE(device::FindDeviceSource("local") == std::nullopt);
  }
  EXPECT_ERROR(LoadPluginTable(nullptr, {}, {}),
               "it cannot serve version 1.0 of the plug-in interface");
}

// A kernel and an operator of a plug-in, and how it lists them.
struct Lists {
  TimKernel kernel{};
  TimOp op{};
  uint32_t kernels = 1;
  bool throws = false;
  bool gives_null = false;
};
Lists g_lists;  // NOLINT: of one test

void AddLists(Tables* tables) {
  static TimKernelFns kernels;
  static TimOpFns ops;
  g_lists = {};
  TimKernel& kernel = g_lists.kernel;
  kernel.struct_size = TIM_SIZE_THROUGH(TimKernel, lower);
  kernel.name = "local.relu";
  kernel.op = "tim.Relu";
  kernel.device_kind = "opencl";
  kernel.supports = [](void*, const TimNode*, const TimDeviceProps*,
                       TimMessage*) -> TimCode { return TIM_OK; };
  kernel.lower = [](void*, const TimNode*, const TimDeviceProps*, TimLowering*,
                    TimMessage*) -> TimCode { return TIM_OK; };
  TimOp& op = g_lists.op;
  op.struct_size = TIM_SIZE_THROUGH(TimOp, estimate);
  op.version = 1;
  op.domain = "local";
  op.name = "Secret";
  op.inputs_required = op.inputs_limit = 1;
  op.outputs_required = op.outputs_limit = 1;
  op.infer = [](void*, const TimNode*, TimInference*, TimMessage*) -> TimCode {
    return TIM_OK;
  };
  kernels.struct_size = TIM_SIZE_THROUGH(TimKernelFns, enqueue);
  kernels.count = []() -> uint32_t {
    if (g_lists.throws) throw 1;
    return g_lists.kernels;
  };
  kernels.kernel = [](uint32_t) -> const TimKernel* {
    return g_lists.gives_null ? nullptr : &g_lists.kernel;
  };
  ops.struct_size = TIM_SIZE_THROUGH(TimOpFns, op);
  ops.count = []() -> uint32_t { return 1; };
  ops.op = [](uint32_t) -> const TimOp* { return &g_lists.op; };
  tables->plugin.kernels = &kernels;
  tables->plugin.ops = &ops;
}

TEST(Load, ListsThatDoNotFitAreRefused) {
  struct Mistake {
    const char* words;
    void (*make)(Lists& lists);
  };
  const Mistake mistakes[] = {
      {"kernel local.relu is for devices of kind 'acme'; expected 'local' or "
       "'opencl'",
       [](Lists& l) { l.kernel.device_kind = "acme"; }},
      {"TimKernelFns: build is missing",
       [](Lists& l) { l.kernel.device_kind = "local"; }},
      {"TimKernel: supports is missing",
       [](Lists& l) { l.kernel.supports = nullptr; }},
      {"kernel 0: TimKernel has a struct_size of 16",
       [](Lists& l) { l.kernel.struct_size = 16; }},
      {"there is a kernel local.relu already", [](Lists& l) { l.kernels = 2; }},
      {"100001 kernels; at most 100000", [](Lists& l) { l.kernels = 100'001; }},
      {"kernel 0 of 1 is NULL", [](Lists& l) { l.gives_null = true; }},
      {"an exception left the list of kernels",
       [](Lists& l) { l.throws = true; }},
      {"operator Secret has the domain 'tim'; expected 'local'",
       [](Lists& l) { l.op.domain = "tim"; }},
      {"TimOp: infer is missing", [](Lists& l) { l.op.infer = nullptr; }},
  };
  for (const Mistake& mistake : mistakes) {
    SCOPED_TRACE(mistake.words);
    Tables tables;
    AddLists(&tables);
    mistake.make(g_lists);
    EXPECT_ERROR(Load(tables), mistake.words);
    EXPECT_EQ(testing::Known()->Find("local.Secret"), nullptr);
  }
  Tables tables;
  AddLists(&tables);
  ASSERT_OK(Load(tables));
  EXPECT_OK(UnloadPlugin("local"));
}

TEST(Load, OptionsThatNobodyCouldMeanAreRefused) {
  const auto load = [](const PluginOptionList& options) {
    return LoadPlugin(testing::LibraryPath("libtimcl_demo_graph.so"), options,
                      {});
  };
  EXPECT_ERROR(load({{"", "5"}}),
               "the option '=5' has no key; expected key and value");
  EXPECT_ERROR(load({{"a", "1"}, {"b", "1"}, {"a", "2"}}),
               "option a is given twice, as '1' and as '2'");
  for (const char* nodes :
       {"", "0", "-1", "three", "3 ", "2.5", "99999999999"}) {
    EXPECT_ERROR(load({{"min_nodes", nodes}}),
                 StrCat("option min_nodes is '", nodes,
                        "'; expected a whole number from 1"));
  }
  EXPECT_TRUE(device::FindDeviceSource("demo_graph") == std::nullopt);
  ASSERT_OK(load({{"min_nodes", "3"}, {"b", ""}}));
  EXPECT_OK(UnloadPlugin("demo_graph"));
}

// A plug-in of a later minor version: longer tables, which are cut.
TEST(Load, LongerTablesAreTaken) {
  struct Later {
    TimDeviceFns device;
    void* added[4];
  };
  static Later later;
  Tables tables;
  later.device = tables.device;
  later.device.struct_size = sizeof(Later);
  tables.plugin.device = &later.device;
  tables.plugin.abi_minor = 9;
  tables.plugin.struct_size = sizeof(TimPlugin);
  ASSERT_OK(Load(tables));
  EXPECT_EQ(Plugins()[0].abi, "1.9");
  EXPECT_OK(UnloadPlugin("local"));
}

// A library of a later minor version: what it has added is not offered by a
// plug-in of this one.
TEST(Load, WhatAnOlderPluginLacksIsNotOffered) {
  struct Later {
    TimDeviceFns device;
    TimCode (*added)(TimDevice*);
  };
  static constexpr TableMember kMembers[] = {
      {"allocate", offsetof(Later, device) + offsetof(TimDeviceFns, allocate),
       true},
      {"added", offsetof(Later, added), false}};
  const TableType type = {"TimDeviceFns", sizeof(Later),
                          DeviceTable().first_bytes, kMembers};
  const Tables tables;
  Later table;
  std::memset(static_cast<void*>(&table), 0xFF, sizeof(table));
  std::vector<std::string> not_offered;
  ASSERT_OK(ReadTable(type, &tables.device, &table, &not_offered));
  EXPECT_THAT(not_offered, ::testing::ElementsAre("TimDeviceFns::added"));
  EXPECT_EQ(table.added, nullptr);
  EXPECT_EQ(table.device.allocate, tables.device.allocate);
}

TEST(Load, FilesThatAreNoPluginsAreRefused) {
  const auto load = [](const std::string& path) {
    return LoadPlugin(path, {}, {});
  };
  EXPECT_EQ(load("/nowhere/libtimcl_x.so").code(), StatusCode::kNotFound);
  const std::string folder = ::testing::TempDir();
  const std::string text = folder + "/libtimcl_text.so";
  std::ofstream(text) << "no library";
  chmod(text.c_str(), 0600);
  EXPECT_ERROR(load(text), "libtimcl_text.so");
  EXPECT_EQ(load(text).code(), StatusCode::kNotFound);
  chmod(text.c_str(), 0666);
  EXPECT_ERROR(load(text), "may be written by everybody");
  EXPECT_ERROR(load(folder), "is a folder; expected the path of a plug-in");
  EXPECT_ERROR(load("/dev/null"), "/dev/null is no file");
  EXPECT_ERROR(load(""), "no file is named");
  EXPECT_ERROR(load(testing::LibraryPath("libtimcl_none.so")),
               "is no plug-in: it has no TimPluginGet()");
  // A file that could not be loaded stays in the list, with its reason.
  const auto facts = Plugins();
  ASSERT_FALSE(facts.empty());
  EXPECT_FALSE(facts.back().loaded);
  EXPECT_THAT(facts.back().error, HasSubstr("TimPluginGet"));
}

TEST(Load, APluginThatCannotStartIsRefused) {
  const std::string bad = testing::LibraryPath("libtimcl_bad.so");
  const std::pair<const char*, const char*> modes[] = {
      {"initialize_fails", "TimPlugin::initialize(): no such hardware"},
      {"throw_describe", "an exception left TimPlugin::describe()"},
      {"endless_name", "TimPlugin::describe(0): a text without an end"},
      {"bad_class", "TimPlugin::describe(0): device_class is 7"},
      {"bad_alignment", "TimPlugin::describe(0): alignment is 48"},
      {"many_devices", "TimPlugin::device_count() gave 1073741824"},
  };
  for (const auto& [mode, words] : modes) {
    SCOPED_TRACE(mode);
    EXPECT_ERROR(LoadPlugin(bad, {{"mode", mode}}, {}), words);
  }
}

TEST(Load, ADeviceThatIsNotUsableSaysWhy) {
  const std::string bad = testing::LibraryPath("libtimcl_bad.so");
  ASSERT_OK(LoadPlugin(bad, {{"mode", "unusable"}}, {}));
  const auto source = device::FindDeviceSource("bad");
  ASSERT_TRUE(source.has_value());
  const auto list = source->list();
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].score, 0);
  EXPECT_THAT(list[0].reason, HasSubstr("no board is there"));
  EXPECT_ERROR(source->open(0),
               "device bad:0 is not usable: plug-in bad, "
               "TimPlugin::describe(): no board is there");
  EXPECT_OK(UnloadPlugin("bad"));
  ASSERT_OK(LoadPlugin(bad, {{"mode", "null_device"}}, {}));
  EXPECT_ERROR(device::FindDeviceSource("bad")->open(0),
               "TimPlugin::open() succeeded without a device");
  EXPECT_OK(UnloadPlugin("bad"));
}

// Check 12: an operator that is for its own device only.
TEST(Load, AnOperatorWithoutEvalAndPartsNeedsItsDevice) {
  Tables tables;
  AddLists(&tables);
  tables.plugin.kernels = nullptr;
  g_lists.op.infer = [](void*, const TimNode* node, TimInference* inference,
                        TimMessage*) -> TimCode {
    return Host().sinks->infer_output(inference, 0,
                                      Host().views->input(node, 0));
  };
  ASSERT_OK(Load(tables));
  testing::PlugGraph graph(testing::Known());
  graph.Output(graph.Op("local.Secret", {graph.Input({4})}));
  const auto ready = testing::Ready(graph, {device::CreateHostDevice()});
  EXPECT_ERROR(ready, "local.Secret");
  EXPECT_THAT(ready.status().message(), HasSubstr("plug-in local"));
  EXPECT_OK(UnloadPlugin("local"));
}

// "path key=value key=value | path ..." with the words of failures.
std::string Text(const std::vector<NamedFile>& files) {
  std::string text;
  for (const NamedFile& file : files) {
    text += (text.empty() ? "" : " | ") + file.path;
    for (const auto& [key, value] : file.options) {
      text += " " + key + "=" + value;
    }
    if (!file.status.ok()) text += " " + file.status.message();
  }
  return text;
}

TEST(NamedFiles, HaveOptionsBehindThem) {
  EXPECT_EQ(Text(NamedFiles("a.so:b.so?threads=2&name=x=y&empty=::c.so")),
            "a.so | b.so threads=2 name=x=y empty= | c.so");
  const std::string folder = ::testing::TempDir() + "/named";
  mkdir(folder.c_str(), 0700);
  for (const char* name : {"/libtimcl_b.so", "/libtimcl_a.so", "/other.so"}) {
    std::ofstream(folder + name) << "";
  }
  EXPECT_EQ(Text(NamedFiles(folder + "?k=v")),
            folder + "/libtimcl_a.so k=v | " + folder + "/libtimcl_b.so k=v");
}

// Options begin behind the shortest path that exists.
TEST(NamedFiles, MayHaveQuestionMarksInTheirNames) {
  const std::string path = ::testing::TempDir() + "/why?not?.so";
  const std::string shorter = ::testing::TempDir() + "/why";
  EXPECT_EQ(Text(NamedFiles(path + "?k=v")), shorter + " not?.so?k=v");
  std::ofstream(path) << "";
  EXPECT_EQ(Text(NamedFiles(path)), path);
  EXPECT_EQ(Text(NamedFiles(path + "?k=v?&l=w?")), path + " k=v? l=w?");
  const std::string folder = ::testing::TempDir() + "/really?";
  mkdir(folder.c_str(), 0700);
  std::ofstream(folder + "/libtimcl_a.so") << "";
  EXPECT_EQ(Text(NamedFiles(folder)), folder + "/libtimcl_a.so");
  EXPECT_EQ(Text(NamedFiles(folder + "?k=v")), folder + "/libtimcl_a.so k=v");
  std::ofstream(shorter) << "";
  EXPECT_EQ(Text(NamedFiles(shorter + "?not?.so=1")), shorter + " not?.so=1");
  unlink(shorter.c_str());
  unlink(path.c_str());
}

TEST(NamedFiles, OfAnotherFormAreToldWithTheExpectedOne) {
  for (const std::string bad : {"a.so?", "a.so?threads", "a.so?=2", "?k=v",
                                "a.so?k=v&", "a.so?k=v&&l=w"}) {
    EXPECT_EQ(Text(NamedFiles(bad + ":b.so")),
              bad + " entry '" + bad +
                  "' is not understood; expected path, or "
                  "path?key=value&key=value | b.so");
  }
}

// A folder that a user comes to, but cannot read, is told; the next is read.
TEST(NamedFiles, OfFoldersThatCannotBeReadAreTold) {
  std::string folder =
      std::filesystem::temp_directory_path() / "timcl_closed_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  chmod(folder.c_str(), 0);
  const uid_t user = geteuid();
  if (user == 0) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  const std::string text = Text(NamedFiles(folder + ":b.so"));
  ASSERT_EQ(seteuid(user), 0);
  rmdir(folder.c_str());
  EXPECT_EQ(text, folder + " folder " + folder +
                      " cannot be read: Permission denied | b.so");
}

// The next one of a list is loaded, whatever the one before was.
TEST(Load, NamedOnesAreLoadedInOrder) {
  PluginOptions named;
  named.files = "/nowhere/a.so:" + testing::LibraryPath("libtimcl_none.so") +
                ":" + testing::LibraryPath("libtimcl_bad.so") + "?mode" + ":" +
                testing::LibraryPath("libtimcl_bad.so") + "?mode=unusable" +
                ":" + testing::LibraryPath("libtimcl_demo.so");
  LoadNamedPlugins({.watch = named});
  EXPECT_TRUE(device::FindDeviceSource("demo").has_value());
  const auto bad = device::FindDeviceSource("bad");
  ASSERT_TRUE(bad.has_value());
  EXPECT_THAT(bad->list()[0].reason, HasSubstr("no board is there"));
  std::string failures;
  for (const PluginFacts& facts : Plugins()) failures += facts.error + "\n";
  EXPECT_THAT(failures, HasSubstr("/nowhere/a.so"));
  EXPECT_THAT(failures, HasSubstr("libtimcl_none.so is no plug-in"));
  EXPECT_THAT(failures, HasSubstr("libtimcl_bad.so?mode' is not understood"));
  EXPECT_OK(UnloadPlugin("demo"));
  EXPECT_OK(UnloadPlugin("bad"));
  LoadNamedPlugins({.watch = named});  // once per process
  EXPECT_FALSE(device::FindDeviceSource("demo").has_value());
}

}  // namespace
}  // namespace tim::plugin
