// What the graphs of a context keep of it.
#ifndef TIM_VX_CORE_CONTEXT_STATE_H_
#define TIM_VX_CORE_CONTEXT_STATE_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "base/options.h"
#include "base/status.h"
#include "device/device.h"
#include "ir/graph.h"
#include "ir/op_registry.h"
#include "runtime/device_set.h"
#include "tim/vx/compile_option.h"
#include "vx/core/overrides.h"

namespace tim::vx {

using device::Devices;

struct ContextOptions {
  /// A host step beside another device fails Compile().
  bool strict = false;
  /// What is legal and hardly meant is a warning; else it fails Compile().
  bool lenient = true;
  /// Dumps of the context's graphs.
  DumpOptions dump = {};
  RecordOptions record = {};
  /// Names of the context's devices, and how graphs are divided among them.
  runtime::Division division = {};
  /// Index of the device that a node must run on, -1 for the cheapest.
  std::function<int(const ir::Node&)> placement = nullptr;
  /// Null: the built-in ones; must outlive the context's graphs.
  const ir::OpRegistry* operators = nullptr;
  /// Null: the user's program cache.
  std::shared_ptr<device::BinaryStore> programs = nullptr;
  /// What CompileOption::setDeviceId() chooses from, beside 0, which are the
  /// context's devices.  Null: it has no effect.
  std::function<Result<Devices>(uint32_t number)> devices_of = nullptr;
};

struct ContextState {
  Devices devices;  ///< [0] is the host.
  ContextOptions options;
  std::shared_ptr<Overrides> overrides = std::make_shared<Overrides>();

  const ir::OpRegistry& Operators() const;
  /// Devices of a graph with these options.
  Result<Devices> DevicesFor(const CompileOption& compile) const;
};

}  // namespace tim::vx

#endif  // TIM_VX_CORE_CONTEXT_STATE_H_
