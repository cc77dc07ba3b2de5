// What kernels say of nodes.
#ifndef TIM_COMPILER_OFFERS_H_
#define TIM_COMPILER_OFFERS_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/module.h"
#include "ir/kernel_def.h"

namespace tim::compiler {

/// Name under which kernels are registered for a node: its schema's, its
/// anchor's where it is fused, its own where it is a composite.
std::string KernelOpName(const ir::Node& node);

/// What the kernels of a device say of a node, in the order in which they were
/// registered.
std::vector<Offer> OffersOn(const Module& module, const ir::KernelNode& view,
                            int device);

/// The offers of one device, -1: of all but the host.
NodeOffers OffersOf(const Module& module, const ir::KernelNode& view,
                    int device);

/// Microseconds of a node by the cheapest of the offers, everything dense;
/// nothing where no kernel takes it.
std::optional<double> LeastMicroseconds(const Module& module,
                                        const ir::KernelNode& view,
                                        const NodeOffers& offers);

/// LeastMicroseconds() of what OffersOf() gives.
std::optional<double> KernelMicroseconds(const Module& module,
                                         const ir::KernelNode& view,
                                         int device);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_OFFERS_H_
