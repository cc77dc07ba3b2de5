// Makes the schema and the kernel of an operator from a program.
#include "expr/operator.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/checked_math.h"
#include "expr/evaluate.h"
#include "expr/kernel_text.h"
#include "ir/typed_kernel.h"

namespace tim::expr {
namespace {

using ir::TensorDesc;
using ProgramPtr = std::shared_ptr<const Program>;

constexpr double kEfficiency = 0.02;
constexpr int64_t kWorkGroup = 32;

Status CheckPlain(const TensorDesc& desc) {
  if (!desc.quantized()) return OkStatus();
  return InvalidArgument("an operand is quantized (", desc.ToString(),
                         "); texts compute with plain numbers, dequantize it");
}

Result<std::vector<ir::DataType>> TypesOfOperands(
    std::span<const TensorDesc* const> inputs) {
  std::vector<ir::DataType> types;
  for (const TensorDesc* input : inputs) {
    TIM_RETURN_IF_ERROR(CheckPlain(*input));
    types.push_back(input->type);
  }
  return types;
}

Result<Binding> BindOperands(const ProgramPtr& program,
                             const ir::AttributeMap& attributes,
                             std::span<const TensorDesc* const> inputs) {
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::DataType> types,
                       TypesOfOperands(inputs));
  std::vector<Dims> dims;
  for (const TensorDesc* input : inputs) {
    const std::optional<Dims> known = DimsOf(input->shape);
    if (!known) return InvalidArgument("the rank of an input is not known");
    dims.push_back(*known);
  }
  return Bind(program, attributes, types, dims);
}

Result<Binding> BindNode(const ProgramPtr& program,
                         const ir::KernelNode& node) {
  std::vector<const TensorDesc*> inputs;
  for (const TensorDesc& input : node.inputs) inputs.push_back(&input);
  return BindOperands(program, node.attributes(), inputs);
}

Status Infer(const Program& program, ir::InferContext& context) {
  std::vector<const TensorDesc*> descs;
  std::vector<std::optional<Dims>> dims;
  for (const ir::InferContext::Input& input : context.inputs) {
    descs.push_back(input.desc);
    dims.push_back(input.is_scalar ? Dims() : DimsOf(input.desc->shape));
  }
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::DataType> types,
                       TypesOfOperands(descs));
  TIM_RETURN_IF_ERROR(CheckInputTypes(program, types));
  TIM_ASSIGN_OR_RETURN(const Types all, TypesOf(program, types));
  TIM_ASSIGN_OR_RETURN(const Shapes shapes,
                       InferDims(program, context.attributes(), dims));
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    const int tensor = program.outputs[i];
    ir::InferContext::Output& output = context.outputs[i];
    if (output.desc.type == ir::DataType::kUnknown) {
      output.desc.type = all.tensors[tensor];
    }
    const std::optional<Dims>& out = shapes.tensors[tensor];
    output.is_scalar = out && out->empty();
    output.desc.shape = output.is_scalar ? ir::Shape({1}) : ShapeOf(out);
    if (out && std::find(out->begin(), out->end(), 0) != out->end()) {
      return InvalidArgument("result '", program.tensors[tensor].name.text,
                             "' has no elements");
    }
  }
  return OkStatus();
}

Status Check(const Program& program, const ir::NodeView& view) {
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::DataType> types,
                       TypesOfOperands(view.inputs));
  TIM_RETURN_IF_ERROR(CheckInputTypes(program, types));
  TIM_ASSIGN_OR_RETURN(const Types all, TypesOf(program, types));
  for (size_t i = 0; i < view.outputs.size(); ++i) {
    if (view.outputs[i] == nullptr) continue;
    TIM_RETURN_IF_ERROR(CheckPlain(*view.outputs[i]));
    const int tensor = program.outputs[i];
    if (view.outputs[i]->type == all.tensors[tensor]) continue;
    return InvalidArgument("output ", i, " ('",
                           program.tensors[tensor].name.text, "') is ",
                           ir::ToString(view.outputs[i]->type), ", expected ",
                           ir::ToString(all.tensors[tensor]));
  }
  return OkStatus();
}

Status Eval(const ProgramPtr& program, const ir::EvalContext& context) {
  std::vector<const TensorDesc*> inputs;
  for (const ir::ConstTensor& input : context.inputs) {
    inputs.push_back(input.desc);
  }
  TIM_ASSIGN_OR_RETURN(const Binding binding,
                       BindOperands(program, context.attributes(), inputs));
  return Evaluate(binding, context.inputs, context.outputs);
}

int64_t BytesOf(const TensorDesc* desc) {
  const Result<int64_t> bytes = ir::ByteSize(*desc);
  return bytes.ok() ? *bytes : 0;
}

ir::ComputeEstimate Estimate(const ProgramPtr& program,
                             const ir::AttributeMap& attributes,
                             std::span<const TensorDesc* const> inputs,
                             std::span<const TensorDesc* const> outputs) {
  ir::ComputeEstimate estimate;
  const Result<Binding> binding = BindOperands(program, attributes, inputs);
  if (binding.ok()) estimate.flops = binding->Flops();
  for (const TensorDesc* input : inputs) {
    estimate.bytes_read += static_cast<double>(BytesOf(input));
  }
  for (const TensorDesc* output : outputs) {
    if (output == nullptr) continue;
    estimate.bytes_written += static_cast<double>(BytesOf(output));
  }
  return estimate;
}

// A scalar for each element of each tensor.
int64_t EvalBytes(const ProgramPtr& program, const ir::NodeView& view) {
  const Result<Binding> binding =
      BindOperands(program, view.node.attributes, view.inputs);
  if (!binding.ok()) return 0;
  int64_t count = 0;
  for (size_t i = 0; i < binding->dims.size(); ++i) {
    count += binding->Elements(static_cast<int>(i));
  }
  return count * static_cast<int64_t>(sizeof(Scalar));
}

// Place where a kernel finds a tensor: an operand of the node, or scratch
// memory.
class Operands {
 public:
  Operands(const Binding& binding, ir::Lowering* lowering)
      : binding_(binding), lowering_(*lowering) {}

  void Add(const Program& program, int tensor, bool written, int step,
           ir::LoweredStep* lowered) {
    const TensorDef& def = program.tensors[tensor];
    ir::LoweredOperand operand;
    if (def.input >= 0) {
      operand = {ir::LoweredOperand::Kind::kInput, def.input};
    } else if (def.output >= 0) {
      operand = {ir::LoweredOperand::Kind::kOutput, def.output};
    } else {
      operand = {ir::LoweredOperand::Kind::kScratch, ScratchOf(tensor, step)};
      lowering_.scratch[operand.index].last = step;
    }
    auto& launch = std::get<ir::KernelLaunch>(lowered->action);
    launch.arguments.emplace_back(
        ir::TensorArg{.operand = static_cast<int>(lowered->operands.size()),
                      .element_bytes = ElementBytes(tensor)});
    lowered->operands.push_back(operand);
    lowered->written.push_back(written);
  }

 private:
  int ElementBytes(int tensor) const {
    return ir::Info(binding_.types.tensors[tensor]).bits / 8;
  }
  int ScratchOf(int tensor, int step) {
    for (const auto& [known, index] : scratch_) {
      if (known == tensor) return index;
    }
    const int index = static_cast<int>(lowering_.scratch.size());
    lowering_.scratch.push_back(
        {.bytes = std::max<int64_t>(1, binding_.Elements(tensor)) *
                  ElementBytes(tensor),
         .first = step,
         .last = step});
    scratch_.emplace_back(tensor, index);
    return index;
  }

  const Binding& binding_;
  ir::Lowering& lowering_;
  std::vector<std::pair<int, int>> scratch_;
};

Result<ir::Lowering> Lower(const std::string& key, const ProgramPtr& program,
                           const ir::KernelNode& node) {
  TIM_ASSIGN_OR_RETURN(const Binding binding, BindNode(program, node));
  ir::Lowering lowering;
  Operands operands(binding, &lowering);
  for (const KernelGroup& group : GroupStatements(binding)) {
    const int step = static_cast<int>(lowering.steps.size());
    ir::KernelLaunch launch;
    launch.source = StrCat("expression ", key, " #", step);
    launch.function = kKernelFunction;
    TIM_ASSIGN_OR_RETURN(launch.text, KernelText(binding, group));
    launch.range.global[0] = AlignUp(group.items, kWorkGroup);
    launch.range.local[0] = kWorkGroup;
    ir::LoweredStep lowered{std::move(launch), {}, {}};
    for (const int tensor : group.reads) {
      operands.Add(*program, tensor, false, step, &lowered);
    }
    for (const int tensor : group.writes) {
      operands.Add(*program, tensor, true, step, &lowered);
    }
    lowering.steps.push_back(std::move(lowered));
  }
  return lowering;
}

Status Supports(const OperatorName& name, const ProgramPtr& program,
                const ir::KernelNode& node) {
  if (node.anchor->schema->version != name.version) {
    return Unimplemented("the node is of version ",
                         node.anchor->schema->version);
  }
  TIM_ASSIGN_OR_RETURN(const Binding binding, BindNode(program, node));
  for (const KernelGroup& group : GroupStatements(binding)) {
    TIM_RETURN_IF_ERROR(CheckKernel(binding, group));
  }
  return OkStatus();
}

}  // namespace

std::optional<Dims> DimsOf(const ir::Shape& shape) {
  if (!shape.ranked()) return std::nullopt;
  Dims dims(shape.dims().rbegin(), shape.dims().rend());
  std::replace(dims.begin(), dims.end(), ir::kUnknownDim, kUnknownSize);
  return dims;
}

ir::Shape ShapeOf(const std::optional<Dims>& dims) {
  if (!dims) return ir::Shape();
  std::vector<int64_t> out(dims->rbegin(), dims->rend());
  std::replace(out.begin(), out.end(), kUnknownSize, ir::kUnknownDim);
  return ir::Shape(std::move(out));
}

ir::OpSchema SchemaOf(const OperatorName& name, ProgramPtr program) {
  const int inputs = static_cast<int>(program->inputs.size());
  const int outputs = static_cast<int>(program->outputs.size());
  ir::OpSchema schema;
  schema.domain = name.domain;
  schema.name = name.name;
  schema.version = name.version;
  schema.inputs = {inputs, inputs};
  schema.outputs = {outputs, outputs};
  for (const AttributeDef& def : program->syntax.attributes) {
    schema.attributes.push_back({.name = def.name.text,
                                 .type = def.type,
                                 .default_value = def.default_value});
  }
  schema.check = [program](const ir::NodeView& view) {
    return Check(*program, view);
  };
  schema.infer_shapes = [program](ir::InferContext& context) {
    return Infer(*program, context);
  };
  schema.eval = [program](const ir::EvalContext& context) {
    return Eval(program, context);
  };
  schema.memory_estimate = [program](const ir::NodeView& view) {
    return EvalBytes(program, view);
  };
  schema.compute_estimate = [program](const ir::NodeView& view) {
    return Estimate(program, view.node.attributes, view.inputs, view.outputs);
  };
  return schema;
}

ir::KernelDef KernelOf(const OperatorName& name, ProgramPtr program) {
  const std::string key =
      StrCat(name.domain, ".", name.name, "@", name.version);
  ir::PlainKernel kernel;
  kernel.op = StrCat(name.domain, ".", name.name);
  kernel.name = StrCat("expression ", key);
  kernel.analyze = [name, program](const ir::KernelNode& node,
                                   const ir::DeviceInfo&) {
    return Supports(name, program, node);
  };
  kernel.cost = [program](const ir::KernelNode& node,
                          const ir::DeviceInfo& device) {
    std::vector<const TensorDesc*> inputs;
    std::vector<const TensorDesc*> outputs;
    for (const TensorDesc& desc : node.inputs) inputs.push_back(&desc);
    for (const TensorDesc& desc : node.outputs) outputs.push_back(&desc);
    return ir::EstimateMicroseconds(
        Estimate(program, node.attributes(), inputs, outputs), device,
        kEfficiency);
  };
  kernel.lower = [key, program](const ir::KernelNode& node,
                                const ir::DeviceInfo&) {
    return Lower(key, program, node);
  };
  return kernel;
}

}  // namespace tim::expr
