// Descriptions of tensors: sizes, and whether two are alike.
#ifndef TIM_GRAPH_API_LOGICAL_TENSOR_H_
#define TIM_GRAPH_API_LOGICAL_TENSOR_H_

#include <cstddef>
#include <string>

#include "base/status.h"
#include "graph_api/op.h"

namespace tim::graph {

/// Bits of an element; 0 for undef and for numbers that are no type.
int ElementBits(tim_graph_data_type_t type);

/// Bytes from the first element of a tensor to the last one; SIZE_MAX where
/// layout, dims, strides or type do not tell, or where it would be more.
size_t MemorySizeOf(const LogicalTensor& tensor);

/// Ids, types, properties, ranks and dims are equal, and so are layouts: a
/// strided one and an opaque one are where the bytes lie alike.
bool AreEqual(const LogicalTensor& a, const LogicalTensor& b);

/// The same description, member by member, of which nothing is derived.
bool AreSame(const LogicalTensor& a, const LogicalTensor& b);

/// kInvalidArgument names what no tensor has: rank, property of a scalar, or
/// an enumerator that is none.
Status CheckDescription(const LogicalTensor& tensor);

/// "f32 {1, ?, 3}", "s8 of unknown rank", "f32 scalar".
std::string ToString(const LogicalTensor& tensor);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_LOGICAL_TENSOR_H_
