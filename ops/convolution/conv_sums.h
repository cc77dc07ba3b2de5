// Convolutions of any type and any number of axes, transposed or not: `eval`,
// the kernel of conv_sums.cl, and the schema of those that are not transposed.
#ifndef TIM_OPS_CONVOLUTION_CONV_SUMS_H_
#define TIM_OPS_CONVOLUTION_CONV_SUMS_H_

#include <cstdint>

#include "ir/kernel_def.h"
#include "ir/op_schema.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/elements/data_layout.h"
#include "ops/launch/prices.h"

namespace tim::ops {

enum class ConvForm : uint8_t { kDirect, kTransposed };

/// Stores the sums of `shape`.
Status EvalConv(const ir::EvalContext& context, const ConvShape& shape,
                ConvForm form);

/// The problem of `shape` and what follows its sums, or why conv_sums.cl does
/// not take it.
Result<ConvProblem> ConvSumsOf(const ir::KernelNode& node,
                               const ConvShape& shape);
Result<ir::Lowering> LowerConvSums(const ConvProblem& problem,
                                   const ir::KernelNode& node,
                                   const ir::DeviceInfo& device, ConvForm form);

/// A convolution along so many axes, for layouts in which the channels follow
/// them.
ir::OpSchema ConvSchema(const char* name, int axes, DataLayout input_layout,
                        DataLayout kernel_layout);
/// The kernel of an operator of ConvSchema().  \param output_terms An output
/// takes as long as so many terms, besides its own.
ir::KernelDef ConvKernel(const char* op, const char* name, int64_t output_terms,
                         const Price& price);

}  // namespace tim::ops

#endif  // TIM_OPS_CONVOLUTION_CONV_SUMS_H_
