#include "ir/tensor_desc.h"

#include <algorithm>
#include <cmath>

#include "base/checked_math.h"

namespace tim::ir {

float Quantization::Scale(int64_t channel) const {
  if (kind == QuantizationKind::kNone) return 1.0f;
  if (kind == QuantizationKind::kFixedPoint) return std::ldexp(1.0f, -fl);
  if (scales.empty()) return 1.0f;
  if (kind == QuantizationKind::kPerTensor) return scales[0];
  return scales[std::min<size_t>(channel, scales.size() - 1)];
}

int32_t Quantization::ZeroPoint(int64_t channel) const {
  if (kind == QuantizationKind::kNone ||
      kind == QuantizationKind::kFixedPoint || zero_points.empty()) {
    return 0;
  }
  if (kind == QuantizationKind::kPerTensor) return zero_points[0];
  return zero_points[std::min<size_t>(channel, zero_points.size() - 1)];
}

std::string Quantization::ToString() const {
  switch (kind) {
    case QuantizationKind::kNone:
      return "not quantized";
    case QuantizationKind::kPerTensor:
      return StrCat("scale ", Scale(), " zero point ", ZeroPoint());
    case QuantizationKind::kPerChannel:
      return StrCat(scales.size(), " scales along axis ", axis);
    case QuantizationKind::kFixedPoint:
      return StrCat("fixed point fl ", fl);
  }
  return "?";
}

const char* ToString(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kDevice:
      return "device";
    case MemoryKind::kHost:
      return "host";
  }
  return "?";
}

std::string TensorDesc::ToString() const {
  std::string out = StrCat(ir::ToString(type), " ", shape.ToString());
  if (quantized()) out += StrCat(" ", quantization.ToString());
  if (!layout.dense()) out += StrCat(" ", layout.ToString());
  return out;
}

bool SameElements(const TensorDesc& a, const TensorDesc& b) {
  if (a.type != b.type) return false;
  if (!IsInteger(a.type)) return true;
  if (a.quantization.per_channel() || b.quantization.per_channel()) {
    return a.quantization == b.quantization;
  }
  return a.quantization.Scale() == b.quantization.Scale() &&
         a.quantization.ZeroPoint() == b.quantization.ZeroPoint();
}

namespace {

// A layout may come from anywhere; its axes count only where the shape has
// them.
bool FitsShape(const Layout& layout, const Shape& shape) {
  if (layout.strided()) {
    return static_cast<int>(layout.strides.size()) == shape.rank() &&
           std::all_of(layout.strides.begin(), layout.strides.end(),
                       [](int64_t stride) { return stride >= 0; });
  }
  return !layout.blocked() ||
         (layout.axis >= 0 && layout.axis < shape.rank() && layout.block > 0);
}

// From the first element to the last one, both included.
std::optional<int64_t> SpanOf(const Shape& shape,
                              const std::vector<int64_t>& strides) {
  std::optional<int64_t> count = 1;
  for (int i = 0; i < shape.rank() && count; ++i) {
    if (shape[i] == 0) return 0;
    const auto step = CheckedMul(shape[i] - 1, strides[i]);
    count = step ? CheckedAdd(*count, *step) : std::nullopt;
  }
  return count;
}

// The product of PhysicalDims(), without memory: runs ask for it.
std::optional<int64_t> DenseElements(const TensorDesc& desc) {
  const Layout& layout = desc.layout;
  std::optional<int64_t> count = layout.blocked() ? layout.block : 1;
  for (int i = 0; i < desc.shape.rank() && count; ++i) {
    const bool cut = layout.blocked() && i == layout.axis;
    count = CheckedMul(
        *count, cut ? CeilDiv(desc.shape[i], layout.block) : desc.shape[i]);
  }
  return count;
}

}  // namespace

std::vector<int64_t> PhysicalDims(const TensorDesc& desc) {
  std::vector<int64_t> dims = desc.shape.dims();
  if (desc.layout.blocked() && FitsShape(desc.layout, desc.shape)) {
    dims[desc.layout.axis] = CeilDiv(dims[desc.layout.axis], desc.layout.block);
    dims.insert(dims.begin(), desc.layout.block);
  }
  return dims;
}

Result<int64_t> PhysicalElements(const TensorDesc& desc) {
  if (!desc.shape.IsStatic()) {
    return InvalidArgument("shape ", desc.shape.ToString(),
                           " is not completely known");
  }
  if (!FitsShape(desc.layout, desc.shape)) {
    return InvalidArgument("layout ", desc.layout.ToString(),
                           " does not fit shape ", desc.shape.ToString());
  }
  const auto count = desc.layout.strided()
                         ? SpanOf(desc.shape, desc.layout.strides)
                         : DenseElements(desc);
  if (!count) {
    return InvalidArgument("the size of ", desc.shape.ToString(),
                           " overflows 64 bits");
  }
  return *count;
}

// Sorted by stride, each dimension steps beyond all that the smaller ones
// reach.
Status CheckWritable(const TensorDesc& desc) {
  TIM_RETURN_IF_ERROR(PhysicalElements(desc).status());
  if (!desc.layout.strided()) return OkStatus();
  std::vector<std::pair<int64_t, int64_t>> steps;  // stride and extent
  for (int i = 0; i < desc.shape.rank(); ++i) {
    if (desc.shape[i] > 1) {
      steps.emplace_back(desc.layout.strides[i], desc.shape[i]);
    }
  }
  std::sort(steps.begin(), steps.end());
  int64_t reach = 0;
  for (const auto& [stride, extent] : steps) {
    if (stride <= reach) {
      return InvalidArgument("elements of ", desc.shape.ToString(),
                             " lie on "
                             "each other in layout ",
                             desc.layout.ToString(), ", and cannot be written");
    }
    reach += (extent - 1) * stride;
  }
  return OkStatus();
}

Result<int64_t> ByteSize(const TensorDesc& desc) {
  const DataTypeInfo& info = Info(desc.type);
  if (info.bits == 0) return InvalidArgument("the data type is unknown");
  TIM_ASSIGN_OR_RETURN(int64_t elements, PhysicalElements(desc));
  if (info.bits == 4 && desc.layout.strided()) {
    return InvalidArgument("4-bit elements cannot be strided");
  }
  if (info.bits == 4 && desc.shape.rank() > 0 && elements > 0) {
    const int64_t row = desc.shape[0];
    return elements / row * CeilDiv(row, 2);
  }
  const auto bytes = CheckedMul(elements, CeilDiv(info.bits, 8));
  if (!bytes) {
    return InvalidArgument("the size of ", desc.ToString(),
                           " overflows 64 bits");
  }
  return *bytes;
}

}  // namespace tim::ir
