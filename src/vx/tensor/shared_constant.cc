// Constants on memory of the client.
#include "tim/vx/shared_constant.h"

#include <cstddef>
#include <utility>

#include "base/guarded.h"
#include "ir/constant.h"
#include "vx/core/failure.h"
#include "vx/core/graph_core.h"
#include "vx/tensor/place_holder.h"
#include "vx/tensor/tensor_impl.h"

namespace tim::vx {

// Elements are read by their type, wherever they lie; devices that ask for more
// get a copy.
Status TensorImpl::CheckShared(const void* data) {
  TIM_RETURN_IF_ERROR(CheckSpec());
  if (attribute_ != CONSTANT) {
    return InvalidArgument(
        "CreateSharedConstant() makes CONSTANT tensors only, the attribute is ",
        static_cast<int>(attribute_));
  }
  TIM_RETURN_IF_ERROR(CheckMemory());
  if (data == nullptr) {
    return InvalidArgument("CreateSharedConstant() is given no data");
  }
  const int64_t element = spec_.GetElementByteSize();
  if (IsAligned(data, element)) return OkStatus();
  return InvalidArgument("CreateSharedConstant(): the data of ",
                         desc_.ToString(), " must lie at a multiple of ",
                         element, " bytes, those of an element");
}

std::shared_ptr<TensorImpl> TensorImpl::CreateShared(
    std::shared_ptr<GraphCore> core, const TensorSpec& spec,
    const std::shared_ptr<const void>& data) {
  auto tensor = std::make_shared<TensorImpl>(core, spec);
  const Status status = GuardedCall([&]() -> Status {
    TIM_RETURN_IF_ERROR(tensor->CheckShared(data.get()));
    const auto size = static_cast<size_t>(tensor->bytes_);
    std::shared_ptr<const std::byte[]> bytes(
        data, static_cast<const std::byte*>(data.get()));
    const Hash128 hash = HashBytes(bytes.get(), size);
    tensor->storage_ = ConstantStorage(std::make_shared<const ir::ConstantData>(
        ir::ConstantData{{std::move(bytes), size}, hash}));
    return OkStatus();
  });
  if (!status.ok()) return CreateUnusable(std::move(core), spec, status);
  tensor->id_ = core->next_tensor_id++;
  return tensor;
}

std::shared_ptr<Tensor> CreateSharedConstant(
    const std::shared_ptr<Graph>& graph, const TensorSpec& spec,
    std::shared_ptr<const void> data) {
  const std::shared_ptr<GraphCore> core = CoreOf(graph.get());
  if (core != nullptr) return TensorImpl::CreateShared(core, spec, data);
  Fail(InvalidArgument("CreateSharedConstant() needs a graph of this library"));
  return std::make_shared<PlaceHolder>();
}

}  // namespace tim::vx
