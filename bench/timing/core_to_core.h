// How near the processors of this machine are to each other.
#ifndef TIM_BENCH_TIMING_CORE_TO_CORE_H_
#define TIM_BENCH_TIMING_CORE_TO_CORE_H_

namespace tim::bench {

/// The time in which what one processor writes reaches another, nanoseconds:
/// of the first two that the process may use, 0 where there is one only or they
/// cannot be chosen.  Virtual processors move: threads of one core take some
/// 35, cores with a common cache 50, others 200, and all that cores share takes
/// as much longer.
double CoreToCoreNanoseconds();

}  // namespace tim::bench

#endif  // TIM_BENCH_TIMING_CORE_TO_CORE_H_
