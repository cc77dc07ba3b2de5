// What the descriptions of operators over regions share.
#ifndef TIM_TESTS_PROPERTIES_FAMILIES_ROI_CASES_H_
#define TIM_TESTS_PROPERTIES_FAMILIES_ROI_CASES_H_

#include <cstdint>
#include <vector>

#include "kernels/elements.h"
#include "tests/properties/case_rng.h"
#include "tests/properties/node_case.h"

namespace tim::testing {

/// Rows of (batch,) x1, y1, x2, y2 around an image of w * h, times `ratio`:
/// most inside, some across its border or without an area.
inline TensorData RandomRois(const ir::TensorDesc& desc, int64_t w, int64_t h,
                             int64_t batches, float ratio, CaseRng& rng) {
  TensorData out = rng.Data(desc);
  kernels::ElementWriter writer({&desc, out.bytes.data()});
  const int64_t row = desc.shape[0];
  const int64_t count = *desc.shape.NumElements();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t k = i % row - (row - 4);
    const int64_t extent = k % 2 == 0 ? w : h;
    const auto random = static_cast<int64_t>(rng.engine()() % 1024);
    if (k < 0) {
      const int64_t batch = random % batches;
      writer.StoreReal(i, static_cast<float>(rng.OneIn(9) ? batches : batch));
      continue;
    }
    float at =
        static_cast<float>(random) / 1024.0f * static_cast<float>(extent);
    if (rng.OneIn(5)) at = at * 3.0f - static_cast<float>(extent);
    if (rng.OneIn(40)) at = at * 1e6f;
    writer.StoreReal(i, at * ratio);
  }
  return out;
}

}  // namespace tim::testing

#endif  // TIM_TESTS_PROPERTIES_FAMILIES_ROI_CASES_H_
