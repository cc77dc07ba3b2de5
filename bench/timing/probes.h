// What the machine can do at most, as plans of one or more kernels.
#ifndef TIM_BENCH_TIMING_PROBES_H_
#define TIM_BENCH_TIMING_PROBES_H_

#include "bench/timing/timed_plan.h"
#include "ir/plan.h"

namespace tim::bench {

struct Probe {
  ir::Plan plan;
  double work = 0;  ///< Of one run: operations, bytes or launches.
};

/// Chains of float32 multiply-adds in registers, on every compute unit.
Probe FmaProbe(const Devices& devices);
/// The same of products of bytes, four in each lane, by AVX512-VNNI, for
/// devices that have it.
Probe VnniProbe(const Devices& devices);
/// Sums 512 MiB, which exceed the caches.
Probe ReadProbe(const Devices& devices);
/// Copies 16 MiB, four times in a row; counts what it reads and what it writes.
Probe CopyProbe(const Devices& devices);
/// `launches` times a kernel of one work-item that does next to nothing.
Probe LaunchProbe(const Devices& devices, int launches);

}  // namespace tim::bench

#endif  // TIM_BENCH_TIMING_PROBES_H_
