// A chain of launches made ready: one kernel, its table and its counters.
#ifndef TIM_DEVICE_OPENCL_CHAIN_CHAIN_STEP_H_
#define TIM_DEVICE_OPENCL_CHAIN_CHAIN_STEP_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "device/opencl/chain/chain_source.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/driver/opencl_step.h"
#include "ir/step.h"

namespace tim::device {

class ChainStep final : public OpenClStep {
 public:
  static Result<std::unique_ptr<PreparedStep>> Create(
      const cl::Context& context, const cl::Program& program,
      const ir::DeviceInfo& info, const ChainSource& source,
      std::span<const ChainLink> links);

  Status Enqueue(OpenClQueue& queue,
                 std::span<const BufferRange> operands) override;

 private:
  // Where the table has the offset of an operand.
  struct Offset {
    size_t operand = 0;
    size_t word = 0;
    int element_bytes = 0;
  };

  ChainStep(cl::Kernel kernel, int workers)
      : kernel_(std::move(kernel)), workers_(workers) {}

  Status FillTable(const ChainSource& source, const ir::DeviceInfo& info,
                   std::span<const ChainLink> links);
  void JoinSmall(std::span<const ChainLink> links, int words);
  void FillArguments(const ir::KernelLaunch& launch, size_t first_operand,
                     size_t word);
  Status SetFixedArguments(const cl::Context& context,
                           const ir::DeviceInfo& info, int launches);
  Status SetBuffers(std::span<const BufferRange> operands);
  Status SetOffsets(std::span<const BufferRange> operands);

  cl::Kernel kernel_;
  int workers_ = 1;
  std::vector<int> buffers_;     // per operand: the pointer that it lies in
  std::vector<uint64_t> bound_;  // per pointer: the id of its buffer
  std::vector<int32_t> table_;
  std::vector<Offset> offsets_;
  bool table_changed_ = true;
  cl::Buffer device_table_;
  cl::Buffer counters_;
};

/// Pointers that the kernel of such a chain takes: one per buffer, rounded up
/// so that chains share programs.
int ChainPointers(std::span<const ChainLink> links);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_CHAIN_CHAIN_STEP_H_
