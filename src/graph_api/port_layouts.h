// How tensors of ports lie in memory.
#ifndef TIM_GRAPH_API_PORT_LAYOUTS_H_
#define TIM_GRAPH_API_PORT_LAYOUTS_H_

#include "base/status.h"
#include "graph_api/engine.h"
#include "graph_api/op.h"
#include "ir/layout.h"
#include "ir/tensor_desc.h"

namespace tim::graph {

/// Whether every stride is known.
bool HasKnownStrides(const LogicalTensor& strided);

/// Makes the tensor strided, row by row without gaps; its dims are known.
void SetDenseStrides(LogicalTensor* tensor);

/// Layout of a tensor that is strided or opaque, with known dims; dense where
/// it is row-major without gaps, whatever the strides of extents of 1 are.
/// kInvalidArgument for strides that are not known, and for ids of layouts of
/// other tensors or of another family of devices; kUnimplemented for strides
/// below 1 and tensors of 4-bit elements that are not dense.
Result<ir::Layout> LayoutOf(const LogicalTensor& tensor, const Engine& engine);

/// Gives `tensor` what a plan has chosen for its port: strided, else opaque.
Status SetLayout(const ir::TensorDesc& desc, const Engine& engine,
                 LogicalTensor* tensor);

/// Whether a client's tensor is the compiled port's: all but the property.
bool IsSamePort(const LogicalTensor& port, const LogicalTensor& tensor);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_PORT_LAYOUTS_H_
