// Who makes matrix products, and who needs them.
//
// A provider is one file over GemmProblem and a line in gemm_provider.cc; an
// operator that is such a product gets a kernel of every provider by one call
// of AddGemmKernels.
#ifndef TIM_OPS_GEMM_GEMM_PROVIDER_H_
#define TIM_OPS_GEMM_GEMM_PROVIDER_H_

#include <span>
#include <string>

#include "ir/kernel_def.h"
#include "ir/op_registry.h"
#include "ops/gemm/gemm_problem.h"

namespace tim::ops {

/// One variant of the product of a node.  The functions are those of
/// ir::KernelDef with the problem, which has been read from the node; they are
/// pure, and any thread may call them.
struct GemmProvider {
  /// Kernels are called "<stem of the operator>_<name>".
  const char* name;
  const char* device_kind;
  /// Ok, or why not: the device, types, sizes.  Epilogue and 32-bit positions
  /// of the operands have been checked.
  Status (*supports)(const ir::KernelNode&, const GemmProblem&,
                     const ir::DeviceInfo&);
  double (*cost)(const ir::KernelNode&, const GemmProblem&,
                 const ir::DeviceInfo&);
  Result<ir::Lowering> (*lower)(const ir::KernelNode&, const GemmProblem&,
                                const ir::DeviceInfo&);
};

/// Packed panels, for CPUs.
extern const GemmProvider kGemmPanels;
/// Packed panels of 8-bit codes, for CPUs.
extern const GemmProvider kGemmI8;
/// Tiles in local memory, for GPUs.
extern const GemmProvider kGemmSimt;
/// The same of 8-bit codes.
extern const GemmProvider kGemmI8Simt;
/// The device's library, for GPUs.
extern const GemmProvider kGemmClblast;

/// All of them.
std::span<const GemmProvider* const> GemmProviders();

/// An operator each node of which is one product, with output channels along
/// axis 0.
struct GemmOperator {
  std::string op;    ///< "tim.Matmul"
  std::string stem;  ///< "matmul"
  /// The product and what follows it, or why no provider can make it: an
  /// epilogue, positions that need more than 32 bits.
  Result<GemmProblem> (*problem)(const ir::KernelNode&);
};

/// Adds a kernel per provider.
void AddGemmKernels(const GemmOperator& op, ir::OpRegistry& registry);

}  // namespace tim::ops

#endif  // TIM_OPS_GEMM_GEMM_PROVIDER_H_
