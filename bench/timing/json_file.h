#ifndef TIM_BENCH_TIMING_JSON_FILE_H_
#define TIM_BENCH_TIMING_JSON_FILE_H_

#include <nlohmann/json.hpp>
#include <string>

#include "base/status.h"

namespace tim::bench {

/// Does nothing where `path` is empty.
Status WriteJson(const nlohmann::json& json, const std::string& path);
/// null where `path` is empty.
Result<nlohmann::json> ReadJson(const std::string& path);

}  // namespace tim::bench

#endif  // TIM_BENCH_TIMING_JSON_FILE_H_
