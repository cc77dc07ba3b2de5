// One operation of a graph, as a client describes it.
#ifndef TIM_GRAPH_API_OP_H_
#define TIM_GRAPH_API_OP_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tim/graph/c.h"

namespace tim::graph {

struct OpDef;

using LogicalTensor = ::tim_graph_logical_tensor_t;
/// Extents in the order of this API: the last one's elements are contiguous.
using Dims = std::vector<int64_t>;
using Floats = std::vector<float>;

/// A number or list has the form that its attribute's range of enumerators
/// says: a scalar that was given to a list is a list of one.
using AttributeValue =
    std::variant<int64_t, float, bool, std::string, Dims, Floats>;

/// Plain data.  Once CheckOp() has taken it, `def` is set, every attribute with
/// a default is present, and the getters of attributes that the record names
/// cannot fail.
struct Op {
  size_t id = 0;
  tim_graph_op_kind_t kind = tim_graph_op_wildcard;
  std::string name;  ///< "<Kind>_<id>" where the client gave none.
  std::vector<LogicalTensor> inputs = {};
  std::vector<LogicalTensor> outputs = {};
  std::map<tim_graph_op_attr_t, AttributeValue> attributes = {};
  /// Those that a registered kind defines; of other kinds none, once CheckOp()
  /// has taken the op.
  std::map<std::string, AttributeValue> named = {};
  const OpDef* def = nullptr;

  bool Has(tim_graph_op_attr_t attribute) const {
    return attributes.count(attribute) != 0;
  }
  int64_t Int(tim_graph_op_attr_t attribute) const {
    return std::get<int64_t>(attributes.at(attribute));
  }
  float Float(tim_graph_op_attr_t attribute) const {
    return std::get<float>(attributes.at(attribute));
  }
  bool Bool(tim_graph_op_attr_t attribute) const {
    return std::get<bool>(attributes.at(attribute));
  }
  const std::string& String(tim_graph_op_attr_t attribute) const {
    return std::get<std::string>(attributes.at(attribute));
  }
  const Dims& Ints(tim_graph_op_attr_t attribute) const {
    return std::get<Dims>(attributes.at(attribute));
  }
  const Floats& FloatList(tim_graph_op_attr_t attribute) const {
    return std::get<Floats>(attributes.at(attribute));
  }
};

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_OP_H_
