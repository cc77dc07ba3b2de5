// UnidirectionalSequenceLstm; formulas in lstm_node.h.
#include "ir/op_registry.h"
#include "kernels/elements.h"
#include "ops/doubts/sums.h"
#include "ops/elements/operands.h"
#include "ops/elements/sequence_axes.h"
#include "ops/elements/shapes.h"
#include "ops/lstm/lstm_node.h"

namespace tim::ops {
namespace {

using In = LstmInput;

std::vector<const ir::TensorDesc*> DescsOf(const ir::InferContext& context) {
  std::vector<const ir::TensorDesc*> out;
  for (const auto& input : context.inputs) out.push_back(input.desc);
  return out;
}

// A state has the type of the one that comes in, else that of the input.
void InferType(ir::InferContext& context, int output) {
  ir::TensorDesc& desc = context.outputs[output].desc;
  if (desc.type != ir::DataType::kUnknown) return;
  const int from =
      output > 0 && context.has_input(output) ? output : In::kInput;
  desc.type = context.inputs[from].desc->type;
  desc.quantization = context.inputs[from].desc->quantization;
}

Status Infer(ir::InferContext& context) {
  const auto inputs = DescsOf(context);
  const bool time_major = context.attributes().Bool("time_major");
  TIM_RETURN_IF_ERROR(CheckLstmOperands(inputs, time_major));
  const auto shapes = LstmOutputShapes(
      inputs, time_major, context.attributes().Bool("return_sequences"));
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    InferType(context, static_cast<int>(i));
    context.outputs[i].desc.shape = shapes[i];
  }
  return OkStatus();
}

Status Check(const ir::NodeView& view) {
  for (int i = 0; i < static_cast<int>(view.inputs.size()); ++i) {
    if (view.inputs[i] == nullptr) continue;
    TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, i));
  }
  for (int i = 0; i < static_cast<int>(view.outputs.size()); ++i) {
    if (view.outputs[i] == nullptr) continue;
    TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kOutput, i));
  }
  return OkStatus();
}

// Of one bias, the first.
std::vector<std::string> FindDoubts(const ir::NodeView& view) {
  constexpr int kGates = 4;
  Doubts doubts;
  for (int gate = 0; gate < kGates && doubts.empty(); ++gate) {
    AddBareBiasDoubt(view, In::kInput, In::kWeights + gate, In::kBias + gate,
                     &doubts);
  }
  std::vector<int> inputs = {In::kInput};
  for (int i = 0; i < 2 * kGates; ++i) inputs.push_back(In::kWeights + i);
  AddCodesDoubt(view, inputs, {0}, &doubts);
  return doubts;
}

Status Eval(const ir::EvalContext& context) {
  std::vector<const ir::TensorDesc*> descs;
  for (const ir::ConstTensor& input : context.inputs) {
    descs.push_back(input.data != nullptr ? input.desc : nullptr);
  }
  EvalLstm(LstmNodeOf(context.attributes(), descs), LstmDirection::kForward,
           context.inputs, context.outputs,
           kernels::PolicyOf(context.attributes()));
  return OkStatus();
}

ir::OpSchema Schema() {
  ir::OpSchema schema;
  schema.name = "UnidirectionalSequenceLstm";
  schema.inputs = {1, In::kCount};
  schema.outputs = {1, kLstmOutputs};
  schema.attributes = LstmAttributes();
  schema.check = Check;
  schema.doubts = FindDoubts;
  schema.infer_shapes = Infer;
  schema.eval = Eval;
  schema.memory_estimate = [](const ir::NodeView& view) {
    return LstmEvalBytes(LstmNodeOf(view.node.attributes, view.inputs));
  };
  schema.compute_estimate = EstimateLstm;
  schema.permute_rule = SwapBatchAndSteps({In::kInput, In::kAux}, {0});
  return schema;
}

}  // namespace

TIM_OPERATOR(lstm) { registry.Add(Schema()); }

}  // namespace tim::ops
