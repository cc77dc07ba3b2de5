// Copies between strided memory of a caller and dense memory.
#include "ops/movement/strided.h"

#include <cstring>

namespace tim::ops {
namespace {

template <typename Bits>
void Copy(const ir::ConstTensor& input, const ir::MutableTensor& output) {
  constexpr int64_t kSize = sizeof(Bits);
  const auto* from = static_cast<const std::byte*>(input.data);
  auto* to = static_cast<std::byte*>(output.data);
  if (input.desc->layout.strided()) {
    VisitStrided(MergedDims(*input.desc), [&](int64_t position) {
      std::memcpy(to, from + position * kSize, kSize);
      to += kSize;
    });
  } else {
    VisitStrided(MergedDims(*output.desc), [&](int64_t position) {
      std::memcpy(to + position * kSize, from, kSize);
      from += kSize;
    });
  }
}

}  // namespace

std::vector<StridedDim> MergedDims(const ir::TensorDesc& strided) {
  std::vector<StridedDim> dims;
  for (int i = 0; i < strided.shape.rank(); ++i) {
    const int64_t extent = strided.shape[i];
    const int64_t stride = strided.layout.strides[i];
    if (extent == 1) continue;
    if (!dims.empty() && stride == dims.back().extent * dims.back().stride) {
      dims.back().extent *= extent;
    } else {
      dims.push_back({extent, stride});
    }
  }
  return dims;
}

void CopyStrided(const ir::ConstTensor& input,
                 const ir::MutableTensor& output) {
  switch (ir::Info(output.desc->type).bits) {
    case 8:
      return Copy<uint8_t>(input, output);
    case 16:
      return Copy<uint16_t>(input, output);
    case 32:
      return Copy<uint32_t>(input, output);
    default:
      return Copy<uint64_t>(input, output);
  }
}

}  // namespace tim::ops
