// `timcl check`: custom operators of a shared library, tried on every device.
#include <string>
#include <vector>

#include "base/write_file.h"
#include "ir/dump/file_names.h"
#include "tools/timcl/commands.h"
#include "tools/timcl/library_check.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {
namespace {

Status WritePrograms(const std::string& folder,
                     std::vector<CheckedOperator>* all) {
  if (folder.empty()) return OkStatus();
  ir::FileNames names;
  for (CheckedOperator& checked : *all) {
    for (CheckedFault& fault : checked.faults) {
      if (fault.program.empty()) continue;
      fault.file = StrCat(folder, "/",
                          names.Unique(ir::FileNameOf(checked.name), ".cc"));
      Status status = CreateFolder(folder);
      if (status.ok()) status = WriteFile(fault.file, {fault.program});
      if (!status.ok()) return NotFound(status.message());
    }
  }
  return OkStatus();
}

bool Passed(const CheckedOperator& checked) {
  return checked.mistake.empty() && checked.faults.empty();
}

Json JsonOf(const CheckedOperator& checked) {
  Json faults = Json::array();
  for (const CheckedFault& fault : checked.faults) {
    Json json = {{"kind", fault.kind},       {"device", fault.device},
                 {"operand", fault.operand}, {"element", fault.element},
                 {"actual", fault.actual},   {"expected", fault.expected},
                 {"text", fault.text}};
    if (!fault.file.empty()) json["program"] = fault.file;
    faults.push_back(json);
  }
  return {{"name", checked.name},
          {"passed", Passed(checked)},
          {"mistake", checked.mistake},
          {"cases", checked.cases},
          {"local_cases", checked.local_cases},
          {"faults", faults}};
}

std::string TextOf(const CheckedOperator& checked) {
  std::string text = StrCat(checked.name, ": ", checked.text, "\n");
  for (const CheckedFault& fault : checked.faults) {
    if (!fault.file.empty()) text += StrCat("written   ", fault.file, "\n");
  }
  return text;
}

}  // namespace

Result<ExitCode> CheckLibrary(const Arguments& arguments) {
  TIM_ASSIGN_OR_RETURN(std::vector<CheckedOperator> all,
                       CheckOperators(arguments));
  TIM_RETURN_IF_ERROR(WritePrograms(arguments.check.programs, &all));
  bool passed = true;
  Json json = Json::array();
  std::string text;
  for (const CheckedOperator& checked : all) {
    passed = passed && Passed(checked);
    json.push_back(JsonOf(checked));
    text += TextOf(checked);
  }
  if (arguments.json) {
    PrintJson(json);
  } else {
    Print(text);
  }
  return passed ? kDone : kDiffers;
}

}  // namespace tim::tool
