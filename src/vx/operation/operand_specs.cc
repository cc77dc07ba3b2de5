#include "vx/operation/operand_specs.h"

#include "vx/tensor/tensor_impl.h"
#include "vx/tensor/type_convert.h"

namespace tim::vx {
namespace {

ShapeType KnownExtents(const ir::Shape& shape) {
  if (!shape.IsStatic()) return {};
  return ShapeType(shape.dims().begin(), shape.dims().end());
}

}  // namespace

TensorSpec SpecOf(Tensor& tensor, const ir::TensorDesc& desc) {
  const auto* made = dynamic_cast<const TensorImpl*>(&tensor);
  const Quantization& declared = tensor.GetQuantization();
  return TensorSpec(
      ToVx(desc.type), KnownExtents(desc.shape),
      made != nullptr ? made->attribute() : tensor.GetSpec().attr_,
      ToIr(declared) == desc.quantization ? declared : ToVx(desc.quantization));
}

TensorSpec DeclaredSpec(const std::shared_ptr<Tensor>& tensor) {
  const auto* made = dynamic_cast<const TensorImpl*>(tensor.get());
  if (made == nullptr) return TensorSpec();
  const auto desc = made->DeclaredDesc();
  return desc.ok() ? SpecOf(*tensor, *desc) : tensor->GetSpec();
}

}  // namespace tim::vx
