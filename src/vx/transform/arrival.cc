#include "vx/transform/arrival.h"

#include <algorithm>
#include <vector>

#include "vx/core/failure.h"
#include "vx/tensor/tensor_impl.h"

namespace tim::transform {
namespace {

Result<ir::Permutation> PermutationOf(const IPermuteVector& vector,
                                      size_t rank) {
  std::vector<uint32_t> axes;
  TIM_RETURN_IF_ERROR(vx::CallUser([&] { axes = vector.AsStdVec(); }));
  if (axes.size() != rank) {
    return InvalidArgument("the permutation vector [", StrJoin(axes, ", "),
                           "] has ", axes.size(), " axes, the tensor has ",
                           rank);
  }
  const ir::Permutation out(axes.begin(), axes.end());
  if (ir::IsPermutation(out)) return out;
  return InvalidArgument("the permutation vector [", StrJoin(axes, ", "),
                         "] does not have each of 0 to ", rank - 1, " once");
}

Result<const vx::TensorImpl*> OwnTensor(vx::Tensor* tensor,
                                        const vx::GraphCore& core) {
  const auto* own = dynamic_cast<const vx::TensorImpl*>(tensor);
  if (own == nullptr || own->core() != &core) {
    return InvalidArgument("the tensor belongs to another graph");
  }
  if (own->attribute() == vx::INPUT || own->attribute() == vx::OUTPUT) {
    return own;
  }
  return InvalidArgument(
      "only INPUT tensors arrive in an order of the client's");
}

}  // namespace

Result<std::map<ir::ValueId, ir::Permutation>> ArrivalOf(
    const PermuteVectors& vectors, const vx::GraphCore& core,
    const vx::LoweredGraph& lowered) {
  std::map<const vx::Tensor*, ir::ValueId> values;
  for (const vx::LoweredTensor& entry : lowered.tensors) {
    values.emplace(entry.tensor.get(), entry.value);
  }
  const auto& inputs = lowered.graph.inputs();
  std::map<ir::ValueId, ir::Permutation> arrival;
  for (const auto& [tensor, vector] : vectors) {
    if (tensor == nullptr || vector == nullptr) {
      return InvalidArgument("tensor_pv_map holds a null ",
                             tensor == nullptr ? "tensor" : "vector");
    }
    const auto described = [&given = *tensor](const Status& status) {
      return status.WithContext(
          StrCat("tensor_pv_map, tensor ", vx::NameOf(given)));
    };
    const auto own = OwnTensor(tensor.get(), core);
    if (!own.ok()) return described(own.status());
    if ((*own)->attribute() == vx::OUTPUT) continue;
    TIM_ASSIGN_OR_RETURN(const ir::TensorDesc desc, (*own)->DeclaredDesc());
    const auto axes = PermutationOf(*vector, desc.shape.dims().size());
    if (!axes.ok()) return described(axes.status());
    const auto value = values.find(tensor.get());
    if (value == values.end() || std::find(inputs.begin(), inputs.end(),
                                           value->second) == inputs.end()) {
      continue;  // nothing reads it, or an operation writes it
    }
    arrival.emplace(value->second, *axes);
  }
  return arrival;
}

}  // namespace tim::transform
