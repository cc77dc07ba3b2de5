// Tensors of graph files in host memory, and the numbers that they begin with.
#ifndef TIM_TOOLS_TIMCL_GRAPH_TENSOR_H_
#define TIM_TOOLS_TIMCL_GRAPH_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/aligned_memory.h"
#include "base/status.h"
#include "graph_api/op.h"
#include "ir/op_schema.h"
#include "ir/tensor_desc.h"

namespace tim::tool {

/// A tensor that is strided, with known dims, and its bytes; copies share them.
struct GraphTensor {
  graph::LogicalTensor description = {};
  std::shared_ptr<std::byte[]> memory = nullptr;
  int64_t bytes = 0;  ///< At least one element's.
};

/// All that is reached by its strides as one row of elements, at least one.
/// kUnimplemented for a type that the library does not compute with and for
/// strides below 0; kInvalidArgument for dims that are not known, and for more
/// elements than graph-run takes.
Result<ir::TensorDesc> RowOf(const graph::LogicalTensor& description);

/// Zeros.  Errors of RowOf(), and kOutOfMemory.
Result<GraphTensor> AllocateTensor(const graph::LogicalTensor& description);

/// Calls `function` with each element's place in the row, in the order of its
/// dims.
void ForEachElement(const graph::LogicalTensor& description,
                    const std::function<void(int64_t place)>& function);

/// Numbers that every op that reads a tensor can compute with: no negative ones
/// for square roots, none near 0 for divisors, codes of all of an integer type,
/// weights so small that sums of them stay moderate.
struct ValueRange {
  double least = -1;
  double greatest = 1;
  bool whole = false;  ///< Whole numbers.
};
ValueRange RangeFor(const graph::LogicalTensor& tensor,
                    const std::vector<graph::Op>& ops);

/// Random numbers of the range, the same for equal seeds and ids.
Status Fill(const ValueRange& range, uint64_t seed, GraphTensor* tensor);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_GRAPH_TENSOR_H_
