// Messages of a plug-in's failures and refusals.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "plugin/descs.h"
#include "plugin/views.h"
#include "tools/timcl/plugin_checks.h"
#include "tools/timcl/plugin_nodes.h"

namespace tim::tool {
namespace {

// Room for a message with guards behind it.
class GuardedRoom {
 public:
  GuardedRoom() : text_(kRoom + kGuard, kMark) { text_[0] = 0; }

  TimMessage* get() { return &message_; }

  // Mistake in the message of a call that failed; empty: there is none.
  std::string Mistake() const {
    if (std::count(text_.begin() + kRoom, text_.end(), kMark) != kGuard) {
      return StrCat("writes beyond the ", kRoom, " bytes of its message");
    }
    if (text_[0] == 0) return "fails without a message";
    if (std::memchr(text_.data(), 0, kRoom) == nullptr) {
      return "writes a message that has no end";
    }
    return "";
  }

 private:
  static constexpr uint32_t kRoom = 1024;
  static constexpr int kGuard = 64;
  static constexpr char kMark = '\x7E';
  std::vector<char> text_;
  TimMessage message_{TIM_SIZE_THROUGH(TimMessage, text), kRoom, text_.data()};
};

void CheckAllocate(CheckedPlugin& plugin, plugin::PluginDevice& device) {
  GuardedRoom room;
  TimBuffer* buffer = nullptr;
  const auto most = static_cast<uint64_t>(device.info().max_allocation_bytes);
  const TimCode code = device.functions().allocate(
      device.handle(), most + 1, TIM_MEMORY_DEVICE, &buffer, room.get());
  if (code == TIM_OK) return;  // C4 finds it
  const std::string mistake = room.Mistake();
  if (!mistake.empty()) plugin.Fail("allocate() ", mistake);
}

// Mistake in the answer of supports(); empty: there is none.
std::string MistakeOfSupports(const TimKernel& kernel, const TimNode& node,
                              const TimDeviceProps& props) {
  GuardedRoom room;
  TimCode code = TIM_OK;
  try {
    code = kernel.supports(kernel.state, &node, &props, room.get());
  } catch (...) {
    return "an exception left it";
  }
  if (code == TIM_OK) return "";
  if (code < TIM_OK || code > TIM_INTERNAL_ERROR) {
    return StrCat("gave the code ", code, ", which there is not");
  }
  return room.Mistake();
}

void CheckSupports(CheckedPlugin& plugin, const ir::OpRegistry& operators,
                   const TimKernel& kernel, const TimDeviceProps& props) {
  for (const NodeCase& one : NodeCases(plugin, operators, kernel.op)) {
    const ir::KernelNode node =
        ir::MakeKernelNode(one.graph, one.graph.node(one.node));
    const auto view = plugin::ViewOf(node);
    if (!view.ok()) continue;
    const std::string mistake = MistakeOfSupports(kernel, **view, props);
    if (mistake.empty()) continue;
    return plugin.Fail(kernel.name, ", ", one.name, ": supports() ", mistake);
  }
}

}  // namespace

// Messages stay in their room, end, and say something.
void CheckMessages(CheckedPlugin& plugin) {
  const auto operators = plugin.LoadAll();
  if (operators == nullptr) return;
  const auto check = [&](const std::string& kind, const TimDeviceProps& props) {
    for (const TimKernel& kernel : plugin.loaded.plugin->tables().kernel_list) {
      if (kind != kernel.device_kind) continue;
      CheckSupports(plugin, *operators, kernel, props);
    }
  };
  // Any OpenCL device: there need be none.
  ir::DeviceInfo opencl;
  opencl.kind = "opencl";
  check(opencl.kind, plugin::PropsOf(opencl));
  for (const device::Devices& pair : plugin.DevicePairs()) {
    auto* const device = dynamic_cast<plugin::PluginDevice*>(pair[1].get());
    if (device == nullptr) continue;
    CheckAllocate(plugin, *device);
    check(plugin.loaded.plugin->kind(), device->props());
  }
}

}  // namespace tim::tool
