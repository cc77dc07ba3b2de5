// SignalFrame: windows along an axis, one after the other along a new one.
#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ops/elements/shapes.h"
#include "ops/movement/index_map.h"

namespace tim::ops {
namespace {

constexpr char kWindow[] = "window_length";
constexpr char kStep[] = "step";

Status CheckCount(const ir::AttributeMap& attributes, const char* name) {
  if (attributes.Int(name) >= 1) return OkStatus();
  return InvalidArgument("attribute '", name, "' is ", attributes.Int(name),
                         ", expected 1 or more");
}

Result<int64_t> Frames(const ir::AttributeMap& attributes, int64_t extent) {
  const int64_t window = attributes.Int(kWindow);
  const int64_t step = attributes.Int(kStep);
  if (extent == ir::kUnknownDim) return ir::kUnknownDim;
  if (attributes.Int("pad_end") != 0) return (extent - 1) / step + 1;
  if (extent >= window) return (extent - window) / step + 1;
  return InvalidArgument("attribute 'window_length' is ", window,
                         ", longer than the extent ", extent,
                         ", and 'pad_end' is 0");
}

Status InferSignalFrame(ir::InferContext& context) {
  const ir::AttributeMap& attributes = context.attributes();
  const ir::Shape& input = context.shape(0);
  TIM_RETURN_IF_ERROR(CheckCount(attributes, kWindow));
  TIM_RETURN_IF_ERROR(CheckCount(attributes, kStep));
  if (!input.ranked()) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const int axis,
                       WrapAxis(attributes.Int("axis"), input.rank()));
  if (input.rank() == ir::kMaxRank) {
    return InvalidArgument("the input ", input.ToString(), " has rank ",
                           input.rank(), ", at most ", ir::kMaxRank - 1,
                           " are legal");
  }
  TIM_ASSIGN_OR_RETURN(const int64_t frames, Frames(attributes, input[axis]));
  std::vector<int64_t> dims = input.dims();
  dims[axis] = attributes.Int(kWindow);
  dims.insert(dims.begin() + axis + 1, frames);
  context.outputs[0].desc.shape = ir::Shape(std::move(dims));
  return OkStatus();
}

Result<std::vector<IndexMap>> SignalFrameMap(const ir::NodeView& view) {
  const ir::AttributeMap& attributes = view.node.attributes;
  IndexMap map(view, 0, 0);
  const auto rank = static_cast<int>(map.from.size());
  TIM_ASSIGN_OR_RETURN(const int framed,
                       WrapAxis(attributes.Int("axis"), rank));
  for (int axis = 0; axis < rank; ++axis) {
    const int to = axis > framed ? axis + 1 : axis;
    map.Loop(map.to[to], axis, 1, to, 1);
  }
  map.Loop(map.to[framed + 1], framed, attributes.Int(kStep), framed + 1, 1);
  return std::vector{map};
}

}  // namespace

TIM_OPERATOR(signal_frame) {
  registry.Add(IndexMapSchema("SignalFrame",
                              {{.name = kWindow},
                               {.name = kStep},
                               {"pad_end", ir::AttributeType::kInt, int64_t{0}},
                               {"axis", ir::AttributeType::kInt, int64_t{0}}},
                              InferSignalFrame, SignalFrameMap));
  registry.Add(IndexMapKernel("SignalFrame", SignalFrameMap));
}

}  // namespace tim::ops
