#include "tests/properties/families/index_cases.h"

#include "ir/tensor_desc.h"
#include "kernels/elements.h"

namespace tim::testing {
namespace {

int64_t RandomIndex(int64_t extent, CaseRng& rng) {
  constexpr int64_t kFar = 70000;
  std::mt19937& engine = rng.engine();
  if (rng.OneIn(8)) return static_cast<int64_t>(engine() % 9) - 4 + extent;
  if (rng.OneIn(16)) return engine() % 2 == 0 ? kFar : -kFar;
  const auto index = static_cast<int64_t>(engine() % extent);
  return rng.OneIn(4) ? index - extent : index;
}

}  // namespace

TensorData RandomIndices(const ir::TensorDesc& desc,
                         const std::vector<int64_t>& extents, CaseRng& rng) {
  TensorData out = rng.Data(desc);
  kernels::ElementWriter writer({&desc, out.bytes.data()});
  const int64_t count = *desc.shape.NumElements();
  const auto axes = static_cast<int64_t>(extents.size());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = RandomIndex(extents[i % axes], rng);
    const bool fraction = ir::IsFloat(desc.type) && rng.OneIn(2);
    writer.StoreReal(i, static_cast<float>(index) + (fraction ? 0.25f : 0.0f));
  }
  return out;
}

void SetIndices(int input, const std::vector<int64_t>& extents, NodeCase* node,
                CaseRng& rng) {
  TensorData indices = RandomIndices(*node->inputs[input], extents, rng);
  auto& operands = rng.OneIn(3) ? node->constants : node->data;
  operands.emplace(input, std::move(indices));
}

}  // namespace tim::testing
