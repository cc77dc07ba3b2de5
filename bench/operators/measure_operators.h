// Shares of the machine's limits that single operators reach.
#ifndef TIM_BENCH_OPERATORS_MEASURE_OPERATORS_H_
#define TIM_BENCH_OPERATORS_MEASURE_OPERATORS_H_

#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "bench/timing/interleaved.h"

namespace tim::bench {

/// The limit of OperatorCases() and ByteCases() is the slower of multiply-adds
/// at the measured peak (of bytes where the device has VNNI or AMX) and reads
/// and writes at the measured read bandwidth; that of BandwidthCases() and
/// QuantizedCases() a kernel that copies.
struct OperatorResult {
  std::string name;
  std::string unit;      ///< "gflops" or "gbps": which limit is the slower.
  double rate = 0;       ///< Of the operator's kernels, packing included.
  double limit = 0;      ///< Measured beside them, in the same unit.
  double run_share = 0;  ///< Of Graph::Run(): copies and reorders included.

  double share() const { return rate / limit; }
};

/// Of the cases for whose names `asked` is true.
Result<std::vector<OperatorResult>> MeasureOperators(
    Effort effort, const std::function<bool(const std::string& name)>& asked);

}  // namespace tim::bench

#endif  // TIM_BENCH_OPERATORS_MEASURE_OPERATORS_H_
