// Rows of neighbouring elements that indices choose: Gather, GatherNd,
// EmbeddingLookup, and what HashtableLookup found.
#ifndef TIM_OPS_INDEXING_ROWS_H_
#define TIM_OPS_INDEXING_ROWS_H_

#include <cstdint>
#include <vector>

#include "ir/kernel_def.h"
#include "ir/op_schema.h"
#include "ops/indexing/indices.h"

namespace tim::ops {

/// Row (b * middle + m) * count + j of the output is, in elements of the input,
///   b * batch_stride + m * middle_stride + place of coordinate b * count + j.
struct RowLookup {
  int data = 0;     ///< Which input has the rows,
  int indices = 1;  ///< and which chooses them.
  int64_t run = 1;  ///< Elements of a row.
  int64_t count = 1;
  int64_t middle = 1;
  int64_t middle_stride = 0;
  int64_t batches = 1;
  int64_t batch_stride = 0;
  std::vector<Coordinate> coordinate;
  IndexRule rule;

  int64_t rows() const { return batches * middle * count; }
};

Status EvalRows(const RowLookup& lookup, const ir::EvalContext& context);

/// Whether the kernel moves such elements by such indices.
Status SupportsRows(const ir::KernelNode& node, int data, int indices);

/// Adds the launch to `lowering`.
Status AppendRows(const ir::KernelNode& node, const RowLookup& lookup,
                  const ir::DeviceInfo& device, ir::Lowering* lowering);
/// The same with the row's number, or -1 for a row of real zeros, in scratch
/// memory `scratch` of the lowering; the coordinate is one index.
Status AppendFoundRows(const ir::KernelNode& node, const RowLookup& lookup,
                       int scratch, const ir::DeviceInfo& device,
                       ir::Lowering* lowering);

}  // namespace tim::ops

#endif  // TIM_OPS_INDEXING_ROWS_H_
