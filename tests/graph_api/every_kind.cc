// Fills operands and attributes of ops by tables; a kind without a row has what
// fits most.
#include "tests/graph_api/every_kind.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "graph_api/op_def.h"
#include "tests/graph_api/partition_support.h"

namespace tim::graph::testing {
namespace {

/// Dims of an operand of that name; `kind` empty: of every other kind.
struct DimsRow {
  std::string_view kind;
  std::string_view operand;
  Dims dims;
};

// Pictures are NXC, of one batch, 6 by 6 and 4 channels.
const std::vector<DimsRow>& DimsRows() {
  static const std::vector<DimsRow> rows = {
      {"Convolution", "weights", {3, 3, 4, 8}},
      {"Convolution", "bias", {8}},
      {"ConvolutionBackwardData", "diff_dst", {1, 4, 4, 8}},
      {"ConvolutionBackwardData", "weights", {3, 3, 4, 8}},
      {"ConvolutionBackwardWeights", "diff_dst", {1, 4, 4, 8}},
      {"ConvTranspose", "weights", {3, 3, 8, 4}},
      {"ConvTranspose", "bias", {8}},
      {"ConvTransposeBackwardData", "diff_dst", {1, 8, 8, 8}},
      {"ConvTransposeBackwardData", "weights", {3, 3, 8, 4}},
      {"ConvTransposeBackwardWeights", "diff_dst", {1, 8, 8, 8}},
      {"AvgPoolBackward", "diff_dst", {1, 4, 4, 4}},
      {"MaxPoolBackward", "diff_dst", {1, 4, 4, 4}},
      {"MatMul", "weights", {4, 5}},
      {"MatMul", "bias", {5}},
      {"InterpolateBackward", "diff_dst", {1, 12, 12, 4}},
      {"LayerNormBackward", "mean", {1, 6, 6}},
      {"LayerNormBackward", "variance", {1, 6, 6}},
      {"", "scales", {1}},
      {"", "zps", {1}},
      {"", "bias", {4}},
      {"", "slope", {4}},
      {"", "gamma", {4}},
      {"", "beta", {4}},
      {"", "mean", {4}},
      {"", "variance", {4}},
      {"", "", {1, 6, 6, 4}},
  };
  return rows;
}

const Dims& DimsOf(std::string_view kind, std::string_view operand) {
  for (const DimsRow& row : DimsRows()) {
    if (!row.kind.empty() && row.kind != kind) continue;
    if (!row.operand.empty() && row.operand != operand) continue;
    return row.dims;
  }
  return DimsRows().back().dims;
}

struct AttributeRow {
  std::string_view kind;  ///< Empty: of every kind that requires it.
  tim_graph_op_attr_t attribute;
  AttributeValue value;
};

const std::vector<AttributeRow>& AttributeRows() {
  static const std::vector<AttributeRow> rows = {
      {"ConvolutionBackwardData", tim_graph_op_attr_dst_shape,
       Dims{1, 6, 6, 4}},
      {"ConvolutionBackwardWeights", tim_graph_op_attr_weights_shape,
       Dims{3, 3, 4, 8}},
      {"ConvTransposeBackwardWeights", tim_graph_op_attr_weights_shape,
       Dims{3, 3, 8, 4}},
      {"AvgPoolBackward", tim_graph_op_attr_src_shape, Dims{1, 6, 6, 4}},
      {"Interpolate", tim_graph_op_attr_sizes, Dims{12, 12}},
      {"Interpolate", tim_graph_op_attr_mode, std::string("bilinear")},
      {"InterpolateBackward", tim_graph_op_attr_sizes, Dims{12, 12}},
      {"InterpolateBackward", tim_graph_op_attr_mode, std::string("bilinear")},
      {"BatchNormForwardTraining", tim_graph_op_attr_momentum, 0.1f},
      {"Pow", tim_graph_op_attr_beta, 1.5f},
      {"", tim_graph_op_attr_alpha, 0.5f},
      {"", tim_graph_op_attr_beta, 0.5f},
      {"", tim_graph_op_attr_epsilon, 1e-3f},
      {"", tim_graph_op_attr_min, -0.5f},
      {"", tim_graph_op_attr_max, 0.5f},
      {"", tim_graph_op_attr_scales, Floats{0.1f}},
      {"", tim_graph_op_attr_axis, int64_t{1}},
      {"", tim_graph_op_attr_groups, int64_t{2}},
      {"", tim_graph_op_attr_dilations, Dims{1, 1}},
      {"", tim_graph_op_attr_kernel, Dims{3, 3}},
      {"", tim_graph_op_attr_strides, Dims{1, 1}},
      {"", tim_graph_op_attr_pads_begin, Dims{0, 0}},
      {"", tim_graph_op_attr_pads_end, Dims{0, 0}},
      {"", tim_graph_op_attr_order, Dims{0, 3, 1, 2}},
      {"", tim_graph_op_attr_shape, Dims{-1, 4}},
      {"", tim_graph_op_attr_special_zero, false},
      {"", tim_graph_op_attr_exclude_pad, true},
  };
  return rows;
}

bool IsReduction(const OpDef& def) { return def.name.rfind("Reduce", 0) == 0; }

void SetAttributes(Op* op, const OpDef& def) {
  for (const AttributeDef& attribute : def.attributes) {
    const bool required = !attribute.optional && !attribute.default_value;
    for (const AttributeRow& row : AttributeRows()) {
      if (row.attribute != attribute.attribute) continue;
      if (row.kind.empty() ? !required : row.kind != def.name) continue;
      op->attributes.emplace(row.attribute, row.value);
    }
  }
  if (IsReduction(def)) op->attributes[tim_graph_op_attr_axes] = Dims{1};
}

tim_graph_data_type_t TypeOf(const OpDef& def, const OperandDef& operand) {
  for (const TypeVariable& variable : def.types) {
    if (variable.name == operand.type) return variable.types[0];
  }
  return tim_graph_f32;
}

// Values that a kind takes as scalars of the host.
bool IsScalar(std::string_view operand) {
  return operand == "seed" || operand == "offset" || operand == "probability";
}

bool IsShape(const OperandDef& operand, tim_graph_data_type_t type) {
  return operand.optional && type == tim_graph_s32 && operand.name != "zps";
}

std::vector<LogicalTensor> Inputs(const OpDef& def, size_t first_id) {
  std::vector<LogicalTensor> tensors;
  for (const OperandDef& operand : def.inputs) {
    const auto type = TypeOf(def, operand);
    if (IsShape(operand, type)) continue;
    const size_t id = first_id + tensors.size();
    tensors.push_back(
        IsScalar(operand.name)
            ? WithProperty(Described(id, {}, type),
                           tim_graph_tensor_property_host_scalar)
            : Described(id, DimsOf(def.name, operand.name), type));
  }
  // The last one may be repeated.
  if (def.most_inputs > def.inputs.size()) {
    tensors.push_back(tensors.back());
    ++tensors.back().id;
  }
  return tensors;
}

std::vector<LogicalTensor> Outputs(const OpDef& def, size_t first_id) {
  std::vector<LogicalTensor> tensors;
  for (const OperandDef& operand : def.outputs) {
    auto type = TypeOf(def, operand);
    if (def.kind == tim_graph_op_type_cast) type = tim_graph_bf16;
    tensors.push_back(OfUnknownRank(first_id + tensors.size(), type,
                                    tim_graph_layout_type_any));
  }
  return tensors;
}

}  // namespace

std::vector<Op> OpsOfEveryKind() {
  constexpr size_t kIdsOfOp = 16;
  std::vector<Op> ops;
  for (const OpDef* def : BuiltinOps().All()) {
    const size_t number = ops.size();
    Op op = {.id = number, .kind = def->kind, .name = ""};
    op.inputs = Inputs(*def, number * kIdsOfOp);
    op.outputs = Outputs(*def, number * kIdsOfOp + kIdsOfOp / 2);
    SetAttributes(&op, *def);
    const Status status = CheckOp(BuiltinOps(), &op);
    EXPECT_TRUE(status.ok()) << status.ToString();
    ops.push_back(std::move(op));
  }
  return ops;
}

}  // namespace tim::graph::testing
