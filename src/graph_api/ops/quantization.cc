// Quantize and Dequantize: codes of scales and zero points that the attributes
// tell.  Real value: (code - zero point) * scale.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "graph_api/formula.h"
#include "graph_api/lowering.h"
#include "graph_api/op_def.h"
#include "graph_api/ops/float8.h"

namespace tim::graph {
namespace {

constexpr char kPerChannel[] = "per_channel";

struct Scales {
  Floats scales;
  std::vector<int64_t> zero_points;  // As many.
};

Scales ScalesOf(const Op& op) {
  Scales out = {.scales = op.FloatList(tim_graph_op_attr_scales),
                .zero_points = {}};
  if (op.Has(tim_graph_op_attr_zps)) {
    out.zero_points = op.Ints(tim_graph_op_attr_zps);
  }
  out.zero_points.resize(out.scales.size(), 0);
  return out;
}

// `codes`: the type of the operand that has them.
Status CheckScales(const Op& op, tim_graph_data_type_t codes) {
  const size_t scales = op.FloatList(tim_graph_op_attr_scales).size();
  const std::string& qtype = op.String(tim_graph_op_attr_qtype);
  if (scales == 0) {
    return InvalidArgument(
        "attribute 'scales' is empty, expected ",
        qtype == kPerChannel ? "one for each channel" : "one scale");
  }
  if (qtype != kPerChannel && scales != 1) {
    return InvalidArgument("attribute 'scales' has ", scales,
                           " values, expected 1 where qtype is ", qtype);
  }
  const size_t zps =
      op.Has(tim_graph_op_attr_zps) ? op.Ints(tim_graph_op_attr_zps).size() : 0;
  if (zps != 0 && IsFloat8(codes)) {
    return InvalidArgument("attribute 'zps' has ", zps,
                           " values, expected none of a type of 8-bit floats");
  }
  if (zps == 0 || zps == scales) return OkStatus();
  return InvalidArgument("attribute 'zps' has ", zps, " values, expected ",
                         scales, ", as many as 'scales', or none");
}

// -1: one scale for all.
Result<int64_t> ChannelAxisOf(const Op& op, const Dims& dims) {
  const Floats& scales = op.FloatList(tim_graph_op_attr_scales);
  if (op.String(tim_graph_op_attr_qtype) != kPerChannel) return -1;
  TIM_ASSIGN_OR_RETURN(const int64_t axis,
                       PositiveAxis(op.Int(tim_graph_op_attr_axis),
                                    static_cast<int64_t>(dims.size())));
  if (scales.size() == 1) return -1;
  const int64_t extent = dims[static_cast<size_t>(axis)];
  if (extent == static_cast<int64_t>(scales.size())) return axis;
  return InvalidArgument("attribute 'scales' has ", scales.size(),
                         " values, input 0 an extent of ", extent,
                         " along axis ", axis);
}

// What a desc of the inner graph can say.
bool FitsDesc(const Scales& scales) {
  constexpr int64_t kLimit = int64_t{1} << 30;
  return std::all_of(
             scales.scales.begin(), scales.scales.end(),
             [](float scale) { return std::isfinite(scale) && scale > 0; }) &&
         std::all_of(
             scales.zero_points.begin(), scales.zero_points.end(),
             [](int64_t zero) { return zero >= -kLimit && zero <= kLimit; });
}

ir::Quantization QuantizationOf(const Scales& scales, int64_t axis) {
  ir::Quantization out;
  out.kind = axis < 0 ? ir::QuantizationKind::kPerTensor
                      : ir::QuantizationKind::kPerChannel;
  out.axis = static_cast<int>(axis);
  out.scales = scales.scales;
  for (const int64_t zero : scales.zero_points) {
    out.zero_points.push_back(static_cast<int32_t>(zero));
  }
  return out;
}

// Constants that stand along `axis` of a tensor of `rank`.
Tensor Along(Formula& f, const Floats& values, int64_t axis, int64_t rank) {
  const Dims dims =
      axis < 0 ? Dims()
               : AlongAxis(rank, axis, static_cast<int64_t>(values.size()));
  return f.Try(f.lowering().Constant(values, dims));
}

Floats AsFloats(const std::vector<int64_t>& values) {
  Floats out;
  for (const int64_t value : values) {
    out.push_back(static_cast<float>(value));
  }
  return out;
}

Status LowerQuantize(const Op& op, Lowering& lowering) {
  const Tensor src = lowering.input(0);
  const ir::DataType type = lowering.output_type(0);
  const Scales scales = ScalesOf(op);
  TIM_ASSIGN_OR_RETURN(const int64_t axis, ChannelAxisOf(op, src.dims));
  Formula f(lowering);
  if (const auto codes = op.outputs[0].data_type; IsFloat8(codes)) {
    const Tensor units = f.Div(src, Along(f, scales.scales, axis, src.rank()));
    return f.Store(0, EncodeFloat8(f, units, codes));
  }
  if (!FitsDesc(scales)) {
    const Tensor units = f.Div(src, Along(f, scales.scales, axis, src.rank()));
    const Tensor zeros =
        Along(f, AsFloats(scales.zero_points), axis, src.rank());
    return f.Store(0, f.Cast(f.Add(units, zeros), type));
  }
  const Tensor codes = f.Try(lowering.Add(
      "DataConvert", {src}, {{"foldable", true}},
      {.type = type, .quantization = QuantizationOf(scales, axis)}));
  if (!f.status().ok()) return f.status();
  // The codes as plain integers, which take no step.
  return f.Store(0, f.Try(lowering.Add("Cast", {codes}, {}, {.type = type})));
}

Status LowerDequantize(const Op& op, Lowering& lowering) {
  const Tensor src = lowering.input(0);
  const Scales scales = ScalesOf(op);
  TIM_ASSIGN_OR_RETURN(const int64_t axis, ChannelAxisOf(op, src.dims));
  Formula f(lowering);
  if (const auto codes = op.inputs[0].data_type; IsFloat8(codes)) {
    return f.Store(0, f.Multiply(DecodeFloat8(f, src, codes),
                                 Along(f, scales.scales, axis, src.rank())));
  }
  if (!FitsDesc(scales)) {
    const Tensor zeros =
        Along(f, AsFloats(scales.zero_points), axis, src.rank());
    const Tensor centered = f.Sub(f.Cast(src, ir::DataType::kFloat32), zeros);
    return f.Store(
        0, f.Multiply(centered, Along(f, scales.scales, axis, src.rank())));
  }
  const Tensor codes = f.Try(lowering.Add(
      "Cast", {src}, {},
      {.type = src.type, .quantization = QuantizationOf(scales, axis)}));
  if (!f.status().ok()) return f.status();
  return f.Store(
      0, f.Try(lowering.Add("DataConvert", {codes}, {{"foldable", true}},
                            {.type = ir::DataType::kFloat32})));
}

std::vector<AttributeDef> ScaleDefs() {
  return {{.attribute = tim_graph_op_attr_qtype,
           .default_value = std::string("per_tensor"),
           .choices = {"per_tensor", kPerChannel}},
          {.attribute = tim_graph_op_attr_axis, .default_value = int64_t{1}},
          {.attribute = tim_graph_op_attr_scales},
          {.attribute = tim_graph_op_attr_zps, .optional = true}};
}

Types CodeTypes() {
  return {tim_graph_u8, tim_graph_s8, tim_graph_f8_e5m2, tim_graph_f8_e4m3};
}

}  // namespace

TIM_GRAPH_OPS(quantization) {
  table.Add({.kind = tim_graph_op_quantize,
             .name = "Quantize",
             .types = {{"T1", {tim_graph_f32}}, {"T2", CodeTypes()}},
             .inputs = {{"src", "T1"}},
             .outputs = {{"dst", "T2"}},
             .attributes = ScaleDefs(),
             .rule =
                 [](const Op& op) {
                   return CheckScales(op, op.outputs[0].data_type);
                 },
             .lower = LowerQuantize});
  table.Add(
      {.kind = tim_graph_op_dequantize,
       .name = "Dequantize",
       .types = {{"T1", CodeTypes()}, {"T2", {tim_graph_f32}}},
       .inputs = {{"src", "T1"}},
       .outputs = {{"dst", "T2"}},
       .attributes = ScaleDefs(),
       .rule =
           [](const Op& op) { return CheckScales(op, op.inputs[0].data_type); },
       .lower = LowerDequantize});
}

}  // namespace tim::graph
