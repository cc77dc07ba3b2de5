// Programs of a binary graph, and those that may go into one.
#ifndef TIM_RUNTIME_CACHE_STORED_PROGRAMS_H_
#define TIM_RUNTIME_CACHE_STORED_PROGRAMS_H_

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "device/device.h"

namespace tim::runtime {

/// Those of a file, and another store behind them.
class StoredPrograms final : public device::BinaryStore {
 public:
  /// \param keeper of the programs' bytes.
  StoredPrograms(std::map<std::string, std::span<const std::byte>> programs,
                 std::shared_ptr<const void> keeper,
                 std::shared_ptr<device::BinaryStore> behind)
      : programs_(std::move(programs)),
        keeper_(std::move(keeper)),
        behind_(std::move(behind)) {}

  std::optional<std::string> Load(std::string_view key) override;
  void Store(std::string_view key, std::string_view bytes) override {
    behind_->Store(key, bytes);
  }
  bool keeps() const override { return behind_->keeps(); }
  void CountBuild() override { behind_->CountBuild(); }

 private:
  const std::map<std::string, std::span<const std::byte>> programs_;
  const std::shared_ptr<const void> keeper_;
  const std::shared_ptr<device::BinaryStore> behind_;
};

/// Another store, and which programs steps that are prepared with it use.
class UsedPrograms final : public device::BinaryStore {
 public:
  using Binaries = std::map<std::string, device::ProgramBinary>;

  explicit UsedPrograms(device::BinaryStore& behind) : behind_(behind) {}

  std::optional<std::string> Load(std::string_view key) override {
    return behind_.Load(key);
  }
  void Store(std::string_view key, std::string_view bytes) override {
    behind_.Store(key, bytes);
  }
  bool keeps() const override { return behind_.keeps(); }
  void CountBuild() override { behind_.CountBuild(); }
  void Use(std::string_view key, device::ProgramBinary binary) override;

  /// By key.
  Binaries Take() { return std::move(binaries_); }

 private:
  device::BinaryStore& behind_;
  std::mutex mutex_;
  Binaries binaries_;
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_CACHE_STORED_PROGRAMS_H_
