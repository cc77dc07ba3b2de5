// Topk: the k greatest elements along an axis in descending order, and their
// indices.  ONNX TopK (largest, sorted), TFLite TOPK_V2.
//
// Integers are ordered by their codes; of equal elements (0 and -0, too) the
// one with the smaller index comes first; NaN is greater than every number.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/doubts/codes.h"
#include "ops/elements/convert.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/reduction/reduce_axes.h"

namespace tim::ops {
namespace {

Status Check(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, 0));
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kOutput, 0));
  const ir::DataType type = view.outputs[1]->type;
  if (ir::IsInteger(type) && type != ir::DataType::kUint64) return OkStatus();
  return InvalidArgument("output 1 is ", ir::ToString(type),
                         ", expected an integer type other than uint64");
}

Status Infer(ir::InferContext& context) {
  const int64_t k = context.attributes().Int("k");
  if (k < 1) {
    return InvalidArgument("attribute 'k' is ", k, ", expected at least 1");
  }
  InferTypeFromInput(context);
  if (context.outputs[1].desc.type == ir::DataType::kUnknown) {
    context.outputs[1].desc.type = ir::DataType::kInt32;
  }
  const ir::Shape& input = context.shape(0);
  if (!input.ranked()) return OkStatus();
  TIM_ASSIGN_OR_RETURN(
      const int axis, WrapAxis(context.attributes().Int("axis"), input.rank()));
  if (input[axis] != ir::kUnknownDim && k > input[axis]) {
    return InvalidArgument("attribute 'k' is ", k, ", but input 0 ",
                           input.ToString(), " has ", input[axis],
                           " elements along axis ", axis);
  }
  ir::Shape shape = input;
  shape.set_dim(axis, k);
  for (auto& output : context.outputs) output.desc.shape = shape;
  return OkStatus();
}

// Ordered as the elements are.
int64_t OrderOf(float x) {
  if (std::isnan(x)) return std::numeric_limits<int32_t>::max();
  const auto bits = std::bit_cast<int32_t>(x + 0.0f);  // -0 becomes 0
  return bits < 0 ? bits ^ std::numeric_limits<int32_t>::max() : bits;
}

Result<ReduceGroup> GroupOf(const ir::AttributeMap& attributes,
                            const ir::Shape& shape) {
  TIM_ASSIGN_OR_RETURN(const int axis,
                       WrapAxis(attributes.Int("axis"), shape.rank()));
  return GroupOfAxis(shape, axis);
}

Status Eval(const ir::EvalContext& context) {
  const ir::TensorDesc& input = *context.inputs[0].desc;
  TIM_ASSIGN_OR_RETURN(const ReduceGroup group,
                       GroupOf(context.attributes(), input.shape));
  const int64_t k = context.attributes().Int("k");
  const kernels::ElementReader reader(context.inputs[0]);
  kernels::ElementConverter values(context.inputs[0], context.outputs[0]);
  kernels::ElementWriter indices(context.outputs[1]);
  const bool real = ir::IsFloat(input.type);
  std::vector<int64_t> order(static_cast<size_t>(group.count));
  for (int64_t row = 0; row < group.kept(); ++row) {
    const int64_t image = row / group.inner;
    const int64_t column = row % group.inner;
    const auto at = [&](int64_t i) {
      return (image * group.count + i) * group.inner + column;
    };
    const auto key = [&](int64_t i) {
      return real ? OrderOf(reader.Real(at(i))) : reader.Code(at(i));
    };
    std::iota(order.begin(), order.end(), int64_t{0});
    std::partial_sort(order.begin(), order.begin() + k, order.end(),
                      [&](int64_t a, int64_t b) {
                        const int64_t x = key(a);
                        const int64_t y = key(b);
                        return x > y || (x == y && a < b);
                      });
    for (int64_t i = 0; i < k; ++i) {
      const int64_t to = (image * k + i) * group.inner + column;
      values.Convert(at(order[static_cast<size_t>(i)]), to);
      indices.StoreCode(to, order[static_cast<size_t>(i)]);
    }
  }
  return OkStatus();
}

int64_t MemoryEstimate(const ir::NodeView& view) {
  const auto group = GroupOf(view.node.attributes, view.inputs[0]->shape);
  return group.ok() ? group->count * 8 : 0;
}

// A comparison for each element.
ir::ComputeEstimate Estimate(const ir::NodeView& view) {
  const auto count = view.inputs[0]->shape.NumElements();
  return {.flops = static_cast<double>(count.value_or(0)),
          .bytes_read = InputBytes(view),
          .bytes_written = OutputBytes(view)};
}

ir::OpSchema TopkSchema() {
  return {.name = "Topk",
          .inputs = {1, 1},
          .surplus_inputs = 1,  // TFLite, ONNX: k
          .outputs = {2, 2},
          .attributes = {{"k", ir::AttributeType::kInt},
                         {"axis", ir::AttributeType::kInt, int64_t{0}}},
          .check = Check,
          .doubts = FirstCodes,
          .infer_shapes = Infer,
          .eval = Eval,
          .memory_estimate = MemoryEstimate,
          .compute_estimate = Estimate,
          .permute_rule = MoveAxis("axis")};
}

// ---- kernel ----

struct Problem {
  ReduceGroup group;
  int64_t k = 1;
  kernels::ConvertRule rule = kernels::ConvertRule::kBits;
};

Result<Problem> Analyze(const ir::KernelNode& node, const ir::DeviceInfo&) {
  const ir::TensorDesc& input = node.inputs[0];
  const ir::TensorDesc& output = node.outputs[0];
  const kernels::ConvertRule rule = kernels::ConvertRuleOf(input, output);
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  TIM_RETURN_IF_ERROR(CheckConvert(input, output, rule));
  TIM_ASSIGN_OR_RETURN(const ReduceGroup group,
                       GroupOf(node.attributes(), input.shape));
  return Problem{.group = group, .k = node.attributes().Int("k"), .rule = rule};
}

const char* KeyType(ir::DataType type) {
  const bool wide =
      type == ir::DataType::kUint32 || type == ir::DataType::kInt64;
  return ir::IsFloat(type) ? "float" : wide ? "long" : "int";
}

Result<ir::Lowering> Lower(const Problem& problem, const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [group, k, rule] = problem;
  const ir::TensorDesc& input = node.inputs[0];
  const ir::TensorDesc& output = node.outputs[0];
  const bool row = group.inner == 1;
  const std::string key = KeyType(input.type);
  const int key_bytes = key == "long" ? 8 : 4;
  Launch launch("ops/reduction/topk.cl", row ? "topk_row" : "topk_columns");
  launch.Type("IN", input).Type("INDEX", node.outputs[1]);
  launch.Option(StrCat("-DVALUE=", key));
  AddConvertOptions(input, output, rule, &launch);
  launch.Input("in", node, 0)
      .Output("values", node, 0)
      .Output("indices", node, 1)
      .Scratch("keys", group.kept() * k * key_bytes, key_bytes)
      .Scratch("places", group.kept() * k * 4, 4);
  if (!row) launch.Int("inner", group.inner);
  launch.Int("count", group.count).Int("k", k);
  if (row) launch.Int("rows", group.kept());
  AddConvertArguments(input, output, rule, &launch);
  if (row) return launch.Tiles(device, group.kept()).Build();
  return launch.Tiles(device, CeilDiv(group.inner, kReduceLanes), group.outer)
      .Build();
}

ir::KernelDef TopkKernel() {
  return ir::TypedKernel<Problem>{.op = "tim.Topk",
                                  .name = "topk",
                                  .analyze = Analyze,
                                  .cost = CostAt(prices::kTopk),
                                  .lower = Lower};
}

}  // namespace

TIM_OPERATOR(topk) {
  registry.Add(TopkSchema());
  registry.Add(TopkKernel());
}

}  // namespace tim::ops
