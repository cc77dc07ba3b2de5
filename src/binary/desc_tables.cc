#include "binary/desc_tables.h"

#include <algorithm>
#include <utility>

namespace tim::binary {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

static_assert(static_cast<int>(fbs::DataType::MAX) + 1 == ir::kDataTypeCount);
static_assert(static_cast<int>(fbs::DataType::Float64) ==
              static_cast<int>(ir::DataType::kFloat64));
static_assert(static_cast<int>(fbs::DataType::Bool8) ==
              static_cast<int>(ir::DataType::kBool8));
static_assert(static_cast<int>(fbs::QuantizationKind::MAX) ==
              static_cast<int>(ir::QuantizationKind::kFixedPoint));
static_assert(static_cast<int>(fbs::LayoutKind::MAX) ==
              static_cast<int>(ir::LayoutKind::kBlocked));

// What size arithmetic elsewhere can add and multiply without a check.
constexpr int64_t kMaxExtent = int64_t{1} << 40;
constexpr int64_t kMaxElements = int64_t{1} << 48;
constexpr int64_t kMaxBlock = int64_t{1} << 16;

Offset<flatbuffers::Vector<int64_t>> WriteBounds(FlatBufferBuilder& builder,
                                                 const ir::Shape& shape) {
  std::vector<int64_t> bounds;
  bool bounded = false;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const bool open = shape[axis] == ir::kUnknownDim;
    bounds.push_back(open ? shape.Bound(axis) : ir::kUnknownDim);
    bounded |= bounds.back() != ir::kUnknownDim;
  }
  if (!bounded) return {};
  return builder.CreateVector(bounds);
}

Offset<fbs::Quantization> WriteQuantization(
    FlatBufferBuilder& builder, const ir::Quantization& quantization) {
  if (quantization == ir::Quantization()) return {};
  return fbs::CreateQuantizationDirect(
      builder, static_cast<fbs::QuantizationKind>(quantization.kind),
      quantization.axis, &quantization.scales, &quantization.zero_points,
      quantization.fl);
}

Status CheckExtent(int64_t extent) {
  if (extent == ir::kUnknownDim || (extent > 0 && extent <= kMaxExtent)) {
    return OkStatus();
  }
  return InvalidArgument("an extent is ", extent);
}

Result<ir::Shape> ReadShape(const fbs::TensorDesc& table, ReadBudget& budget) {
  if (table.dims() == nullptr) return ir::Shape();
  if (table.dims()->size() > size_t{ir::kMaxRank}) {
    return InvalidArgument("its rank is ", table.dims()->size(),
                           ", the limit is ", ir::kMaxRank);
  }
  TIM_ASSIGN_OR_RETURN(std::vector<int64_t> dims, budget.Copy(table.dims()));
  TIM_ASSIGN_OR_RETURN(const std::vector<int64_t> bounds,
                       budget.Copy(table.bounds()));
  for (const int64_t extent : dims) TIM_RETURN_IF_ERROR(CheckExtent(extent));
  for (const int64_t bound : bounds) TIM_RETURN_IF_ERROR(CheckExtent(bound));
  if (!bounds.empty() && bounds.size() != dims.size()) {
    return InvalidArgument(bounds.size(), " bounds of ", dims.size(),
                           " extents");
  }
  ir::Shape shape(std::move(dims));
  for (size_t axis = 0; axis < bounds.size(); ++axis) {
    if (bounds[axis] == ir::kUnknownDim) continue;
    shape.SetBound(static_cast<int>(axis), bounds[axis]);
  }
  if (shape.IsStatic() &&
      shape.NumElements().value_or(kMaxElements + 1) > kMaxElements) {
    return InvalidArgument("its shape ", shape.ToString(), " is too large");
  }
  return shape;
}

Result<ir::Quantization> ReadQuantization(const fbs::Quantization* table,
                                          ReadBudget& budget) {
  ir::Quantization quantization;
  if (table == nullptr) return quantization;
  if (table->kind() > fbs::QuantizationKind::MAX) {
    return InvalidArgument("unknown quantization ",
                           static_cast<int>(table->kind()));
  }
  if (table->axis() < -1 || table->axis() >= ir::kMaxRank) {
    return InvalidArgument("it is quantized along axis ", table->axis());
  }
  quantization.kind = static_cast<ir::QuantizationKind>(table->kind());
  quantization.axis = table->axis();
  TIM_ASSIGN_OR_RETURN(quantization.scales, budget.Copy(table->scales()));
  TIM_ASSIGN_OR_RETURN(quantization.zero_points,
                       budget.Copy(table->zero_points()));
  quantization.fl = table->fl();
  return quantization;
}

Result<ir::Layout> ReadLayout(const fbs::Layout* table,
                              const ir::Shape& shape) {
  ir::Layout layout;
  if (table == nullptr) return layout;
  if (table->kind() > fbs::LayoutKind::MAX) {
    return InvalidArgument("unknown layout ", static_cast<int>(table->kind()));
  }
  layout.kind = static_cast<ir::LayoutKind>(table->kind());
  if (!layout.blocked()) return layout;
  layout.axis = table->axis();
  layout.block = table->block();
  if (layout.axis < 0 || layout.axis >= shape.rank() || layout.block < 1 ||
      layout.block > kMaxBlock) {
    return InvalidArgument("its layout is ", layout.ToString(), ", its shape ",
                           shape.ToString());
  }
  return layout;
}

}  // namespace

Offset<fbs::TensorDesc> WriteDesc(FlatBufferBuilder& builder,
                                  const ir::TensorDesc& desc) {
  Offset<flatbuffers::Vector<int64_t>> dims;
  Offset<flatbuffers::Vector<int64_t>> bounds;
  if (desc.shape.ranked()) {
    dims = builder.CreateVector(desc.shape.dims());
    bounds = WriteBounds(builder, desc.shape);
  }
  const auto quantization = WriteQuantization(builder, desc.quantization);
  Offset<fbs::Layout> layout;
  if (desc.layout != ir::Layout::Dense()) {
    layout = fbs::CreateLayout(builder,
                               static_cast<fbs::LayoutKind>(desc.layout.kind),
                               desc.layout.axis, desc.layout.block);
  }
  return fbs::CreateTensorDesc(builder, static_cast<fbs::DataType>(desc.type),
                               dims, bounds, quantization, layout);
}

Result<ir::TensorDesc> ReadDesc(const fbs::TensorDesc* table,
                                ReadBudget& budget) {
  ir::TensorDesc desc;
  if (table == nullptr) return desc;
  if (table->type() > fbs::DataType::MAX) {
    return InvalidArgument("unknown data type ",
                           static_cast<int>(table->type()));
  }
  desc.type = static_cast<ir::DataType>(table->type());
  TIM_ASSIGN_OR_RETURN(desc.shape, ReadShape(*table, budget));
  TIM_ASSIGN_OR_RETURN(desc.quantization,
                       ReadQuantization(table->quantization(), budget));
  TIM_ASSIGN_OR_RETURN(desc.layout, ReadLayout(table->layout(), desc.shape));
  return desc;
}

}  // namespace tim::binary
