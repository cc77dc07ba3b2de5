// Operands and attributes: the checks that several families share.
#ifndef TIM_MODELS_ONNX_OPS_OPERANDS_H_
#define TIM_MODELS_ONNX_OPS_OPERANDS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "models/build/value.h"
#include "models/onnx/node.h"
#include "models/onnx/ops/compose.h"

namespace tim::models::onnx {

inline bool IsFloat(vx::DataType type) {
  return type == vx::DataType::FLOAT32 || type == vx::DataType::FLOAT16;
}
inline bool IsBool(vx::DataType type) { return type == vx::DataType::BOOL8; }
bool IsInteger(vx::DataType type);
bool IsUnsigned(vx::DataType type);
/// "float32", for messages.
inline std::string TypeText(vx::DataType type) {
  return models::TypeName(type);
}

/// Operand `input`, which must be there.  A quantized one has its codes as
/// plain integers, as ONNX computes with them.
Result<Value> PlainOperand(Node& node, size_t input);
/// PlainOperand() of a float type.
Result<Value> FloatOperand(Node& node, size_t input);
/// PlainOperand() of a float or integer type.
Result<Value> NumberOperand(Node& node, size_t input);
/// PlainOperand() of truth values.
Result<Value> BoolOperand(Node& node, size_t input);

/// An attribute's name as an argument of Strict.
template <size_t size>
struct AttributeName {
  // Not explicit: literals are arguments of templates.
  constexpr AttributeName(const char (&name)[size]) {
    std::copy_n(name, size, text);
  }
  char text[size];
};

/// The operand, or an absent value.
inline Value OptionalOperand(const Node& node, size_t input) {
  return node.Has(input) ? node.inputs[input] : Value();
}

/// Fails, naming the operand, where the type is neither FLOAT32 nor FLOAT16.
Status CheckFloat(const Node& node, size_t input);
/// Fails where the node has fewer operands than `least`, or an absent one
/// among these, or more than `most`.
Status CheckOperands(const Node& node, size_t least, size_t most);
/// Fails where an attribute is not one of `names`.
Status CheckAttributes(const Node& node, const std::vector<std::string>& names);
/// Fails where an output from `first` on is wanted.
Status CheckOutputs(const Node& node, size_t first, const char* reason);
/// Fails where the node has an operand behind the first `most`, or an attribute
/// that is none of `names`.
Status CheckForm(const Node& node, size_t most,
                 std::initializer_list<std::string_view> names);

/// `function`, for nodes with at most `most` operands and no attributes but
/// `names`.
template <NodeFunction function, size_t most, AttributeName... names>
Status Strict(Node& node) {
  TIM_RETURN_IF_ERROR(CheckForm(node, most, {names.text...}));
  return function(node);
}
/// Operands of those that take any number.
inline constexpr size_t kAnyNumber = static_cast<size_t>(-1);

/// Fails where the types differ: ONNX's operators convert nothing.
Status SameType(const Value& a, const Value& b);

/// A scalar constant of float32.
inline Value Scalar(const Node& node, float value) {
  return ScalarOf(*node.builder, value);
}
/// A scalar constant of int32.
inline Value IntScalar(const Node& node, int32_t value) {
  return node.builder->ConstantOf<int32_t>({value}, {});
}

/// Binary() of compose.h for a node.
template <typename Op, typename... Args>
Result<Value> Broadcasting(Node& node, const Value& a, const Value& b,
                           vx::DataType type, const Args&... args) {
  return Binary<Op>(node.builder, type, a, b, args...);
}
/// The operation Op(args...) on each element of `x`, as `type`.
template <typename Op, typename... Args>
Result<Value> Pointwise(Node& node, const Value& x, vx::DataType type,
                        const Args&... args) {
  return node.builder->Add<Op>({x}, Wanted::Of(type, x.dims), args...);
}

/// Bytes that a function may make of an attribute or of extents.
inline constexpr int64_t kMostMadeBytes = int64_t{1} << 28;

/// An array of `dims`, whose elements are copies of `element`, of one of
/// `type`; fails where it would be larger than kMostMadeBytes.
Result<HostArray> FilledArray(vx::DataType type, const Dims& dims,
                              const void* element);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_OPERANDS_H_
