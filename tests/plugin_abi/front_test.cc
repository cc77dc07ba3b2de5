// Plug-ins through the fronts: names in lists of devices, operators by name.
// Checks 7, 12 and 15 of the specification.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/child_process.h"
#include "tim/devices/devices.h"
#include "tim/devices/plugins.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/named_op.h"
#include "tim/vx/platform/native.h"
#include "tim/vx/tensor.h"

namespace tim::vx {
namespace {

using ::testing::HasSubstr;

// Named before the first use of any device.
const bool kNamed = [] {
  setenv("TIMCL_PLUGINS", "samples/plugins/libtimcl_demo.so?told=yes", 1);
  setenv("TIMCL_STRICT", "0", 1);
  return true;
}();

// y = max(x, 0)^2, by the plug-in's operator.
std::vector<float> SquaresOn(const std::shared_ptr<Context>& context) {
  const std::vector<float> x = {-2, -0.5f, 0, 0.5f, 3};
  auto graph = context->CreateGraph();
  const TensorSpec in(DataType::FLOAT32, {5}, TensorAttribute::INPUT);
  const TensorSpec out(DataType::FLOAT32, {5}, TensorAttribute::OUTPUT);
  auto from = graph->CreateTensor(in);
  auto to = graph->CreateTensor(out);
  (*graph->CreateOperation<ops::Named>("demo.SquaredRelu"))
      .BindInput(from)
      .BindOutput(to);
  if (!graph->Compile()) return {};
  from->CopyDataToTensor(x.data(), x.size() * sizeof(float));
  if (!graph->Run()) return {};
  std::vector<float> y(5);
  to->CopyDataFromTensor(y.data());
  return y;
}

// A program "timcl" that is right only where it gets the environment of this
// process without what makes it load plug-ins itself, and the plug-in's
// options.
TEST(Fronts, HandTheirEnvironmentToTheProbe) {
  const char* const given = std::getenv("GIVEN_TO_PROBE");
  if (testing::IsChild()) {
    EXPECT_EQ(devices::FindOperator("demo.SquaredRelu"), given != nullptr);
    return;
  }
  const std::string folder = ::testing::TempDir();
  const std::string program = folder + "/timcl";
  std::ofstream(program) << "#!/bin/sh\n"
                            "test \"$1 $2\" = \"plugin-check --probe\" &&\n"
                            "test \"$3 $4\" = \"--option told=yes\" &&\n"
                            "test \"$GIVEN_TO_PROBE\" = yes &&\n"
                            "test -z \"$TIMCL_PLUGINS$TIMCL_PLUGIN_PROBE\"\n";
  chmod(program.c_str(), 0700);
  std::map<std::string, std::string> variables = {{"PATH", folder},
                                                  {"TIMCL_PLUGIN_PROBE", "1"}};
  const auto without = testing::RunAsChild(variables);
  EXPECT_EQ(without.exit_status, 0) << without.output;
  variables["GIVEN_TO_PROBE"] = "yes";
  const auto with = testing::RunAsChild(variables);
  EXPECT_EQ(with.exit_status, 0) << with.output;
}

TEST(Fronts, NameDevicesOfPluginsBehindAllOthers) {
  ASSERT_TRUE(kNamed);
  const auto list = devices::List();
  ASSERT_GE(list.size(), 2u);
  EXPECT_EQ(list.back().spec, "demo:0");
  EXPECT_EQ(list[list.size() - 2].spec, "host");
  EXPECT_EQ(list.back().kind, "demo");
  EXPECT_EQ(list.back().score, 20);
  EXPECT_TRUE(list.back().usable);
  EXPECT_EQ(platform::NativeDevice::Enumerate().size(), list.size());
}

TEST(Fronts, RunOperatorsOfPlugins) {
  EXPECT_TRUE(devices::FindOperator("demo.SquaredRelu"));
  EXPECT_TRUE(devices::FindOperator("tim.Conv2d"));
  EXPECT_FALSE(devices::FindOperator("demo.Nothing"));
  const std::vector<float> squares = {0, 0, 0, 0.25f, 9};
  for (const char* list : {"host", "demo:0", "demo", "demo:0,host"}) {
    const auto context = Context::CreateOn(list);
    ASSERT_NE(context, nullptr) << list;
    EXPECT_EQ(SquaresOn(context), squares) << list;
  }
  EXPECT_EQ(Context::CreateOn("demo:1"), nullptr);
  EXPECT_EQ(Context::CreateOn("acme:0"), nullptr);
}

TEST(Fronts, LoadAndUnload) {
  auto context = Context::CreateOn("demo:0");
  ASSERT_NE(context, nullptr);
  EXPECT_FALSE(devices::UnloadPlugin("demo"));
  EXPECT_THAT(devices::LastError(), HasSubstr("plug-in demo is in use"));
  context = nullptr;
  ASSERT_TRUE(devices::UnloadPlugin("demo")) << devices::LastError();
  EXPECT_FALSE(devices::FindOperator("demo.SquaredRelu"));
  EXPECT_EQ(devices::List().back().spec, "host");
  EXPECT_FALSE(devices::LoadPlugin("/nowhere/libtimcl_x.so"));
  EXPECT_THAT(devices::LastError(), HasSubstr("/nowhere/libtimcl_x.so"));
  ASSERT_TRUE(devices::LoadPlugin("samples/plugins/libtimcl_demo.so"))
      << devices::LastError();
  const auto plugins = devices::Plugins();
  ASSERT_EQ(plugins.size(), 2u);
  EXPECT_TRUE(plugins[0].loaded);
  EXPECT_EQ(plugins[0].kind, "demo");
  EXPECT_FALSE(plugins[1].loaded);
  EXPECT_EQ(SquaresOn(Context::CreateOn("demo:0")),
            (std::vector<float>{0, 0, 0, 0.25f, 9}));
}

}  // namespace
}  // namespace tim::vx
