// Contexts: their devices, and the graphs that they make.
#include <functional>
#include <utility>

#include "base/guarded.h"
#include "base/options.h"
#include "base/str_cat.h"
#include "compiler/policy.h"
#include "runtime/device_pool.h"
#include "runtime/device_set.h"
#include "runtime/named_plugins.h"
#include "tim/vx/compile_option.h"
#include "vx/core/failure.h"
#include "vx/core/user_programs.h"
#include "vx/graph/context_impl.h"
#include "vx/graph/graph_impl.h"

namespace tim::vx {

std::shared_ptr<Graph> ContextImpl::CreateGraph() {
  return CreateGraph(CompileOption::DefaultOptions);
}

std::shared_ptr<Graph> ContextImpl::CreateGraph(const CompileOption& options) {
  return std::make_shared<GraphImpl>(state_, options);
}

void ContextImpl::SetOverride(const char* operator_name,
                              Graph::Replacement factory) {
  const Status status = GuardedCall([&] {
    return state_->overrides->Set(operator_name, std::move(factory));
  });
  if (!status.ok()) Fail(status);
}

std::string ContextImpl::DeviceName() const {
  const auto& devices = state_->devices;
  const ir::DeviceInfo& info = devices[devices.size() > 1 ? 1 : 0]->info();
  return info.kind == "host" ? info.kind : StrCat(info.kind, ": ", info.name);
}

std::shared_ptr<Context> CreateContext(Devices devices,
                                       ContextOptions options) {
  if (options.programs == nullptr) {
    options.programs = UserPrograms();
  }
  return std::make_shared<ContextImpl>(std::make_shared<const ContextState>(
      ContextState{std::move(devices), std::move(options)}));
}

namespace {

ContextOptions OptionsOfProcess() {
  return {.strict = GetOptions().strict,
          .lenient = GetOptions().lenient,
          .dump = GetOptions().dump,
          .record = GetOptions().record};
}

// Null, and the failure is told, where `make` fails.
std::shared_ptr<Context> ContextOf(
    const std::function<Result<std::shared_ptr<Context>>()>& make) {
  std::shared_ptr<Context> context;
  const Status status = GuardedCall([&]() -> Status {
    runtime::LoadNamedPlugins(GetOptions());
    TIM_ASSIGN_OR_RETURN(context, make());
    return OkStatus();
  });
  if (!status.ok()) Fail(status);
  return context;
}

// The policy is read before devices are opened, which takes long.
Result<compiler::Policy> PolicyOfProcess() {
  auto policy = compiler::ParsePolicy(GetOptions().policy);
  if (policy.ok()) return policy;
  return policy.status().WithContext("TIMCL_POLICY");
}

Result<std::shared_ptr<Context>> OnList(const std::string& devices,
                                        const compiler::Policy& policy) {
  runtime::LoadNamedPlugins(GetOptions());
  TIM_ASSIGN_OR_RETURN(auto set,
                       runtime::OpenDevices(devices, GetOptions().on_device));
  ContextOptions options = OptionsOfProcess();
  options.programs = UserPrograms();
  options.division = runtime::DivisionOf(set, policy, options.programs);
  return CreateContext(std::move(set.devices), std::move(options));
}

Result<std::shared_ptr<Context>> OnFirstOpenCl(const compiler::Policy& policy) {
  runtime::LoadNamedPlugins(GetOptions());
  TIM_ASSIGN_OR_RETURN(auto devices,
                       runtime::SelectDevices("", GetOptions().on_device));
  ContextOptions options = OptionsOfProcess();
  options.division.specs = {"host", "opencl:0"};
  options.division.specs.resize(devices.size());
  options.division.policy = policy;
  options.devices_of = [](uint32_t number) {
    return runtime::SelectListedDevice(number, {}, "", GetOptions().on_device);
  };
  return CreateContext(std::move(devices), std::move(options));
}

}  // namespace

std::shared_ptr<Context> Context::Create() {
  return ContextOf([]() -> Result<std::shared_ptr<Context>> {
    const std::string& wanted = GetOptions().device;
    TIM_ASSIGN_OR_RETURN(const auto policy, PolicyOfProcess());
    if (wanted.empty()) return OnFirstOpenCl(policy);
    auto context = OnList(wanted, policy);
    if (context.ok()) return context;
    return context.status().WithContext(StrCat("TIMCL_DEVICE=", wanted));
  });
}

std::shared_ptr<Context> Context::CreateOn(const std::string& devices,
                                           const std::string& policy) {
  return ContextOf([&]() -> Result<std::shared_ptr<Context>> {
    TIM_ASSIGN_OR_RETURN(const auto rules, compiler::ParsePolicy(policy));
    auto context = OnList(devices, rules);
    if (context.ok()) return context;
    return context.status().WithContext(StrCat("devices '", devices, "'"));
  });
}

}  // namespace tim::vx
