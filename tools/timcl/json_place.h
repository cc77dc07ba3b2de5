// Values of a JSON file, each with the place that messages name.
#ifndef TIM_TOOLS_TIMCL_JSON_PLACE_H_
#define TIM_TOOLS_TIMCL_JSON_PLACE_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace tim::tool {

/// The value that `text` is.  Numbers that JSON has not, as C++ prints them
/// (inf, -inf, nan), are read as texts.  kInvalidArgument says where it is no
/// JSON, or is nested too deeply.
Result<nlohmann::json> ParseJson(std::string_view text);

/// A value and "graph[2].inputs[0]", where it is.  The value must outlive it.
///
/// Every failure is kInvalidArgument: "PLACE: expected ..., found ...".
class JsonPlace {
 public:
  JsonPlace(const nlohmann::json& value, std::string path)
      : value_(&value), path_(std::move(path)) {}

  const nlohmann::json& value() const { return *value_; }
  const std::string& path() const { return path_; }

  /// A member of an object; nothing where there is none of the name or it is
  /// null.
  std::optional<JsonPlace> Find(const char* name) const;
  /// A member that must be there.
  Result<JsonPlace> Member(const char* name) const;
  /// An element of an array, or a member of an object that is known to exist.
  JsonPlace At(size_t index) const;
  JsonPlace At(const std::string& name) const;

  Status RequireObject() const;
  Status RequireArray() const;

  /// A whole number, also as 3.0 and as "3".
  Result<int64_t> Integer() const;
  /// A whole number that is not negative.
  Result<size_t> Id() const;
  /// A number, also as "0.5", "inf", "-inf" and "nan".
  Result<float> Float() const;
  /// true, false, 1, 0, also as texts.
  Result<bool> Bool() const;
  Result<std::string> Text() const;

  Status Refuse(std::string_view expected) const;

 private:
  const nlohmann::json* value_;
  std::string path_;
};

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_JSON_PLACE_H_
