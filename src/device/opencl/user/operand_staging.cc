#include "device/opencl/user/operand_staging.h"

#include "device/opencl/driver/cl_status.h"
#include "device/opencl/driver/opencl_buffer.h"
#include "ir/tensor_desc.h"

namespace tim::device {

Result<OperandStaging> OperandStaging::Create(
    const cl::Context& context, const ir::DeviceInfo& device,
    const ir::UserTensorArg& tensor, std::optional<ImageHeader> header) {
  ir::TensorDesc desc;
  desc.type = tensor.type;
  desc.shape = ir::Shape(tensor.dims);
  OperandStaging staging;
  staging.header_ = header;
  staging.operand_ = tensor.operand;
  staging.written_ = tensor.written;
  staging.filled_ = tensor.filled();
  TIM_ASSIGN_OR_RETURN(staging.bytes_, ir::ByteSize(desc));
  const int64_t size = staging.HeaderBytes() + staging.bytes_;
  TIM_ASSIGN_OR_RETURN(staging.handle_, NewBuffer(context, device, size));
  staging.counted_ = CountedBytes(size);
  return staging;
}

Status OperandStaging::Fill(OpenClQueue& queue, const BufferRange& operand) {
  if (operand.bytes < bytes_) {
    return TIM_INTERNAL("a copy of ", bytes_, " bytes of an operand of ",
                        operand.bytes);
  }
  if (header_ && !has_header_) {
    TIM_RETURN_IF_CL_ERROR(queue.Fill(handle_, *header_, 0, kImageHeaderBytes),
                           "the header of an image");
    has_header_ = true;
  }
  if (!filled_) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const OpenClRange from, AsOpenCl(operand));
  TIM_RETURN_IF_CL_ERROR(
      queue.Copy(from.handle(), from.offset, handle_, HeaderBytes(), bytes_),
      "copying an operand of ", bytes_, " bytes for a kernel");
  return OkStatus();
}

Status OperandStaging::Drain(OpenClQueue& queue,
                             const BufferRange& operand) const {
  if (!written_) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const OpenClRange to, AsOpenCl(operand));
  TIM_RETURN_IF_CL_ERROR(
      queue.Copy(handle_, HeaderBytes(), to.handle(), to.offset, bytes_),
      "copying ", bytes_, " bytes of a kernel into its operand");
  return OkStatus();
}

}  // namespace tim::device
