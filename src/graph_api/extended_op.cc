// Makes records and operators of the definitions of registered operations.
#include "graph_api/extended_op.h"

#include <algorithm>
#include <atomic>
#include <map>

#include "base/fork/keep_one.h"

namespace tim::graph {
namespace {

// The first operand of parameters that have one type.
struct Fixed {
  tim_graph_data_type_t type = tim_graph_data_type_undef;
  std::string name = {};
};
using FixedTypes = std::map<int, Fixed>;

std::string NamesOf(const Types& types) {
  std::vector<std::string> names;
  for (const tim_graph_data_type_t type : types) {
    names.emplace_back(tim_graph_dt2str(type));
  }
  return StrJoin(names, ", ");
}

Status CheckType(const ExtendedParam& param, tim_graph_data_type_t type,
                 FixedTypes* fixed) {
  if (std::find(param.types.begin(), param.types.end(), type) ==
      param.types.end()) {
    return InvalidArgument("'", param.name, "' is ", tim_graph_dt2str(type),
                           ", expected ", NamesOf(param.types));
  }
  if (param.same < 0) return OkStatus();
  const auto [first, added] =
      fixed->emplace(param.same, Fixed{type, param.name});
  if (added || first->second.type == type) return OkStatus();
  return InvalidArgument("'", param.name, "' is ", tim_graph_dt2str(type),
                         ", expected ", tim_graph_dt2str(first->second.type),
                         " as of '", first->second.name, "'");
}

}  // namespace

size_t ExtendedSide::Required() const {
  return static_cast<size_t>(std::count_if(
      params.begin(), params.end(),
      [](const ExtendedParam& param) { return !param.optional; }));
}

const ExtendedParam& ExtendedSide::ParamOf(size_t index) const {
  return params[std::min(index, params.size() - 1)];
}

const Types& ExtendedTypes() {
  static constinit std::atomic<const Types*> types = nullptr;
  return KeepOne(types, [] {
    return Types{tim_graph_f32, tim_graph_bf16,   tim_graph_f16,
                 tim_graph_s32, tim_graph_s64,    tim_graph_s8,
                 tim_graph_u8,  tim_graph_boolean};
  });
}

Status CompleteTypes(const ExtendedOp& op, const Types& inputs,
                     Types* outputs) {
  FixedTypes fixed;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == tim_graph_data_type_undef) continue;  // absent
    TIM_RETURN_IF_ERROR(CheckType(op.inputs.ParamOf(i), inputs[i], &fixed));
  }
  for (size_t i = 0; i < outputs->size(); ++i) {
    const ExtendedParam& param = op.outputs.ParamOf(i);
    tim_graph_data_type_t& type = (*outputs)[i];
    if (type == tim_graph_data_type_undef) {
      const auto known = fixed.find(param.same);
      if (param.same >= 0 && known != fixed.end()) {
        type = known->second.type;
      } else if (param.types.size() == 1) {
        type = param.types[0];
      } else {
        return InvalidArgument("the type of output ", i, " ('", param.name,
                               "') is not declared, and does not follow");
      }
    }
    TIM_RETURN_IF_ERROR(CheckType(param, type, &fixed));
  }
  return OkStatus();
}

}  // namespace tim::graph
