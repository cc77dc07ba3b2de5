// Sides of a comparison, from a command line, and their runs.
#include "tools/timcl/compared_sides.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "base/options.h"
#include "tools/timcl/graph_file.h"
#include "tools/timcl/model_file.h"
#include "tools/timcl/record.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {
namespace {

// Settings that ParseOptions() sees before those of the environment.
const std::map<std::string, std::string>* g_given = nullptr;

const char* GivenOrEnvironment(const char* name) {
  const auto given = g_given->find(name);
  return given == g_given->end() ? std::getenv(name) : given->second.c_str();
}

bool IsVariable(const std::string& name) {
  const auto table = OptionTable();
  return std::any_of(table.begin(), table.end(),
                     [&](const OptionSpec& spec) { return spec.name == name; });
}

// The environment's options with those that are given as "NAME=VALUE".
Result<Options> OptionsWith(const std::vector<std::string>& settings) {
  std::map<std::string, std::string> given;
  for (const std::string& setting : settings) {
    const size_t equal = setting.find('=');
    const std::string name = setting.substr(0, equal);
    if (equal == std::string::npos || !IsVariable(name)) {
      return InvalidArgument("'", setting,
                             "' sets no variable of the library; expected "
                             "VARIABLE=VALUE, as TIMCL_WINOGRAD=0");
    }
    given[name] = setting.substr(equal + 1);
  }
  g_given = &given;
  std::string warnings;
  Options options = ParseOptions(GivenOrEnvironment, &warnings);
  g_given = nullptr;
  if (warnings.empty()) return options;
  warnings.pop_back();
  return InvalidArgument(warnings);
}

Status CheckDifferent(const Arguments& arguments) {
  const CompareArguments& compare = arguments.compare;
  const std::string other =
      compare.other_device.empty() ? "host" : compare.other_device;
  const bool same_file =
      compare.other_file.empty() || compare.other_file == arguments.file;
  if (same_file && compare.set == compare.other_set &&
      arguments.device == other) {
    return InvalidArgument(
        "both runs are the same; give another file, --other-device or "
        "--other-set");
  }
  return OkStatus();
}

}  // namespace

Tolerances TolerancesOf(const Arguments& arguments) {
  Tolerances tolerances = {.codes = arguments.compare.codes};
  if (arguments.compare.tolerance >= 0) {
    tolerances.relative = arguments.compare.tolerance;
  }
  return tolerances;
}

Result<Sides> SidesOf(const Arguments& arguments) {
  const CompareArguments& compare = arguments.compare;
  TIM_RETURN_IF_ERROR(CheckDifferent(arguments));
  Sides sides;
  Side& first = sides[0];
  Side& second = sides[1];
  first.name = "first";
  second.name = "second";
  first.file = arguments.file;
  second.file =
      compare.other_file.empty() ? arguments.file : compare.other_file;
  TIM_ASSIGN_OR_RETURN(first.options.options, OptionsWith(compare.set));
  TIM_ASSIGN_OR_RETURN(second.options.options, OptionsWith(compare.other_set));
  first.options.device = arguments.device;
  second.options.device = compare.other_device;
  if (second.options.device.empty()) {
    const bool other_given =
        !compare.other_file.empty() || !compare.other_set.empty();
    second.options.device = other_given ? arguments.device : "host";
  }
  const bool any_model = FormatOf(first.file) != ModelFormat::kNone ||
                         FormatOf(second.file) != ModelFormat::kNone;
  for (Side& side : sides) {
    const bool model = FormatOf(side.file) != ModelFormat::kNone || !any_model;
    TIM_ASSIGN_OR_RETURN(
        side.blob,
        OpenGraphFile(side.file, model ? arguments.model : ModelArguments()));
  }
  TIM_ASSIGN_OR_RETURN(first.inputs, MakeTensors(first.blob.inputs));
  TIM_ASSIGN_OR_RETURN(const auto record, RecordIn(first.blob));
  TIM_RETURN_IF_ERROR(FillInputs(arguments.run,
                                 InputsOf(record, first.blob, arguments.run),
                                 &first.inputs));
  TIM_ASSIGN_OR_RETURN(second.inputs,
                       ConvertInputs(first.inputs, second.blob.inputs));
  return sides;
}

Result<Runs> RecordBoth(const Sides& sides,
                        const std::set<std::string>& apart) {
  Runs runs;
  for (size_t i = 0; i < runs.size(); ++i) {
    ShowProgress(StrCat("the ", sides[i].name, " run"));
    RecordedRunOptions options = sides[i].options;
    options.apart = apart;
    auto run = Record(sides[i].blob, sides[i].inputs, options);
    if (!run.ok()) {
      const Status status =
          run.status().WithContext(StrCat("the ", sides[i].name, " run"));
      return status.code() == StatusCode::kInvalidArgument ? AsFailed(status)
                                                           : status;
    }
    runs[i] = *std::move(run);
  }
  return runs;
}

}  // namespace tim::tool
