#include "ops/elements/shapes.h"

#include <algorithm>

namespace tim::ops {
namespace {

double TotalBytes(std::span<const ir::TensorDesc* const> descs) {
  double total = 0;
  for (const ir::TensorDesc* desc : descs) {
    if (desc == nullptr) continue;
    const Result<int64_t> bytes = ir::ByteSize(*desc);
    if (bytes.ok()) total += static_cast<double>(*bytes);
  }
  return total;
}

}  // namespace

void InferTypeFromInput(ir::InferContext& context, int index) {
  ir::TensorDesc& output = context.outputs[index].desc;
  if (output.type != ir::DataType::kUnknown) return;
  output.type = context.inputs[0].desc->type;
  output.quantization = context.inputs[0].desc->quantization;
}

Status InferSameAsInput(ir::InferContext& context) {
  InferTypeFromInput(context);
  context.outputs[0].desc.shape = context.shape(0);
  context.outputs[0].is_scalar = context.inputs[0].is_scalar;
  return OkStatus();
}

Result<ir::Shape> BroadcastShapes(const ir::Shape& a, const ir::Shape& b) {
  if (!a.ranked() || !b.ranked()) return ir::Shape();
  std::vector<int64_t> dims(std::max(a.rank(), b.rank()));
  for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis) {
    const int64_t x = a.DimOr1(axis);
    const int64_t y = b.DimOr1(axis);
    if (x == y || y == 1) {
      dims[axis] = x;
    } else if (x == 1 || x == ir::kUnknownDim) {
      dims[axis] = y;
    } else if (y == ir::kUnknownDim) {
      dims[axis] = x;
    } else {
      return InvalidArgument("shapes ", a.ToString(), " and ", b.ToString(),
                             " do not broadcast: along axis ", axis, " ", x,
                             " meets ", y);
    }
  }
  return ir::Shape(std::move(dims));
}

Result<int> WrapAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return InvalidArgument("axis ", axis, " is outside [", -rank, ", ", rank,
                           ") for rank ", rank);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

ir::ComputeEstimate ElementwiseEstimate(const ir::NodeView& view,
                                        double flops_per_element) {
  const auto count = view.outputs[0]->shape.NumElements();
  return {.flops = flops_per_element * static_cast<double>(count.value_or(0)),
          .bytes_read = InputBytes(view),
          .bytes_written = OutputBytes(view)};
}

int64_t NoScratch(const ir::NodeView&) { return 0; }

Result<ir::AttributeMap> KeepAttributes(const ir::NodeView& view,
                                        std::span<const int>) {
  return view.node.attributes;
}

double InputBytes(const ir::NodeView& view) { return TotalBytes(view.inputs); }
double OutputBytes(const ir::NodeView& view) {
  return TotalBytes(view.outputs);
}

AnchorView::AnchorView(const ir::KernelNode& node) : node_(node) {
  const size_t count = node.anchor->inputs.size();
  for (size_t i = 0; i < count && i < node.inputs.size(); ++i) {
    inputs_.push_back(node.present[i] ? &node.inputs[i] : nullptr);
  }
  outputs_.push_back(&node.anchor_output);
}

}  // namespace tim::ops
