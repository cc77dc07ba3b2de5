// The program of a chain: many launches of kernels as one.
//
// A launch costs a wait until the slowest work-item of the one before is done,
// and often the time to wake the other cores, tens of microseconds.  A chain is
// a single launch of as many work-groups as the device has compute units. Each
// takes work-groups of the first launch of the chain, then of the second when
// all of the first are done, and so on.  A work-group waits only for work that
// started ones hold, so that a chain ends however few of them run at a time.
#ifndef TIM_DEVICE_OPENCL_CHAIN_CHAIN_SOURCE_H_
#define TIM_DEVICE_OPENCL_CHAIN_CHAIN_SOURCE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/device_info.h"
#include "ir/step.h"

namespace tim::device {

/// Words of the table, int each, one row per launch, as kernels/chain.cl has
/// it.
enum ChainColumn : int {
  kChainFunction,  ///< Index in ChainSource::functions.
  kChainGroupsX,   ///< Work-groups along dimensions 0 and 1.
  kChainGroupsY,
  kChainDepth,  ///< Work-groups at a position: those along dimension 2, or 1.
  kChainPositions,  ///< What workers share: work-groups in all / depth.
  kChainBatch,      ///< Work-groups that are taken at once.
  kChainTogether,   ///< Launches from this one on that are taken as one.
  kChainArguments,
};

/// Ints between the counters of two workers: a cache line of their own.
inline constexpr int kChainCounterStride = 32;

struct ChainSource {
  std::string text;
  /// Per launch: which function of the program it runs.
  std::vector<int> functions;
  int row = 0;  ///< Words of a row of the table.
};

/// Whether such a device runs chains: with kernels for CPUs, as a GPU starts
/// the next kernel at once and its work-groups want barriers; and where stores
/// are seen in their order, as OpenCL C 1.2 has no other means for a work-group
/// to see what one before it has written.
bool RunsChains(const ir::DeviceInfo& info);

/// The text of kernels/chain.cl with the functions that it calls.  `launches`
/// are chainable; `buffers`: how many pointers the kernel takes.
Result<ChainSource> ChainSourceOf(
    std::span<const ir::KernelLaunch* const> launches, int buffers);

/// Words that an argument takes in the table: a tensor the number of its buffer
/// and its offset in elements, others their bits, structs those of each field.
int ChainWords(const ir::KernelArg& argument);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_CHAIN_CHAIN_SOURCE_H_
