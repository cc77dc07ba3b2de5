// Values of a tensor from float and back, as the public functions have it.
#include "base/guarded.h"
#include "tim/vx/tensor.h"
#include "vx/core/failure.h"
#include "vx/tensor/element_codes.h"
#include "vx/tensor/type_convert.h"

namespace tim::vx::utils {
namespace {

// A shape is needed for quantization per channel only.
Result<ir::TensorDesc> KnownDesc(const std::shared_ptr<Tensor>& tensor) {
  if (tensor == nullptr || tensor->IsPlaceHolder()) {
    return InvalidArgument("conversion needs a tensor");
  }
  TIM_ASSIGN_OR_RETURN(const ir::TensorDesc desc, ToIr(tensor->GetSpec()));
  if (desc.type == ir::DataType::kUnknown) {
    return InvalidArgument("conversion needs a tensor with a data type");
  }
  return desc;
}

}  // namespace

bool Float32ToDtype(std::shared_ptr<Tensor> tensor, std::vector<float> fval,
                    uint8_t* tensorData) {
  const Status status = GuardedCall([&]() -> Status {
    TIM_ASSIGN_OR_RETURN(const ir::TensorDesc desc, KnownDesc(tensor));
    const auto count = desc.shape.NumElements();
    if (tensorData == nullptr || !count ||
        static_cast<int64_t>(fval.size()) < *count) {
      return InvalidArgument("Float32ToDtype: ", fval.size(), " values for ",
                             desc.ToString(), ", or no destination");
    }
    ToCodes(desc, std::span(fval).first(static_cast<size_t>(*count)),
            tensorData);
    return OkStatus();
  });
  return status.ok() || Fail(status);
}

bool DtypeToFloat32(std::shared_ptr<Tensor> tensor, uint8_t* tensorData,
                    float* data) {
  const Status status = GuardedCall([&]() -> Status {
    TIM_ASSIGN_OR_RETURN(const ir::TensorDesc desc, KnownDesc(tensor));
    if (tensorData == nullptr || data == nullptr) {
      return InvalidArgument("DtypeToFloat32: source or destination is null");
    }
    ToReal(desc, tensorData, std::span(data, 1));
    return OkStatus();
  });
  return status.ok() || Fail(status);
}

}  // namespace tim::vx::utils
