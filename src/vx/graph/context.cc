#include "base/guarded.h"
#include "base/options.h"
#include "base/str_cat.h"
#include "runtime/device_pool.h"
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

std::shared_ptr<Context> Context::Create() {
  std::shared_ptr<Context> context;
  const Status status = GuardedCall([&]() -> Status {
    const std::string& wanted = GetOptions().device;
    TIM_ASSIGN_OR_RETURN(
        auto devices, runtime::SelectDevices(wanted, GetOptions().on_device));
    ContextOptions options{.strict = GetOptions().strict,
                           .lenient = GetOptions().lenient,
                           .dump = GetOptions().dump,
                           .record = GetOptions().record};
    if (wanted.empty()) {
      options.devices_of = [](uint32_t number) {
        return runtime::SelectListedDevice(number, {}, "",
                                           GetOptions().on_device);
      };
    }
    context = CreateContext(std::move(devices), std::move(options));
    return OkStatus();
  });
  if (!status.ok()) Fail(status);
  return context;
}

}  // namespace tim::vx
