#include "bench/operators/report.h"

namespace tim::bench {

using nlohmann::json;

json ToJson(const std::vector<OperatorResult>& results, const json& clblast) {
  json list = json::array();
  for (const OperatorResult& result : results) {
    json& entry = list.emplace_back(json{{"name", result.name},
                                         {"share", result.share()},
                                         {result.unit, result.rate},
                                         {"limit", result.limit},
                                         {"run_share", result.run_share}});
    for (const json& other : clblast) {
      if (other["name"] == result.name) {
        entry["clblast_gflops"] = other["gflops"];
      }
    }
  }
  return list;
}

}  // namespace tim::bench
