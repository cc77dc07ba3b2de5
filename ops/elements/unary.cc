#include "ops/elements/unary.h"

#include <array>

#include "base/checked_math.h"
#include "kernels/elements.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/blocked.h"
#include "ops/launch/launch.h"

namespace tim::ops {
namespace {

UnaryParameters ParametersOf(const UnaryOp& op,
                             const ir::AttributeMap& attributes) {
  UnaryParameters out;
  float* next[] = {&out.a, &out.b};
  size_t count = 0;
  for (const ir::AttributeSpec& spec : op.attributes) {
    if (spec.type != ir::AttributeType::kFloat || count == 2) continue;
    *next[count++] = attributes.Float(spec.name);
  }
  return out;
}

bool IsExact(const UnaryOp& op, const ir::TensorDesc& input,
             const ir::TensorDesc& output) {
  return op.integer != nullptr && kernels::IsPlainInteger(input) &&
         kernels::IsPlainInteger(output);
}

Status CheckUnary(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, 0));
  return CheckNumber(view, Operand::kOutput, 0);
}

Status EvalUnary(const UnaryOp& op, const ir::EvalContext& context) {
  const ir::ConstTensor& input = context.inputs[0];
  const ir::MutableTensor& output = context.outputs[0];
  const kernels::ElementReader x(input);
  kernels::ElementWriter y(output);
  const UnaryParameters parameters = ParametersOf(op, context.attributes());
  const bool exact = IsExact(op, *input.desc, *output.desc);
  const int64_t count = *input.desc->shape.NumElements();
  for (int64_t i = 0; i < count; ++i) {
    if (exact) {
      y.StoreCode(i, op.integer(x.Code(i)));
    } else {
      y.StoreReal(i, op.real(x.Real(i), parameters));
    }
  }
  return OkStatus();
}

bool IsByte(const ir::TensorDesc& desc) {
  return ir::Info(desc.type).bits == 8;
}

Result<ir::Lowering> LowerUnary(const UnaryOp& op, const std::string& source,
                                const ir::KernelNode& node) {
  const ir::TensorDesc& input = node.inputs[0];
  const ir::TensorDesc& output = node.outputs[0];
  TIM_ASSIGN_OR_RETURN(const int64_t count, ir::PhysicalElements(output));
  const UnaryParameters parameters = ParametersOf(op, node.attributes());
  Launch launch(source, "unary");
  launch.Type("IN0", input).Type("OUT", output);
  launch.Option(StrCat("-DFUNCTION=", op.function));
  if (IsExact(op, input, output)) launch.Option("-DPLAIN");
  launch.Input("x", node, 0)
      .Output("y", node, 0)
      .InPlace(node, 0)
      .Int("n", count);
  launch.InputQuantization("x", input).OutputQuantization("y", output);
  launch.Float("a", parameters.a).Float("b", parameters.b);
  return launch.Items(CeilDiv(count, 16)).Build();
}

// Results of eval for each of the 256 codes of the input.
Status FillTable(const ir::Node& node, ir::TensorDesc input,
                 ir::TensorDesc output, std::span<std::byte> table) {
  std::array<uint8_t, 256> codes;
  for (int i = 0; i < 256; ++i) codes[i] = static_cast<uint8_t>(i);
  input.shape = output.shape = ir::Shape({256});
  input.layout = output.layout = ir::Layout::Dense();
  const ir::ConstTensor read{&input, codes.data()};
  const ir::MutableTensor written{&output, table.data()};
  return node.schema->eval({node, {&read, 1}, {&written, 1}});
}

Result<ir::Lowering> LowerTable(const ir::KernelNode& node,
                                const ir::DeviceInfo&) {
  const ir::TensorDesc& input = node.inputs[0];
  const ir::TensorDesc& output = node.outputs[0];
  TIM_ASSIGN_OR_RETURN(const int64_t count, ir::PhysicalElements(output));
  const int bytes = ir::Info(output.type).bits / 8;
  ir::PackedConstant table{
      .id = StrCat("unary_table ", node.anchor->schema->Key(), " ",
                   node.attributes().ToString(), " ", ir::ToString(input.type),
                   " ", input.quantization.ToString(), " ",
                   ir::ToString(output.type), " ",
                   output.quantization.ToString()),
      .sources = {},
      .bytes = int64_t{256} * bytes,
      .pack = [anchor = *node.anchor, input, output](std::span<std::byte> out) {
        return FillTable(anchor, input, output, out);
      }};
  Launch launch("ops/elements/unary_table.cl", "unary_table");
  launch.Option(StrCat("-DT=", BitsTypeName(output.type)));
  launch.Input("x", node, 0)
      .Output("y", node, 0)
      .InPlace(node, 0)
      .Packed("table", std::move(table), bytes);
  return launch.Int("n", count).Items(CeilDiv(count, 16)).Build();
}

}  // namespace

ir::OpSchema UnarySchema(const UnaryOp& op) {
  return {.name = op.name,
          .inputs = {1, 1},
          .attributes = op.attributes,
          .check = CheckUnary,
          .infer_shapes = InferSameAsInput,
          .eval =
              [op](const ir::EvalContext& context) {
                return EvalUnary(op, context);
              },
          .memory_estimate = NoScratch,
          .compute_estimate =
              [flops = op.flops](const ir::NodeView& view) {
                return ElementwiseEstimate(view, flops);
              },
          .permute_rule = KeepAttributes};
}

ir::KernelDef UnaryKernel(const UnaryOp& op, const std::string& source) {
  return {.op = StrCat("tim.", op.name),
          .name = LowerCase(op.name),
          .supports =
              [](const ir::KernelNode& node, const ir::DeviceInfo&) {
                TIM_RETURN_IF_ERROR(RefuseEpilogue(node));
                if (IsByte(node.inputs[0])) {
                  return Unimplemented("8-bit inputs are left to the table");
                }
                return CheckKernelOperands(node);
              },
          .layouts = UnaryLayouts,
          .cost =
              [](const ir::KernelNode& node, const ir::DeviceInfo& device) {
                return ElementwiseCost(node, device, 0.1);
              },
          .lower =
              [op, source](const ir::KernelNode& node, const ir::DeviceInfo&) {
                return LowerUnary(op, source, node);
              }};
}

ir::KernelDef UnaryTableKernel(const std::string& op) {
  return {.op = StrCat("tim.", op),
          .name = LowerCase(op) + "_table",
          .supports =
              [](const ir::KernelNode& node, const ir::DeviceInfo&) {
                TIM_RETURN_IF_ERROR(RefuseEpilogue(node));
                if (!IsByte(node.inputs[0])) {
                  return Unimplemented("the input has no 8-bit elements");
                }
                return CheckKernelOperands(node);
              },
          .layouts = UnaryLayouts,
          .cost =
              [](const ir::KernelNode& node, const ir::DeviceInfo& device) {
                return ElementwiseCost(node, device, 0.01);
              },
          .lower = LowerTable};
}

}  // namespace tim::ops
