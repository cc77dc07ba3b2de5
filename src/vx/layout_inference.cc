#include "tim/transform/layout_inference.h"

#include "vx/failure.h"

namespace tim::transform {

std::pair<std::shared_ptr<vx::Graph>,
          std::map<std::shared_ptr<vx::Tensor>, std::shared_ptr<vx::Tensor>>>
LayoutInference(
    const std::shared_ptr<vx::Graph>&, std::shared_ptr<vx::Context>&,
    std::map<std::shared_ptr<vx::Tensor>, std::shared_ptr<IPermuteVector>>) {
  vx::Fail(Unimplemented("LayoutInference() is not implemented yet"));
  return {};
}

}  // namespace tim::transform
