// Names and types of the attributes of operations.
#include <algorithm>
#include <iterator>

#include "graph_api/op_def.h"

namespace tim::graph {
namespace {

struct Row {
  tim_graph_op_attr_t attribute;
  const char* name;
};

constexpr Row kRows[] = {
    {tim_graph_op_attr_alpha, "alpha"},
    {tim_graph_op_attr_beta, "beta"},
    {tim_graph_op_attr_epsilon, "epsilon"},
    {tim_graph_op_attr_max, "max"},
    {tim_graph_op_attr_min, "min"},
    {tim_graph_op_attr_momentum, "momentum"},
    {tim_graph_op_attr_scales, "scales"},
    {tim_graph_op_attr_axis, "axis"},
    {tim_graph_op_attr_begin_norm_axis, "begin_norm_axis"},
    {tim_graph_op_attr_groups, "groups"},
    {tim_graph_op_attr_axes, "axes"},
    {tim_graph_op_attr_dilations, "dilations"},
    {tim_graph_op_attr_dst_shape, "dst_shape"},
    {tim_graph_op_attr_kernel, "kernel"},
    {tim_graph_op_attr_order, "order"},
    {tim_graph_op_attr_output_padding, "output_padding"},
    {tim_graph_op_attr_pads_begin, "pads_begin"},
    {tim_graph_op_attr_pads_end, "pads_end"},
    {tim_graph_op_attr_shape, "shape"},
    {tim_graph_op_attr_sizes, "sizes"},
    {tim_graph_op_attr_src_shape, "src_shape"},
    {tim_graph_op_attr_strides, "strides"},
    {tim_graph_op_attr_weights_shape, "weights_shape"},
    {tim_graph_op_attr_zps, "zps"},
    {tim_graph_op_attr_group_shape, "group_shape"},
    {tim_graph_op_attr_exclude_pad, "exclude_pad"},
    {tim_graph_op_attr_keep_dims, "keep_dims"},
    {tim_graph_op_attr_keep_stats, "keep_stats"},
    {tim_graph_op_attr_per_channel_broadcast, "per_channel_broadcast"},
    {tim_graph_op_attr_special_zero, "special_zero"},
    {tim_graph_op_attr_transpose_a, "transpose_a"},
    {tim_graph_op_attr_transpose_b, "transpose_b"},
    {tim_graph_op_attr_use_affine, "use_affine"},
    {tim_graph_op_attr_use_dst, "use_dst"},
    {tim_graph_op_attr_auto_broadcast, "auto_broadcast"},
    {tim_graph_op_attr_auto_pad, "auto_pad"},
    {tim_graph_op_attr_coordinate_transformation_mode,
     "coordinate_transformation_mode"},
    {tim_graph_op_attr_data_format, "data_format"},
    {tim_graph_op_attr_mode, "mode"},
    {tim_graph_op_attr_qtype, "qtype"},
    {tim_graph_op_attr_rounding_type, "rounding_type"},
    {tim_graph_op_attr_weights_format, "weights_format"},
    {tim_graph_op_attr_accumulation_mode, "accumulation_mode"},
};

}  // namespace

const char* NameOf(tim_graph_op_attr_t attribute) {
  const auto* row =
      std::find_if(std::begin(kRows), std::end(kRows),
                   [=](const Row& row) { return row.attribute == attribute; });
  return row == std::end(kRows) ? "unknown attribute" : row->name;
}

bool IsAttribute(tim_graph_op_attr_t attribute) {
  return std::any_of(std::begin(kRows), std::end(kRows), [=](const Row& row) {
    return row.attribute == attribute;
  });
}

tim_graph_op_attr_t AttributeOf(std::string_view name) {
  const auto* row =
      std::find_if(std::begin(kRows), std::end(kRows),
                   [=](const Row& row) { return row.name == name; });
  return row == std::end(kRows) ? tim_graph_op_attr_undef : row->attribute;
}

AttributeType TypeOf(tim_graph_op_attr_t attribute) {
  struct Range {
    int first;
    AttributeType type;
  };
  // Ascending; a range ends where the next one begins.
  constexpr Range kRanges[] = {
      {0x00, AttributeType::kFloat}, {0x20, AttributeType::kFloats},
      {0x30, AttributeType::kInt},   {0x40, AttributeType::kInts},
      {0x60, AttributeType::kBool},  {0x80, AttributeType::kString}};
  AttributeType type = AttributeType::kFloat;
  for (const Range& range : kRanges) {
    if (static_cast<int>(attribute) >= range.first) type = range.type;
  }
  return type;
}

const char* ToString(AttributeType type) {
  constexpr const char* kNames[] = {"a float",    "a list of floats",
                                    "an integer", "a list of integers",
                                    "a bool",     "a string"};
  return kNames[static_cast<int>(type)];
}

AttributeType TypeOf(const AttributeValue& value) {
  // In the order of AttributeValue's alternatives.
  constexpr AttributeType kTypes[] = {
      AttributeType::kInt,    AttributeType::kFloat, AttributeType::kBool,
      AttributeType::kString, AttributeType::kInts,  AttributeType::kFloats};
  return kTypes[value.index()];
}

}  // namespace tim::graph
