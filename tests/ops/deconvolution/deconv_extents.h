// Transposed convolutions for the tests of their kernels.
#ifndef TIM_TESTS_OPS_DECONVOLUTION_DECONV_EXTENTS_H_
#define TIM_TESTS_OPS_DECONVOLUTION_DECONV_EXTENTS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tim::testing {

struct DeconvExtents {
  std::vector<int64_t> input = {9, 6, 20, 2};
  std::vector<int64_t> kernel = {4, 4, 37};  ///< Kw, Kh, Oc.
  std::vector<int64_t> stride = {2, 2};
  std::vector<int64_t> pad = {1, 1, 1, 1};
  std::vector<int64_t> declared = {};  ///< W, H; empty: inferred.

  std::string ToString() const;
};

/// Strides of 1 to 5 with kernels of 1 to 7.
std::vector<DeconvExtents> PhasesOfEveryStride();
/// Rows of 1 to 29 input pixels: the last tile moves back into its row.
std::vector<DeconvExtents> RowsOfManyWidths();
/// Pads that move the phases.
std::vector<DeconvExtents> ManyPads();
/// Pads below 0 at every end: cells that no input reaches.
std::vector<DeconvExtents> NegativePads();
/// Fewer pixels than phases, and pixels that no tap reaches.
std::vector<DeconvExtents> DeclaredExtents();

}  // namespace tim::testing

#endif  // TIM_TESTS_OPS_DECONVOLUTION_DECONV_EXTENTS_H_
