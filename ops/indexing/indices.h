// Indices as operands: what they may be, how they are read, and where they
// point.  Kernels: ops/indexing/indices.clh.
#ifndef TIM_OPS_INDEXING_INDICES_H_
#define TIM_OPS_INDEXING_INDICES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/kernel_def.h"
#include "ir/op_schema.h"
#include "kernels/elements.h"
#include "ops/elements/operands.h"
#include "ops/launch/launch.h"

namespace tim::ops {

/// Element i as an index: the code of a plain integer, of other types the real
/// value towards zero, saturated; NaN is below every index.
class IndexReader {
 public:
  explicit IndexReader(const ir::ConstTensor& tensor);
  int64_t operator()(int64_t i) const;

 private:
  bool plain_;
  kernels::ElementReader reader_;
};

enum class Negative : uint8_t {
  kOutside,
  kFromEnd,  ///< The extent is added.
};
enum class Outside : uint8_t {
  kNearest,  ///< The nearest index.
  kIgnored,
};
struct IndexRule {
  Negative negative = Negative::kFromEnd;
  Outside outside = Outside::kNearest;
};
inline constexpr int64_t kNoPlace = -1;

/// Where a coordinate of several indices leads: the sum of index * stride.
struct Coordinate {
  int64_t extent = 1;
  int64_t stride = 0;
};

/// That place for coordinate n of `indices`; kNoPlace where one of its indices
/// is ignored.
int64_t PlaceOf(const IndexReader& indices, int64_t n,
                const std::vector<Coordinate>& coordinate, IndexRule rule);

/// A float or integer type other than uint64.
Status CheckIndices(const ir::NodeView& view, int input);

/// A known type without per-channel quantization.
Status CheckMoved(const ir::NodeView& view, Operand operand, int index);

/// Output `output` has the type and quantization of input `input` where its own
/// is unknown.
void InferTypeFrom(ir::InferContext& context, int input, int output = 0);

/// Indices per coordinate: the fastest extent, 1 for a list of indices.
int64_t CoordinateLength(const ir::Shape& indices);
/// Extents of the coordinates of ranked indices: all but the fastest, or the
/// list's own.
std::vector<int64_t> CoordinateDims(const ir::Shape& indices);
/// A coordinate names at least one dimension and no more than there are.
/// Unknown ranks and extents pass.
Status CheckCoordinateLength(const ir::Shape& indices, const ir::Shape& named);

/// Axes [first, last) stay where they are; else a barrier for the permutation.
Status CheckStay(std::span<const int> perm, int first, int last);

/// Whether a kernel reads such indices.
Status CheckKernelIndices(const ir::TensorDesc& indices);
/// The -D options of indices.clh, with INDEX the indices' type.
void AddIndexOptions(const ir::TensorDesc& indices, IndexRule rule,
                     Launch* launch);
/// The table of a coordinate, {extent, stride} per index.
ir::PackedConstant PackCoordinate(const std::vector<Coordinate>& coordinate);

}  // namespace tim::ops

#endif  // TIM_OPS_INDEXING_INDICES_H_
