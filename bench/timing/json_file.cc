#include "bench/timing/json_file.h"

#include <fstream>

namespace tim::bench {

Status WriteJson(const nlohmann::json& json, const std::string& path) {
  if (path.empty()) return OkStatus();
  std::ofstream file(path);
  file << json.dump(2) << "\n";
  file.close();
  if (file.good()) return OkStatus();
  return FailedPrecondition(path, " cannot be written");
}

Result<nlohmann::json> ReadJson(const std::string& path) {
  if (path.empty()) return nlohmann::json();
  std::ifstream file(path);
  if (!file.good()) return NotFound(path, " cannot be read");
  auto json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return InvalidArgument(path, " is not JSON");
  return json;
}

}  // namespace tim::bench
