// Names in files of graphs, those of older versions among them.
#ifndef TIM_TOOLS_TIMCL_GRAPH_JSON_NAMES_H_
#define TIM_TOOLS_TIMCL_GRAPH_JSON_NAMES_H_

#include <optional>
#include <string>
#include <string_view>

#include "graph_api/op_def.h"
#include "tim/graph/c.h"

namespace tim::tool {

/// "ReLU", in capitals of any kind, or its name of older versions:
/// "BiasAddBackprop", "ConvolutionBackpropFilters", "HardTanh"; or that of a
/// registered kind: "demo.FancyNorm@1", "demo.FancyNorm".
std::optional<tim_graph_op_kind_t> KindNamed(std::string_view name);

/// "weights_format", or "filter_format".
std::optional<tim_graph_op_attr_t> AttributeNamed(std::string_view name);
/// Attributes that dumps add to say what became of an op.
bool IsNoteOfDump(std::string_view attribute);

/// "f32", "boolean"; also "bool" and, for undef, "unknown".
std::optional<tim_graph_data_type_t> DataTypeNamed(std::string_view name);
std::optional<tim_graph_layout_type_t> LayoutNamed(std::string_view name);
std::optional<tim_graph_tensor_property_t> PropertyNamed(std::string_view name);
std::optional<tim_graph_engine_kind_t> EngineKindNamed(std::string_view name);
std::optional<tim_graph_fpmath_mode_t> FpmathModeNamed(std::string_view name);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_GRAPH_JSON_NAMES_H_
