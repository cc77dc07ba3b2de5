// Elements in other types, and operators that change none.
#include <cstdint>
#include <vector>

#include "models/onnx/element_type.h"
#include "models/onnx/ops/elementwise/elementwise.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/mod.h"
#include "tim/vx/ops/relational_operations.h"
#include "tim/vx/ops/select.h"
#include "tim/vx/ops/simple_operations.h"

namespace tim::models::onnx {
namespace {

namespace ops = vx::ops;
using vx::DataType;

struct Range {
  int64_t least;
  int64_t most;
};

/// The range of a type of integers in the graph, where INT64 is INT32.
Range RangeOf(DataType type) {
  switch (type) {
    case DataType::INT8:
      return {INT8_MIN, INT8_MAX};
    case DataType::UINT8:
      return {0, UINT8_MAX};
    case DataType::INT16:
      return {INT16_MIN, INT16_MAX};
    case DataType::UINT16:
      return {0, UINT16_MAX};
    case DataType::UINT32:
      return {0, UINT32_MAX};
    default:
      return {INT32_MIN, INT32_MAX};
  }
}

/// `x` modulo 2^32, from INT32 to UINT32 or back: where it is out of range it
/// moves by 2^32, in two steps that constants of 32 bits can say.
Result<Value> WrappedWord(Node& node, const Value& x, DataType type) {
  const Value far =
      node.builder->ConstantOf(std::vector<uint32_t>{UINT32_MAX}, {});
  Value moved;
  Value is_out;
  const Value one = IntScalar(node, 1);
  if (type == DataType::UINT32) {
    TIM_ASSIGN_OR_RETURN(moved, Broadcasting<ops::Add>(node, x, far, type));
    TIM_ASSIGN_OR_RETURN(moved, Broadcasting<ops::Add>(node, moved, one, type));
    TIM_ASSIGN_OR_RETURN(
        is_out,
        Broadcasting<ops::Less>(node, x, IntScalar(node, 0), DataType::BOOL8));
  } else {
    TIM_ASSIGN_OR_RETURN(moved, Broadcasting<ops::Sub>(node, x, far, type));
    TIM_ASSIGN_OR_RETURN(moved, Broadcasting<ops::Sub>(node, moved, one, type));
    TIM_ASSIGN_OR_RETURN(
        is_out, Broadcasting<ops::Greater>(node, x, IntScalar(node, INT32_MAX),
                                           DataType::BOOL8));
  }
  TIM_ASSIGN_OR_RETURN(Value kept, Pointwise<ops::Cast>(node, x, type));
  return node.builder->Add<ops::Select>({is_out, moved, kept},
                                        Wanted::Of(type, x.dims));
}

/// `x` modulo 2^8 or 2^16, in the range of `type`.
Result<Value> WrappedBits(Node& node, const Value& x, DataType type) {
  const Range range = RangeOf(type);
  const Value modulus =
      IntScalar(node, static_cast<int32_t>(range.most - range.least + 1));
  TIM_ASSIGN_OR_RETURN(
      Value low, Broadcasting<ops::Mod>(node, x, modulus, DataType::INT32));
  if (range.least == 0) return Pointwise<ops::Cast>(node, low, type);
  TIM_ASSIGN_OR_RETURN(
      Value is_negative,
      Broadcasting<ops::Greater>(
          node, low, IntScalar(node, static_cast<int32_t>(range.most)),
          DataType::BOOL8));
  TIM_ASSIGN_OR_RETURN(
      Value moved, Broadcasting<ops::Sub>(node, low, modulus, DataType::INT32));
  TIM_ASSIGN_OR_RETURN(
      low, node.builder->Add<ops::Select>({is_negative, moved, low},
                                          Wanted::Of(DataType::INT32, x.dims)));
  return Pointwise<ops::Cast>(node, low, type);
}

Status CheckType(DataType type, const char* about) {
  if (IsFloat(type) || IsInteger(type) || IsBool(type)) return OkStatus();
  return Unimplemented(about, " is ", TypeText(type),
                       "; float32, float16, bool and integers of 8 to 64 bits "
                       "are taken");
}

/// The attribute `saturate` is about float8 alone, which graphs do not have.
Status Cast(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, PlainOperand(node, 0));
  if (!node.HasAttribute("to")) {
    return InvalidArgument("attribute 'to' is missing");
  }
  TIM_ASSIGN_OR_RETURN(const int64_t number, node.Int("to", 0));
  auto type = DataTypeOf(number);
  if (!type.ok()) return type.status().WithContext("attribute 'to'");
  TIM_RETURN_IF_ERROR(CheckType(x.type, "operand 0"));
  TIM_RETURN_IF_ERROR(CheckType(*type, "attribute 'to'"));
  return node.SetOutput(0, Converted(node, x, *type));
}

Status CastLike(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, PlainOperand(node, 0));
  if (!node.Has(1)) return InvalidArgument("operand 1 is absent");
  TIM_RETURN_IF_ERROR(CheckType(x.type, "operand 0"));
  TIM_RETURN_IF_ERROR(CheckType(node.inputs[1].type, "operand 1"));
  return node.SetOutput(0, Converted(node, x, node.inputs[1].type));
}

/// Another name for operand 0.
Status Identity(Node& node) {
  if (!node.Has(0)) return InvalidArgument("operand 0 is absent");
  return node.SetOutput(0, node.inputs[0]);
}

/// Whether nothing is dropped; fails where that is not known.
Status CheckDropout(const Node& node) {
  if (node.opset < 12 || !node.Has(2)) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const std::vector<int64_t> training,
                       node.ConstantInts(2));
  if (training.size() != 1) {
    return InvalidArgument("operand 2 (training_mode) has ", training.size(),
                           " elements, expected 1");
  }
  if (training[0] == 0) return OkStatus();
  std::vector<float> ratio = {0.5f};
  if (node.Has(1)) {
    TIM_ASSIGN_OR_RETURN(ratio, node.ConstantFloats(1));
  }
  if (ratio.size() == 1 && ratio[0] == 0) return OkStatus();
  return Unimplemented(
      "operand 2 (training_mode) is true: elements would be dropped by chance; "
      "false is taken");
}

/// Dropout of inference: operand 0 by another name, a mask of ones.
Status Dropout(Node& node) {
  TIM_RETURN_IF_ERROR(CheckDropout(node));
  TIM_RETURN_IF_ERROR(Identity(node));
  if (!node.Wants(1)) return OkStatus();
  if (node.opset < 10) {
    return Unimplemented(
        "output 1 (mask), which means nothing before opset 10");
  }
  const uint8_t kept = 1;
  TIM_ASSIGN_OR_RETURN(
      HostArray mask, FilledArray(DataType::BOOL8, node.inputs[0].dims, &kept));
  return node.SetOutput(1, node.builder->Constant(std::move(mask)));
}

}  // namespace

Result<Value> Converted(Node& node, const Value& x, DataType type) {
  if (x.type == type) return x;
  if (x.constant == nullptr && GraphType(x.type) == GraphType(type)) {
    Value same = x;
    same.type = type;
    return same;
  }
  if (IsInteger(x.type) && IsInteger(type)) {
    const Range from = RangeOf(x.type);
    const Range to = RangeOf(type);
    const bool fits = from.least >= to.least && from.most <= to.most;
    // UINT32 to INT64 does not wrap: what 32 bits cannot have is saturated.
    if (!fits && type != DataType::INT64) {
      const bool is_word = to.most - to.least == UINT32_MAX;
      return is_word ? WrappedWord(node, x, type) : WrappedBits(node, x, type);
    }
  }
  return Pointwise<ops::Cast>(node, x, type);
}

void AddCasts(OperatorTable* table) {
  table->Add("", "Cast", 6, Strict<Cast, 1, "to", "saturate">);
  table->Add("", "CastLike", 15, Strict<CastLike, 2, "saturate">);
  table->Add("", "Identity", 1, Strict<Identity, 1>);
  // An attribute said before opset 7 whether it is training.
  table->Add("", "Dropout", 7, Strict<Dropout, 3, "ratio", "seed">);
}

}  // namespace tim::models::onnx
