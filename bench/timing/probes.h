// Probes of what the machine can do at most, beside those of the library.
#ifndef TIM_BENCH_TIMING_PROBES_H_
#define TIM_BENCH_TIMING_PROBES_H_

#include "bench/timing/timed_plan.h"
#include "runtime/probes.h"

namespace tim::bench {

using runtime::Probe;

/// Long enough for a median.
Probe FmaProbe(const Devices& devices);
/// The same of products of bytes, four in each lane, by AVX512-VNNI, for
/// devices that have it.
Probe VnniProbe(const Devices& devices);
/// Products of bytes by tiles of AMX, for devices that have it.
Probe AmxProbe(const Devices& devices);
/// Sums 512 MiB, which exceed the caches.
Probe ReadProbe(const Devices& devices);
/// Copies 16 MiB, four times in a row; counts what it reads and what it writes.
Probe CopyProbe(const Devices& devices);

}  // namespace tim::bench

#endif  // TIM_BENCH_TIMING_PROBES_H_
