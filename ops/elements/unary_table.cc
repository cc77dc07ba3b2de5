// Operators of one input on 8-bit elements: a table of eval's results, or
// limits where the table says no more.
#include <algorithm>
#include <array>
#include <optional>

#include "ir/typed_kernel.h"
#include "ops/elements/operands.h"
#include "ops/elements/unary.h"
#include "ops/launch/blocked.h"
#include "ops/launch/launch.h"
#include "ops/launch/pieces.h"

namespace tim::ops {
namespace {

bool IsByte(const ir::TensorDesc& desc) {
  return ir::Info(desc.type).bits == 8;
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

struct CodeLimits {
  int low = 0;
  int high = 0;
};

// The limits, where results are the codes of the input within some.
std::optional<CodeLimits> LimitsOf(const ir::KernelNode& node) {
  const ir::DataType type = node.inputs[0].type;
  const bool is_signed = type == ir::DataType::kInt8;
  if (type != node.outputs[0].type ||
      (!is_signed && type != ir::DataType::kUint8)) {
    return std::nullopt;
  }
  std::array<uint8_t, 256> table;
  if (!FillTable(*node.anchor, node.inputs[0], node.outputs[0],
                 std::as_writable_bytes(std::span(table)))
           .ok()) {
    return std::nullopt;
  }
  const auto number = [&](int byte) {
    return is_signed ? static_cast<int8_t>(byte) : byte;
  };
  CodeLimits limits = {.low = number(table[0]), .high = number(table[0])};
  for (const uint8_t byte : table) {
    limits.low = std::min(limits.low, number(byte));
    limits.high = std::max(limits.high, number(byte));
  }
  for (int code = 0; code < 256; ++code) {
    if (number(table[code]) !=
        std::clamp(number(code), limits.low, limits.high)) {
      return std::nullopt;
    }
  }
  return limits;
}

ir::PackedConstant TableOf(const ir::KernelNode& node) {
  const ir::TensorDesc& input = node.inputs[0];
  const ir::TensorDesc& output = node.outputs[0];
  return {
      .id = StrCat("unary_table ", node.anchor->schema->Key(), " ",
                   node.attributes().ToString(), " ", ir::ToString(input.type),
                   " ", input.quantization.ToString(), " ",
                   ir::ToString(output.type), " ",
                   output.quantization.ToString()),
      .sources = {},
      .bytes = int64_t{256} * ir::Info(output.type).bits / 8,
      .pack = [anchor = *node.anchor, input, output](std::span<std::byte> out) {
        return FillTable(anchor, input, output, out);
      }};
}

Result<ir::Lowering> LowerTable(const ir::KernelNode& node,
                                const ir::DeviceInfo& device) {
  const ir::TensorDesc& output = node.outputs[0];
  TIM_ASSIGN_OR_RETURN(const int64_t count, ir::PhysicalElements(output));
  const RowExtents extents = {.length = count};
  const Pieces pieces = PiecesOf(extents, device);
  const auto limits = LimitsOf(node);
  const std::string function = limits ? "unary_limits" : "unary_table";
  Launch launch("ops/elements/unary_table.cl", function);
  const bool is_signed = limits && output.type == ir::DataType::kInt8;
  launch.Option(StrCat("-DT=", is_signed ? "char" : BitsTypeName(output.type)));
  launch.Input("x", node, 0).Output("y", node, 0).InPlace(node, 0);
  if (limits) {
    launch.Int("low", limits->low).Int("high", limits->high);
    launch.Int("n", count);
  } else {
    launch.Packed("table", TableOf(node), ir::Info(output.type).bits / 8);
    launch.Int("rows", 1).Int("run", count).Int("y_stride", count);
    launch.Int("y_start", 0);
  }
  return launch.Int("piece", pieces.piece)
      .Items(CountItems(extents, pieces))
      .Build();
}

}  // namespace

ir::KernelDef UnaryTableKernel(const std::string& op) {
  return ir::PlainKernel{
      .op = StrCat("tim.", op),
      .name = LowerCase(op) + "_table",
      .analyze =
          [](const ir::KernelNode& node, const ir::DeviceInfo&) {
            if (!IsByte(node.inputs[0])) {
              return Unimplemented("the input has no 8-bit elements");
            }
            return CheckKernelOperands(node);
          },
      .layouts = UnaryLayouts,
      .cost = CostAt(prices::kUnaryTable),
      .lower = LowerTable};
}

}  // namespace tim::ops
