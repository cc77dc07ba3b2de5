#include "ops/elements/convert.h"

#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "ir/typed_kernel.h"
#include "kernels/bytes/codes.h"
#include "ops/elements/operands.h"
#include "ops/launch/device_class.h"
#include "ops/launch/packed.h"
#include "ops/launch/pieces.h"

namespace tim::ops {
namespace {

Status CheckOperand(const ir::TensorDesc& desc) {
  if (KernelTypeName(desc.type) == nullptr) {
    return Unimplemented("converting ", ir::ToString(desc.type),
                         " has no kernel");
  }
  if (desc.quantized() && desc.quantization.per_channel()) {
    return Unimplemented("converting per-channel quantization has no kernel");
  }
  return OkStatus();
}

// Whether the processor picks many bytes of a table at once, see
// kernels/bytes/table.clh.
bool PicksBytes(const ir::DeviceInfo& device) {
  constexpr int kLanes = 16;  // of AVX-512
  return CheckCpu(device).ok() && device.float_vector_width >= kLanes;
}

bool IsByte(ir::DataType type) { return ir::Info(type).bits == 8; }

// What each of the 256 codes becomes.
ir::PackedConstant CodeTable(ir::TensorDesc from, ir::TensorDesc to,
                             kernels::ConvertRule rule) {
  from.shape = to.shape = ir::Shape({256});
  from.layout = to.layout = ir::Layout::Dense();
  std::array<uint8_t, 256> codes;
  std::iota(codes.begin(), codes.end(), uint8_t{0});
  std::vector<int32_t> table(64);
  kernels::ElementConverter converter({&from, codes.data()},
                                      {&to, table.data()}, rule);
  for (int i = 0; i < 256; ++i) converter.Convert(i, i);
  return PackedTable("code_table", std::move(table));
}

}  // namespace

const char* RuleName(kernels::ConvertRule rule) {
  switch (rule) {
    case kernels::ConvertRule::kBits:
      return "BITS";
    case kernels::ConvertRule::kInteger:
      return "CODE";
    case kernels::ConvertRule::kRequantize:
      return "UNITS";
    default:
      return "REAL";
  }
}

Status CheckConvert(const ir::TensorDesc& from, const ir::TensorDesc& to,
                    kernels::ConvertRule rule) {
  TIM_RETURN_IF_ERROR(CheckElementCount(from));
  TIM_RETURN_IF_ERROR(CheckElementCount(to));
  if (rule != kernels::ConvertRule::kBits) {
    TIM_RETURN_IF_ERROR(CheckOperand(from));
    return CheckOperand(to);
  }
  if (ir::Info(from.type).bits >= 8) return OkStatus();
  return Unimplemented("4-bit elements have no kernel");
}

const char* BitsType(ir::DataType type) {
  switch (ir::Info(type).bits) {
    case 8:
      return "U8";
    case 16:
      return "U16";
    case 32:
      return "U32";
    default:
      return "I64";
  }
}

int64_t RealBits(const ir::TensorDesc& desc, float real) {
  ir::TensorDesc single = desc;
  single.shape = ir::Shape({1});
  int64_t bits = 0;
  kernels::ElementWriter({&single, &bits}).StoreReal(0, real);
  return bits;
}

void AddConvertOptions(const ir::TensorDesc& from, const ir::TensorDesc& to,
                       kernels::ConvertRule rule, Launch* launch) {
  launch->Option(StrCat("-DRULE=", RuleName(rule)));
  if (rule == kernels::ConvertRule::kBits) {
    launch->Option(StrCat("-DIN0=", BitsType(from.type)));
    launch->Option(StrCat("-DOUT=", BitsType(to.type)));
    return;
  }
  launch->Type("IN0", from).Type("OUT", to);
}

void AddConvertInput(const std::string& name, const ir::TensorDesc& from,
                     const ir::TensorDesc& to, kernels::ConvertRule rule,
                     Launch* launch) {
  if (rule != kernels::ConvertRule::kRequantize) {
    launch->InputQuantization(name, from);
    return;
  }
  const ir::Quantization none;
  const auto& q_in = from.quantized() ? from.quantization : none;
  const auto& q_out = to.quantized() ? to.quantization : none;
  launch
      ->Float(name + "_scale", kernels::Multiplier(q_in.Scale(), q_out.Scale()))
      .Int(name + "_zero", q_in.ZeroPoint());
}

void AddConvertArguments(const ir::TensorDesc& from, const ir::TensorDesc& to,
                         kernels::ConvertRule rule, Launch* launch) {
  AddConvertInput("x", from, to, rule, launch);
  launch->OutputQuantization("y", to);
}

namespace {

// Rows of 8-bit elements, each of which has its place in a table.
Launch LookUpRows(const ir::KernelNode& node, const ConvertRows& rows,
                  kernels::ConvertRule rule, int64_t piece) {
  const ir::TensorDesc& from = node.inputs[rows.input];
  const ir::TensorDesc& to = node.outputs[0];
  Launch launch("ops/elements/unary_table.cl", "unary_table");
  launch.Option("-DT=uchar")
      .Input("x", node, rows.input)
      .Output("y", node, 0)
      .Packed("table", CodeTable(from, to, rule), 1)
      .Int("rows", rows.rows)
      .Int("run", rows.run)
      .Int("y_stride", rows.y_stride)
      .Int("y_start", rows.y_start)
      .Int("piece", piece);
  return launch;
}

bool Truncates(const ConvertRows& rows, const ir::TensorDesc& from,
               const ir::TensorDesc& to) {
  return rows.rounding == Rounding::kToZero && ir::IsFloat(from.type) &&
         !ir::IsFloat(to.type) && to.type != ir::DataType::kBool8;
}

Launch ComputeRows(const ir::KernelNode& node, const ConvertRows& rows,
                   kernels::ConvertRule rule, int64_t piece) {
  const ir::TensorDesc& from = node.inputs[rows.input];
  const ir::TensorDesc& to = node.outputs[0];
  Launch launch("ops/elementwise/data_convert.cl", "data_convert");
  if (Truncates(rows, from, to)) {
    launch.Option("-DRULE=TRUNCATED").Type("IN0", from).Type("OUT", to);
  } else if (rule == kernels::ConvertRule::kRequantize &&
             kernels::AreBoundedCodes(from, to)) {
    launch.Option("-DRULE=BOUNDED").Type("IN0", from).Type("OUT", to);
  } else {
    AddConvertOptions(from, to, rule, &launch);
  }
  launch.Input("x", node, rows.input)
      .Output("y", node, 0)
      .Int("rows", rows.rows)
      .Int("run", rows.run)
      .Int("x_stride", rows.run)
      .Int("y_stride", rows.y_stride)
      .Int("y_start", rows.y_start)
      .Int("piece", piece);
  AddConvertArguments(from, to, rule, &launch);
  return launch;
}

}  // namespace

Status AppendConvertRows(const ir::KernelNode& node, const ConvertRows& rows,
                         const ir::DeviceInfo& device, ir::Lowering* lowering) {
  const ir::TensorDesc& from = node.inputs[rows.input];
  const ir::TensorDesc& to = node.outputs[0];
  const kernels::ConvertRule rule = kernels::ConvertRuleOf(from, to);
  const RowExtents extents = {.length = rows.run, .planes = rows.rows};
  const Pieces pieces = PiecesOf(extents, device);
  const bool look_up = rule != kernels::ConvertRule::kBits &&
                       IsByte(from.type) && IsByte(to.type) &&
                       PicksBytes(device);
  Launch launch = look_up ? LookUpRows(node, rows, rule, pieces.piece)
                          : ComputeRows(node, rows, rule, pieces.piece);
  if (rows.in_place) launch.InPlace(node, rows.input);
  return launch.Items(CountItems(extents, pieces)).AppendTo(lowering);
}

namespace {

Result<ir::Lowering> LowerConvert(const ir::KernelNode& node, Rounding rounding,
                                  const ir::DeviceInfo& device) {
  ir::Lowering lowering;
  TIM_ASSIGN_OR_RETURN(const int64_t count,
                       ir::PhysicalElements(node.outputs[0]));
  TIM_RETURN_IF_ERROR(AppendConvertRows(node,
                                        {.input = 0,
                                         .run = count,
                                         .rows = 1,
                                         .y_stride = count,
                                         .rounding = rounding,
                                         .in_place = true},
                                        device, &lowering));
  return lowering;
}

}  // namespace

ir::PlainKernel ConvertKernel(std::string op, std::string name,
                              Rounding rounding) {
  ir::PlainKernel kernel;
  kernel.op = std::move(op);
  kernel.name = std::move(name);
  kernel.analyze = [](const ir::KernelNode& node, const ir::DeviceInfo&) {
    const ir::TensorDesc& from = node.inputs[0];
    const ir::TensorDesc& to = node.outputs[0];
    return CheckConvert(from, to, kernels::ConvertRuleOf(from, to));
  };
  kernel.cost = CostAt(prices::kConvert);
  kernel.lower = [rounding](const ir::KernelNode& node,
                            const ir::DeviceInfo& device) {
    return LowerConvert(node, rounding, device);
  };
  return kernel;
}

}  // namespace tim::ops
