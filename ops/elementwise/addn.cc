// AddN: a sum of several inputs, made of Adds whose results are kept in float32
// (or, of integers without quantization, in int64).
#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "ir/op_registry.h"
#include "kernels/elements.h"
#include "kernels/integers.h"
#include "ops/elements/axes.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/gradients/pointwise_rules.h"

namespace tim::ops {
namespace {

constexpr char kNumInputs[] = "num_inputs";

ir::Arity AddnArity(const ir::AttributeMap& attributes) {
  return {0, static_cast<int>(std::clamp<int64_t>(
                 attributes.Int(kNumInputs), 2,  // see InferAddn
                 std::numeric_limits<int>::max()))};
}

Status CheckTypes(const ir::InferContext& context) {
  std::vector<const ir::TensorDesc*> inputs;
  for (const auto& input : context.inputs) inputs.push_back(input.desc);
  const ir::TensorDesc* output = &context.outputs[0].desc;
  const ir::NodeView view = {context.node, inputs, {&output, 1}};
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
    if (!context.has_input(i)) continue;
    TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, i));
  }
  return CheckNumber(view, Operand::kOutput, 0);
}

Status InferAddn(ir::InferContext& context) {
  const int64_t number = context.attributes().Int(kNumInputs);
  if (number < 2) {
    return InvalidArgument("num_inputs is ", number, ", expected at least 2");
  }
  auto& output = context.outputs[0];
  std::optional<ir::Shape> shape;
  int bound = 0;
  output.is_scalar = true;
  for (const auto& input : context.inputs) {
    if (input.desc == nullptr) continue;
    ++bound;
    output.is_scalar &= input.is_scalar;
    if (output.desc.type == ir::DataType::kUnknown) {
      output.desc.type = input.desc->type;
      output.desc.quantization = input.desc->quantization;
    }
    if (!shape) {
      shape = input.desc->shape;
      continue;
    }
    TIM_ASSIGN_OR_RETURN(shape, BroadcastShapes(*shape, input.desc->shape));
  }
  if (bound < 2) {
    return InvalidArgument(bound, " inputs are bound, expected at least 2");
  }
  output.desc.shape = *shape;
  return CheckTypes(context);
}

bool IsExact(std::span<const ir::TensorDesc* const> inputs,
             const ir::TensorDesc& output) {
  return kernels::IsPlainInteger(output) &&
         std::all_of(
             inputs.begin(), inputs.end(), [](const ir::TensorDesc* input) {
               return input == nullptr || kernels::IsPlainInteger(*input);
             });
}

Status EvalAddn(const ir::EvalContext& context) {
  const ir::TensorDesc& out = *context.outputs[0].desc;
  ir::Shape shape({1});
  std::vector<const ir::TensorDesc*> descs;
  std::vector<kernels::ElementReader> readers;
  for (const ir::ConstTensor& input : context.inputs) {
    if (!input) continue;
    TIM_ASSIGN_OR_RETURN(shape, BroadcastShapes(shape, input.desc->shape));
    descs.push_back(input.desc);
    readers.emplace_back(input);
  }
  std::vector<std::vector<int64_t>> strides;
  for (const ir::TensorDesc* desc : descs) {
    strides.push_back(BroadcastStrides(desc->shape.dims(), shape.dims()));
  }
  const kernels::RequantizePolicy policy =
      kernels::PolicyOf(context.attributes());
  kernels::ElementWriter y(context.outputs[0], policy);
  const bool exact = IsExact(descs, out);
  const int64_t count = *shape.NumElements();
  for (int64_t i = 0; i < count; ++i) {
    int64_t codes = 0;
    float real = 0;
    for (size_t k = 0; k < readers.size(); ++k) {
      const int64_t at = IndexOf(i, shape.dims(), strides[k]);
      if (exact) {
        codes = kernels::AddIntegers(codes, readers[k].Code(at), policy.wrap);
      } else {
        real = k == 0 ? readers[k].Real(at) : real + readers[k].Real(at);
      }
    }
    if (exact) {
      y.StoreCode(i, codes);
    } else {
      y.StoreReal(i, real);
    }
  }
  return OkStatus();
}

Result<ir::Graph> Decompose(const ir::NodeView& view,
                            const ir::OpRegistry& registry) {
  const ir::OpSchema* add = registry.Find("tim.Add");
  if (add == nullptr) return TIM_INTERNAL("tim.Add is not registered");
  ir::Graph graph("AddN");
  std::vector<ir::ValueId> terms;
  for (const ir::TensorDesc* desc : view.inputs) {
    const ir::ValueId id =
        desc == nullptr ? ir::kNone : graph.AddValue(*desc, ir::Role::kInput);
    graph.AddInput(id);
    if (id != ir::kNone) terms.push_back(id);
  }
  ir::TensorDesc partial;
  partial.type = IsExact(view.inputs, *view.outputs[0])
                     ? ir::DataType::kInt64
                     : ir::DataType::kFloat32;
  ir::TensorDesc result = *view.outputs[0];
  result.shape = ir::Shape();
  ir::ValueId sum = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    ir::Node node;
    node.name = "Add";
    node.schema = add;
    for (const ir::AttributeSpec& spec : ir::ReservedAttributes()) {
      const ir::Attribute* given = view.node.attributes.Find(spec.name);
      if (given != nullptr) node.attributes.Set(spec.name, *given);
    }
    node.inputs = {sum, terms[i]};
    sum = graph.AddValue(i + 1 < terms.size() ? partial : result);
    node.outputs = {sum};
    graph.AddNode(std::move(node));
  }
  graph.AddOutput(sum);
  return graph;
}

ir::ComputeEstimate Estimate(const ir::NodeView& view) {
  const auto absent =
      std::count(view.inputs.begin(), view.inputs.end(), nullptr);
  const auto bound =
      static_cast<double>(view.inputs.size()) - static_cast<double>(absent);
  return ElementwiseEstimate(view, bound - 1);
}

}  // namespace

TIM_OPERATOR(addn) {
  registry.Add(ir::OpSchema{
      .name = "AddN",
      .inputs = {0, std::numeric_limits<int>::max()},
      .input_arity = AddnArity,
      .attributes = {{.name = kNumInputs, .type = ir::AttributeType::kInt}},
      .infer_shapes = InferAddn,
      .eval = EvalAddn,
      .memory_estimate = NoScratch,
      .compute_estimate = Estimate,
      .sliced_inputs = SliceAlike,
      .permute_rule = KeepAttributes,
      .decompose = Decompose,
      .vjp = AddNVjp});
}

}  // namespace tim::ops
