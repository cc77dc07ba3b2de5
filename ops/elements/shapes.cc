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

Result<ir::PermutedNode> KeepAttributes(const ir::NodeView& view, int,
                                        std::span<const int> perm) {
  auto rank = static_cast<int>(perm.size());
  for (const ir::TensorDesc* input : view.inputs) {
    if (input != nullptr) rank = std::max(rank, input->shape.rank());
  }
  const ir::Permutation whole =
      ir::Compose(perm, ir::IdentityPermutation(rank));
  ir::PermutedNode out;
  out.attributes = view.node.attributes;
  for (const ir::TensorDesc* input : view.inputs) {
    out.inputs.push_back(input == nullptr ? ir::Permutation()
                                          : ir::BroadcastPermutation(
                                                whole, input->shape.rank()));
  }
  out.outputs.assign(view.outputs.size(), whole);
  return out;
}

ir::PermuteRule MoveAxis(std::string name) {
  return [name = std::move(name)](
             const ir::NodeView& view, int operand,
             std::span<const int> perm) -> Result<ir::PermutedNode> {
    TIM_ASSIGN_OR_RETURN(ir::PermutedNode out,
                         KeepAttributes(view, operand, perm));
    const ir::Permutation& whole = out.outputs[0];
    TIM_ASSIGN_OR_RETURN(const int axis,
                         WrapAxis(view.node.attributes.Int(name),
                                  static_cast<int>(whole.size())));
    out.attributes.Set(name, int64_t{ir::NewAxis(whole, axis)});
    return out;
  };
}

ir::PermuteRule MoveValues(std::vector<std::string> names) {
  return [names = std::move(names)](
             const ir::NodeView& view, int operand,
             std::span<const int> perm) -> Result<ir::PermutedNode> {
    TIM_ASSIGN_OR_RETURN(ir::PermutedNode out,
                         KeepAttributes(view, operand, perm));
    const ir::Permutation& whole = out.outputs[0];
    for (const std::string& name : names) {
      const auto& values = view.node.attributes.Ints(name);
      if (values.size() != whole.size()) {
        return InvalidArgument("attribute '", name, "' has ", values.size(),
                               " values for ", whole.size(), " axes");
      }
      out.attributes.Set(name, ir::Permuted(values, whole));
    }
    return out;
  };
}

std::vector<bool> SliceAlike(const ir::NodeView& view, int axis) {
  const int64_t extent = view.outputs[0]->shape[axis];
  std::vector<bool> sliced;
  for (const ir::TensorDesc* input : view.inputs) {
    sliced.push_back(input != nullptr && input->shape.DimOr1(axis) == extent);
  }
  return sliced;
}

std::function<std::vector<bool>(const ir::NodeView&, int)> SliceBesideAxis(
    std::string name) {
  return [name = std::move(name)](const ir::NodeView& view,
                                  int axis) -> std::vector<bool> {
    const auto own =
        WrapAxis(view.node.attributes.Int(name), view.outputs[0]->shape.rank());
    if (!own.ok() || *own >= axis) return {};
    return SliceAlike(view, axis);
  };
}

std::function<std::vector<bool>(const ir::NodeView&, int)> SliceInputFrom(
    int first) {
  return [first](const ir::NodeView& view, int axis) -> std::vector<bool> {
    if (axis < first) return {};
    std::vector<bool> sliced(view.inputs.size(), false);
    sliced[0] = true;
    return sliced;
  };
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
