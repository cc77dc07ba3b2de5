// Lists of devices: names, contexts on them, OpenCL devices that share a
// context.  Numbers are those of the acceptance checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/options.h"
#include "base/processors.h"
#include "device/device_sources.h"
#include "device/opencl/opencl_device.h"
#include "runtime/device_names.h"
#include "runtime/device_pool.h"
#include "tests/devices/fake_context.h"
#include "tests/support/devices/stream_counting_device.h"
#include "tests/support/status_macros.h"
#include "tim/devices/devices.h"
#include "tim/vx/placement.h"
#include "tim/vx/platform/native.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two sub-devices of the first OpenCL device; fewer where it makes none.
runtime::DeviceSet Halves() {
  auto set = runtime::OpenDevices("opencl:0/2");
  return set.ok() ? *std::move(set) : runtime::DeviceSet();
}

bool HasHalves() { return Halves().devices.size() == 3; }

#define SKIP_WITHOUT_HALVES()                                            \
  if (!HasHalves()) {                                                    \
    GTEST_SKIP() << "the first OpenCL device has no two sub-devices of " \
                    "equal size";                                        \
  }

// Check 15.
TEST(DeviceList, IsWhatTheOthersNumber) {
  const auto list = devices::List();
  const auto enumerated = vx::platform::NativeDevice::Enumerate();
  ASSERT_EQ(list.size(), enumerated.size());
  const auto opencl = static_cast<size_t>(device::CountOpenClDevices());
  for (size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(enumerated[i]->Id(), i);
    EXPECT_EQ(list[i].spec, i < opencl ? StrCat("opencl:", i) : "host");
    EXPECT_EQ(list[i].kind, i < opencl ? "opencl" : "host");
    EXPECT_TRUE(list[i].usable) << list[i].reason;
    EXPECT_GT(list[i].score, 0);
    EXPECT_NE(vx::Context::CreateOn(list[i].spec), nullptr) << vx::LastError();
  }
}

TEST(DeviceList, DevicesOfASourceStandBehindTheHost) {
  const auto fake = std::make_shared<FakeDevice>();
  const auto source = [&](const std::string& kind) {
    return device::DeviceSource{
        .kind = kind,
        .list =
            [fake] {
              return std::vector<device::SourceDevice>{
                  {.info = fake->info(), .score = 70, .reason = ""}};
            },
        .open = [fake](int) -> Result<std::shared_ptr<device::Device>> {
          return std::shared_ptr<device::Device>(fake);
        }};
  };
  const size_t before = devices::List().size();
  ASSERT_OK(device::AddDeviceSource(source("fake")));
  EXPECT_ERROR(device::AddDeviceSource(source("fake")), "already");
  EXPECT_ERROR(device::AddDeviceSource(source("opencl")), "already");
  const auto list = devices::List();
  ASSERT_EQ(list.size(), before + 1);
  EXPECT_EQ(list.back().spec, "fake:0");
  EXPECT_EQ(list[before - 1].spec, "host");
  const auto number = static_cast<uint32_t>(before);
  const auto numbered = runtime::SelectListedDevice(number, {}, "");
  ASSERT_OK(numbered);
  EXPECT_EQ(numbered->back(), fake);
  const auto context = vx::Context::CreateOn("fake:0");
  ASSERT_NE(context, nullptr) << vx::LastError();
  EXPECT_EQ(vx::Context::CreateOn("fake:1"), nullptr);
  EXPECT_THAT(vx::LastError(), HasSubstr("device fake:1: there are 1"));
  EXPECT_TRUE(device::RemoveDeviceSource("fake"));
  EXPECT_FALSE(device::RemoveDeviceSource("fake"));
  EXPECT_EQ(vx::Context::CreateOn("fake:0"), nullptr);
}

TEST(DeviceList, BadListsGiveNoContextAndAReason) {
  const bool divides = HasHalves();
  const char* const whole = "has no sub-devices of equal size";
  const std::pair<const char*, const char*> bad[] = {
      {"", "names no device; expected host, opencl"},
      {"opencl:9", "OpenCL device 9: this machine has"},
      {"acme:0", "there are no devices of kind 'acme'"},
      {"opencl:0/1000", divides ? "which makes no 1000 sub-devices" : whole},
      {"opencl:0/0", "names no device"},
      {"opencl:0/2.7", divides ? "parts, numbered from 0" : whole},
      {"opencl/2", "names no device"},
      {"host:1", "names no device"},
      {"host,host", "device host is named twice"},
      {"host,", "'' names no device"},
      {"opencl:0,opencl", "device opencl:0 is named twice"},
      {"opencl:99999999999999999999", "names no device"},
      {"OPENCL", "names no device"}};
  for (const auto& [list, reason] : bad) {
    EXPECT_EQ(vx::Context::CreateOn(list), nullptr) << list;
    EXPECT_THAT(vx::LastError(), HasSubstr(reason)) << list;
  }
}

TEST(DeviceList, BadPoliciesNameWhatIsLegal) {
  const std::pair<const char*, const char*> bad[] = {
      {"speed=high", "the keys are objective, fallback, max_parts"},
      {"objective", "is no key=value"},
      {"=latency", "is no key=value"},
      {"objective=latency;split=off;objective=latency",
       "policy: objective is given twice"},
      {"max_parts=", "max_parts=''; expected a whole number from 1 to 1000"},
      {"max_parts=3.5", "expected a whole number from 1 to 1000"},
      {"max_parts=99999999999", "expected a whole number from 1 to 1000"},
      {"min_gain_us=1e999", "expected a number of microseconds from 0"},
      {"pipeline=17", "expected off, or a whole number from 2 to 16"},
      {"split=yes", "expected off, batch or auto"},
      {"graph_parts=on", "expected auto, off or prefer"},
      {"fallback=none", "expected host or error"},
      {"calibrate=yes", "expected auto, 0 or 1"},
      {"objective=fast", "expected latency, throughput or serial"},
      {"max_parts=0", "expected a whole number from 1 to 1000"},
      {"max_parts=1001", "expected a whole number from 1 to 1000"},
      {"min_gain_us=-1", "expected a number of microseconds from 0"},
      {"min_gain_us=nan", "expected a number of microseconds from 0"},
      {"pipeline=1", "expected off, or a whole number from 2 to 16"},
      {"streams=9", "expected a whole number from 1 to 8, or auto"},
      {"links=guess", "expected auto, measure or assume"},
      {"memory=best", "expected none, by_time, by_size, somas, exact or auto"}};
  for (const auto& [policy, reason] : bad) {
    EXPECT_EQ(vx::Context::CreateOn("host", policy), nullptr) << policy;
    EXPECT_THAT(vx::LastError(), HasSubstr(reason)) << policy;
  }
}

TEST(Policy, IsReadAndWritten) {
  const auto policy = compiler::ParsePolicy(
      "objective=throughput;fallback=error;;max_parts=3;min_gain_us=1.5;"
      "split=batch;pipeline=4;streams=auto;links=assume;calibrate=0;"
      "memory=somas");
  ASSERT_OK(policy);
  EXPECT_EQ(policy->objective, compiler::Objective::kThroughput);
  EXPECT_FALSE(policy->host_fallback);
  EXPECT_EQ(policy->streams, 0);
  EXPECT_EQ(policy->pipeline, 4);
  EXPECT_EQ(policy->memory, compiler::MemorySolver::kSomas);
  const auto again = compiler::ParsePolicy(ToString(*policy));
  ASSERT_OK(again);
  EXPECT_EQ(*again, *policy);
  EXPECT_EQ(ToString(compiler::Policy()), "");
}

TEST(DeviceList, NamesOfParts) {
  const auto names = runtime::ParseDeviceNames("opencl:1/4.2,opencl:0/numa");
  ASSERT_OK(names);
  ASSERT_EQ(names->size(), 2u);
  EXPECT_EQ((*names)[0].number, 1);
  EXPECT_EQ((*names)[0].parts, 4);
  EXPECT_EQ((*names)[0].part, 2);
  EXPECT_TRUE((*names)[1].by_memory);
  SKIP_WITHOUT_HALVES();
  EXPECT_THAT(Halves().specs,
              ElementsAre("host", "opencl:0/2.0", "opencl:0/2.1"));
  const auto second = runtime::OpenDevices("opencl:0/2.1");
  ASSERT_OK(second);
  EXPECT_THAT(second->specs, ElementsAre("host", "opencl:0/2.1"));
}

// A list for machines of several memory domains is right on those of one.
TEST(DeviceList, PartsByMemoryDomain) {
  if (device::CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
  const auto set = runtime::OpenDevices("opencl:0/numa");
  if (!set.ok()) {
    EXPECT_ERROR(set, "makes no sub-devices by memory domain");
    EXPECT_GT(MemoryDomains(), 1);
    return;
  }
  ASSERT_GE(set->specs.size(), 2u);
  EXPECT_EQ(set->specs[1], "opencl:0/numa.0");
  EXPECT_EQ(runtime::OpenDevices("opencl:0/numa")->devices, set->devices);
  const size_t parts = set->devices.size() - 1;
  EXPECT_ERROR(
      runtime::OpenDevices(StrCat("opencl:0/numa.", parts)),
      StrCat("opencl:0/numa has ", parts, parts == 1 ? " part," : " parts,"));
  const auto whole = runtime::OpenDevices("opencl:0");
  ASSERT_OK(whole);
  int units = 0;
  for (size_t i = 1; i < set->devices.size(); ++i) {
    units += set->devices[i]->info().compute_units;
  }
  EXPECT_EQ(units, whole->devices[1]->info().compute_units);

  const auto context = vx::Context::CreateOn("opencl:0/numa");
  ASSERT_NE(context, nullptr) << vx::LastError();
  ReluGraph graph({4}, context->CreateGraph());
  ASSERT_TRUE(vx::SetAffinity(*graph.relu, "opencl:0/numa.0"));
  ASSERT_TRUE(graph.graph->Compile()) << vx::LastError();
}

TEST(DeviceList, EqualListsShareDevices) {
  SKIP_WITHOUT_HALVES();
  const auto first = runtime::OpenDevices("opencl:0/2,host");
  const auto second = runtime::OpenDevices("opencl:0/2");
  ASSERT_OK(first);
  ASSERT_OK(second);
  EXPECT_EQ(first->devices, second->devices);
  const auto whole = runtime::OpenDevices("opencl:0,host");
  const auto selected = runtime::SelectDevices("opencl:0");
  ASSERT_OK(whole);
  EXPECT_EQ(whole->devices, *selected);
}

// ---- one context ------------------------------------------------------------

// A chain on the devices behind the host in turn.
template <typename Op>
std::shared_ptr<vx::Graph> Alternating(
    const std::shared_ptr<vx::Context>& context,
    const std::vector<std::string>& specs, std::shared_ptr<vx::Tensor>* input,
    std::shared_ptr<vx::Tensor>* output) {
  const auto graph = context->CreateGraph();
  *input = graph->CreateTensor(Floats({1000}, vx::TensorAttribute::INPUT));
  *output = AddChain<Op>(*graph, *input, 8);
  size_t next = 0;
  for (const auto& operation : graph->OpVector()) {
    EXPECT_TRUE(vx::SetAffinity(*operation, specs[1 + next++ % 2]));
  }
  return graph;
}

TEST(DeviceList, WhatIsForgottenIsOpenedAnew) {
  for (const char* list : {"opencl:0", "opencl:0/2"}) {
    const auto first = runtime::OpenDevices(list);
    if (!first.ok() || first->devices.size() < 2) continue;
    const std::shared_ptr<device::Device> device = first->devices[1];
    EXPECT_EQ(runtime::OpenDevices(list)->devices[1], device);
    runtime::ForgetDevice(*device);
    const auto again = runtime::OpenDevices(list);
    ASSERT_OK(again);
    EXPECT_NE(again->devices[1], device);
    EXPECT_EQ(again->devices[0], first->devices[0]) << "the host";
    EXPECT_EQ(runtime::OpenDevices(list)->devices[1], again->devices[1]);
  }
}

// Check 16.
TEST(OneContext, DevicesPassValuesWithoutTheHost) {
  SKIP_WITHOUT_HALVES();
  const runtime::DeviceSet set = Halves();
  EXPECT_EQ(set.devices[1]->domain(), set.devices[2]->domain());
  StreamCounts counts;
  device::Devices counted = {set.devices[0]};
  for (int i : {1, 2}) {
    counted.push_back(std::make_shared<StreamCountingDevice>(
        set.devices[static_cast<size_t>(i)], counts));
  }
  vx::ContextOptions options;
  options.division.specs = set.specs;
  options.division.links = compiler::LinkTable(3);
  options.division.links.Set(1, 2, {.direct = true});
  options.division.links.Set(2, 1, {.direct = true});
  const auto context = vx::CreateContext(counted, std::move(options));
  std::shared_ptr<vx::Tensor> input;
  std::shared_ptr<vx::Tensor> output;
  const auto graph =
      Alternating<vx::ops::Tanh>(context, set.specs, &input, &output);
  std::vector<float> values(1000);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = 0.01f * static_cast<float>(i);
  }
  Write(input, values);
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  const std::vector<float> first = Read(output);
  counts.to_host = 0;
  counts.waits = 0;
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(output), first);
  // A copy of the result where the device does not work in the host's memory,
  // and one wait per stream for the end of the run.
  EXPECT_LE(counts.to_host, 1);
  EXPECT_LE(counts.waits, 2);
  EXPECT_THAT(DevicesOf(*graph), ElementsAre(1, 2, 1, 2, 1, 2, 1, 2));

  const auto whole = vx::Context::CreateOn("opencl:0")->CreateGraph();
  const auto in =
      whole->CreateTensor(Floats({1000}, vx::TensorAttribute::INPUT));
  const auto out = AddChain<vx::ops::Tanh>(*whole, in, 8);
  Write(in, values);
  ASSERT_TRUE(whole->Run()) << vx::LastError();
  // Alone they are fused.
  EXPECT_THAT(Read(out),
              ::testing::Pointwise(::testing::FloatNear(1e-6f), first));
}

TEST(OneContext, AListMakesIt) {
  SKIP_WITHOUT_HALVES();
  const auto context =
      vx::Context::CreateOn("opencl:0/2", "calibrate=0;links=measure");
  ASSERT_NE(context, nullptr) << vx::LastError();
  std::shared_ptr<vx::Tensor> input;
  std::shared_ptr<vx::Tensor> output;
  const auto graph = Alternating<vx::ops::Tanh>(
      context, {"host", "opencl:0/2.0", "opencl:0/2.1"}, &input, &output);
  Write(input, std::vector<float>(1000, 0.5f));
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  const auto host = HostGraph();
  const auto in =
      host->CreateTensor(Floats({1000}, vx::TensorAttribute::INPUT));
  const auto out = AddChain<vx::ops::Tanh>(*host, in, 8);
  Write(in, std::vector<float>(1000, 0.5f));
  ASSERT_TRUE(host->Run()) << vx::LastError();
  const std::vector<float> expected = Read(out);
  const std::vector<float> found = Read(output);
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-6f) << i;
  }
  EXPECT_THAT(devices::LinksAsJson(), HasSubstr("\"route\": \"direct\""));
}

// ---- servers ----------------------------------------------------------------

// Check 27, on two devices behind a network, such as tools/pocl_remote.sh
// starts.
class Servers : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < device::CountOpenClDevices(); ++i) {
      const auto device = device::CreateOpenClDevice(i, {});
      ASSERT_OK(device);
      if ((*device)->info().remote) specs_.push_back(StrCat("opencl:", i));
    }
    if (specs_.size() < 3) {
      GTEST_SKIP() << "there are no two OpenCL devices behind a network; "
                      "tools/pocl_remote.sh starts their servers";
    }
    context_ = vx::Context::CreateOn(StrCat(specs_[1], ",", specs_[2]));
    ASSERT_NE(context_, nullptr) << vx::LastError();
    for (size_t i = 0; i < values_.size(); ++i) {
      values_[i] = 1 + 1e-4f * static_cast<float>(i);
    }
  }

  // Products, which every device rounds alike.
  std::vector<float> OnHost() const {
    const auto host = HostGraph();
    const auto in =
        host->CreateTensor(Floats({1000}, vx::TensorAttribute::INPUT));
    const auto out = AddChain<vx::ops::Square>(*host, in, 8);
    Write(in, values_);
    EXPECT_TRUE(host->Run()) << vx::LastError();
    return Read(out);
  }

  std::vector<std::string> specs_ = {"host"};
  std::shared_ptr<vx::Context> context_;
  std::vector<float> values_ = std::vector<float>(1000);
};

TEST_F(Servers, PassValuesToEachOther) {
  std::shared_ptr<vx::Tensor> input;
  std::shared_ptr<vx::Tensor> output;
  const auto graph =
      Alternating<vx::ops::Square>(context_, specs_, &input, &output);
  const std::vector<float> expected = OnHost();
  for (int run = 0; run < 10; ++run) {
    Write(input, values_);
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_EQ(Read(output), expected) << run;
  }
  EXPECT_THAT(DevicesOf(*graph), ElementsAre(1, 2, 1, 2, 1, 2, 1, 2));
}

TEST_F(Servers, AreMeasuredAndShortChainsStayOnOne) {
  const auto graph = context_->CreateGraph();
  const auto input =
      graph->CreateTensor(Floats({1000}, vx::TensorAttribute::INPUT));
  AddChain<vx::ops::Tanh>(*graph, input, 3);
  ASSERT_TRUE(graph->Compile()) << vx::LastError();
  EXPECT_EQ(DevicesOf(*graph).size(), 1u);
  for (const ir::DeviceInfo& info : vx::CompiledPlan(*graph)->devices) {
    if (info.kind == "host") continue;
    // That of the device alone is 3 to 5.
    EXPECT_GT(info.launch_us, 10) << info.spec;
    EXPECT_NE(info.launch_us, 100) << "what is assumed";
  }
}

TEST_F(Servers, ShareABatch) {
  const auto context =
      vx::Context::CreateOn(StrCat(specs_[1], ",", specs_[2]), "split=batch");
  ASSERT_NE(context, nullptr) << vx::LastError();
  const auto graph = context->CreateGraph();
  const auto input =
      graph->CreateTensor(Floats({125, 8}, vx::TensorAttribute::INPUT));
  const auto output = AddChain<vx::ops::Square>(*graph, input, 8);
  Write(input, values_);
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(output), OnHost());
  EXPECT_THAT(PartitionOf(*graph).chosen, HasSubstr("batch split: "));
}

// Check 34: with one device nothing is divided.
TEST(OneDevice, IsNotDivided) {
  for (const char* list : {"opencl:0", "opencl:0,host"}) {
    const auto context = vx::Context::CreateOn(list);
    if (context == nullptr) GTEST_SKIP() << vx::LastError();
    if (runtime::OpenDevices(list)->devices[1]->info().remote) {
      GTEST_SKIP() << "figures of devices behind a network are measured";
    }
    ReluGraph graph({4}, context->CreateGraph());
    auto devices = runtime::SelectDevices("opencl:0", GetOptions().on_device);
    ASSERT_OK(devices);
    ReluGraph plain({4}, vx::CreateContext(*std::move(devices),
                                           {.strict = GetOptions().strict})
                             ->CreateGraph());
    ASSERT_TRUE(graph.graph->Compile()) << vx::LastError();
    ASSERT_TRUE(plain.graph->Compile()) << vx::LastError();
    const ir::Plan& plan = *vx::CompiledPlan(*graph.graph);
    EXPECT_TRUE(plan.notes.partition.compared.empty());
    EXPECT_TRUE(plan.devices[1].spec.empty());
    const auto text = [](const vx::Graph& one) {
      const std::string dump = ir::Dump(*vx::CompiledPlan(one));
      return dump.substr(dump.find('\n'));  // without the graph's name
    };
    EXPECT_EQ(text(*graph.graph), text(*plain.graph));
  }
}

}  // namespace
}  // namespace tim::testing
