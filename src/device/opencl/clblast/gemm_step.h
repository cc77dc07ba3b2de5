// A matrix product by CLBlast.
#ifndef TIM_DEVICE_OPENCL_CLBLAST_GEMM_STEP_H_
#define TIM_DEVICE_OPENCL_CLBLAST_GEMM_STEP_H_

#include <memory>

#include "device/opencl/driver/opencl_step.h"
#include "ir/step.h"

namespace tim::device {

/// Operands: A, B and C of float32.  CLBlast compiles its kernels at the first
/// Enqueue of a process for each context, and keeps them.
class GemmStep final : public OpenClStep {
 public:
  /// Checks the sizes.
  static Result<std::unique_ptr<PreparedStep>> Create(const ir::Gemm& gemm);

  Status Enqueue(OpenClQueue& queue,
                 std::span<const BufferRange> operands) override;

 private:
  explicit GemmStep(const ir::Gemm& gemm) : gemm_(gemm) {}

  const ir::Gemm gemm_;
};

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_CLBLAST_GEMM_STEP_H_
