// Copies of a tensor's content in other forms.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/guarded.h"
#include "vx/core/failure.h"
#include "vx/tensor/element_codes.h"
#include "vx/tensor/tensor_impl.h"

namespace tim::vx {
namespace {

// As "%.16f" in the "C" locale.
bool WriteLine(float value, std::FILE* file) {
  char line[64];  // A sign, 39 digits, a point, 16 digits, the line's end.
  char* const end =
      std::to_chars(line, line + sizeof(line), static_cast<double>(value),
                    std::chars_format::fixed, 16)
          .ptr;
  *end = '\n';
  const auto length = static_cast<size_t>(end + 1 - line);
  return std::fwrite(line, 1, length, file) == length;
}

}  // namespace

Result<std::vector<std::byte>> TensorImpl::Bytes() const {
  if (!problem_.ok()) return problem_;
  std::vector<std::byte> bytes(static_cast<size_t>(bytes_));
  // An empty vector has no address, and Read() says what is wrong.
  std::byte none{};
  TIM_RETURN_IF_ERROR(Read(bytes.empty() ? &none : bytes.data()));
  return bytes;
}

Result<std::vector<float>> TensorImpl::RealValues() const {
  TIM_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, Bytes());
  if (desc_.type == ir::DataType::kUint32 ||
      desc_.type == ir::DataType::kInt64) {
    return NotPossible("convert to float",
                       "UINT32 and INT64 values do not fit a float");
  }
  TIM_ASSIGN_OR_RETURN(ir::TensorDesc desc, DeclaredDesc());
  desc.shape = desc_.shape;
  std::vector<float> real(
      static_cast<size_t>(desc_.shape.NumElements().value_or(0)));
  ToReal(desc, bytes.data(), real);
  return real;
}

bool TensorImpl::SaveTensorToTextByFp32(std::string filename) {
  const Status status = GuardedCall([&]() -> Status {
    TIM_ASSIGN_OR_RETURN(const std::vector<float> real, RealValues());
    std::FILE* file = std::fopen(filename.c_str(), "w");
    if (file == nullptr) return NotFound("cannot write ", filename);
    bool written = true;
    for (const float value : real) written &= WriteLine(value, file);
    written &= std::fclose(file) == 0;
    if (!written) return FailedPrecondition("cannot write all of ", filename);
    return OkStatus();
  });
  return status.ok() || Report(status);
}

void* TensorImpl::ConvertTensorToData(uint8_t* tensorData) {
  void* copy = nullptr;
  const Status status = GuardedCall([&]() -> Status {
    TIM_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, Bytes());
    const int64_t count = desc_.shape.NumElements().value_or(0);
    const int64_t size = count * std::max(1, ir::Info(desc_.type).bits / 8);
    copy = std::malloc(static_cast<size_t>(size));
    if (copy == nullptr) return OutOfMemory("no memory for ", size, " bytes");
    Unpack(desc_, bytes.data(), count, copy);
    if (tensorData != nullptr) {
      std::memcpy(tensorData, copy, static_cast<size_t>(size));
    }
    return OkStatus();
  });
  if (!status.ok()) Report(status);
  return copy;
}

float* TensorImpl::ConvertTensorToFloat32Data() {
  float* copy = nullptr;
  const Status status = GuardedCall([&]() -> Status {
    TIM_ASSIGN_OR_RETURN(const std::vector<float> real, RealValues());
    const size_t size = real.size() * sizeof(float);
    copy = static_cast<float*>(std::malloc(size));
    if (copy == nullptr) return OutOfMemory("no memory for ", size, " bytes");
    std::memcpy(copy, real.data(), size);
    return OkStatus();
  });
  if (!status.ok()) Report(status);
  return copy;
}

}  // namespace tim::vx
