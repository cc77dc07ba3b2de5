// Launches of the kernels of norm_rows.h: norm_rows.cl and norm_rows_simt.cl.
#ifndef TIM_OPS_NORMALIZATION_NORM_ROWS_LAUNCH_H_
#define TIM_OPS_NORMALIZATION_NORM_ROWS_LAUNCH_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/kernel_def.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/prices.h"
#include "ops/normalization/norm_rows.h"

namespace tim::ops {

/// Shorter rows leave too many lanes, or items of a group, idle.
inline constexpr int64_t kShortRow = 32;

struct RowNormProblem {
  NormRows rows;
  /// Inputs of the node: beta and gamma.  None: no such inputs.
  std::vector<int> parameters = {};
  /// Rows are those of the input `in`, or sums of it and of `summand`, whose
  /// rows come again after `summand_rows`.
  int in = 0;
  int summand = -1;
  int64_t summand_rows = 1;
  Epilogue activation = {};
  int operators = 0;  ///< Operators of the node's epilogue.
};

/// An operator that a kernel of rows applies to its results of `begin`; none of
/// no steps.  Or why it should be a step of its own.
Result<Epilogue> RowActivation(const NormRows& rows, const ir::KernelNode& node,
                               std::span<const ir::EpilogueStep> steps,
                               const ir::TensorDesc& begin,
                               const ir::DeviceInfo& device);

/// Ok, or that all cores do the work of operator `name` sooner than the few
/// that make rows.
Status CheckSpread(const NormRows& rows, const std::string& name,
                   const ir::DeviceInfo& device);

/// Ok, or that the device has no groups that share a row.
Status CheckRowGroups(const ir::DeviceInfo& device);

/// A work-item makes rows alone.
const Price& RowNormPrice(RowNorm kind);
Result<ir::Lowering> LowerRows(const RowNormOp& op,
                               const RowNormProblem& problem,
                               const ir::KernelNode& node,
                               const ir::DeviceInfo& device);

/// Work-items of a group share a row.
const Price& SharedRowNormPrice(RowNorm kind);
Result<ir::Lowering> LowerSharedRows(const RowNormOp& op,
                                     const RowNormProblem& problem,
                                     const ir::KernelNode& node);

}  // namespace tim::ops

#endif  // TIM_OPS_NORMALIZATION_NORM_ROWS_LAUNCH_H_
