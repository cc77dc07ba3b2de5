// A bias in other units than the sums that it is added to, and arguments that
// contradict the kernel.
#include "ops/doubts/sums.h"

#include <algorithm>
#include <cmath>

namespace tim::ops {
namespace {

const ir::TensorDesc* InputAt(const ir::NodeView& view, int index) {
  const bool there = index >= 0 && index < std::ssize(view.inputs);
  return there ? view.inputs[index] : nullptr;
}

// Of tensors without quantization, 1.
float ScaleOf(const ir::TensorDesc& desc, int64_t channel) {
  return desc.quantized() ? desc.quantization.Scale(channel) : 1.0f;
}

int64_t ScaleCount(const ir::TensorDesc& desc) {
  const bool several = desc.quantized() && desc.quantization.per_channel();
  return several ? std::ssize(desc.quantization.scales) : 1;
}

}  // namespace

void AddBareBiasDoubt(const ir::NodeView& view, int input, int weights,
                      int bias, Doubts* doubts) {
  const ir::TensorDesc* x = InputAt(view, input);
  const ir::TensorDesc* w = InputAt(view, weights);
  const ir::TensorDesc* b = InputAt(view, bias);
  if (x == nullptr || w == nullptr || b == nullptr || b->quantized() ||
      !ir::IsInteger(b->type) ||
      (ir::IsInteger(x->type) && ir::IsInteger(w->type))) {
    return;
  }
  doubts->push_back(StrCat("the bias, input ", bias, ", is ", b->ToString(),
                           " beside input ", input, ", ", x->ToString(),
                           ", and input ", weights, ", ", w->ToString(),
                           ": its codes count as real numbers; give it in a "
                           "float type, or with its quantization"));
}

void AddBiasScaleDoubt(const ir::NodeView& view, Doubts* doubts) {
  constexpr double kTolerance = 0.02;
  const ir::TensorDesc* x = InputAt(view, 0);
  const ir::TensorDesc* w = InputAt(view, 1);
  const ir::TensorDesc* b = InputAt(view, 2);
  if (b == nullptr || !b->quantized() || !x->quantized() || !w->quantized()) {
    return;
  }
  const int64_t channels = std::max(ScaleCount(*w), ScaleCount(*b));
  for (int64_t c = 0; c < channels; ++c) {
    const double expected = double{ScaleOf(*x, 0)} * ScaleOf(*w, c);
    const double given = ScaleOf(*b, c);
    if (std::abs(given - expected) <= kTolerance * expected) continue;
    const std::string at = channels > 1 ? StrCat(" of channel ", c) : "";
    doubts->push_back(StrCat(
        "the bias, input 2, has the scale ", static_cast<float>(given), at,
        ", expected ", static_cast<float>(expected), ", the scale of input 0 (",
        ScaleOf(*x, 0), ") x that of input 1 (", ScaleOf(*w, c),
        "): it is converted from its own scale to that one; give it the "
        "product, if that is what its codes were made with"));
    return;
  }
}

Doubts SumDoubts(const ir::NodeView& view) {
  Doubts doubts;
  AddBareBiasDoubt(view, 0, 1, 2, &doubts);
  AddBiasScaleDoubt(view, &doubts);
  AddCodesDoubt(view, {0, 1}, {0}, &doubts);
  return doubts;
}

void AddKernelDoubt(const ir::NodeView& view, int axes, Doubts* doubts) {
  const ir::Shape& kernel = view.inputs[1]->shape;
  if (!kernel.IsStatic() || kernel.rank() != axes + 2) return;
  const ir::AttributeMap& attributes = view.node.attributes;
  const std::vector<int64_t>& ksize = attributes.Ints("ksize");
  for (int axis = 0; axis < axes && axis < std::ssize(ksize); ++axis) {
    if (ksize[axis] == 0 || ksize[axis] == kernel[axis]) continue;
    doubts->push_back(StrCat("attribute 'ksize' is [", StrJoin(ksize, ", "),
                             "], but the kernel, input 1, is ",
                             kernel.ToString(),
                             ", whose extents count; check the order of its "
                             "dimensions"));
    return;
  }
}

}  // namespace tim::ops
