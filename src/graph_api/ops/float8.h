// Codes of 8-bit floats, which the inner graph has as plain bytes.
#ifndef TIM_GRAPH_API_OPS_FLOAT8_H_
#define TIM_GRAPH_API_OPS_FLOAT8_H_

#include "graph_api/formula.h"
#include "tim/graph/c_types.h"

namespace tim::graph {

/// The type is f8_e5m2 or f8_e4m3.
bool IsFloat8(tim_graph_data_type_t type);

/// Real numbers of codes, which are uint8; exact.
/// Source: OCP 8-bit Floating Point Specification (OFP8), revision 1.0, tables
/// 1 and 2: E5M2 has infinities, E4M3 has none and one NaN of each sign.
Tensor DecodeFloat8(Formula& f, const Tensor& codes,
                    tim_graph_data_type_t type);

/// Codes, as uint8, of real numbers: to nearest even; beyond the greatest
/// finite number, and for infinities, that number of the same sign (the
/// saturating conversion of OFP8, section 6); NaN stays NaN and zeros keep
/// their sign.
Tensor EncodeFloat8(Formula& f, const Tensor& x, tim_graph_data_type_t type);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_OPS_FLOAT8_H_
