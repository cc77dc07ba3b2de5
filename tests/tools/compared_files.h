// Calls of `timcl compare` that find a difference, and what they cut out.
#ifndef TIM_TESTS_TOOLS_COMPARED_FILES_H_
#define TIM_TESTS_TOOLS_COMPARED_FILES_H_

#include <string>

#include "tests/tools/timcl_program.h"

namespace tim::tool {

/// The JSON of a call that finds a difference.
inline nlohmann::json Differing(const std::string& arguments) {
  const CommandResult result = Timcl(arguments + " --json");
  EXPECT_EQ(result.exit_status, 1) << result.output;
  return nlohmann::json::parse(result.output, nullptr, false);
}

/// The JSON of the command that repeats what was cut out.
inline nlohmann::json Repeated(const nlohmann::json& json) {
  const std::string command =
      json.is_object() && json["reduced"].is_object()
          ? json["reduced"]["command"].get<std::string>()
          : "";
  if (command.substr(0, 6) != "timcl ") {
    ADD_FAILURE() << "no command repeats it: " << json;
    return {};
  }
  return Differing(command.substr(6));
}

}  // namespace tim::tool

#endif  // TIM_TESTS_TOOLS_COMPARED_FILES_H_
