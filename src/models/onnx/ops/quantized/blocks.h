// QuantizeLinear and DequantizeLinear with scales for blocks of an axis.
#ifndef TIM_MODELS_ONNX_OPS_QUANTIZED_BLOCKS_H_
#define TIM_MODELS_ONNX_OPS_QUANTIZED_BLOCKS_H_

#include "base/status.h"
#include "models/onnx/node.h"

namespace tim::models::onnx {

/// Sets the output of a node with attribute `block_size`: codes of `type`.
Status QuantizeBlocks(Node& node, vx::DataType type);
/// The same of a DequantizeLinear: real values of the type of its scales.
Status DequantizeBlocks(Node& node);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_QUANTIZED_BLOCKS_H_
