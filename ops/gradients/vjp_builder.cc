// Formulas in the graph of the node whose gradient they are.
#include "ops/gradients/vjp_builder.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/half.h"
#include "ir/constant.h"
#include "ir/inferred_node.h"

namespace tim::ops {
namespace {

using ir::DataType;
using Axes = VjpBuilder::Axes;

// Constants of more equal elements are one element that is repeated.
constexpr int64_t kMostFilled = 1024;

std::shared_ptr<const ir::ConstantData> Encoded(
    const std::vector<float>& values, DataType type) {
  std::vector<uint16_t> halves;
  for (const float value : values) {
    if (type == DataType::kFloat16) halves.push_back(FloatToHalf(value));
    if (type == DataType::kBFloat16) halves.push_back(FloatToBFloat16(value));
  }
  if (!halves.empty()) {
    return ir::MakeConstant(halves.data(), halves.size() * sizeof(uint16_t));
  }
  if (type == DataType::kFloat64) {
    const std::vector<double> wide(values.begin(), values.end());
    return ir::MakeConstant(wide.data(), wide.size() * sizeof(double));
  }
  return ir::MakeConstant(values.data(), values.size() * sizeof(float));
}

bool AreZeros(const Axes& values) {
  return std::all_of(values.begin(), values.end(),
                     [](int64_t value) { return value == 0; });
}

}  // namespace

VjpBuilder::VjpBuilder(const ir::VjpContext& context)
    : context_(context),
      node_(*context.node),
      results_(context.node->inputs.size(), ir::kNone) {
  node_.id = ir::kNone;
}

bool VjpBuilder::HasIn(int index) const {
  return index < inputs() && node_.inputs[index] != ir::kNone;
}

ir::ValueId VjpBuilder::Cotangent(int index) {
  if (context_.cotangents[index] != ir::kNone) {
    return context_.cotangents[index];
  }
  return Filled(0, ShapeOf(Out(index)), TypeOf(Out(index)));
}

void VjpBuilder::SetBroadcast(int index, Value cotangent) {
  if (!Wanted(index) || !ok()) return;
  const ir::Shape target = ShapeOf(In(index));
  const ir::Shape shape = ShapeOf(cotangent);
  // Axes behind the operand's own go with the sum, where no others are summed.
  Axes further;
  bool only_further = shape.rank() > target.rank();
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis >= target.rank()) further.push_back(axis);
    only_further &= axis >= target.rank() || shape[axis] == target[axis];
  }
  Set(index,
      only_further ? SumAway(cotangent, further) : SumTo(cotangent, target));
}

void VjpBuilder::Set(int index, Value cotangent) {
  if (!Wanted(index) || !ok()) return;
  const Value shaped = Reshape(cotangent, ShapeOf(In(index)));
  results_[index] = Cast(WithRankOf(shaped, In(index)), TypeOf(In(index)));
}

// One element is of rank 0 where the other value is.
ir::ValueId VjpBuilder::WithRankOf(Value x, Value like) {
  if (!ok()) return ir::kNone;
  const bool is_scalar = context_.graph->value(like).is_scalar;
  if (context_.graph->value(x).is_scalar == is_scalar) return x;
  return is_scalar ? Op("Squeeze", {x}, {{"axis", Axes{0}}})
                   : Op("Reshape", {x}, {{"shape", Axes{1}}});
}

Result<std::vector<ir::ValueId>> VjpBuilder::Finish() {
  if (!ok()) return status_;
  return std::move(results_);
}

void VjpBuilder::Fail(const Status& status) {
  if (ok()) status_ = status;
}

ir::Shape VjpBuilder::ShapeOf(Value value) const {
  return value == ir::kNone ? ir::Shape()
                            : context_.graph->value(value).desc.shape;
}

DataType VjpBuilder::TypeOf(Value value) const {
  return value == ir::kNone ? DataType::kUnknown
                            : context_.graph->value(value).desc.type;
}

ir::ValueId VjpBuilder::Constant(const std::vector<float>& values,
                                 const ir::Shape& shape, DataType type) {
  if (!ok()) return ir::kNone;
  ir::TensorDesc desc;
  desc.type = type;
  desc.shape = shape;
  return context_.graph->AddConstant(desc, Encoded(values, type));
}

ir::ValueId VjpBuilder::Number(double value, DataType type) {
  const Value made =
      Constant({static_cast<float>(value)}, ir::Shape({1}), type);
  if (made != ir::kNone) context_.graph->value(made).is_scalar = true;
  return made;
}

ir::ValueId VjpBuilder::Filled(double value, const ir::Shape& shape,
                               DataType type) {
  const auto count = shape.NumElements();
  if (!count) {
    Fail(InvalidArgument("the shape ", shape.ToString(), " is not known"));
  }
  if (!ok()) return ir::kNone;
  const auto number = static_cast<float>(value);
  if (*count <= kMostFilled) {
    return Constant(std::vector(static_cast<size_t>(*count), number), shape,
                    type);
  }
  const ir::Shape ones(std::vector<int64_t>(shape.rank(), 1));
  return Broadcast(Constant({number}, ones, type), shape);
}

std::vector<ir::ValueId> VjpBuilder::OpOfMany(std::string_view op,
                                              std::vector<Value> inputs,
                                              ir::AttributeMap attributes,
                                              int outputs) {
  std::vector<Value> none(outputs, ir::kNone);
  if (!ok()) return none;
  const Result<ir::NodeId> added = ir::AddInferredNode(
      {.op = StrCat("tim.", op),
       .name = StrCat(node_.name, ".vjp/", op, "#",
                      context_.graph->node_id_limit()),
       .inputs = std::move(inputs),
       .attributes = std::move(attributes),
       .outputs = std::vector<ir::TensorDesc>(static_cast<size_t>(outputs))},
      *context_.registry, context_.graph);
  if (!added.ok()) Fail(added.status());
  return ok() ? context_.graph->node(*added).outputs : none;
}

ir::ValueId VjpBuilder::Op(std::string_view op, std::vector<Value> inputs,
                           ir::AttributeMap attributes,
                           const ir::TensorDesc& output) {
  if (!ok()) return ir::kNone;
  const Result<ir::NodeId> added =
      ir::AddInferredNode({.op = StrCat("tim.", op),
                           .name = StrCat(node_.name, ".vjp/", op, "#",
                                          context_.graph->node_id_limit()),
                           .inputs = std::move(inputs),
                           .attributes = std::move(attributes),
                           .outputs = {output}},
                          *context_.registry, context_.graph);
  if (!added.ok()) Fail(added.status());
  return ok() ? context_.graph->node(*added).outputs[0] : ir::kNone;
}

ir::ValueId VjpBuilder::Linear(Value x, double a, double b) {
  if (a == 1 && b == 0) return x;
  return Op("Linear", {x}, {{"a", a}, {"b", b}});
}

ir::ValueId VjpBuilder::Scale(Value x, double factor) {
  return Linear(x, factor, 0);
}

ir::ValueId VjpBuilder::Compare(std::string_view op, Value x, double limit) {
  return Op(op, {x, Number(limit, TypeOf(x))});
}
ir::ValueId VjpBuilder::Greater(Value x, double limit) {
  return Compare("Greater", x, limit);
}
ir::ValueId VjpBuilder::GreaterOrEqual(Value x, double limit) {
  return Compare("GreaterOrEqual", x, limit);
}
ir::ValueId VjpBuilder::Less(Value x, double limit) {
  return Compare("Less", x, limit);
}

ir::ValueId VjpBuilder::Where(Value condition, Value x) {
  return Select(condition, x, Number(0, TypeOf(x)));
}

ir::ValueId VjpBuilder::Cast(Value x, DataType type) {
  if (TypeOf(x) == type) return x;
  ir::TensorDesc output;
  output.type = type;
  return Op(ir::IsFloat(TypeOf(x)) ? "DataConvert" : "Cast", {x}, {}, output);
}

ir::ValueId VjpBuilder::Reduce(std::string_view op, Value x, const Axes& axes,
                               bool keep_dims) {
  return Op(op, {x}, {{"axis", axes}, {"keep_dims", keep_dims}});
}

ir::ValueId VjpBuilder::SumAway(Value x, const Axes& axes) {
  return Reduce("ReduceSum", x, axes, false);
}

ir::ValueId VjpBuilder::Sum(Value x, const Axes& axes) {
  const ir::Shape& shape = ShapeOf(x);
  const bool any = std::any_of(axes.begin(), axes.end(), [&](int64_t axis) {
    return shape.DimOr1(static_cast<int>(axis)) != 1;
  });
  return any ? Reduce("ReduceSum", x, axes) : x;
}

ir::ValueId VjpBuilder::Mean(Value x, const Axes& axes) {
  return Reduce("ReduceMean", x, axes);
}

ir::ValueId VjpBuilder::SumTo(Value x, const ir::Shape& shape) {
  Axes axes;
  for (int axis = 0; axis < ShapeOf(x).rank(); ++axis) {
    if (shape.DimOr1(axis) == 1 && ShapeOf(x)[axis] != 1) axes.push_back(axis);
  }
  return Sum(x, axes);
}

ir::ValueId VjpBuilder::Reshape(Value x, const ir::Shape& shape) {
  if (!ok() || ShapeOf(x) == shape) return x;
  return Op("Reshape", {x}, {{"shape", shape.dims()}});
}

ir::ValueId VjpBuilder::Transpose(Value x, const Axes& perm) {
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  return Op("Transpose", {x}, {{"perm", perm}});
}

ir::ValueId VjpBuilder::Broadcast(Value x, const ir::Shape& shape) {
  if (!ok() || ShapeOf(x) == shape) return x;
  return Op("Broadcast", {x}, {{"shape", shape.dims()}});
}

ir::ValueId VjpBuilder::Pad(Value x, const Axes& front, const Axes& back) {
  if (!ok()) return ir::kNone;
  Axes start(front.size(), 0);
  Axes length = ShapeOf(x).dims();
  Axes before = front;
  Axes behind = back;
  for (size_t i = 0; i < front.size(); ++i) {
    start[i] = std::max<int64_t>(-front[i], 0);
    length[i] -= start[i] + std::max<int64_t>(-back[i], 0);
    before[i] = std::max<int64_t>(front[i], 0);
    behind[i] = std::max<int64_t>(back[i], 0);
  }
  const Value kept = Slice(x, start, length);
  if (AreZeros(before) && AreZeros(behind)) return kept;
  return Op("Pad", {kept}, {{"front_size", before}, {"back_size", behind}});
}

ir::ValueId VjpBuilder::Slice(Value x, const Axes& start, const Axes& length) {
  if (!ok() || (AreZeros(start) && length == ShapeOf(x).dims())) return x;
  return Op("Slice", {x},
            {{"dims", static_cast<int64_t>(start.size())},
             {"start", start},
             {"length", length}});
}

ir::ValueId VjpBuilder::Spread(Value x, const Axes& steps) {
  if (!ok()) return ir::kNone;
  Value spread = x;
  const ir::Shape shape = ShapeOf(x);
  Axes dims = shape.dims();
  for (size_t axis = 0; axis < steps.size(); ++axis) {
    if (steps[axis] == 1) continue;
    // [before, extent, behind] becomes [before, step * extent, behind].
    int64_t before = 1;
    int64_t behind = 1;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (i < axis) before *= dims[i];
      if (i > axis) behind *= dims[i];
    }
    spread = Reshape(spread, ir::Shape({before, 1, dims[axis], behind}));
    spread = Pad(spread, {0, 0, 0, 0}, {0, steps[axis] - 1, 0, 0});
    dims[axis] *= steps[axis];
  }
  return Reshape(spread, ir::Shape(dims));
}

Axes AxesBut(int rank, int kept) {
  Axes axes;
  for (int axis = 0; axis < rank; ++axis) {
    if (axis != kept) axes.push_back(axis);
  }
  return axes;
}

}  // namespace tim::ops
