// Records of the kinds of operations: one per kind, made by the file of its
// family in src/graph_api/ops.
#ifndef TIM_GRAPH_API_OP_DEF_H_
#define TIM_GRAPH_API_OP_DEF_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "graph_api/op.h"

namespace tim::graph {

class Lowering;

/// "T1" and the types that it may stand for.  The first operand of a variable
/// fixes it for all later ones of the same op.
struct TypeVariable {
  std::string name;
  std::vector<tim_graph_data_type_t> types;
};

struct OperandDef {
  std::string name;  ///< "src_0"
  /// Name of a TypeVariable; where there is none of the name, any type.
  std::string type;
  bool optional = false;
};

enum class AttributeType { kFloat, kFloats, kInt, kInts, kBool, kString };
/// From the enumerator's range.
AttributeType TypeOf(tim_graph_op_attr_t attribute);
/// "transpose_a"
const char* NameOf(tim_graph_op_attr_t attribute);
/// Whether the enumerator names an attribute.
bool IsAttribute(tim_graph_op_attr_t attribute);
/// Attribute of the name; undef where there is none.
tim_graph_op_attr_t AttributeOf(std::string_view name);
/// "a list of floats"
const char* ToString(AttributeType type);
AttributeType TypeOf(const AttributeValue& value);

struct AttributeDef {
  tim_graph_op_attr_t attribute = tim_graph_op_attr_undef;
  /// Taken where the attribute is not given.  Nothing: it is required, or
  /// `optional`.
  std::optional<AttributeValue> default_value = std::nullopt;
  bool optional = false;  ///< May be absent, without a default.
  /// Legal texts of a string attribute; empty: any.
  std::vector<std::string> choices = {};
};

/// An attribute of a registered kind.
struct NamedAttributeDef {
  std::string name;
  AttributeType type = AttributeType::kFloat;
  /// Taken where the attribute is not given.  Nothing: it is required.
  std::optional<AttributeValue> default_value = std::nullopt;
  /// Legal texts of a string; empty: any.
  std::vector<std::string> choices = {};
};

struct OpDef {
  tim_graph_op_kind_t kind = tim_graph_op_wildcard;
  std::string name;  ///< "ReLU", or "demo.FancyNorm@1" of a registered kind.
  std::vector<TypeVariable> types = {};
  std::vector<OperandDef> inputs = {};
  std::vector<OperandDef> outputs = {};
  /// The last input, or output, may be repeated until there are so many; 0: it
  /// may not.
  size_t most_inputs = 0;
  size_t most_outputs = 0;
  /// Numbers of operands that are legal, where "required ones and some of the
  /// optional ones from the left" does not say it (1 or 3); else empty.
  std::vector<size_t> input_counts = {};
  std::vector<size_t> output_counts = {};
  std::vector<AttributeDef> attributes = {};
  std::vector<NamedAttributeDef> named_attributes = {};
  /// Rules that the members above cannot state, the last of those that CheckOp
  /// looks at; types and attributes are as above, dims may be unknown.
  /// kInvalidArgument; the message says rule, operand, what was found.
  std::function<Status(const Op&)> rule = nullptr;

  /// Counted by partition_options::max_anchors.
  bool anchor = false;
  /// Output 0 may be written over input 0 where types and bytes are equal.
  bool in_place = false;
  /// Elements are moved and none is computed: every type is taken as it is.
  /// Else float operands of narrow or mixed types arrive as float32 in `lower`,
  /// and its outputs are rounded to their types once.
  bool moves_elements = false;
  /// The lowering is one operator of the library that takes float16 as it is
  /// (computing in float32 and rounding once), where all operands are float16.
  bool takes_half = false;
  /// Null: every op of the kind that passed CheckOp and has a `lower` is
  /// supported.  Else a failure says why one is not; dims may be unknown.
  std::function<Status(const Op&)> supports = nullptr;
  /// The same where it depends on the devices of engines; asked behind
  /// `supports`.  Null: it does not.
  std::function<Status(const Op&, tim_graph_engine_kind_t)> supports_on =
      nullptr;
  /// Shapes and nodes of one op.  All dims of inputs are known and above 0.
  /// Failures: kInvalidArgument where dims contradict the op's shape rule
  /// (the client gets invalid_shape), kUnimplemented where these shapes are not
  /// taken.  Null: the kind is not supported (its stage has not come).
  std::function<Status(const Op&, Lowering&)> lower = nullptr;
  /// The same where an input has no elements and an output has some; null: such
  /// an op is kUnimplemented.
  std::function<Status(const Op&, Lowering&)> lower_empty = nullptr;
  /// Dims of the outputs where an input has no elements, from those of the
  /// inputs; null: input 0's.
  std::function<Result<std::vector<Dims>>(const Op&,
                                          const std::vector<Dims>& inputs)>
      empty_dims = nullptr;

  const AttributeDef* Find(tim_graph_op_attr_t attribute) const;
};

/// Records by kind; filled once, then read by any thread.
class OpTable {
 public:
  void Add(OpDef def);
  /// Null where the kind is unknown.
  const OpDef* Find(tim_graph_op_kind_t kind) const;
  /// "ReLU", or a name of older files ("BiasAddBackprop"); null if unknown.
  const OpDef* Find(std::string_view name) const;
  /// By kind, ascending.
  std::vector<const OpDef*> All() const;

 private:
  std::map<tim_graph_op_kind_t, OpDef> defs_;
  std::map<std::string, tim_graph_op_kind_t, std::less<>> names_;
};

/// The kinds of the library.
const OpTable& BuiltinOps();

/// The last lines of src/graph_api/ops/<stem>.cc:
///   TIM_GRAPH_OPS(stem) { table.Add({...}); }
/// Both builds collect these functions from the list of files.
#define TIM_GRAPH_OPS(stem) \
  void RegisterOps_##stem([[maybe_unused]] ::tim::graph::OpTable& table)

/// Fills defaults and sets `def`, of a registered kind, too, then checks in
/// this order: number of inputs, their types, number of outputs, their types,
/// required attributes, types of attributes, their values, attributes that the
/// kind does not define, the kind's rule.  kInvalidArgument names op, kind,
/// operand or attribute, the rule, what was found and what is legal; the client
/// gets invalid_graph_op.
Status CheckOp(const OpTable& table, Op* op);

// Lists of types that many records have.
using Types = std::vector<tim_graph_data_type_t>;
const Types& FloatTypes();  ///< f32, bf16, f16

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_OP_DEF_H_
