// The library's way from handles to what they stand for, and back.
#ifndef TIM_VALUES_ACCESS_H_
#define TIM_VALUES_ACCESS_H_

#include <memory>
#include <utility>

#include "tim/values/graph.h"
#include "tim/values/node.h"
#include "tim/values/types.h"
#include "tim/values/value.h"

namespace tim::values::internal {

struct Access {
  /// Null of handles that stand for nothing.
  template <typename Handle>
  static const auto& StateOf(const Handle& handle) {
    return handle.state_;
  }
  template <typename Handle, typename State>
  static Handle Make(std::shared_ptr<State> state) {
    Handle handle;
    handle.state_ = std::move(state);
    return handle;
  }
  static Attribute MakeAttribute(std::shared_ptr<const AttributeState> state) {
    return Attribute(std::move(state));
  }
  static Device MakeDevice(std::shared_ptr<DeviceState> state) {
    return Device(std::move(state));
  }
  template <typename Handle, typename State>
  static void Set(Handle& handle, std::shared_ptr<State> state) {
    handle.state_ = std::move(state);
  }
};

}  // namespace tim::values::internal

#endif  // TIM_VALUES_ACCESS_H_
