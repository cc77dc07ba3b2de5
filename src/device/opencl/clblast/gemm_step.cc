#include "device/opencl/clblast/gemm_step.h"

#include "device/opencl/clblast/clblast_api.h"
#include "device/opencl/clblast/clblast_status.h"
#include "device/opencl/driver/opencl_buffer.h"

namespace tim::device {
namespace {

constexpr int64_t kFloatBytes = sizeof(float);

// Where a matrix starts, as CLBlast takes it.
struct Matrix {
  cl_mem buffer = nullptr;
  size_t offset = 0;  ///< In floats.
};

Result<Matrix> MatrixOf(const char* name, const BufferRange& range) {
  TIM_ASSIGN_OR_RETURN(const OpenClRange place, AsOpenCl(range));
  if (place.offset % kFloatBytes != 0) {
    return TIM_INTERNAL("gemm, matrix ", name, ": offset ", place.offset,
                        " is no multiple of ", kFloatBytes, " bytes");
  }
  return Matrix{place.handle()(),
                static_cast<size_t>(place.offset / kFloatBytes)};
}

clblast::Transpose TransposeOf(bool transpose) {
  return transpose ? clblast::Transpose::kYes : clblast::Transpose::kNo;
}

Status CheckLeading(const ir::Gemm& gemm, const char* name, int64_t leading,
                    int64_t columns) {
  if (leading >= columns) return OkStatus();
  return TIM_INTERNAL("'", ToString(ir::Action(gemm)), "': rows of matrix ",
                      name, " are ", leading, " elements apart, but have ",
                      columns);
}

}  // namespace

Result<std::unique_ptr<PreparedStep>> GemmStep::Create(const ir::Gemm& gemm) {
  if (gemm.m < 1 || gemm.n < 1 || gemm.k < 1 || gemm.batches < 1) {
    return TIM_INTERNAL("'", ToString(ir::Action(gemm)),
                        "': sizes must be positive");
  }
  TIM_RETURN_IF_ERROR(
      CheckLeading(gemm, "A", gemm.lda, gemm.transpose_a ? gemm.m : gemm.k));
  TIM_RETURN_IF_ERROR(
      CheckLeading(gemm, "B", gemm.ldb, gemm.transpose_b ? gemm.k : gemm.n));
  TIM_RETURN_IF_ERROR(CheckLeading(gemm, "C", gemm.ldc, gemm.n));
  return std::unique_ptr<PreparedStep>(new GemmStep(gemm));
}

Status GemmStep::Enqueue(OpenClQueue& queue,
                         std::span<const BufferRange> operands) {
  if (operands.size() < 3) {
    return TIM_INTERNAL("'", ToString(ir::Action(gemm_)),
                        "' needs 3 operands, found ", operands.size());
  }
  TIM_ASSIGN_OR_RETURN(const Matrix a, MatrixOf("A", operands[0]));
  TIM_ASSIGN_OR_RETURN(const Matrix b, MatrixOf("B", operands[1]));
  TIM_ASSIGN_OR_RETURN(const Matrix c, MatrixOf("C", operands[2]));
  const auto layout = clblast::Layout::kRowMajor;
  const auto transpose_a = TransposeOf(gemm_.transpose_a);
  const auto transpose_b = TransposeOf(gemm_.transpose_b);
  const auto code = queue.Call([&](cl_command_queue commands, cl_event* done) {
    return gemm_.batches == 1
               ? clblast::Gemm<float>(layout, transpose_a, transpose_b, gemm_.m,
                                      gemm_.n, gemm_.k, 1.0f, a.buffer,
                                      a.offset, gemm_.lda, b.buffer, b.offset,
                                      gemm_.ldb, 0.0f, c.buffer, c.offset,
                                      gemm_.ldc, &commands, done)
               : clblast::GemmStridedBatched<float>(
                     layout, transpose_a, transpose_b, gemm_.m, gemm_.n,
                     gemm_.k, 1.0f, a.buffer, a.offset, gemm_.lda, gemm_.a_step,
                     b.buffer, b.offset, gemm_.ldb, gemm_.b_step, 0.0f,
                     c.buffer, c.offset, gemm_.ldc, gemm_.c_step, gemm_.batches,
                     &commands, done);
  });
  if (code == clblast::StatusCode::kSuccess) return OkStatus();
  return ClblastStatus(static_cast<int>(code), ToString(ir::Action(gemm_)));
}

}  // namespace tim::device
