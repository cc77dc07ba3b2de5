// Moves of elements that several of ONNX's operators are made of.
#ifndef TIM_MODELS_ONNX_OPS_MOVEMENT_MOVES_H_
#define TIM_MODELS_ONNX_OPS_MOVEMENT_MOVES_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "models/build/graph_builder.h"
#include "models/build/value.h"
#include "models/onnx/node.h"

namespace tim::models::onnx {

/// A range of one axis: elements first, first + step, ...; `count` of them.
struct AxisRange {
  int64_t first = 0;
  int64_t count = 0;
  int64_t step = 1;  ///< Not 0.
};

/// Operand `input`, which must be there, to be moved: any type; fails where it
/// has a scale per channel, as elements then cannot leave their channel.
Result<Value> MovedOperand(const Node& node, size_t input);
/// As MovedOperand(), of rank `least` or more.
Result<Value> MovedOperand(const Node& node, size_t input, int least);

/// The type and quantization of `value` with other extents.
inline Wanted Moved(const Value& value, Dims dims) {
  return Wanted::Of(value.type, std::move(dims), value.quantization);
}
/// Product of `dims` from `begin` to before `end`; fails where it exceeds 63
/// bits.
Result<int64_t> Extent(const Dims& dims, size_t begin, size_t end);
/// "[1,3,224]".
std::string DimsText(const Dims& dims);

/// A constant without elements, of `value`'s type; `dims` have an extent of 0.
Result<Value> EmptyLike(GraphBuilder* builder, const Value& value, Dims dims);
/// The scalar 0, the code 0 where `value` is quantized: all bits are 0.
Value ZeroLike(GraphBuilder* builder, const Value& value);
/// A constant of bool: whether bytes are not 0.
Value BoolConstant(GraphBuilder* builder, const std::vector<uint8_t>& values,
                   Dims dims);

/// The part of `value` that one range for each axis names; ranges lie inside.
/// The value itself where they are all of it, a constant where they are empty.
Result<Value> TakeRanges(GraphBuilder* builder, const Value& value,
                         const std::vector<AxisRange>& ranges);
/// Elements `indices` of one axis, in this order; each lies inside.
Result<Value> TakeIndices(GraphBuilder* builder, const Value& value, int axis,
                          const std::vector<int64_t>& indices);
/// `values` along `axis`; one of them is itself.
Result<Value> Join(GraphBuilder* builder, const std::vector<Value>& values,
                   int axis);
/// The value as FLOAT32; itself where it is.  Of a quantized one the real
/// values.
Result<Value> AsFloat(GraphBuilder* builder, const Value& value);
/// A FLOAT32 `value` in type and quantization of `like`.
Result<Value> InTypeOf(GraphBuilder* builder, const Value& value,
                       const Value& like);

inline constexpr int kNewestOpset = 1 << 20;
/// An attribute or operand that an operator has from one opset on, or up to
/// one.
struct Spell {
  const char* attribute = nullptr;  ///< Null: the operand.
  size_t operand = 0;
  int first = 1;
  int last = kNewestOpset;
};
/// Fails where the node has one of them at another opset.
Status CheckSpells(const Node& node, std::initializer_list<Spell> spells);

/// `index` in [-extent, extent) as [0, extent); fails outside of it.
Result<int64_t> PositiveIndex(int64_t index, int64_t extent);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_MOVEMENT_MOVES_H_
