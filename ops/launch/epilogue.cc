#include "ops/launch/epilogue.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tim::ops {
namespace {

bool IsPerChannel(const ir::Shape& operand, const ir::Shape& result,
                  int channel_axis) {
  bool per_channel = operand.rank() <= result.rank() &&
                     operand.DimOr1(channel_axis) == result[channel_axis];
  for (int axis = 0; axis < operand.rank(); ++axis) {
    per_channel &= axis == channel_axis || operand[axis] == 1;
  }
  return per_channel;
}

// What is added to the channels comes before a residual.
Status TakeAdd(const ir::KernelNode& node, const ir::EpilogueStep& step,
               const ir::TensorDesc& begin, int channel_axis, Residual residual,
               Epilogue* out) {
  const int other = OtherOperand(step);
  if (other < 0) return Unimplemented("Add of a value to itself");
  const ir::TensorDesc& operand = node.inputs[other];
  if (operand.type != ir::DataType::kFloat32 ||
      step.result.type != ir::DataType::kFloat32 ||
      begin.type != ir::DataType::kFloat32) {
    return Unimplemented("a fused Add must be float32");
  }
  const ir::Shape& shape = step.result.shape;
  const bool first = out->residual < 0;
  if (first && out->add < 0 &&
      IsPerChannel(operand.shape, shape, channel_axis)) {
    out->add = other;
    return OkStatus();
  }
  if (first && residual == Residual::kTaken && operand.shape == shape) {
    out->residual = other;
    return OkStatus();
  }
  return Unimplemented("a fused Add must have one value for each channel of ",
                       shape.ToString(), ", not ", operand.shape.ToString());
}

// Operations of a formula that unrolled loops may repeat for each element.
constexpr double kShortFlops = 4;

double FlopsOfElement(const ir::EpilogueStep& step, const ir::TensorDesc& begin,
                      const ir::TensorDesc& operand) {
  const ir::TensorDesc* const inputs[] = {&begin, &operand};
  const ir::TensorDesc* const outputs[] = {&step.result};
  const int64_t count = step.result.shape.NumElements().value_or(0);
  const auto estimate = step.node->schema->compute_estimate(
      {.node = *step.node, .inputs = inputs, .outputs = outputs});
  return estimate.flops / static_cast<double>(std::max<int64_t>(count, 1));
}

// A formula f(result, by[channel]) of float32.  Attributes of integers say
// where operands lie; a float would be a number in it, as the scale of a
// product.
Status TakeFormula(const ir::KernelNode& node, const ir::EpilogueStep& step,
                   const ir::TensorDesc& begin, int channel_axis,
                   Epilogue* out) {
  const ir::OpSchema& schema = *step.node->schema;
  const int other = OtherOperand(step);
  if (other < 0 || step.operands[0] != ir::kRunning) {
    return Unimplemented("a fused ", schema.name,
                         " of another value and the result");
  }
  for (const ir::AttributeSpec& attribute : schema.attributes) {
    if (attribute.type == ir::AttributeType::kFloat &&
        step.node->attributes.Float(attribute.name) != 1.0f) {
      return Unimplemented("a fused ", schema.name, " with a ", attribute.name);
    }
  }
  const ir::TensorDesc& operand = node.inputs[other];
  if (operand.type != ir::DataType::kFloat32 ||
      begin.type != ir::DataType::kFloat32) {
    return Unimplemented("a fused ", schema.name, " must be float32");
  }
  if (!IsPerChannel(operand.shape, step.result.shape, channel_axis)) {
    return Unimplemented(
        "a fused ", schema.name, " must have one value for each channel of ",
        step.result.shape.ToString(), ", not ", operand.shape.ToString());
  }
  if (FlopsOfElement(step, begin, operand) > kShortFlops) {
    return Unimplemented("a fused ", schema.name,
                         ", which takes long for an element");
  }
  out->by = other;
  out->formula.pointwise = &*schema.pointwise;
  return OkStatus();
}

// Beyond every code where there is no limit: then nothing is cut off before a
// result wraps.
int64_t LimitOf(float real, const ir::TensorDesc& desc) {
  if (!std::isinf(real)) return CodeOf(real, desc);
  return real < 0 ? std::numeric_limits<int32_t>::min()
                  : std::numeric_limits<int32_t>::max();
}

}  // namespace

bool Epilogue::activates() const {
  return formula.pointwise != nullptr || !std::isinf(limits.low) ||
         !std::isinf(limits.high);
}

int OtherOperand(const ir::EpilogueStep& step) {
  if (step.operands.size() != 2) return -1;
  if (step.operands[0] == ir::kRunning) return step.operands[1];
  return step.operands[1] == ir::kRunning ? step.operands[0] : -1;
}

Result<Epilogue> EpilogueOf(const ir::KernelNode& node,
                            std::span<const ir::EpilogueStep> steps,
                            const ir::TensorDesc& begin, int channel_axis,
                            Residual residual, ByChannel by) {
  Epilogue out;
  out.operators = static_cast<int>(steps.size());
  bool activated = false;
  for (const ir::EpilogueStep& step : steps) {
    const ir::OpSchema& schema = *step.node->schema;
    if (step.result.shape != begin.shape) {
      return Unimplemented("a fused ", schema.name, " must keep the shape ",
                           begin.shape.ToString());
    }
    if (!ir::SameElements(step.result, begin)) {
      return Unimplemented("a fused ", schema.name,
                           " must keep the type and quantization");
    }
    if (activated) {
      return Unimplemented("a fused ", schema.name, " at this place");
    }
    if (schema.pointwise && schema.pointwise->is_sum) {
      TIM_RETURN_IF_ERROR(
          TakeAdd(node, step, begin, channel_axis, residual, &out));
      continue;
    }
    activated = true;
    if (by == ByChannel::kTaken && schema.pointwise &&
        schema.pointwise->arity == 2) {
      TIM_RETURN_IF_ERROR(TakeFormula(node, step, begin, channel_axis, &out));
      continue;
    }
    TIM_ASSIGN_OR_RETURN(const Activation activation,
                         ActivationOf(step, begin));
    if (activation.limits) {
      out.limits = *activation.limits;
    } else {
      out.formula = activation;
    }
  }
  return out;
}

Result<Epilogue> EpilogueOf(const ir::KernelNode& node, int channel_axis,
                            Residual residual, ByChannel by) {
  return EpilogueOf(node, node.epilogue, node.anchor_output, channel_axis,
                    residual, by);
}

void AddActivation(const Epilogue& epilogue, const ir::TensorDesc& output,
                   Launch* launch) {
  launch->Applies(epilogue.operators);
  const Activation& formula = epilogue.formula;
  if (epilogue.by < 0 && formula.pointwise != nullptr) {
    launch->Formula("ACTIVATE", *formula.pointwise)
        .Float("low", formula.parameters.a)
        .Float("high", formula.parameters.b);
    return;
  }
  const auto [low, high] = epilogue.limits;
  if (ir::IsFloat(output.type)) {
    launch->Float("low", low).Float("high", high);
    return;
  }
  launch->Int("low", LimitOf(low, output)).Int("high", LimitOf(high, output));
}

void AddEpilogue(const ir::KernelNode& node, int bias, const Epilogue& epilogue,
                 Launch* launch) {
  if (bias >= 0) launch->Option("-DBIAS").Input("bias", node, bias);
  if (epilogue.add >= 0)
    launch->Option("-DADD").Input("add", node, epilogue.add);
  if (epilogue.residual >= 0) {
    launch->Option("-DRESIDUAL")
        .Input("residual", node, epilogue.residual)
        .InPlace(node, epilogue.residual);
  }
  if (epilogue.by >= 0) {
    launch->Formula("BY_CHANNEL", *epilogue.formula.pointwise)
        .Input("by", node, epilogue.by);
  }
  launch->Output("output", node, 0);
  AddActivation(epilogue, node.outputs[0], launch);
}

}  // namespace tim::ops
