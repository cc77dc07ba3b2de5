// For tests of devices without a cache of programs.
#ifndef TIM_TESTS_SUPPORT_DEVICES_EMPTY_STORE_H_
#define TIM_TESTS_SUPPORT_DEVICES_EMPTY_STORE_H_

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include "device/device.h"

namespace tim::testing {

/// Counts builds and keeps nothing: a device keeps its programs itself.
class EmptyStore final : public device::BinaryStore {
 public:
  std::optional<std::string> Load(std::string_view) override {
    return std::nullopt;
  }
  void Store(std::string_view, std::string_view) override {}
  bool keeps() const override { return false; }
  void CountBuild() override { ++builds; }

  std::atomic<int> builds = 0;
};

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_DEVICES_EMPTY_STORE_H_
