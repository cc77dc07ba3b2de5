// Every registered operator has a description of its cases, and only one; and
// what their kernels are given is what the kernels have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "device/opencl/opencl_device.h"
#include "ir/op_registry.h"
#include "kernels/chain_rule.h"
#include "kernels/kernel_sources.h"
#include "kernels/text/preprocess.h"
#include "ops/builtin.h"
#include "tests/properties/operator_cases.h"
#include "tests/properties/properties.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

std::vector<std::string> Undescribed(const ir::OpRegistry& registry) {
  std::set<std::string> described;
  for (const OperatorCases& cases : AllCases()) described.insert(cases.op);
  std::vector<std::string> missing;
  for (const ir::OpSchema* schema : registry.Schemas()) {
    if (schema->control) continue;  // Graphs: tests/runtime/control_test.cc.
    const std::string op = StrCat(schema->domain, ".", schema->name);
    if (!described.contains(op)) {
      missing.push_back(op + ": no description in tests/ops/*/*_cases.cc");
    }
  }
  return missing;
}

// Devices for which kernels differ, of no machine.
std::vector<ir::DeviceInfo> Devices() {
  ir::DeviceInfo cpu;
  cpu.kind = "opencl";
  cpu.compute_units = 4;
  cpu.max_work_group_size = 1024;
  cpu.max_work_item_sizes = {1024, 1024, 1024};
  cpu.local_memory_bytes = 1 << 16;
  cpu.has_fp16 = cpu.has_fp64 = true;
  cpu.unified_memory = true;
  cpu.float_vector_width = 8;
  ir::DeviceInfo vnni = cpu;
  vnni.has_vnni = true;
  vnni.float_vector_width = 16;
  ir::DeviceInfo amx = vnni;
  amx.has_amx = true;
  ir::DeviceInfo gpu = cpu;
  gpu.device_class = ir::DeviceClass::kGpu;
  gpu.float_vector_width = 1;
  ir::DeviceInfo dot = gpu;
  dot.has_integer_dot = true;
  ir::DeviceInfo small = gpu;  // The smallest groups seen: Mesa 22's llvmpipe.
  small.max_work_group_size = 32;
  small.max_work_item_sizes = {32, 32, 32};
  return {cpu, vnni, amx, gpu, dot, small};
}

Status FitsGroups(const ir::KernelLaunch& launch,
                  const ir::DeviceInfo& device) {
  int64_t items = 1;
  for (const int64_t extent : launch.range.local) items *= extent;
  if (items <= device.max_work_group_size) return OkStatus();
  return InvalidArgument(launch.source, ": ", launch.function,
                         " has groups of ", items, " items on a device of ",
                         device.max_work_group_size);
}

// Launches that were made, by "file: function" and their options.
using Launches = std::map<std::string, std::map<std::string, ir::KernelLaunch>>;
Launches& Launched() {
  static Launches launched;
  return launched;
}

// Launches are held to their kernels' parameters when they are made.
Status LaunchesAreMade(const Described& described, const NodeCase& node,
                       CaseRng&) {
  TIM_ASSIGN_OR_RETURN(const TestNode made, MakeNode(node, described.registry));
  for (const ir::DeviceInfo& device : Devices()) {
    TIM_ASSIGN_OR_RETURN(const auto steps, StepsFor(made, device));
    for (const ir::LoweredStep& step : steps) {
      const auto* launch = std::get_if<ir::KernelLaunch>(&step.action);
      if (launch == nullptr) continue;
      TIM_RETURN_IF_ERROR(FitsGroups(*launch, device));
      Launched()[StrCat(launch->source, ": ", launch->function)].emplace(
          launch->options, *launch);
    }
  }
  return OkStatus();
}

TEST(OperatorCases, LaunchesGiveKernelsTheirParameters) {
  for (const OperatorCases& cases : AllCases()) {
    RandomNodes nodes = NodesOfThisRun();
    nodes.count = 150;
    EXPECT_OK(
        CheckNodes({cases, ops::BuiltinOperators()}, LaunchesAreMade, nodes))
        << cases.op;
  }
  std::set<std::string> kernels;
  for (const kernels::KernelSource& file : kernels::EmbeddedSources()) {
    const auto text = kernels::Preprocess(file.signatures, {});
    ASSERT_OK(text);
    static const std::regex head("__kernel [^;{]*?void (\\w+)");
    for (std::sregex_iterator it(text->begin(), text->end(), head), end;
         it != end; ++it) {
      kernels.insert(StrCat(file.name, ": ", (*it)[1].str()));
    }
  }
  // Kernels of fused operators, sizes and layouts that few cases have, or none:
  // compiling holds them to the same.
  const std::set<std::string> of_few_cases = {
      "kernels/chain.cl: chain",
      "ops/convolution/conv2d_1x1_depthwise_nchw16c.cl: "
      "conv2d_1x1_depthwise_nchw16c",
      "ops/convolution/conv2d_winograd_nchw16c.cl: conv2d_winograd_input",
      "ops/convolution/conv2d_winograd_nchw16c.cl: conv2d_winograd_output",
      "ops/convolution/pack_weights.cl: pack_taps",
      "ops/convolution/pack_weights.cl: pack_weights",
      "ops/convolution_i8/pack_code_taps.cl: pack_code_taps_quads",
      "ops/gemm/gemm.cl: gemm_rows",
      "ops/movement/reorder.cl: reorder_gather",
      "ops/movement/reorder.cl: reorder_gather8",
      "ops/movement/reorder.cl: reorder_scatter",
      "ops/movement/reorder.cl: reorder_scatter8",
      "ops/normalization/softmax.cl: softmax_rows",
      "ops/recurrent/sequence.cl: sequence_states",
      "ops/reduction/arg.cl: arg_join"};
  for (const std::string& kernel : kernels) {
    EXPECT_TRUE(Launched().contains(kernel) || of_few_cases.contains(kernel))
        << kernel << " is launched by no case";
  }
}

// The launches as one, whose operands are apart.
Status BuildChain(device::Device& device,
                  const std::vector<ir::Action>& launches) {
  std::vector<device::ChainLink> links;
  for (const ir::Action& action : launches) {
    links.push_back({.action = &action, .buffers = {}});
    int next = 0;
    for (const ir::KernelArg& argument :
         std::get<ir::KernelLaunch>(action).arguments) {
      if (std::holds_alternative<ir::TensorArg>(argument)) {
        links.back().buffers.push_back(next++);
      }
    }
  }
  EmptyStore store;
  return device.PrepareChain(links, store).status();
}

// Whether the device has what the launch was made for: not every one takes
// VNNI's instructions, or AMX's.
bool Builds(const ir::DeviceInfo& device, const ir::KernelLaunch& launch) {
  const auto has = [&](const char* option) {
    return launch.options.find(option) != std::string::npos;
  };
  return (device.has_vnni || !has("-DDOT=VNNI")) &&
         (device.has_amx || !has("-DPART="));
}

TEST(OperatorCases, KernelsOfDifferentOptionsShareAProgram) {
  const auto device = device::CreateOpenClDevice(0, {});
  ASSERT_OK(device);
  if (!(*device)->info().chains) GTEST_SKIP() << "the device chains nothing";
  // Chains of every so many kernels, so that each has some of many folders.
  constexpr size_t kApart = 6;
  constexpr size_t kBuilt = 3;
  std::vector<ir::Action> chains[kApart];
  size_t kernel = 0;
  for (const auto& [name, by_options] : Launched()) {
    std::vector<const ir::KernelLaunch*> launches;
    for (const auto& [options, launch] : by_options) {
      if (kernels::CheckChainable(launch).ok() &&
          Builds((*device)->info(), launch)) {
        launches.push_back(&launch);
      }
    }
    if (launches.empty()) continue;
    std::vector<ir::Action>& chain = chains[kernel++ % kApart];
    chain.emplace_back(*launches.front());
    if (launches.size() > 1) chain.emplace_back(*launches.back());
  }
  EXPECT_GT(kernel, 50u);
  for (size_t i = 0; i < kBuilt; ++i) {
    EXPECT_OK(BuildChain(**device, chains[i]));
  }
}

TEST(OperatorCases, AreThereForEveryOperator) {
  EXPECT_THAT(Undescribed(ops::BuiltinOperators()), ::testing::IsEmpty());
}

TEST(OperatorCases, AnOperatorWithoutThemIsSeen) {
  ir::OpRegistry registry(&ops::BuiltinOperators());
  ir::OpSchema schema = *registry.Find("tim.Relu");
  schema.name = "Undescribed";
  registry.Add(std::move(schema));
  EXPECT_THAT(Undescribed(registry),
              ::testing::ElementsAre(::testing::HasSubstr("tim.Undescribed")));
}

TEST(OperatorCases, AreOfRegisteredOperatorsAndComplete) {
  std::string previous;
  for (const OperatorCases& cases : AllCases()) {
    EXPECT_NE(ops::BuiltinOperators().Find(cases.op), nullptr) << cases.op;
    EXPECT_NE(cases.op, previous) << "described twice";
    EXPECT_TRUE(cases.legal && cases.illegal && cases.flops) << cases.op;
    previous = cases.op;
  }
}

}  // namespace
}  // namespace tim::testing
