// Operators that compute shapes, on what is known, in the model's own types.
#ifndef TIM_MODELS_ONNX_EXACT_H_
#define TIM_MODELS_ONNX_EXACT_H_

#include <cstdint>
#include <map>
#include <string_view>

#include "models/onnx/node.h"

namespace tim::models::onnx {

/// Sets the outputs of `node` where its operator is one of those that are
/// evaluated here, and all that it reads is known: constants and results of at
/// most 65,536 elements, or, for Shape and Size, extents.  False where it is
/// not; what is wrong with the node is for its function to say.
bool EvaluateExactly(Node* node);

/// Sets the outputs of a node that hands on what it reads, or an attribute:
/// Constant, Identity, Dropout outside of training, Cast to the type that the
/// operand has.  False where it is none.
bool SetAliases(Node* node);

/// Results of more elements are no constants.
inline constexpr int64_t kMostFoldedElements = 65'536;

/// One operator: as EvaluateExactly().
using ExactFunction = bool (*)(Node* node);
using ExactTable = std::map<std::string_view, ExactFunction>;

// The tables of exact_arithmetic.cc, exact_functions.cc and exact_moves.cc.
void AddExactArithmetic(ExactTable* table);
void AddExactFunctions(ExactTable* table);
void AddExactMoves(ExactTable* table);

/// Constant operand `input` of few elements; null where it is none.
const HostArray* SmallConstant(const Node& node, size_t input);
/// Sets output 0.
bool SetConstant(Node* node, HostArray array);
/// Extents whose product is at most kMostFoldedElements, none negative.
bool AreFew(const Dims& dims);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_EXACT_H_
