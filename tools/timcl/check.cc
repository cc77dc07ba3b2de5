// `timcl check`: custom operators of a shared library, tried on every device.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/write_file.h"
#include "ir/dump/file_names.h"
#include "tim/vx/checked_library.h"
#include "tools/timcl/commands.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {
namespace {

using vx::check::LibraryAnswer;
using vx::check::LibraryFault;
using vx::check::LibraryReport;
using vx::check::LibraryRequest;
using CheckFunction = int32_t(const LibraryRequest* request);

struct CheckedFault {
  std::string kind, device, operand, actual, expected, text, program;
  int64_t element = -1;
  std::string file;  // of `program`, where it was written
};

struct Checked {
  std::string name, mistake, text;
  uint32_t cases = 0;
  uint32_t local_cases = 0;
  std::vector<CheckedFault> faults;
};

// Answers of a library.
struct Received {
  std::vector<Checked> operators;
  std::string failure;
};

// Called by the library, through which no exception may pass: out of memory
// ends the program.
void Starts(void*, const char* name) noexcept {
  ShowProgress(StrCat("checking ", name));
}

void Ends(void* receiver, const LibraryReport* report) noexcept {
  Checked checked = {.name = report->name,
                     .mistake = report->mistake,
                     .text = report->text,
                     .cases = report->cases,
                     .local_cases = report->local_cases,
                     .faults = {}};
  for (uint32_t i = 0; i < report->fault_count; ++i) {
    const LibraryFault& fault = report->faults[i];
    checked.faults.push_back({.kind = fault.kind,
                              .device = fault.device_name,
                              .operand = fault.operand,
                              .actual = fault.actual,
                              .expected = fault.expected,
                              .text = fault.text,
                              .program = fault.program,
                              .element = fault.element,
                              .file = {}});
  }
  static_cast<Received*>(receiver)->operators.push_back(std::move(checked));
}

void Fails(void* receiver, const char* message) noexcept {
  static_cast<Received*>(receiver)->failure = message;
}

// The library stays loaded: threads and static objects of it may be in use.
Result<CheckFunction*> Load(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error || !std::filesystem::exists(status)) {
    return NotFound("'", path, "' cannot be read: ",
                    error ? error.message() : "No such file or directory");
  }
  if (std::filesystem::is_directory(status)) {
    return NotFound("'", path, "' cannot be read: it is a folder");
  }
  const std::string absolute = std::filesystem::absolute(path, error).string();
  void* const library = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return NotFound("'", path,
                    "' cannot be loaded as a shared library: ", dlerror());
  }
  void* const symbol = dlsym(library, TIM_VX_CHECKED_LIBRARY_SYMBOL);
  if (symbol != nullptr) return reinterpret_cast<CheckFunction*>(symbol);
  return NotFound("'", path,
                  "' names no operators to be checked: put "
                  "TIM_VX_CHECKED_OPERATORS(function) of "
                  "tim/vx/checked_library.h into one of its sources");
}

Result<std::vector<Checked>> CheckOperators(const Arguments& arguments) {
  const CheckArguments& check = arguments.check;
  // The library has a TIM-CL of its own, which reads it when it is first used.
  if (!arguments.device.empty()) {
    setenv("TIMCL_DEVICE", arguments.device.c_str(), 1);
  }
  TIM_ASSIGN_OR_RETURN(CheckFunction* const function, Load(arguments.file));
  Received received;
  const LibraryRequest request = {
      vx::check::kLibraryVersion,
      static_cast<uint32_t>(check.cases),
      check.seed ? &*check.seed : nullptr,
      check.name.empty() ? nullptr : check.name.c_str(),
      &received,
      Starts,
      Ends,
      Fails};
  const int32_t answer = function(&request);
  const std::string failure =
      StrCat("'", arguments.file, "': ", received.failure);
  if (answer == static_cast<int32_t>(LibraryAnswer::kDone)) {
    return std::move(received.operators);
  }
  if (answer == static_cast<int32_t>(LibraryAnswer::kNoSuchOperator)) {
    return InvalidArgument(failure);
  }
  if (answer < 0) return FailedPrecondition(failure);
  return NotFound("'", arguments.file, "' was built for version ", answer,
                  " of the check, this program is of version ",
                  uint32_t{vx::check::kLibraryVersion},
                  "; build it against the TIM-CL that this program came with");
}

Status WritePrograms(const std::string& folder, std::vector<Checked>* all) {
  if (folder.empty()) return OkStatus();
  ir::FileNames names;
  for (Checked& checked : *all) {
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

bool Passed(const Checked& checked) {
  return checked.mistake.empty() && checked.faults.empty();
}

Json JsonOf(const Checked& checked) {
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

std::string TextOf(const Checked& checked) {
  std::string text = StrCat(checked.name, ": ", checked.text, "\n");
  for (const CheckedFault& fault : checked.faults) {
    if (!fault.file.empty()) text += StrCat("written   ", fault.file, "\n");
  }
  return text;
}

}  // namespace

Result<ExitCode> CheckLibrary(const Arguments& arguments) {
  TIM_ASSIGN_OR_RETURN(std::vector<Checked> all, CheckOperators(arguments));
  TIM_RETURN_IF_ERROR(WritePrograms(arguments.check.programs, &all));
  bool passed = true;
  Json json = Json::array();
  std::string text;
  for (const Checked& checked : all) {
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
