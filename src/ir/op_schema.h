// What an operator is: one record per operator, known to every layer.
#ifndef TIM_IR_OP_SCHEMA_H_
#define TIM_IR_OP_SCHEMA_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/attribute.h"
#include "ir/control.h"
#include "ir/element_map/element_map.h"
#include "ir/graph.h"
#include "ir/permuted_node.h"
#include "ir/pointwise.h"
#include "ir/tensor_desc.h"

namespace tim::ir {

class OpRegistry;

/// How many operands: `required` must be bound, up to `limit` may be.
struct Arity {
  int required = 0;
  int limit = 0;
};

struct AttributeSpec {
  std::string name;
  AttributeType type = AttributeType::kInt;
  /// Taken where the attribute is not given; without one it is required.
  std::optional<Attribute> default_value = std::nullopt;
  /// Integer enums: the legal values, by name ("max" = 0).  Empty: any.
  std::vector<std::pair<std::string, int64_t>> values = {};
};

/// The four attributes that every operator has (SetRoundingPolicy).
inline constexpr char kOverflowPolicy[] =
    "overflow_policy";  ///< 0 wrap, 1 saturate
inline constexpr char kRoundingPolicy[] =
    "rounding_policy";  ///< 0 to zero, 1 to nearest even
inline constexpr char kRoundType[] =
    "round_type";  ///< 0 ceiling, 1 floor (pooled extents)
inline constexpr char kAccumulatorBits[] = "accumulator_bits";
std::span<const AttributeSpec> ReservedAttributes();

/// A read-only operand: bytes in the layout of `desc`.  Null data = absent.
struct ConstTensor {
  const TensorDesc* desc = nullptr;
  const void* data = nullptr;
  explicit operator bool() const { return desc != nullptr; }
};
struct MutableTensor {
  const TensorDesc* desc = nullptr;
  void* data = nullptr;
  explicit operator bool() const { return desc != nullptr; }
};

/// What shape inference sees: of ranks and extents that may be unknown.
struct InferContext {
  struct Input {
    const TensorDesc* desc = nullptr;        ///< Null where absent.
    const ConstantData* constant = nullptr;  ///< Bytes, dense, where known.
    bool is_scalar = false;
    bool is_constant = false;  ///< The same in every run.
  };
  struct Output {
    /// In: the declared type and quantization (type may be unknown), shape of
    /// unknown rank.  Out: the inferred shape, and the type where it was
    /// unknown.
    TensorDesc desc;
    /// The shape that the user declared for an OUTPUT tensor, null where the
    /// operator decides.  An operator for which the declaration rules copies
    /// it; for the rest the compiler checks the element count.
    const Shape* declared = nullptr;
    bool is_scalar = false;
  };

  const Node& node;
  std::vector<Input> inputs;
  std::vector<Output> outputs;

  const AttributeMap& attributes() const { return node.attributes; }
  bool has_input(int i) const {
    return i < static_cast<int>(inputs.size()) && inputs[i].desc != nullptr;
  }
  const Shape& shape(int i) const { return inputs[i].desc->shape; }
};

/// What `eval` sees.  The memory is the caller's, and no output lies on another
/// operand.
struct EvalContext {
  const Node& node;
  std::span<const ConstTensor> inputs;  ///< As many as the node has.
  std::span<const MutableTensor> outputs;

  const AttributeMap& attributes() const { return node.attributes; }
  bool has_input(int i) const {
    return i < static_cast<int>(inputs.size()) && inputs[i].data != nullptr;
  }
};

/// A node with the descriptions of its operands, for estimates and rules.
struct NodeView {
  const Node& node;
  std::span<const TensorDesc* const> inputs;  ///< Null where absent.
  std::span<const TensorDesc* const> outputs;
};

struct ComputeEstimate {
  double flops = 0;  ///< Multiply-add = 2.
  double bytes_read = 0;
  double bytes_written = 0;
};

/// Elements of one real value around a tensor, counted along every axis.
struct Padding {
  std::vector<int64_t> front;
  std::vector<int64_t> back;
  double value = 0;
};

/// y = x * scale + offset, those of the index along `axis` of x.
struct ChannelAffine {
  int input = 0;  ///< Which one x is.
  int axis = -1;  ///< -1: one scale and one offset for all elements.
  std::vector<float> scales = {};   ///< One for each index.
  std::vector<float> offsets = {};  ///< As many.
};

/// Where the sums of products of an operator stand that has weights as input 1
/// and, where its arity allows one, a bias as input 2, of rank 1.
struct SumChannels {
  int axis = 0;          ///< Of output 0.
  int weights_axis = 0;  ///< Each index of it has the weights of one channel.
};

/// Operands that lie, as they are, in the memory of another one: the first byte
/// of each, -1 where it does not.  Empty: none does.
struct InPlaceOffsets {
  /// Inputs in output 0, one after the other, so that their producers may write
  /// them there.
  std::vector<int64_t> inputs = {};
  /// Outputs in input 0, so that their readers may read them there.
  std::vector<int64_t> outputs = {};
};

struct Effects {
  bool random = false;  ///< Two evaluations may differ: never folded.
  /// Evaluations are seen from outside in their order: never folded, merged,
  /// dropped or exchanged with one another.
  bool ordered = false;
};

/// A node whose gradient is asked for, with what its rule may build on.
struct VjpContext {
  /// The graph that the rule adds nodes to; it holds `node` and its operands.
  Graph* graph = nullptr;
  const Node* node = nullptr;  ///< Valid until the rule adds a node.
  const OpRegistry* registry = nullptr;
  /// Cotangents of the outputs, kNone where nothing depends on one.
  std::vector<ValueId> cotangents = {};
  /// Of each input whether its cotangent is asked for.
  std::vector<bool> wanted = {};
};

/// What an operator is.  The functions hold for all graphs: they are pure (the
/// answer depends on the arguments alone) and may be called again, by any
/// thread, several at a time.  They keep no reference to an argument, and what
/// they return is the caller's.  (Of a schema that only one Compile has, as
/// those of users' custom operations, `infer_shapes` may keep what it finds.)
///
/// Before all but the arities are called: the node's attributes are complete
/// and have the specs' types and values, its operands are as many as the arity
/// allows, with the required ones, and well-formed by themselves (rank,
/// extents, quantization, bytes of constants).  `infer_shapes`, `decompose` and
/// `check` follow in this order; where `check` fails nothing else is called.
/// Types are known from `check` on, and all extents after it, unless a member
/// says otherwise.
struct OpSchema {
  std::string domain = "tim";
  std::string name;
  int version = 1;
  Arity inputs;
  /// How many operands, at most, other forms of the operator (TFLite, ONNX,
  /// NNAPI) have behind `inputs` for what are attributes here.  Compile drops
  /// constants that are bound there before it asks the functions below.
  int surplus_inputs = 0;
  Arity outputs{1, 1};
  /// Where the number of operands depends on attributes (Concat, Split), which
  /// are complete.
  std::function<Arity(const AttributeMap&)> input_arity = nullptr;
  std::function<Arity(const AttributeMap&)> output_arity = nullptr;
  std::vector<AttributeSpec> attributes = {};  ///< Without the reserved ones.
  /// Every rule about types and attribute values that the specs above cannot
  /// state.  Extents may be unknown.  A failure names operand and rule.
  std::function<Status(const NodeView&)> check = nullptr;
  /// What of a node is legal and hardly meant: for each mistake that it looks
  /// like, a sentence that names the operands or attributes, both values and
  /// the remedy.  Asked behind `check`, once per node; extents may be unknown.
  /// Null: nothing is.
  std::function<std::vector<std::string>(const NodeView&)> doubts = nullptr;
  Effects effects = {};
  /// Its attributes have graphs, which are compiled for the devices of the
  /// graph that it is in, and inferred before `infer_shapes` is called.
  std::optional<ControlKind> control = std::nullopt;
  /// Its kernel is a user's text: operands begin where the device's buffers may
  /// (DeviceInfo::alignment), and it needs no `eval`.
  bool user_kernel = false;
  /// It has neither `eval` nor `decompose`: it runs where a kernel or a
  /// device's own compiler takes it.
  bool device_only = false;

  /// Shapes of the outputs, and types where they are not declared; at most once
  /// per node and Compile, and where a host step is prepared (a library's
  /// operator also behind a failure, with its operands' axes in other orders).
  /// Input types are known; what cannot be known of a shape stays unknown.  A
  /// failure names operand or attribute and rule.
  std::function<Status(InferContext&)> infer_shapes = nullptr;
  /// Host reference: plain scalar code written from the formula, for folding
  /// and packing at Compile and for host steps on the threads of runs.  All
  /// operands dense, but Reorder's; outputs are not initialised, and after a
  /// failure they hold anything.
  std::function<Status(const EvalContext&)> eval = nullptr;
  /// Where it works element by element: the formula, which `eval` applies too.
  std::optional<Pointwise> pointwise = std::nullopt;
  /// Scratch bytes that `eval` allocates, which are freed when it returns.
  /// Counted in MemoryReport::eval_scratch.
  std::function<int64_t(const NodeView&)> memory_estimate = nullptr;
  /// Of one `eval` or one run of a kernel, whatever the layouts.
  std::function<ComputeEstimate(const NodeView&)> compute_estimate = nullptr;

  /// True where output 0 has the very bytes of input 0 (dense), so that no
  /// step is needed.  Null: never.
  std::function<bool(const NodeView&)> is_view = nullptr;
  /// Inputs that are parts of output 0, or outputs that are parts of input 0.
  /// A step that has no operands but such parts, the whole and packed constants
  /// is then left out.  Null: there are none.  Called with layouts set.
  std::function<InPlaceOffsets(const NodeView&)> in_place_offsets = nullptr;
  /// The operator does nothing: output 0 is input 0, shape included.  Called
  /// with operands of known rank: unknown extents that look alike may differ.
  std::function<bool(const NodeView&)> is_identity = nullptr;
  /// Output 0 is made of elements of input 0, each converted to its type by
  /// itself, and of the real value 0: of which ones.  Nothing, or the function
  /// null: it is not, or not known to be.  Nodes whose other operands are
  /// present have none.
  std::function<std::optional<ElementMap>(const NodeView&)> element_map =
      nullptr;
  /// Output 0 is input 0 with padding around it: that padding.  Nothing, or the
  /// function null: it is not.
  std::function<std::optional<Padding>(const NodeView&)> padding = nullptr;
  /// Input 0 is a tensor with this padding around it: attributes with which the
  /// operator makes the same output from that tensor (but for products of
  /// padded zeros with infinity or NaN).  Nothing, or the function null: there
  /// are none.  Called with the desc of the padded input and operands of known
  /// rank: extents may be unknown.
  std::function<std::optional<AttributeMap>(const NodeView&, const Padding&)>
      absorb_padding = nullptr;
  /// Output 0 has the shape of one input, of which it is an affine function:
  /// that function.  `constants`: the inputs, those that are no constants
  /// without data.  Nothing, or the function null: it is not, or not known to
  /// be.  Called with float32 operands of known rank: extents may be unknown.
  std::function<std::optional<ChannelAffine>(
      const NodeView&, std::span<const ConstTensor> constants)>
      channel_affine = nullptr;
  /// Output 0 is made of sums of products of input 0 and weights, each weight
  /// of one channel, plus a bias: how they stand.  Nothing, or the function
  /// null: it is not.  Called with constant weights; extents may be unknown.
  std::function<std::optional<SumChannels>(const NodeView&)> sum_channels =
      nullptr;
  /// Outputs are made slice by slice along `axis`, their outermost one of more
  /// than one index: for each input whether a slice is made of the same slice
  /// of it (else of all of it), by the operator with the same attributes.
  /// Empty, or the function null: they are not.  Called with known extents.
  std::function<std::vector<bool>(const NodeView&, int axis)> sliced_inputs =
      nullptr;
  /// How a permutation of one input's axes passes through; see PermuteNode,
  /// which asks it.  A pure function of attributes and operands, called with
  /// known ranks (extents and types may be unknown) and never without an axis
  /// that moves.  Null, or a failure: a barrier.
  PermuteRule permute_rule = nullptr;
  /// Where attributes name the layouts of operands, which everything else in
  /// the schema takes to be the default ones: the node in default layouts, see
  /// NodeInDefaultLayout.  A pure function of attributes and the inputs' ranks;
  /// shapes of outputs are unknown or in the user's order.  Null: there are no
  /// such attributes.
  LayoutRule layout_rule = nullptr;
  /// A body that computes the same with other operators, as ir::Composite
  /// wants it; its values need no types and shapes.  With it the node becomes a
  /// composite, and `check` is not called.  Types of outputs and all extents
  /// may be unknown.
  std::function<Result<Graph>(const NodeView&, const OpRegistry&)> decompose =
      nullptr;
  /// Adds the nodes that compute the cotangents of the inputs from those of the
  /// outputs: their values, kNone for inputs that have none (integers) or that
  /// are not wanted.  Called with known types and extents.  Null: there is no
  /// rule.
  std::function<Result<std::vector<ValueId>>(const VjpContext&)> vjp = nullptr;

  /// "tim.Softmax@1"
  std::string Key() const { return StrCat(domain, ".", name, "@", version); }
  Arity InputArity(const AttributeMap& attributes) const {
    return input_arity ? input_arity(attributes) : inputs;
  }
  Arity OutputArity(const AttributeMap& attributes) const {
    return output_arity ? output_arity(attributes) : outputs;
  }
};

inline std::optional<ControlKind> ControlOf(const Node& node) {
  if (node.composite || node.schema == nullptr) return std::nullopt;
  return node.schema->control;
}

inline bool HasUserKernel(const Node& node) {
  return !node.composite && node.schema->user_kernel;
}

/// Checks types and enum values, adds defaults.  The message names the
/// attribute and what is legal.
Status CompleteAttributes(const OpSchema& schema, AttributeMap* attributes);

/// As many operands as the schema's arities allow, the required ones present;
/// the node has a schema and complete attributes.
Status CheckOperandCounts(const Node& node);

/// "{axis: 1, padding: same}": like AttributeMap::ToString(), but integers
/// that `schema` names are written by their names.
std::string AttributesText(const OpSchema& schema,
                           const AttributeMap& attributes);

/// Text of a schema for dumps and documentation.
std::string Dump(const OpSchema& schema);

}  // namespace tim::ir

#endif  // TIM_IR_OP_SCHEMA_H_
