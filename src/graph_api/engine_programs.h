// Programs that an engine has built, and those that a client kept of another.
#ifndef TIM_GRAPH_API_ENGINE_PROGRAMS_H_
#define TIM_GRAPH_API_ENGINE_PROGRAMS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "device/device.h"

namespace tim::graph {

/// What an engine's graphs are prepared with: programs of a client's blob, and
/// behind them the process's store.  Any thread.
class EnginePrograms final : public device::BinaryStore {
 public:
  /// \param identity that of device and driver, as blobs have it.
  EnginePrograms(std::string identity,
                 std::shared_ptr<device::BinaryStore> behind)
      : identity_(std::move(identity)), behind_(std::move(behind)) {}

  /// Takes the programs of a blob, before the first graph is prepared.  One
  /// that is damaged, or of another device or driver, is ignored with a line at
  /// level info.
  void TakeBlob(std::span<const uint8_t> blob);
  /// The programs that graphs of the engine used so far, those of its own blob
  /// among them, as their driver has them now.
  std::vector<uint8_t> Blob();

  std::optional<std::string> Load(std::string_view key) override;
  void Store(std::string_view key, std::string_view bytes) override {
    behind_->Store(key, bytes);
  }
  bool keeps() const override { return behind_->keeps(); }
  void CountBuild() override { behind_->CountBuild(); }
  void Use(std::string_view key, device::ProgramBinary binary) override;

 private:
  Status Read(std::span<const uint8_t> blob);

  const std::string identity_;
  const std::shared_ptr<device::BinaryStore> behind_;
  std::mutex mutex_;
  std::map<std::string, std::string> stored_;
  std::map<std::string, device::ProgramBinary> used_;
};

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_ENGINE_PROGRAMS_H_
