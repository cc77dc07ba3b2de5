#include "base/checked_math.h"
#include "ir/tensor_desc.h"
#include "tim/vx/tensor.h"
#include "vx/tensor/type_convert.h"

namespace tim::vx {

bool TensorSpec::operator==(const TensorSpec& other) const {
  return datatype_ == other.datatype_ && shape_ == other.shape_ &&
         attr_ == other.attr_ && quantization_ == other.quantization_;
}

TensorSpec TensorSpec::AsTransientSpec() const {
  return TensorSpec(datatype_, {}, TensorAttribute::TRANSIENT, quantization_);
}

int64_t TensorSpec::GetElementNum() const {
  const ir::Shape shape(std::vector<int64_t>(shape_.begin(), shape_.end()));
  return shape.NumElements().value_or(-1);
}

int64_t TensorSpec::GetElementByteSize() const {
  const auto type = ToIr(datatype_);
  const int bits = type ? ir::Info(*type).bits : 0;
  return bits <= 8 ? 1 : bits / 8;
}

int64_t TensorSpec::GetByteSize() const {
  auto desc = ToIr(*this);
  if (!desc.ok()) return -1;
  if (desc->type == ir::DataType::kUnknown) return GetElementNum();
  const auto bytes = ir::ByteSize(*desc);
  return bytes.ok() ? *bytes : -1;
}

}  // namespace tim::vx
