// Copies between strided memory of a caller and dense memory.
#include "ops/movement/strided.h"

#include <cstring>

namespace tim::ops {
namespace {

// One direction: `Gather` reads strided memory and writes a dense one.
template <typename Bits, bool Gather>
class Walk {
 public:
  Walk(const std::byte* from, std::byte* to) : from_(from), to_(to) {}

  void Run(const std::vector<StridedDim>& dims) {
    Visit(dims, static_cast<int>(dims.size()) - 1, 0);
  }

 private:
  void Visit(const std::vector<StridedDim>& dims, int dim, int64_t at) {
    if (dim < 0) return Copy(at);
    for (int64_t i = 0; i < dims[dim].extent; ++i) {
      Visit(dims, dim - 1, at + i * dims[dim].stride);
    }
  }

  void Copy(int64_t at) {
    constexpr size_t kSize = sizeof(Bits);
    const size_t dense = static_cast<size_t>(next_++) * kSize;
    const size_t strided = static_cast<size_t>(at) * kSize;
    std::memcpy(to_ + (Gather ? dense : strided),
                from_ + (Gather ? strided : dense), kSize);
  }

  const std::byte* from_;
  std::byte* to_;
  int64_t next_ = 0;
};

template <typename Bits>
void Copy(const ir::ConstTensor& input, const ir::MutableTensor& output) {
  const auto* from = static_cast<const std::byte*>(input.data);
  auto* to = static_cast<std::byte*>(output.data);
  if (input.desc->layout.strided()) {
    Walk<Bits, true>(from, to).Run(MergedDims(*input.desc));
  } else {
    Walk<Bits, false>(from, to).Run(MergedDims(*output.desc));
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
