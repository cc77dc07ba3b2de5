#include "device/opencl/guard/guarded_operand.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "device/opencl/driver/cl_status.h"
#include "device/opencl/driver/opencl_buffer.h"
#include "ir/tensor_desc.h"

namespace tim::device {
namespace {

// Guards are as large as the tensor, within these: who mistakes rows for
// columns misses it by much.  No device aligns sub-buffers to more.
constexpr int64_t kGuardUnit = 4096;
constexpr int64_t kLargestGuard = int64_t{1} << 20;

int64_t GuardOf(int64_t bytes) {
  const int64_t rounded = (bytes + kGuardUnit - 1) / kGuardUnit * kGuardUnit;
  return std::clamp(rounded, kGuardUnit, kLargestGuard);
}

}  // namespace

Result<GuardedOperand> GuardedOperand::Create(const cl::Context& context,
                                              const ir::DeviceInfo& device,
                                              const ir::UserTensorArg& tensor,
                                              const KernelParameter& parameter,
                                              GuardedContent content) {
  if (!HasSubBuffers(device)) {
    return Unimplemented(
        "TIMCL_GUARD gives kernels sub-buffers, which do not reach kernels of "
        "remote devices; check the operation on a device of this machine");
  }
  GuardedOperand operand;
  operand.tensor_ = tensor;
  operand.parameter_ = parameter.ToString();
  operand.read_only_ = parameter.points_to_const;
  operand.defined_ = std::move(content);
  if (ImageKindOf(parameter) != ImageKind::kNone) {
    TIM_ASSIGN_OR_RETURN(operand.header_, ImageHeaderOf(tensor));
  }
  ir::TensorDesc desc;
  desc.type = tensor.type;
  desc.shape = ir::Shape(tensor.dims);
  TIM_ASSIGN_OR_RETURN(operand.bytes_, ir::ByteSize(desc));
  operand.guard_ = GuardOf(operand.bytes_);
  operand.content_ =
      operand.guard_ + (operand.header_ ? kImageHeaderBytes : int64_t{0});
  TIM_ASSIGN_OR_RETURN(operand.memory_,
                       NewBuffer(context, device, operand.size()));
  operand.counted_ = CountedBytes(operand.size());
  const cl_buffer_region region = {
      static_cast<size_t>(operand.guard_),
      static_cast<size_t>(std::max<int64_t>(
          operand.content_ + operand.bytes_ - operand.guard_, 1))};
  int code = CL_SUCCESS;
  operand.view_ = operand.memory_.createSubBuffer(
      CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  TIM_RETURN_IF_CL_ERROR(code, "guarded memory of ", tensor.name);
  return operand;
}

// As floats about 12 to 3e9, so that their squares and sums are finite.
uint8_t GuardedOperand::Pattern() const {
  if (tensor_.type == ir::DataType::kBool8) return tensor_.written ? 1 : 0;
  return static_cast<uint8_t>(0x41 + tensor_.operand % 15);
}

int64_t GuardedOperand::ElementAt(int64_t at) const {
  const int64_t bits = ir::Info(tensor_.type).bits;
  const int64_t distance = (at - content_) * 8;
  return distance >= 0 ? distance / bits : -((bits - 1 - distance) / bits);
}

int64_t GuardedOperand::BytesOfElement() const {
  return std::max<int64_t>(ir::Info(tensor_.type).bits / 8, 1);
}

std::string GuardedOperand::ToString() const {
  return StrCat(tensor_.name, " '", parameter_, "' (",
                ir::ToString(tensor_.type), " [", StrJoin(tensor_.dims, ", "),
                "])");
}

std::string GuardedOperand::ElementText(int64_t at) const {
  int64_t element = ElementAt(at);
  std::string text = StrCat("element ", element);
  if (at < content().begin || at >= content().end || tensor_.dims.size() < 2) {
    return text;
  }
  std::vector<int64_t> position;
  for (const int64_t dim : tensor_.dims) {
    position.push_back(element % dim);
    element /= dim;
  }
  return StrCat(text, " at [", StrJoin(position, ", "), "]");
}

Status GuardedOperand::Take(OpenClQueue& queue, const BufferRange& tensor) {
  if (tensor.bytes < bytes_) {
    return TIM_INTERNAL("a copy of ", bytes_, " bytes of an operand of ",
                        tensor.bytes);
  }
  if (tensor_.written && defined_.first) {
    defined_.defined->assign(static_cast<size_t>(bytes_), tensor_.filled());
  }
  if (!tensor_.filled() || bytes_ == 0) return OkStatus();
  given_.assign(static_cast<size_t>(bytes_), 0);
  if (tensor_.zeroed) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const OpenClRange from, AsOpenCl(tensor));
  TIM_RETURN_IF_CL_ERROR(
      queue.Read(from.handle(), from.offset, bytes_, given_.data()), "reading ",
      tensor_.name, ", to guard it");
  return OkStatus();
}

Status GuardedOperand::Prepare(OpenClQueue& queue, const GuardRange& flipped,
                               GuardedBytes* bytes) const {
  const uint8_t pattern = Pattern();
  const uint8_t flip = tensor_.type == ir::DataType::kBool8 ? 1 : 0x80;
  std::vector<uint8_t>& before = bytes->before;
  before.assign(static_cast<size_t>(size()), pattern);
  std::fill(before.begin() + flipped.begin, before.begin() + flipped.end,
            static_cast<uint8_t>(pattern ^ flip));
  if (header_) {
    std::memset(&before[guard_], 0, kImageHeaderBytes);
    std::memcpy(&before[guard_], &*header_, sizeof(*header_));
  }
  for (size_t i = 0; i < given_.size(); ++i) {
    const int64_t at = content_ + static_cast<int64_t>(i);
    if (Defined(at)) before[at] = given_[i];
  }
  TIM_RETURN_IF_CL_ERROR(queue.Write(memory_, 0, size(), before.data()),
                         "writing ", tensor_.name, " between guards");
  return OkStatus();
}

Status GuardedOperand::Read(OpenClQueue& queue, GuardedBytes* bytes) const {
  bytes->after.resize(static_cast<size_t>(size()));
  TIM_RETURN_IF_CL_ERROR(queue.Read(memory_, 0, size(), bytes->after.data()),
                         "reading ", tensor_.name, " between guards");
  return OkStatus();
}

Status GuardedOperand::Give(OpenClQueue& queue, const GuardedBytes& bytes,
                            const BufferRange& tensor) const {
  if (!tensor_.written || bytes_ == 0) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const OpenClRange to, AsOpenCl(tensor));
  TIM_RETURN_IF_CL_ERROR(queue.Write(to.handle(), to.offset, bytes_,
                                     bytes.after.data() + content_),
                         "writing ", tensor_.name, " from between guards");
  return OkStatus();
}

}  // namespace tim::device
