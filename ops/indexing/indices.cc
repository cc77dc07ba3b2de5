#include "ops/indexing/indices.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/launch/packed.h"

namespace tim::ops {

IndexReader::IndexReader(const ir::ConstTensor& tensor)
    : plain_(kernels::IsPlainInteger(*tensor.desc)), reader_(tensor) {}

int64_t IndexReader::operator()(int64_t i) const {
  if (plain_) return reader_.Code(i);
  const float real = reader_.Real(i);
  if (std::isnan(real)) return std::numeric_limits<int64_t>::min();
  return kernels::FloatToInt64(std::trunc(real));
}

int64_t PlaceOf(const IndexReader& indices, int64_t n,
                const std::vector<Coordinate>& coordinate, IndexRule rule) {
  const auto length = static_cast<int64_t>(coordinate.size());
  int64_t place = 0;
  for (int64_t k = 0; k < length; ++k) {
    const auto& [extent, stride] = coordinate[k];
    int64_t index = indices(n * length + k);
    if (index < 0 && rule.negative == Negative::kFromEnd) index += extent;
    const bool inside = index >= 0 && index < extent;
    if (!inside && rule.outside == Outside::kIgnored) return kNoPlace;
    place += std::clamp<int64_t>(index, 0, extent - 1) * stride;
  }
  return place;
}

Status CheckIndices(const ir::NodeView& view, int input) {
  return CheckNumber(view, Operand::kInput, input);
}

Status CheckMoved(const ir::NodeView& view, Operand operand, int index) {
  TIM_RETURN_IF_ERROR(CheckKnownType(view, operand, index));
  const bool input = operand == Operand::kInput;
  const ir::TensorDesc& desc =
      input ? *view.inputs[index] : *view.outputs[index];
  if (!desc.quantized() || !desc.quantization.per_channel()) return OkStatus();
  return InvalidArgument(input ? "input " : "output ", index,
                         " is quantized per channel, expected one scale");
}

void InferTypeFrom(ir::InferContext& context, int input, int output) {
  ir::TensorDesc& desc = context.outputs[output].desc;
  if (desc.type != ir::DataType::kUnknown) return;
  desc.type = context.inputs[input].desc->type;
  desc.quantization = context.inputs[input].desc->quantization;
}

int64_t CoordinateLength(const ir::Shape& indices) {
  if (!indices.ranked()) return ir::kUnknownDim;
  return indices.rank() > 1 ? indices[0] : 1;
}

std::vector<int64_t> CoordinateDims(const ir::Shape& indices) {
  const int first = indices.rank() > 1 ? 1 : 0;
  return {indices.dims().begin() + first, indices.dims().end()};
}

Status CheckCoordinateLength(const ir::Shape& indices, const ir::Shape& named) {
  const int64_t length = CoordinateLength(indices);
  if (length == ir::kUnknownDim || !named.ranked()) return OkStatus();
  if (length <= named.rank()) return OkStatus();
  return InvalidArgument("the coordinates ", indices.ToString(), " have ",
                         length, " indices each, at most ", named.rank(),
                         " are legal for ", named.ToString());
}

Status CheckStay(std::span<const int> perm, int first, int last) {
  for (int axis = first; axis < last; ++axis) {
    if (perm[axis] == axis) continue;
    return Unimplemented("axis ", axis,
                         " belongs to the indices and must stay");
  }
  return OkStatus();
}

Status CheckKernelIndices(const ir::TensorDesc& indices) {
  if (KernelTypeName(indices.type) == nullptr) {
    return Unimplemented("indices of ", ir::ToString(indices.type),
                         " have no kernel");
  }
  if (indices.quantized() && indices.quantization.per_channel()) {
    return Unimplemented("indices quantized per channel have no kernel");
  }
  return CheckElementCount(indices);
}

void AddIndexOptions(const ir::TensorDesc& indices, IndexRule rule,
                     Launch* launch) {
  launch->Type("INDEX", indices);
  if (!kernels::IsPlainInteger(indices)) launch->Option("-DINDEX_REAL");
  if (rule.negative == Negative::kFromEnd) launch->Option("-DINDEX_FROM_END");
  if (rule.outside == Outside::kIgnored) launch->Option("-DINDEX_IGNORED");
}

ir::PackedConstant PackCoordinate(const std::vector<Coordinate>& coordinate) {
  std::vector<int32_t> table;
  for (const auto& [extent, stride] : coordinate) {
    table.push_back(static_cast<int32_t>(extent));
    table.push_back(static_cast<int32_t>(stride));
  }
  return PackedTable("coordinate", std::move(table));
}

}  // namespace tim::ops
