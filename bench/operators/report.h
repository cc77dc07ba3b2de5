// Results of single operators as JSON.
#ifndef TIM_BENCH_OPERATORS_REPORT_H_
#define TIM_BENCH_OPERATORS_REPORT_H_

#include <nlohmann/json.hpp>
#include <vector>

#include "bench/operators/measure_operators.h"

namespace tim::bench {

/// A list of {"name", "share", "gflops" or "gbps", "limit", "run_share"} and,
/// where CLBlast computes the same, "clblast_gflops".  `clblast` is a list of
/// {"name", "gflops"}, or null.
nlohmann::json ToJson(const std::vector<OperatorResult>& results,
                      const nlohmann::json& clblast);

}  // namespace tim::bench

#endif  // TIM_BENCH_OPERATORS_REPORT_H_
