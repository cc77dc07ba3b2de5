#include "bench/operators/report.h"

#include <cstdio>

namespace tim::bench {
namespace {

using nlohmann::json;

constexpr int kLineBytes = 200;

std::string Line(const json& result) {
  const bool computes = result.contains("gflops");
  const double rate = result.value(computes ? "gflops" : "gbps", 0.0);
  char clblast[32] = "";
  if (result.contains("clblast_gflops")) {
    std::snprintf(clblast, sizeof(clblast), "%8.1f",
                  result["clblast_gflops"].get<double>());
  }
  char line[kLineBytes];
  std::snprintf(line, sizeof(line), "%-34s %8.1f %8.1f %-8s %5.2f %9.2f %s\n",
                result["name"].get<std::string>().c_str(), rate,
                result["limit"].get<double>(), computes ? "GFLOP/s" : "GB/s",
                result["share"].get<double>(),
                result["run_share"].get<double>(), clblast);
  return line;
}

}  // namespace

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

std::string ToTable(const json& results) {
  char heading[kLineBytes];
  std::snprintf(heading, sizeof(heading), "%-34s %8s %8s %-8s %5s %9s %8s\n",
                "kernels", "rate", "limit", "", "share", "run share",
                "CLBlast");
  std::string table = heading;
  for (const json& result : results) table += Line(result);
  return table;
}

}  // namespace tim::bench
