// Element-wise operators of one and two operands, and conversions.
#include "tim/vx/ops/elementwise.h"

#include <algorithm>
#include <cmath>

#include "models/tflite/node.h"
#include "tim/vx/ops/activations.h"
#include "tim/vx/ops/addn.h"
#include "tim/vx/ops/clip.h"
#include "tim/vx/ops/logical.h"
#include "tim/vx/ops/mod.h"
#include "tim/vx/ops/relational_operations.h"
#include "tim/vx/ops/select.h"
#include "tim/vx/ops/simple_operations.h"

namespace tim::models::tflite {
namespace {

namespace ops = vx::ops;
using vx::DataType;

bool IsFloat(const Value& value) {
  return value.type == DataType::FLOAT32 || value.type == DataType::FLOAT16;
}

bool IsQuantized(const Value& value) {
  return value.quantization.Type() != vx::QuantType::NONE;
}

template <typename Op>
Status Unary(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  return node.SetOutput(
      0, node.builder().Add<Op>({node.inputs[0]}, node.WantedOf(0)));
}

template <typename Op>
Status Binary(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  return node.SetOutput(0,
                        node.builder().Add<Op>(node.inputs, node.WantedOf(0)));
}

template <typename Op, typename Options>
Status Arithmetic(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<Options>());
  return node.SetActivated(
      0, node.builder().Add<Op>(node.inputs, node.WantedOf(0)),
      options->activation());
}

Status AddN(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(node.inputs.size(), 1024));
  if (node.inputs.empty()) return node.Refuse("inputs", "there are none");
  if (node.inputs.size() == 1) return node.SetOutput(0, node.inputs[0]);
  return node.SetOutput(0, node.builder().Add<ops::AddN>(
                               node.inputs, node.WantedOf(0),
                               static_cast<uint32_t>(node.inputs.size())));
}

// The difference of codes is a float: rounded to the output's quantization it
// would be lost before it is squared.
Status SquaredDifference(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  Wanted between = Wanted::Like(node.inputs[0]);
  if (IsQuantized(node.inputs[0]) || IsQuantized(node.inputs[1])) {
    between = Wanted::Of(DataType::FLOAT32);
  }
  TIM_ASSIGN_OR_RETURN(const Value difference,
                       node.builder().Add<ops::Sub>(node.inputs, between));
  return node.SetOutput(0, node.builder().Add<ops::Multiply>(
                               {difference, difference}, node.WantedOf(0)));
}

// The remainder of floats has the sign of the dividend in the graph, that of
// the divisor here.
Status FloorMod(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  GraphBuilder& build = node.builder();
  const Wanted wanted = node.WantedOf(0);
  if (!IsFloat(node.inputs[0])) {
    return node.SetOutput(0, build.Add<ops::Mod>(node.inputs, wanted, 0));
  }
  const Value& divisor = node.inputs[1];
  TIM_ASSIGN_OR_RETURN(const Value rest,
                       build.Add<ops::Mod>(node.inputs, wanted, 0));
  TIM_ASSIGN_OR_RETURN(const Value sign, build.Add<ops::Sign>({rest}, wanted));
  TIM_ASSIGN_OR_RETURN(const Value other,
                       build.Add<ops::Sign>({divisor}, wanted));
  TIM_ASSIGN_OR_RETURN(const Value product,
                       build.Add<ops::Multiply>({sign, other}, wanted));
  TIM_ASSIGN_OR_RETURN(
      const Value differs,
      build.Add<ops::Less>({product, build.ConstantOf<float>({0}, {})},
                           Wanted::Of(DataType::BOOL8)));
  TIM_ASSIGN_OR_RETURN(const Value moved,
                       build.Add<ops::Add>({rest, divisor}, wanted));
  return node.SetOutput(0,
                        build.Add<ops::Select>({differs, moved, rest}, wanted));
}

// The angle of (x, y), from the smaller coordinate through the larger one,
// which no quotient leaves the range of floats by.  A zero's sign tells
// nothing.
Status Atan2(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  GraphBuilder& build = node.builder();
  const Value& y = node.inputs[0];
  const Value& x = node.inputs[1];
  if (y.type != DataType::FLOAT32 || x.type != DataType::FLOAT32) {
    return node.Refuse("inputs", Describe(y), " and ", Describe(x),
                       "; FLOAT32 is taken");
  }
  const Wanted wanted = Wanted::Of(DataType::FLOAT32);
  const Wanted is = Wanted::Of(DataType::BOOL8);
  const auto number = [&build](float value) {
    return build.ConstantOf<float>({value}, {1});
  };
  constexpr float kHalfTurn = 3.14159265358979f;
  TIM_ASSIGN_OR_RETURN(const Value width, build.Add<ops::Abs>({x}, wanted));
  TIM_ASSIGN_OR_RETURN(const Value height, build.Add<ops::Abs>({y}, wanted));
  TIM_ASSIGN_OR_RETURN(const Value small,
                       build.Add<ops::Minimum>({width, height}, wanted));
  TIM_ASSIGN_OR_RETURN(const Value either,
                       build.Add<ops::Maximum>({width, height}, wanted));
  TIM_ASSIGN_OR_RETURN(
      const Value large,
      build.Add<ops::Maximum>({either, number(1.17549435e-38f)}, wanted));
  TIM_ASSIGN_OR_RETURN(const Value quotient,
                       build.Add<ops::Div>({small, large}, wanted));
  TIM_ASSIGN_OR_RETURN(Value angle, build.Add<ops::ATan>({quotient}, wanted));
  // Reflects the angle where `condition` holds.
  const auto reflect = [&](const Value& condition, float sum) -> Status {
    TIM_ASSIGN_OR_RETURN(const Value other,
                         build.Add<ops::Sub>({number(sum), angle}, wanted));
    TIM_ASSIGN_OR_RETURN(
        angle, build.Add<ops::Select>({condition, other, angle}, wanted));
    return OkStatus();
  };
  TIM_ASSIGN_OR_RETURN(const Value is_steep,
                       build.Add<ops::Greater>({height, width}, is));
  TIM_RETURN_IF_ERROR(reflect(is_steep, kHalfTurn / 2));
  TIM_ASSIGN_OR_RETURN(const Value is_left,
                       build.Add<ops::Less>({x, number(0)}, is));
  TIM_RETURN_IF_ERROR(reflect(is_left, kHalfTurn));
  TIM_ASSIGN_OR_RETURN(const Value is_below,
                       build.Add<ops::Less>({y, number(0)}, is));
  TIM_RETURN_IF_ERROR(reflect(is_below, 0));
  return node.SetOutput(0, std::move(angle));
}

// Floats of a range as its steps, which are moved so that 0 is one of them.
Status FakeQuant(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::FakeQuant>());
  const float least = options->least();
  const float greatest = options->greatest();
  if (options->bits() < 2 || options->bits() > 16 || !(least <= 0) ||
      !(greatest >= 0) || !(least < greatest) ||
      !std::isfinite(greatest - least) ||
      node.inputs[0].type != DataType::FLOAT32) {
    return node.Refuse("min and max", "[", least, ", ", greatest, "] in ",
                       options->bits(), " bits of ", Describe(node.inputs[0]));
  }
  const float first = options->narrow() ? 1.0f : 0.0f;
  const auto last = static_cast<float>((1 << options->bits()) - 1);
  const float step = (greatest - least) / (last - first);
  const float zero = std::clamp(std::round(first - least / step), first, last);
  const float low = (first - zero) * step;
  const float high = (last - zero) * step;
  GraphBuilder& build = node.builder();
  const Wanted wanted = Wanted::Of(DataType::FLOAT32);
  const auto number = [&build](float value) {
    return build.ConstantOf<float>({value}, {1});
  };
  TIM_ASSIGN_OR_RETURN(
      Value value, build.Add<ops::Clip>({node.inputs[0]}, wanted, low, high));
  TIM_ASSIGN_OR_RETURN(value,
                       build.Add<ops::Sub>({value, number(low)}, wanted));
  TIM_ASSIGN_OR_RETURN(
      value, build.Add<ops::Multiply>({value, number(1 / step)}, wanted));
  TIM_ASSIGN_OR_RETURN(value,
                       build.Add<ops::Add>({value, number(0.5f)}, wanted));
  TIM_ASSIGN_OR_RETURN(value, build.Add<ops::Floor>({value}, wanted));
  TIM_ASSIGN_OR_RETURN(value,
                       build.Add<ops::Multiply>({value, number(step)}, wanted));
  return node.SetOutput(0, build.Add<ops::Add>({value, number(low)}, wanted));
}

Status ZerosLike(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  // 0 * x would be NaN where x is infinite.
  return node.SetOutput(0, node.builder().Add<ops::Clip>(
                               {node.inputs[0]}, node.WantedOf(0), 0.0f, 0.0f));
}

// Bits of the types that integers lose some in; 0: another type.
int NarrowBits(DataType type) {
  switch (type) {
    case DataType::INT8:
    case DataType::UINT8:
      return 8;
    case DataType::INT16:
    case DataType::UINT16:
      return 16;
    default:
      return 0;
  }
}

bool IsUnsigned(DataType type) {
  return type == DataType::UINT8 || type == DataType::UINT16 ||
         type == DataType::UINT32;
}

// An integer keeps its low bits; the graph's Cast would take the nearest number
// that the type has.
Result<Value> Wrapped(Node& node, const Value& input, DataType type) {
  GraphBuilder& build = node.builder();
  TIM_ASSIGN_OR_RETURN(Value value, build.Cast(input, DataType::INT32));
  const Wanted wanted = Wanted::Of(DataType::INT32);
  const int32_t count = 1 << NarrowBits(type);
  const Value modulus = build.ConstantOf<int32_t>({count}, {1});
  TIM_ASSIGN_OR_RETURN(value, build.Add<ops::Mod>({value, modulus}, wanted, 0));
  if (!IsUnsigned(type)) {
    const Value half = build.ConstantOf<int32_t>({count / 2}, {1});
    TIM_ASSIGN_OR_RETURN(value, build.Add<ops::Add>({value, half}, wanted));
    TIM_ASSIGN_OR_RETURN(value,
                         build.Add<ops::Mod>({value, modulus}, wanted, 0));
    TIM_ASSIGN_OR_RETURN(value, build.Add<ops::Sub>({value, half}, wanted));
  }
  TIM_ASSIGN_OR_RETURN(value, build.Reshape(value, input.dims));
  return build.Cast(value, type);
}

Status Cast(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  if (IsQuantized(node.declared[0])) {
    return node.Refuse("output 0", "it is quantized; plain numbers are taken");
  }
  const DataType from = node.inputs[0].type;
  const DataType to = node.declared[0].type;
  const bool is_integer = !IsFloat(node.inputs[0]) && from != DataType::BOOL8;
  const bool to_word = to == DataType::INT32 || to == DataType::INT64;
  if (is_integer && from != to &&
      (to == DataType::UINT32 ? !IsUnsigned(from)
                              : from == DataType::UINT32 && to_word)) {
    return node.Refuse("output 0", TypeName(from), " as ", TypeName(to),
                       "; other pairs of integers are taken");
  }
  const int bits = NarrowBits(to);
  const int given = NarrowBits(from);
  const bool fits = given != 0 && (IsUnsigned(from) == IsUnsigned(to)
                                       ? given <= bits
                                       : IsUnsigned(from) && given < bits);
  if (is_integer && bits != 0 && !fits) {
    return node.SetOutput(0, Wrapped(node, node.inputs[0], to));
  }
  return node.SetOutput(
      0, node.builder().Cast(node.inputs[0], node.declared[0].type));
}

// Weights of other types that a model converts before it uses them are
// converted when the file is read.
Status Dequantize(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  const Value& input = node.inputs[0];
  if (input.constant != nullptr && node.declared[0].type == DataType::FLOAT32) {
    return node.SetOutput(0, node.AsFloat(input));
  }
  return Unary<ops::DataConvert>(node);
}

Status Densify(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  // Sparse tensors are dense since the file was read.
  return node.SetOutput(0, node.inputs[0]);
}

}  // namespace

void AddElementwise(OperatorTable* table) {
  OperatorTable& to = *table;
  to["ADD"] = Arithmetic<ops::Add, fbs::Add>;
  to["SUB"] = Arithmetic<ops::Sub, fbs::Sub>;
  to["MUL"] = Arithmetic<ops::Multiply, fbs::Mul>;
  to["DIV"] = Arithmetic<ops::Div, fbs::Div>;
  to["ADD_N"] = AddN;
  to["FLOOR_DIV"] = Binary<ops::FloorDiv>;
  to["FLOOR_MOD"] = FloorMod;
  to["MINIMUM"] = Binary<ops::Minimum>;
  to["MAXIMUM"] = Binary<ops::Maximum>;
  to["POW"] = Binary<ops::Pow>;
  to["SQUARED_DIFFERENCE"] = SquaredDifference;
  to["EQUAL"] = Binary<ops::Equal>;
  to["NOT_EQUAL"] = Binary<ops::NotEqual>;
  to["LESS"] = Binary<ops::Less>;
  to["LESS_EQUAL"] = Binary<ops::LessOrEqual>;
  to["GREATER"] = Binary<ops::Greater>;
  to["GREATER_EQUAL"] = Binary<ops::GreaterOrEqual>;
  to["LOGICAL_AND"] = Binary<ops::LogicalAnd>;
  to["LOGICAL_OR"] = Binary<ops::LogicalOr>;
  to["LOGICAL_NOT"] = Unary<ops::LogicalNot>;
  to["ABS"] = Unary<ops::Abs>;
  to["NEG"] = Unary<ops::Neg>;
  to["SIGN"] = Unary<ops::Sign>;
  to["SIN"] = Unary<ops::Sin>;
  to["COS"] = Unary<ops::Cos>;
  to["EXP"] = Unary<ops::Exp>;
  to["LOG"] = Unary<ops::Log>;
  to["SQRT"] = Unary<ops::Sqrt>;
  to["RSQRT"] = Unary<ops::Rsqrt>;
  to["SQUARE"] = Unary<ops::Square>;
  to["FLOOR"] = Unary<ops::Floor>;
  to["CEIL"] = Unary<ops::Ceil>;
  to["ROUND"] = Unary<ops::Round>;
  to["ATAN2"] = Atan2;
  to["FAKE_QUANT"] = FakeQuant;
  to["ZEROS_LIKE"] = ZerosLike;
  to["CAST"] = Cast;
  to["QUANTIZE"] = Unary<ops::DataConvert>;
  to["DEQUANTIZE"] = Dequantize;
  to["DENSIFY"] = Densify;
}

}  // namespace tim::models::tflite
