// Makes the record of a kind from the definition of a registered operation.
#include "graph_api/extended_op_def.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "expr/types.h"
#include "graph_api/extended_operator.h"
#include "graph_api/lower_ops.h"
#include "graph_api/lowering.h"
#include "graph_api/op_context.h"
#include "graph_api/partitioning.h"
#include "graph_api/support.h"

namespace tim::graph {
namespace {

using OpPtr = std::shared_ptr<const ExtendedOp>;

// A variable for each parameter, or for those that have one type.
std::vector<OperandDef> OperandsOf(const ExtendedSide& side,
                                   std::vector<TypeVariable>* variables) {
  std::vector<OperandDef> operands;
  for (const ExtendedParam& param : side.params) {
    OperandDef& operand = operands.emplace_back();
    operand.name = param.name;
    operand.optional = param.optional;
    if (param.types.empty()) continue;  // any
    operand.type =
        param.same < 0 ? "of " + param.name : StrCat("T", param.same);
    variables->push_back({operand.type, param.types});
  }
  return operands;
}

size_t MostOf(const ExtendedSide& side) {
  return side.variadic ? side.params.size() - 1 + kMostVariadic : 0;
}

ir::AttributeMap AttributesOf(const Op& op) {
  ir::AttributeMap attributes;
  for (const auto& [name, value] : op.named) {
    attributes.Set(name, InnerAttributeOf(value));
  }
  return attributes;
}

Status Lower(const std::string& key, const Op& op, Lowering& lowering) {
  std::vector<Tensor> inputs;
  std::vector<Wanted> wanted;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    inputs.push_back(lowering.input(i));
  }
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    wanted.push_back({.type = lowering.output_type(i), .quantization = {}});
  }
  TIM_ASSIGN_OR_RETURN(std::vector<Tensor> made,
                       lowering.AddMany(key, inputs, AttributesOf(op), wanted));
  for (size_t i = 0; i < made.size(); ++i) {
    lowering.SetOutput(i, std::move(made[i]));
  }
  return OkStatus();
}

// Types of results follow from those of the parameters.
Status CheckTextTypes(const expr::Program& program, const Op& op) {
  std::vector<ir::DataType> inputs;
  for (const LogicalTensor& input : op.inputs) {
    inputs.push_back(InnerType(input.data_type));
  }
  TIM_RETURN_IF_ERROR(expr::CheckInputTypes(program, inputs));
  TIM_ASSIGN_OR_RETURN(const expr::Types types, expr::TypesOf(program, inputs));
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    const ir::DataType type = types.tensors[program.outputs[i]];
    if (InnerType(op.outputs[i].data_type) == type) continue;
    return InvalidArgument("output ", i, " is ",
                           tim_graph_dt2str(op.outputs[i].data_type),
                           ", the expression gives ", ir::ToString(type));
  }
  return OkStatus();
}

Result<std::vector<Dims>> EmptyDims(const ExtendedOp& op, const Op& called,
                                    const std::vector<Dims>& inputs) {
  if (op.infer_shapes == nullptr) {
    return Unimplemented("inputs without elements are not taken");
  }
  tim_graph_op_context context(op, CallbackRole::kInferShapes,
                               AttributesOf(called));
  const auto describe = [](const LogicalTensor& tensor) {
    ir::TensorDesc desc;
    desc.type = InnerType(tensor.data_type);
    return desc;
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    ir::TensorDesc desc = describe(called.inputs[i]);
    desc.shape = ir::Shape(Reversed(inputs[i]));
    context.AddInput(&desc, inputs[i].empty());
  }
  for (const LogicalTensor& output : called.outputs) {
    const ir::TensorDesc desc = describe(output);
    context.AddOutput(&desc);
  }
  TIM_RETURN_IF_ERROR(context.Call(op.infer_shapes));
  std::vector<Dims> dims;
  for (const LogicalTensor& output : context.outputs) {
    if (!HasKnownDims(output)) {
      return Unimplemented("dims of an output are not known");
    }
    dims.push_back(DimsOf(output));
  }
  return dims;
}

// Something computes it wherever an engine is.
bool RunsAnywhere(const ExtendedOp& op) {
  return op.program != nullptr || op.decompose != nullptr || op.host != nullptr;
}

Status SupportsShapes(const Op& op) {
  if (!std::all_of(op.inputs.begin(), op.inputs.end(), HasKnownDims)) {
    return OkStatus();
  }
  const auto lowered = LowerOps(op.name, {op}, PortsOf({op}).inputs);
  // A contradiction to a rule is told by compile.
  return lowered.status().code() == StatusCode::kUnimplemented
             ? lowered.status()
             : OkStatus();
}

}  // namespace

OpDef RecordOf(const OpPtr& op) {
  OpDef def;
  def.kind = op->kind;
  def.name = op->Key();
  def.inputs = OperandsOf(op->inputs, &def.types);
  def.outputs = OperandsOf(op->outputs, &def.types);
  def.most_inputs = MostOf(op->inputs);
  def.most_outputs = MostOf(op->outputs);
  def.named_attributes = op->attributes;
  def.moves_elements = true;  // operands arrive as they are
  if (op->program != nullptr) {
    def.rule = [program = op->program](const Op& called) {
      return CheckTextTypes(*program, called);
    };
  }
  def.supports = SupportsShapes;
  const bool anywhere = RunsAnywhere(*op) && op->decompose == nullptr;
  if (!anywhere) def.supports_on = CheckRuns;
  def.lower = [key = op->Key()](const Op& called, Lowering& lowering) {
    return Lower(key, called, lowering);
  };
  def.empty_dims = [op](const Op& called, const std::vector<Dims>& inputs) {
    return EmptyDims(*op, called, inputs);
  };
  return def;
}

}  // namespace tim::graph
