// Makes ir::KernelDefs of TimKernels.
#include "plugin/kernels.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "ir/typed_kernel.h"
#include "plugin/descs.h"
#include "plugin/sinks.h"
#include "plugin/views.h"

namespace tim::plugin {
namespace {

constexpr double kEfficiency = 0.25;
// Microseconds of what cannot be estimated: any other way is taken.
constexpr double kNever = 1e12;

class Kernel {
 public:
  Kernel(const std::shared_ptr<const LoadedPlugin>& plugin, size_t index,
         std::vector<TimDeviceProps> props)
      : reference_(plugin),
        kernel_(plugin->tables().kernel_list[index]),
        name_(kernel_.name),
        on_opencl_(std::string_view(kernel_.device_kind) == "opencl"),
        props_(std::move(props)),
        reorders_(on_opencl_ || HasReorder(*plugin)) {}

  Status Supports(const ir::KernelNode& node,
                  const ir::DeviceInfo& info) const {
    TIM_ASSIGN_OR_RETURN(const auto plugin, reference_.Lock());
    TIM_ASSIGN_OR_RETURN(const auto view, ViewOf(node));
    const TimDeviceProps props = Props(info);
    TIM_RETURN_IF_ERROR(plugin->Ask("TimKernel::supports", kernel_.supports,
                                    kernel_.state, Const(*view), &props));
    if (node.epilogue.empty() || view->epilogue_was_read) return OkStatus();
    return Unimplemented("does not look at fused operators");
  }

  double Cost(const ir::KernelNode& node, const ir::DeviceInfo& info) const {
    const auto plugin = reference_.Lock();
    const auto view = ViewOf(node);
    if (!plugin.ok() || !view.ok()) return kNever;
    if (kernel_.cost == nullptr) {
      return ir::EstimateMicroseconds((*view)->estimate, info, kEfficiency);
    }
    const TimDeviceProps props = Props(info);
    double microseconds = 0;
    const Status status =
        (*plugin)->Ask("TimKernel::cost", kernel_.cost, kernel_.state,
                       Const(**view), &props, &microseconds);
    if (!status.ok()) return kNever;
    if (std::isfinite(microseconds) && microseconds >= 0) return microseconds;
    static_cast<void>(
        (*plugin)->Broke("TimKernel::cost() gave no number from 0 on"));
    return kNever;
  }

  // Layouts from the plug-in; all dense where it gives none or fails.
  std::vector<ir::LayoutTuple> Layouts(const ir::KernelNode& node,
                                       const ir::DeviceInfo& info) const {
    std::vector<ir::LayoutTuple> dense = {ir::DenseLayouts(node)};
    const auto plugin = reference_.Lock();
    const auto view = ViewOf(node);
    if (!plugin.ok() || !view.ok()) return dense;
    const TimDeviceProps props = Props(info);
    TimLayouts sink;
    sink.node = &node;
    const Status called =
        (*plugin)->Ask("TimKernel::layouts", kernel_.layouts, kernel_.state,
                       Const(**view), &props, &sink);
    const Status status =
        CallbackStatus(**plugin, "TimKernel::layouts", called, sink.failure);
    if (!status.ok() || sink.tuples.empty()) return dense;
    if (reorders_) return std::move(sink.tuples);
    return std::count(sink.tuples.begin(), sink.tuples.end(), dense[0]) > 0
               ? dense
               : std::vector<ir::LayoutTuple>();
  }

  Result<ir::Lowering> Lower(const ir::KernelNode& node,
                             const ir::DeviceInfo& info) const {
    TIM_ASSIGN_OR_RETURN(const auto plugin, reference_.Lock());
    TIM_ASSIGN_OR_RETURN(const auto view, ViewOf(node));
    const TimDeviceProps props = Props(info);
    TimLowering sink;
    sink.node = &node;
    sink.info = &info;
    sink.plugin = plugin;
    sink.kernel = name_;
    sink.opencl = on_opencl_;
    const Status called =
        plugin->Ask("TimKernel::lower", kernel_.lower, kernel_.state,
                    Const(*view), &props, &sink);
    TIM_RETURN_IF_ERROR(
        CallbackStatus(*plugin, "TimKernel::lower", called, sink.failure));
    TIM_RETURN_IF_ERROR(CheckSteps(*plugin, sink.lowering));
    if (!node.epilogue.empty() && !view->epilogue_was_read) {
      return plugin->Broke(StrCat("TimKernel::lower() of ", name_,
                                  " did not look at fused operators"));
    }
    sink.lowering.applied = static_cast<int>(node.epilogue.size());
    return std::move(sink.lowering);
  }

 private:
  static const TimNode* Const(const TimNode& node) { return &node; }

  // Values come and go dense: other layouts need a kernel that changes them.
  static bool HasReorder(const LoadedPlugin& plugin) {
    const auto& kernels = plugin.tables().kernel_list;
    return std::any_of(kernels.begin(), kernels.end(),
                       [&](const TimKernel& other) {
                         return std::string_view(other.op) == "tim.Reorder" &&
                                plugin.kind() == other.device_kind;
                       });
  }

  TimDeviceProps Props(const ir::DeviceInfo& info) const {
    return on_opencl_ || props_.empty() ? PropsOf(info)
                                        : PropsFor(info, props_);
  }

  Status CheckSteps(const LoadedPlugin& plugin,
                    const ir::Lowering& lowering) const {
    if (lowering.steps.empty()) {
      return plugin.Broke(
          StrCat("TimKernel::lower() of ", name_, " added no step"));
    }
    const auto steps = static_cast<int>(lowering.steps.size());
    for (const ir::ScratchSpec& scratch : lowering.scratch) {
      if (scratch.last < steps) continue;
      return plugin.Broke(StrCat("TimKernel::lower() of ", name_,
                                 " has scratch up to step ", scratch.last,
                                 " of ", steps));
    }
    return OkStatus();
  }

  const PluginReference reference_;
  const TimKernel kernel_;  // of the plug-in, while it is loaded
  const std::string name_;
  const bool on_opencl_;
  const std::vector<TimDeviceProps> props_;
  const bool reorders_;
};

}  // namespace

const TimDeviceProps& PropsFor(const ir::DeviceInfo& info,
                               const std::vector<TimDeviceProps>& props) {
  for (const TimDeviceProps& one : props) {
    if (info.name == one.name && info.vendor == one.vendor) return one;
  }
  return props[0];
}

ir::KernelDef KernelOf(const std::shared_ptr<const LoadedPlugin>& plugin,
                       size_t index, std::vector<TimDeviceProps> props) {
  const TimKernel& given = plugin->tables().kernel_list[index];
  ir::PlainKernel def{.op = given.op,
                      .name = given.name,
                      .device_kind = given.device_kind,
                      .takes_epilogue = true,
                      .analyze = nullptr,
                      .cost = nullptr,
                      .lower = nullptr};
  const bool has_layouts = given.layouts != nullptr;
  const auto kernel =
      std::make_shared<const Kernel>(plugin, index, std::move(props));
  def.analyze = [kernel](const ir::KernelNode& node,
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
