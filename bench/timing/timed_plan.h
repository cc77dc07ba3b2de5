// Times a plan, below the facade.
#ifndef TIM_BENCH_TIMING_TIMED_PLAN_H_
#define TIM_BENCH_TIMING_TIMED_PLAN_H_

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "bench/timing/interleaved.h"
#include "device/device.h"
#include "ir/plan.h"

namespace tim::bench {

/// Devices of a context: [0] is the host, [1] what is measured.
using device::Devices;

/// Those of Context::Create().  kFailedPrecondition where there is no OpenCL.
Result<Devices> MeasuredDevices();

/// A call runs every step of the plan and waits once, for the last.
Result<Timed> TimedPlan(const std::string& name, ir::Plan plan,
                        const Devices& devices);

}  // namespace tim::bench

#endif  // TIM_BENCH_TIMING_TIMED_PLAN_H_
