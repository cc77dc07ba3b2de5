// DynamicQuantize and DynamicDequantize: scales and zero points are operands.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "graph_api/formula.h"
#include "graph_api/lowering.h"
#include "graph_api/op_def.h"

namespace tim::graph {
namespace {

constexpr char kPerTensor[] = "per_tensor";
constexpr char kPerChannel[] = "per_channel";
constexpr char kPerGroup[] = "per_group";

// Operands of both kinds.
enum Input : size_t { kSource, kScales, kZeroPoints };

// -1 where an extent or the rank is unknown.
int64_t KnownCount(const LogicalTensor& tensor) {
  if (tensor.ndims < 0) return -1;
  int64_t count = 1;
  for (int32_t i = 0; i < tensor.ndims; ++i) {
    const int64_t dim = tensor.dims[i];
    if (dim < 0) return -1;
    if (__builtin_mul_overflow(count, dim, &count)) return -1;
  }
  return count;
}

std::string TextOf(const LogicalTensor& tensor) {
  if (tensor.ndims < 0) return "of unknown rank";
  return StrCat(
      "{", StrJoin(Dims(tensor.dims, tensor.dims + tensor.ndims), ", "), "}");
}

bool HasZeroPoints(const Op& op) { return op.inputs.size() > kZeroPoints; }

Status CheckPerTensor(const Op& op) {
  for (size_t i = kScales; i < op.inputs.size(); ++i) {
    const int64_t count = KnownCount(op.inputs[i]);
    if (count == 1 || count < 0) continue;
    return InvalidArgument(i == kScales ? "scales" : "zps", " have ", count,
                           " elements, expected 1 where qtype is per_tensor");
  }
  return OkStatus();
}

Status CheckPerChannel(const Op& op) {
  if (!HasZeroPoints(op)) return OkStatus();
  const int64_t scales = KnownCount(op.inputs[kScales]);
  const int64_t zps = KnownCount(op.inputs[kZeroPoints]);
  if (scales < 0 || zps < 0 || zps == 1 || zps == scales) return OkStatus();
  return InvalidArgument("zps have ", zps, " elements, expected 1 or ", scales,
                         ", as many as scales");
}

Status CheckGroupShape(const Op& op, int32_t rank) {
  const size_t entries = op.Has(tim_graph_op_attr_group_shape)
                             ? op.Ints(tim_graph_op_attr_group_shape).size()
                             : 0;
  if (entries == 0) {
    return InvalidArgument(
        "attribute 'group_shape' is missing; qtype per_group needs an entry "
        "for each axis of src");
  }
  if (rank < 0 || entries == static_cast<size_t>(rank)) return OkStatus();
  return InvalidArgument("attribute 'group_shape' has ", entries,
                         " entries, expected ", rank,
                         ", one for each axis of src");
}

Status CheckPerGroup(const Op& op) {
  const LogicalTensor& src = op.inputs[kSource];
  const LogicalTensor& scales = op.inputs[kScales];
  TIM_RETURN_IF_ERROR(CheckGroupShape(op, src.ndims));
  if (src.ndims >= 0 && src.ndims < 2) {
    return InvalidArgument("src has the rank ", src.ndims,
                           ", expected 2 or more where qtype is per_group");
  }
  if (src.ndims >= 0 && scales.ndims >= 0 && src.ndims != scales.ndims) {
    return InvalidArgument("scales are ", TextOf(scales), ", src is ",
                           TextOf(src), "; expected the same rank");
  }
  if (!HasZeroPoints(op)) return OkStatus();
  const LogicalTensor& zps = op.inputs[kZeroPoints];
  if (zps.ndims < 0 || scales.ndims < 0) return OkStatus();
  bool equal = zps.ndims == scales.ndims;
  for (int32_t i = 0; equal && i < zps.ndims; ++i) {
    equal =
        zps.dims[i] == scales.dims[i] || zps.dims[i] < 0 || scales.dims[i] < 0;
  }
  if (equal) return OkStatus();
  return InvalidArgument("zps are ", TextOf(zps), ", scales are ",
                         TextOf(scales),
                         "; expected equal dims where qtype is per_group");
}

Status CheckOperands(const Op& op) {
  const std::string& qtype = op.String(tim_graph_op_attr_qtype);
  if (qtype == kPerTensor) return CheckPerTensor(op);
  return qtype == kPerChannel ? CheckPerChannel(op) : CheckPerGroup(op);
}

// One value, or those of the channels, as it stands to src in broadcasts.
Tensor Placed(Formula& f, const Op& op, const char* name, const Tensor& x,
              const Dims& src) {
  const int64_t count = CountOf(x.dims);
  const auto rank = static_cast<int64_t>(src.size());
  if (op.String(tim_graph_op_attr_qtype) == kPerTensor) {
    if (count == 1) return f.Reshape(x, Dims());
    f.Try(InvalidArgument(name, " have ", count,
                          " elements, expected 1 where qtype is per_tensor"));
    return {};
  }
  const int64_t axis =
      f.Try(PositiveAxis(op.Int(tim_graph_op_attr_axis), rank));
  if (!f.status().ok()) return {};
  if (count == 1) return f.Reshape(x, Dims());
  const int64_t extent = src[static_cast<size_t>(axis)];
  if (count == extent) return f.Reshape(x, AlongAxis(rank, axis, extent));
  f.Try(InvalidArgument(name, " have ", count, " elements, expected 1 or ",
                        extent, ", the extent of axis ", axis, " of src"));
  return {};
}

Status LowerQuantize(const Op& op, Lowering& lowering) {
  Formula f(lowering);
  const Tensor src = f.In(kSource);
  Tensor units = f.Div(src, Placed(f, op, "scales", f.In(kScales), src.dims));
  if (f.In(kZeroPoints)) {
    const Tensor zps = Placed(f, op, "zps", f.In(kZeroPoints), src.dims);
    units = f.Add(units, f.Cast(zps, ir::DataType::kFloat32));
  }
  return f.Store(0, f.Cast(units, lowering.output_type(0)));
}

// ---- Groups of elements that have a scale.

// Axes of src and of scales, which are then broadcast: an axis of groups is
// two, of the groups and of the elements in one.
struct Groups {
  Dims src;
  Dims scales;
};

Result<Groups> GroupsOf(const Op& op, const Dims& src, const Dims& scales) {
  const Dims& group = op.Ints(tim_graph_op_attr_group_shape);
  if (group.size() != src.size() || scales.size() != src.size()) {
    return InvalidArgument("group_shape has ", group.size(),
                           " entries, scales the rank ", scales.size(),
                           "; expected those of src, ", src.size());
  }
  Groups out;
  for (size_t i = 0; i < src.size(); ++i) {
    if (group[i] < 1 || src[i] % group[i] != 0 ||
        src[i] / group[i] != scales[i]) {
      return InvalidArgument("along axis ", i, " src has an extent of ", src[i],
                             ", group_shape ", group[i], " and scales ",
                             scales[i],
                             "; expected src = group_shape * scales");
    }
    const bool split = group[i] != 1 && scales[i] != 1;
    out.src.push_back(split ? scales[i] : src[i]);
    out.scales.push_back(scales[i]);
    if (!split) continue;
    out.src.push_back(group[i]);
    out.scales.push_back(1);
  }
  return out;
}

struct Operands {
  Tensor scales;
  Tensor zero_points;
  Dims src;  // As the others are broadcast to it.
};

Operands OperandsOf(Formula& f, const Op& op) {
  const Dims src = f.In(kSource).dims;
  const Tensor scales = f.In(kScales);
  const Tensor zps = f.In(kZeroPoints);
  Operands out = {.scales = {}, .zero_points = {}, .src = src};
  if (op.String(tim_graph_op_attr_qtype) != kPerGroup) {
    out.scales = Placed(f, op, "scales", scales, src);
    if (zps) out.zero_points = Placed(f, op, "zps", zps, src);
    return out;
  }
  const Result<Groups> groups = GroupsOf(op, src, scales.dims);
  f.Try(groups.status());
  if (!groups.ok()) return out;
  out.src = groups->src;
  out.scales = f.Reshape(scales, groups->scales);
  if (!zps) return out;
  if (zps.dims != scales.dims) {
    f.Try(InvalidArgument("zps and scales have different dims"));
    return out;
  }
  out.zero_points = f.Reshape(zps, groups->scales);
  return out;
}

Status LowerDequantize(const Op& op, Lowering& lowering) {
  Formula f(lowering);
  const Tensor src = f.In(kSource);
  const Operands operands = OperandsOf(f, op);
  Tensor real = f.Reshape(f.Cast(src, ir::DataType::kFloat32), operands.src);
  if (operands.zero_points) {
    real = f.Sub(real, f.Cast(operands.zero_points, ir::DataType::kFloat32));
  }
  return f.Store(0, f.Reshape(f.Multiply(real, operands.scales), src.dims));
}

std::vector<AttributeDef> Attributes(std::vector<std::string> qtypes) {
  return {{.attribute = tim_graph_op_attr_qtype,
           .default_value = std::string(kPerTensor),
           .choices = std::move(qtypes)},
          {.attribute = tim_graph_op_attr_axis, .default_value = int64_t{1}}};
}

OpDef DynamicDequantize() {
  OpDef def = {
      .kind = tim_graph_op_dynamic_dequantize,
      .name = "DynamicDequantize",
      .types = {{"T1",
                 {tim_graph_u8, tim_graph_s8, tim_graph_s4, tim_graph_u4}},
                {"T2", FloatTypes()},
                {"T3",
                 {tim_graph_u4, tim_graph_s4, tim_graph_u8, tim_graph_s8,
                  tim_graph_s32}}},
      .inputs = {{"src", "T1"}, {"scales", "T2"}, {"zps", "T3", true}},
      .outputs = {{"dst", "T2"}},
      .attributes = Attributes({kPerTensor, kPerChannel, kPerGroup}),
      .rule = CheckOperands,
      .lower = LowerDequantize};
  def.attributes.push_back(
      {.attribute = tim_graph_op_attr_group_shape, .optional = true});
  return def;
}

}  // namespace

TIM_GRAPH_OPS(dynamic_quantization) {
  table.Add({.kind = tim_graph_op_dynamic_quantize,
             .name = "DynamicQuantize",
             .types = {{"T1", {tim_graph_f32}},
                       {"T2", {tim_graph_u8, tim_graph_s8, tim_graph_s32}},
                       {"T3", {tim_graph_u8, tim_graph_s8}}},
             .inputs = {{"src", "T1"}, {"scales", "T1"}, {"zps", "T2", true}},
             .outputs = {{"dst", "T3"}},
             .attributes = Attributes({kPerTensor, kPerChannel}),
             .rule = CheckOperands,
             .lower = LowerQuantize});
  table.Add(DynamicDequantize());
}

}  // namespace tim::graph
