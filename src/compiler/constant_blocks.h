// What the kernels of a plan read that is known at Compile.
#ifndef TIM_COMPILER_CONSTANT_BLOCKS_H_
#define TIM_COMPILER_CONSTANT_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/constant.h"
#include "ir/device_info.h"
#include "ir/plan.h"

namespace tim::compiler {

/// Gives constants their places in few large blocks per device, and makes them
/// there.
class ConstantBlocks {
 public:
  using Fill = std::function<Status(std::span<std::byte>)>;

  /// `devices` must outlive it; devices[0] is the host.
  explicit ConstantBlocks(const std::vector<ir::DeviceInfo>& devices)
      : devices_(devices) {}

  /// The slot of `bytes` bytes that `fill` makes of zeros.  Equal ids on one
  /// device are the same content and get the same slot.
  ir::Slot Add(int device, const std::string& id, int64_t bytes, Fill fill);
  /// The slot of a constant of the graph: the host reads it where it is, and
  /// devices with unified memory, where it is large; others get a copy.
  ir::Slot Add(int device, std::shared_ptr<const ir::ConstantData> constant);

  /// Makes everything added, in parallel; ir::PackedForms of the thread get
  /// what can be unpacked.
  Result<std::vector<ir::ConstantBlock>> Make();

 private:
  // A constant to make.
  struct Job {
    ir::Slot slot;
    std::string id;
    Fill fill;
  };

  int64_t RoomFor(int device, int64_t bytes) const;
  ir::Slot Append(int device, const std::string& id, int64_t bytes);
  ir::Slot AddView(int device,
                   std::shared_ptr<const ir::ConstantData> constant);
  Status Allocate();
  Status MakeOne(const Job& job) const;
  void KeepForm(const Job& job) const;

  const std::vector<ir::DeviceInfo>& devices_;
  std::vector<ir::ConstantBlock> blocks_;
  std::vector<std::byte*> memory_;  // of each block, null for views
  std::map<int, int> open_;         // by device: the block that grows
  std::map<std::pair<int, std::string>, ir::Slot> slots_;
  std::vector<Job> jobs_;
};

}  // namespace tim::compiler

#endif  // TIM_COMPILER_CONSTANT_BLOCKS_H_
