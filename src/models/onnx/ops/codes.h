// Codes of quantized models: what scales and zero points make of a value.
#ifndef TIM_MODELS_ONNX_OPS_CODES_H_
#define TIM_MODELS_ONNX_OPS_CODES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "models/onnx/node.h"

namespace tim::models::onnx {

bool IsCodeType(vx::DataType type);
/// INT8 or UINT8.
inline bool IsByte(vx::DataType type) {
  return type == vx::DataType::INT8 || type == vx::DataType::UINT8;
}
struct CodeRange {
  int32_t least;
  int32_t greatest;
};
/// The codes of an integer type of 4 to 16 bits.
CodeRange RangeOf(vx::DataType type);

/// The codes of a constant operand of INT4 or UINT4.
Result<Dims> NibblesOf(const Node& node, size_t input);

/// Scale and zero point of operands `scale` and `zero_point` (which may be
/// absent: 0), both constants, for codes of `type`: one, or one for each index
/// of `axis` of a tensor of `dims`.  Fails where they are not constant, not
/// finite and positive, outside of the type or of another number.
Result<vx::Quantization> QuantizationOf(const Node& node, size_t scale,
                                        size_t zero_point, vx::DataType type,
                                        const Dims& dims, int axis);
/// The same, of one scale.
Result<vx::Quantization> QuantizationOf(const Node& node, size_t scale,
                                        size_t zero_point, vx::DataType type);

/// The same codes with another meaning: a constant, an INPUT that nobody reads
/// yet and that has none gets it, else by an operation.
Result<Value> Labelled(GraphBuilder* builder, const Value& codes,
                       const vx::Quantization& quantization);
/// The same codes as plain integers.
Result<Value> Unlabelled(GraphBuilder* builder, const Value& codes);

/// Operands (codes, scale, zero point) at these places as a value with a
/// quantization.
Result<Value> CodesOf(Node& node, size_t codes, size_t scale,
                      size_t zero_point);

/// 8-bit codes less their zero point, which broadcasts to them or is absent, as
/// plain integers: exact in 16 bits.  Constants stay constants, of 8 bits where
/// these hold them.
Result<Value> Centered(GraphBuilder* builder, const Value& codes,
                       const Value& zero_point);
/// A constant that Centered() made as the sum of up to three of 8 bits, which
/// kernels of bytes take.  Empty for what is no constant, or of other types.
std::vector<Value> BytePieces(const GraphBuilder& builder,
                              const Value& centered);
/// The sum of what `result` makes of each piece, of one or more, in INT32.
Result<Value> SumOverPieces(
    GraphBuilder* builder, const std::vector<Value>& pieces,
    const std::function<Result<Value>(const Value& piece)>& result);

/// saturate(round(x / scale) + zero point): rounded half to even before the
/// zero point is added, so that an odd one needs a step in between.
Result<Value> Quantized(GraphBuilder* builder, const Value& x,
                        vx::DataType type,
                        const vx::Quantization& quantization);
/// The real values, float32 or float16.
Result<Value> Dequantized(GraphBuilder* builder, const Value& codes,
                          vx::DataType type);
/// What Dequantized() has made of a constant of 8-bit codes: Compile() folds
/// what moves its elements, which it does not where these grow more than
/// fourfold.
bool IsDequantizedConstant(const GraphBuilder& builder, const Value& value);

/// DynamicQuantizeLinear: codes, scale and zero point of x, as plain values.
struct DynamicCodes {
  Value codes;
  Value scale;
  Value zero_point;
};
Result<DynamicCodes> QuantizedByRange(GraphBuilder* builder, const Value& x);

/// saturate(round(x / scale) + zero_point) of scales known at run time.
Result<Value> QuantizedBy(GraphBuilder* builder, const Value& x,
                          const Value& scale, const Value& zero_point,
                          vx::DataType type);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_CODES_H_
