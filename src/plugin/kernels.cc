// Makes ir::KernelDefs of TimKernels.
#include "plugin/kernels.h"

#include <cmath>
#include <limits>
#include <utility>

#include "plugin/descs.h"
#include "plugin/sinks.h"
#include "plugin/views.h"

namespace tim::plugin {
namespace {

constexpr double kEfficiency = 0.25;
// Of what cannot be estimated: nobody takes it where there is another way.
constexpr double kNever = 1e12;

class Kernel {
 public:
  Kernel(std::shared_ptr<const LoadedPlugin> plugin, size_t index,
         std::vector<TimDeviceProps> props)
      : plugin_(std::move(plugin)),
        kernel_(plugin_->tables().kernel_list[index]),
        props_(std::move(props)) {}

  Status Supports(const ir::KernelNode& node,
                  const ir::DeviceInfo& info) const {
    TIM_ASSIGN_OR_RETURN(const auto view, ViewOf(node));
    const TimDeviceProps props = Props(info);
    return plugin_->Ask("TimKernel::supports", kernel_.supports, kernel_.state,
                        Const(*view), &props);
  }

  double Cost(const ir::KernelNode& node, const ir::DeviceInfo& info) const {
    const auto view = ViewOf(node);
    if (!view.ok()) return kNever;
    if (kernel_.cost == nullptr) {
      return ir::EstimateMicroseconds((*view)->estimate, info, kEfficiency);
    }
    const TimDeviceProps props = Props(info);
    double microseconds = 0;
    const Status status =
        plugin_->Ask("TimKernel::cost", kernel_.cost, kernel_.state,
                     Const(**view), &props, &microseconds);
    if (!status.ok()) return kNever;
    if (std::isfinite(microseconds) && microseconds >= 0) return microseconds;
    static_cast<void>(
        plugin_->Broke("TimKernel::cost() gave no number from 0 on"));
    return kNever;
  }

  // Everything dense where the plug-in gives none, or cannot.
  std::vector<ir::LayoutTuple> Layouts(const ir::KernelNode& node,
                                       const ir::DeviceInfo& info) const {
    std::vector<ir::LayoutTuple> dense = {ir::DenseLayouts(node)};
    const auto view = ViewOf(node);
    if (!view.ok()) return dense;
    const TimDeviceProps props = Props(info);
    TimLayouts sink;
    sink.node = &node;
    const Status called =
        plugin_->Ask("TimKernel::layouts", kernel_.layouts, kernel_.state,
                     Const(**view), &props, &sink);
    const Status status =
        CallbackStatus(*plugin_, "TimKernel::layouts", called, sink.failure);
    return status.ok() && !sink.tuples.empty() ? std::move(sink.tuples) : dense;
  }

  Result<ir::Lowering> Lower(const ir::KernelNode& node,
                             const ir::DeviceInfo& info) const {
    TIM_ASSIGN_OR_RETURN(const auto view, ViewOf(node));
    const TimDeviceProps props = Props(info);
    TimLowering sink;
    sink.node = &node;
    sink.info = &info;
    sink.plugin = plugin_;
    sink.kernel = kernel_.name;
    sink.opencl = OnOpenCl();
    const Status called =
        plugin_->Ask("TimKernel::lower", kernel_.lower, kernel_.state,
                     Const(*view), &props, &sink);
    TIM_RETURN_IF_ERROR(
        CallbackStatus(*plugin_, "TimKernel::lower", called, sink.failure));
    TIM_RETURN_IF_ERROR(CheckSteps(sink.lowering));
    return std::move(sink.lowering);
  }

 private:
  static const TimNode* Const(const TimNode& node) { return &node; }

  bool OnOpenCl() const {
    return std::string_view(kernel_.device_kind) == "opencl";
  }

  TimDeviceProps Props(const ir::DeviceInfo& info) const {
    return OnOpenCl() || props_.empty() ? PropsOf(info)
                                        : PropsFor(info, props_);
  }

  Status CheckSteps(const ir::Lowering& lowering) const {
    if (lowering.steps.empty()) {
      return plugin_->Broke(
          StrCat("TimKernel::lower() of ", kernel_.name, " added no step"));
    }
    const auto steps = static_cast<int>(lowering.steps.size());
    for (const ir::ScratchSpec& scratch : lowering.scratch) {
      if (scratch.last < steps) continue;
      return plugin_->Broke(StrCat("TimKernel::lower() of ", kernel_.name,
                                   " has scratch up to step ", scratch.last,
                                   " of ", steps));
    }
    return OkStatus();
  }

  const std::shared_ptr<const LoadedPlugin> plugin_;
  const TimKernel kernel_;
  const std::vector<TimDeviceProps> props_;
};

}  // namespace

const TimDeviceProps& PropsFor(const ir::DeviceInfo& info,
                               const std::vector<TimDeviceProps>& props) {
  for (const TimDeviceProps& one : props) {
    if (info.name == one.name && info.vendor == one.vendor) return one;
  }
  return props[0];
}

ir::KernelDef KernelOf(std::shared_ptr<const LoadedPlugin> plugin, size_t index,
                       std::vector<TimDeviceProps> props) {
  const TimKernel& given = plugin->tables().kernel_list[index];
  ir::KernelDef def{.op = given.op,
                    .name = given.name,
                    .device_kind = given.device_kind,
                    .supports = nullptr,
                    .cost = nullptr,
                    .lower = nullptr};
  const bool has_layouts = given.layouts != nullptr;
  const auto kernel = std::make_shared<const Kernel>(std::move(plugin), index,
                                                     std::move(props));
  def.supports = [kernel](const ir::KernelNode& node,
                          const ir::DeviceInfo& info) {
    return kernel->Supports(node, info);
  };
  def.cost = [kernel](const ir::KernelNode& node, const ir::DeviceInfo& info) {
    return kernel->Cost(node, info);
  };
  if (has_layouts) {
    def.layouts = [kernel](const ir::KernelNode& node,
                           const ir::DeviceInfo& info) {
      return kernel->Layouts(node, info);
    };
  }
  def.lower = [kernel](const ir::KernelNode& node, const ir::DeviceInfo& info) {
    return kernel->Lower(node, info);
  };
  return def;
}

}  // namespace tim::plugin
