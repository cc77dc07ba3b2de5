#include "ops/launch/epilogue.h"

#include <cmath>
#include <limits>

#include "kernels/requantize.h"

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
               int channel_axis, Residual residual, Epilogue* out) {
  const int other = OtherOperand(step);
  if (other < 0) return Unimplemented("Add of a value to itself");
  const ir::TensorDesc& operand = node.inputs[other];
  if (operand.type != ir::DataType::kFloat32 ||
      step.result.type != ir::DataType::kFloat32 ||
      node.anchor_output.type != ir::DataType::kFloat32) {
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

int32_t CodeOf(float real, const ir::TensorDesc& desc, int32_t unbounded) {
  if (std::isinf(real)) return unbounded;
  const ir::DataTypeInfo& info = ir::Info(desc.type);
  const bool quantized = desc.quantized();
  const float scale = quantized ? desc.quantization.Scale() : 1.0f;
  const int32_t zero = quantized ? desc.quantization.ZeroPoint() : 0;
  return static_cast<int32_t>(
      kernels::RoundToCode(real / scale + static_cast<float>(zero), info.min,
                           info.max, info.bits, {}));
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

Result<Epilogue> EpilogueOf(const ir::KernelNode& node, int channel_axis,
                            Residual residual) {
  Epilogue out;
  bool activated = false;
  for (const ir::EpilogueStep& step : node.epilogue) {
    const ir::OpSchema& schema = *step.node->schema;
    if (step.result.shape != node.anchor_output.shape) {
      return Unimplemented("a fused ", schema.name, " must keep the shape ",
                           node.anchor_output.shape.ToString());
    }
    if (!ir::SameElements(step.result, node.anchor_output)) {
      return Unimplemented("a fused ", schema.name,
                           " must keep the type and quantization");
    }
    if (activated) {
      return Unimplemented("a fused ", schema.name, " at this place");
    }
    if (schema.pointwise && schema.pointwise->is_sum) {
      TIM_RETURN_IF_ERROR(TakeAdd(node, step, channel_axis, residual, &out));
      continue;
    }
    TIM_ASSIGN_OR_RETURN(const Activation activation,
                         ActivationOf(step, node.anchor_output));
    activated = true;
    if (activation.limits) {
      out.limits = *activation.limits;
    } else {
      out.formula = activation;
    }
  }
  return out;
}

void AddActivation(const Epilogue& epilogue, const ir::TensorDesc& output,
                   Launch* launch) {
  const Activation& formula = epilogue.formula;
  if (formula.pointwise != nullptr) {
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
  launch->Int("low", CodeOf(low, output, std::numeric_limits<int32_t>::min()));
  launch->Int("high",
              CodeOf(high, output, std::numeric_limits<int32_t>::max()));
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
  launch->Output("output", node, 0);
  AddActivation(epilogue, node.outputs[0], launch);
}

}  // namespace tim::ops
