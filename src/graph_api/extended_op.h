// A kind of operation that an application registers, as data.
#ifndef TIM_GRAPH_API_EXTENDED_OP_H_
#define TIM_GRAPH_API_EXTENDED_OP_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "expr/program.h"
#include "graph_api/op.h"
#include "graph_api/op_def.h"
#include "tim/graph/c_extension.h"

namespace tim::graph {

/// Kinds from here on are registered ones.
inline constexpr int kFirstExtendedKind = 0x10000;

struct ExtendedParam {
  std::string name;
  Types types;  ///< Not empty, but of the parameters of a text.
  bool optional = false;
  int same = -1;  ///< Parameters of equal numbers have one type; -1: none has.
};

/// Parameters of one side.
struct ExtendedSide {
  std::vector<ExtendedParam> params;
  bool variadic = false;

  size_t Required() const;
  /// The description of operand `index`.
  const ExtendedParam& ParamOf(size_t index) const;
};

struct ExtendedKernel {
  std::string source;
  std::string function;
  std::string options;
  tim_graph_op_callback_t launch = nullptr;

  bool exists() const { return !source.empty(); }
};

/// Does not change once it is registered; any thread.
struct ExtendedOp {
  std::string domain;
  std::string name;
  int version = 1;
  tim_graph_op_kind_t kind = tim_graph_op_last_symbol;
  ExtendedSide inputs;
  ExtendedSide outputs;
  std::vector<NamedAttributeDef> attributes;
  std::shared_ptr<const expr::Program> program;  ///< Of an expression.
  tim_graph_op_callback_t infer_shapes = nullptr;
  tim_graph_op_callback_t decompose = nullptr;
  tim_graph_op_callback_t host = nullptr;
  ExtendedKernel kernel;
  void* user = nullptr;

  std::string Name() const { return StrCat(domain, ".", name); }
  /// "demo.FancyNorm@1"
  std::string Key() const { return StrCat(domain, ".", name, "@", version); }
};

/// The most operands of a side whose last parameter repeats.
inline constexpr size_t kMostVariadic = 64;

/// Types that parameters may have.
const Types& ExtendedTypes();

/// Types of the outputs where `outputs` says none: that of another operand of
/// the same type, or the only one that is legal.  kInvalidArgument where an
/// operand has a type that its parameter does not take, or nothing tells one.
Status CompleteTypes(const ExtendedOp& op, const Types& inputs, Types* outputs);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_EXTENDED_OP_H_
