// Flat moves on the host: their eval and what an operator's schema says of
// them.
#include "ops/movement/flat_move.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"

namespace tim::ops {
namespace {

bool IsInside(const FlatMap::Bound& bound, const std::vector<int64_t>& at) {
  const int64_t coordinate = bound.start + OffsetOf(bound.strides, at);
  return coordinate >= 0 && coordinate < bound.limit;
}

bool AreInside(const std::vector<FlatMap::Bound>& bounds,
               const std::vector<int64_t>& at) {
  return std::all_of(bounds.begin(), bounds.end(),
                     [&](const auto& bound) { return IsInside(bound, at); });
}

// The coordinates of step `i`.
void SetCoordinates(int64_t i, const std::vector<int64_t>& extents,
                    std::vector<int64_t>* at) {
  for (size_t k = 0; k < extents.size(); ++k) {
    (*at)[k] = i % extents[k];
    i /= extents[k];
  }
}

void EvalMove(const FlatMove& move, const ir::ConstTensor& input,
              const ir::MutableTensor& output) {
  const FlatMap& flat = move.flat;
  kernels::ElementConverter converter(input, output, move.rule);
  kernels::ElementWriter writer(output);
  std::vector<int64_t> at(flat.extents.size());
  const int64_t steps = ir::Shape(flat.extents).NumElements().value_or(0);
  for (int64_t i = 0; i < steps; ++i) {
    SetCoordinates(i, flat.extents, &at);
    if (!AreInside(flat.to_bounds, at)) continue;
    const int64_t to = flat.to_start + OffsetOf(flat.to, at);
    if (AreInside(flat.from_bounds, at)) {
      converter.Convert(flat.from_start + OffsetOf(flat.from, at), to);
    } else {
      writer.StoreReal(to, 0.0f);
    }
  }
}

Status EvalMoves(const ir::EvalContext& context, const FlatMoves& moves) {
  std::vector<const ir::TensorDesc*> inputs;
  std::vector<const ir::TensorDesc*> outputs;
  for (const auto& input : context.inputs) inputs.push_back(input.desc);
  for (const auto& output : context.outputs) outputs.push_back(output.desc);
  TIM_ASSIGN_OR_RETURN(const auto made,
                       moves(ir::NodeView{context.node, inputs, outputs}));
  for (const FlatMove& move : made) {
    EvalMove(move, context.inputs[move.input], context.outputs[move.output]);
  }
  return OkStatus();
}

ir::ComputeEstimate MapEstimate(const ir::NodeView& view) {
  ir::ComputeEstimate estimate = ElementwiseEstimate(view, 1);
  for (size_t i = 1; i < view.outputs.size(); ++i) {
    estimate.flops +=
        static_cast<double>(view.outputs[i]->shape.NumElements().value_or(0));
  }
  return estimate;
}

}  // namespace

int64_t OffsetOf(const std::vector<int64_t>& strides,
                 const std::vector<int64_t>& at) {
  return std::inner_product(strides.begin(), strides.end(), at.begin(),
                            int64_t{0});
}

FlatMap Flatten(const ir::ElementMap& map) {
  return {.from_start = map.start,
          .to_start = 0,
          .extents = map.extents,
          .from = map.strides,
          .to = ir::DenseStrides(ir::Shape(map.extents)),
          .from_bounds = map.bounds,
          .to_bounds = {}};
}

ir::OpSchema FlatMoveSchema(std::string name, FlatMoves moves) {
  ir::OpSchema schema;
  schema.name = std::move(name);
  schema.inputs = {1, 1};
  schema.eval = [moves](const ir::EvalContext& context) {
    return EvalMoves(context, moves);
  };
  schema.memory_estimate = NoScratch;
  schema.compute_estimate = MapEstimate;
  schema.is_view = [moves](const ir::NodeView& view) {
    return IsView(view, moves);
  };
  schema.in_place_offsets = [moves](const ir::NodeView& view) {
    return ir::InPlaceOffsets{.outputs = PartOffsets(view, moves)};
  };
  schema.is_identity = [moves](const ir::NodeView& view) {
    return view.outputs.size() == 1 && view.inputs[0]->shape.IsStatic() &&
           view.inputs[0]->shape == view.outputs[0]->shape &&
           ir::SameElements(*view.inputs[0], *view.outputs[0]) &&
           IsView(view, moves);
  };
  schema.element_map = [moves](const ir::NodeView& view) {
    return ElementMapOf(view, moves);
  };
  return schema;
}

}  // namespace tim::ops
