// Attention: sums of values, weighed by the softmax of the products of queries
// and keys.  The compiler makes it of Matmul, Softmax and Matmul with what is
// between them (attention_rewrites.cc); users cannot.
//
// In float32, every step rounded as by the operators that it stands for.
#include <algorithm>
#include <vector>

#include "ir/op_registry.h"
#include "kernels/exact_exp2.h"
#include "ops/attention/attention_shape.h"
#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"

namespace tim::ops {
namespace {

const ir::Shape* MaskShape(const ir::InferContext& context) {
  return context.has_input(kMask) ? &context.shape(kMask) : nullptr;
}

Status InferAttention(ir::InferContext& context) {
  TIM_ASSIGN_OR_RETURN(
      context.outputs[0].desc.shape,
      InferAttentionShape(context.attributes(), context.shape(kQueries),
                          context.shape(kKeys), context.shape(kValues),
                          MaskShape(context)));
  InferTypeFromInput(context);
  return OkStatus();
}

Status CheckType(const char* operand, int index, const ir::TensorDesc& desc) {
  if (desc.type == ir::DataType::kFloat32 && !desc.quantized()) {
    return OkStatus();
  }
  return InvalidArgument(operand, " ", index, " is ", desc.ToString(),
                         ", expected float32");
}

Status CheckAttention(const ir::NodeView& view) {
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    if (view.inputs[i] == nullptr) continue;
    TIM_RETURN_IF_ERROR(
        CheckType("input", static_cast<int>(i), *view.inputs[i]));
  }
  return CheckType("output", 0, *view.outputs[0]);
}

// The softmax of x in its place, as ops/normalization/softmax.cc makes it.
void MakeWeights(std::vector<float>* x) {
  constexpr float kLog2E = 1.44269504f;
  float largest = (*x)[0];
  for (const float each : *x) {
    if (each > largest) largest = each;
  }
  float sum = 0.0f;
  for (float& each : *x) {
    each = kernels::Exp2((each - largest) * kLog2E);
    sum += each;
  }
  const float reciprocal = 1.0f / sum;
  for (float& each : *x) each *= reciprocal;
}

const float* Floats(const ir::EvalContext& context, int input) {
  return static_cast<const float*>(context.inputs[input].data);
}

Status EvalAttention(const ir::EvalContext& context) {
  const auto shape_of = [&](int input) -> const ir::Shape& {
    return context.inputs[input].desc->shape;
  };
  const bool has_mask = context.has_input(kMask);
  const AttentionShape shape = AttentionShapeOf(
      context.attributes(), shape_of(kQueries), shape_of(kKeys),
      shape_of(kValues), has_mask ? &shape_of(kMask) : nullptr);
  const float scale = context.attributes().Float(kScoreScale);
  const float* const mask = has_mask ? Floats(context, kMask) : nullptr;
  auto* out = static_cast<float*>(context.outputs[0].data);
  std::vector<float> x(static_cast<size_t>(shape.keys));
  for (const AttentionShape::Head& head : shape.heads) {
    const float* query = Floats(context, kQueries) + head.queries;
    const float* const keys = Floats(context, kKeys) + head.keys;
    const float* const values = Floats(context, kValues) + head.values;
    for (int64_t m = 0; m < shape.queries; ++m, query += shape.depth) {
      for (int64_t n = 0; n < shape.keys; ++n) {
        const float* const key = keys + n * shape.key_step;
        float sum = 0.0f;
        for (int64_t k = 0; k < shape.depth; ++k) {
          sum = AddProduct(sum, query[k], key[k * shape.key_depth_step]);
        }
        sum *= scale;
        if (mask != nullptr) {
          sum += mask[head.mask + m * shape.mask_query_step +
                      n * shape.mask_key_step];
        }
        x[static_cast<size_t>(n)] = sum;
      }
      if (!x.empty()) MakeWeights(&x);
      for (int64_t c = 0; c < shape.columns; ++c) {
        float sum = 0.0f;
        for (int64_t n = 0; n < shape.keys; ++n) {
          sum = AddProduct(sum, x[static_cast<size_t>(n)],
                           values[n * shape.columns + c]);
        }
        *out++ = sum;
      }
    }
  }
  return OkStatus();
}

// A row of scores.
int64_t ScoreBytes(const ir::NodeView& view) {
  const ir::Shape& keys = view.inputs[kKeys]->shape;
  const bool by_depth = view.node.attributes.Bool(kKeysByDepth);
  return keys[by_depth ? 0 : 1] * int64_t{sizeof(float)};
}

ir::OpSchema AttentionSchema() {
  ir::OpSchema schema;
  schema.name = "Attention";
  schema.inputs = {3, 4};
  schema.attributes = {{.name = kScoreScale,
                        .type = ir::AttributeType::kFloat,
                        .default_value = 1.0},
                       {.name = kKeysByDepth,
                        .type = ir::AttributeType::kBool,
                        .default_value = false}};
  schema.check = CheckAttention;
  schema.infer_shapes = InferAttention;
  schema.eval = EvalAttention;
  schema.memory_estimate = ScoreBytes;
  schema.compute_estimate = EstimateAttention;
  schema.sliced_inputs = [](const ir::NodeView& view, int axis) {
    return axis < 2 ? std::vector<bool>() : SliceAlike(view, axis);
  };
  return schema;
}

}  // namespace

TIM_OPERATOR(attention) { registry.Add(AttentionSchema()); }

}  // namespace tim::ops
