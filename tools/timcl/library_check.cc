// Loads a library of custom operators in a new process, and hears what it says.
#include "tools/timcl/library_check.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "tim/vx/checked_library.h"
#include "tools/timcl/forked_process.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {
namespace {

using vx::check::LibraryAnswer;
using vx::check::LibraryFault;
using vx::check::LibraryReport;
using vx::check::LibraryRequest;
using CheckFunction = int32_t(const LibraryRequest* request);

// The most cases that are tried to find the one that ends the process, where
// the arguments do not say how many there are.
constexpr uint32_t kMostCases = 256;

// Choice of operators, and how many cases each has.
struct Wanted {
  std::string name = {};   // empty: all
  std::string after = {};  // not empty: those behind it
  uint32_t cases = 0;
};

// Messages of the other process.
struct Received {
  std::vector<CheckedOperator> operators;
  std::string begun;  // name of the operator that is checked
  std::string failure;
  std::optional<int32_t> answer;
  Status problem;  // no answer is expected
  ProcessEnd end;

  bool crashed() const { return problem.ok() && !answer.has_value(); }
};

void Send(const SendLine& send, const Json& json) {
  // Texts of an operator may be no UTF-8.
  send(json.dump(-1, ' ', true, Json::error_handler_t::replace));
}

// Called by the library, through which no exception may pass: out of memory
// ends the process.
void Starts(void* send, const char* name) noexcept {
  Send(*static_cast<const SendLine*>(send), {{"starts", name}});
}

void Ends(void* send, const LibraryReport* report) noexcept {
  Json faults = Json::array();
  for (uint32_t i = 0; i < report->fault_count; ++i) {
    const LibraryFault& fault = report->faults[i];
    faults.push_back({{"kind", fault.kind},
                      {"device", fault.device_name},
                      {"operand", fault.operand},
                      {"actual", fault.actual},
                      {"expected", fault.expected},
                      {"text", fault.text},
                      {"program", fault.program},
                      {"element", fault.element}});
  }
  Send(*static_cast<const SendLine*>(send),
       {{"ends", report->name},
        {"mistake", report->mistake},
        {"text", report->text},
        {"cases", report->cases},
        {"local_cases", report->local_cases},
        {"faults", faults}});
}

void Fails(void* send, const char* message) noexcept {
  Send(*static_cast<const SendLine*>(send), {{"fails", message}});
}

// The library stays loaded: threads and static objects of it may be in use.
Result<CheckFunction*> Load(const std::string& path) {
  std::error_code error;
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

// Work of the new process.
void CheckAndSend(const Arguments& arguments, const Wanted& wanted,
                  const SendLine& send) {
  // The library has a TIM-CL of its own, which reads it when it is first used.
  if (!arguments.device.empty()) {
    setenv("TIMCL_DEVICE", arguments.device.c_str(), 1);
  }
  const auto function = Load(arguments.file);
  if (!function.ok()) {
    Send(send, {{"not_found", function.status().message()}});
    return;
  }
  SendLine receiver = send;
  const auto& seed = arguments.check.seed;
  const LibraryRequest request = {
      vx::check::kLibraryVersion,
      wanted.cases,
      seed ? &*seed : nullptr,
      wanted.name.empty() ? nullptr : wanted.name.c_str(),
      wanted.after.empty() ? nullptr : wanted.after.c_str(),
      &receiver,
      Starts,
      Ends,
      Fails};
  Send(send, {{"answer", (*function)(&request)}});
}

CheckedOperator OperatorIn(const Json& line) {
  CheckedOperator checked = {.name = line["ends"],
                             .mistake = line["mistake"],
                             .text = line["text"],
                             .cases = line["cases"],
                             .local_cases = line["local_cases"],
                             .faults = {}};
  for (const Json& fault : line["faults"]) {
    checked.faults.push_back({.kind = fault["kind"],
                              .device = fault["device"],
                              .operand = fault["operand"],
                              .actual = fault["actual"],
                              .expected = fault["expected"],
                              .text = fault["text"],
                              .program = fault["program"],
                              .element = fault["element"],
                              .file = {}});
  }
  return checked;
}

// False: it is the last line.
bool Receive(const std::string& text, Received* received) {
  const Json line = Json::parse(text);
  if (line.contains("starts")) {
    received->begun = line["starts"];
    ShowProgress(StrCat("checking ", received->begun));
  }
  if (line.contains("fails")) received->failure = line["fails"];
  if (line.contains("answer")) received->answer = line["answer"];
  if (line.contains("not_found")) {
    received->problem = NotFound(line["not_found"].get<std::string>());
  }
  if (line.contains("ends")) {
    received->operators.push_back(OperatorIn(line));
    received->begun.clear();
  }
  return received->crashed();
}

Result<Received> CheckForked(const Arguments& arguments, const Wanted& wanted) {
  Received received;
  TIM_ASSIGN_OR_RETURN(
      received.end,
      RunForked(
          [&](const SendLine& send) { CheckAndSend(arguments, wanted, send); },
          [&](const std::string& line) { return Receive(line, &received); }));
  return received;
}

// True where the operator ends the process within its first cases.
Result<bool> EndsWithin(const Arguments& arguments, const std::string& name,
                        uint32_t cases) {
  TIM_ASSIGN_OR_RETURN(const Received received,
                       CheckForked(arguments, {.name = name, .cases = cases}));
  return received.crashed();
}

// The fewest cases with which the operator ends the process; 0: it does not,
// the next time.  A case is the same, however many there are.
Result<uint32_t> FewestCases(const Arguments& arguments,
                             const std::string& name) {
  const uint32_t given = arguments.check.cases;
  const uint32_t most = given > 0 ? given : kMostCases;
  uint32_t enough = 1;
  uint32_t too_few = 0;
  while (true) {
    TIM_ASSIGN_OR_RETURN(const bool ends, EndsWithin(arguments, name, enough));
    if (ends) break;
    if (enough == most) return uint32_t{0};
    too_few = enough;
    enough = std::min(2 * enough, most);
  }
  while (enough - too_few > 1) {
    const uint32_t middle = too_few + (enough - too_few) / 2;
    TIM_ASSIGN_OR_RETURN(const bool ends, EndsWithin(arguments, name, middle));
    (ends ? enough : too_few) = middle;
  }
  return enough;
}

Result<CheckedOperator> OperatorThatEnds(const Arguments& arguments,
                                         const Received& received) {
  TIM_ASSIGN_OR_RETURN(const uint32_t cases,
                       FewestCases(arguments, received.begun));
  std::string text = StrCat("it ends the process: ", received.end.ToString());
  text += cases > 0 ? StrCat(", in case ", cases - 1, "; `timcl check` with ",
                             received.begun, " --cases ", cases, " repeats it")
                    : ", but not each time";
  CheckedOperator checked;
  checked.name = received.begun;
  checked.text = text;
  checked.faults.emplace_back();
  checked.faults.back().kind = "end of the process";
  checked.faults.back().text = text;
  return checked;
}

Status AnswerOf(const Arguments& arguments, const Received& received) {
  const int32_t answer = *received.answer;
  const std::string failure =
      StrCat("'", arguments.file, "': ", received.failure);
  if (answer == static_cast<int32_t>(LibraryAnswer::kDone)) return OkStatus();
  if (answer == static_cast<int32_t>(LibraryAnswer::kNoSuchOperator)) {
    return InvalidArgument(failure);
  }
  if (answer < 0) return FailedPrecondition(failure);
  return NotFound("'", arguments.file, "' was built for version ", answer,
                  " of the check, this program is of version ",
                  uint32_t{vx::check::kLibraryVersion},
                  "; build it against the TIM-CL that this program came with");
}

Status CheckFile(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error || !std::filesystem::exists(status)) {
    return NotFound("'", path, "' cannot be read: ",
                    error ? error.message() : "No such file or directory");
  }
  if (!std::filesystem::is_directory(status)) return OkStatus();
  return NotFound("'", path, "' cannot be read: it is a folder");
}

}  // namespace

Result<std::vector<CheckedOperator>> CheckOperators(
    const Arguments& arguments) {
  TIM_RETURN_IF_ERROR(CheckFile(arguments.file));
  std::vector<CheckedOperator> all;
  Wanted wanted = {.name = arguments.check.name,
                   .cases = arguments.check.cases};
  while (true) {
    TIM_ASSIGN_OR_RETURN(Received received, CheckForked(arguments, wanted));
    TIM_RETURN_IF_ERROR(received.problem);
    std::move(received.operators.begin(), received.operators.end(),
              std::back_inserter(all));
    const bool crashed = received.crashed();
    if (crashed && !received.begun.empty()) {
      TIM_ASSIGN_OR_RETURN(all.emplace_back(),
                           OperatorThatEnds(arguments, received));
      if (!wanted.name.empty()) return all;
      // Operators behind it are checked in a process of their own.
      wanted.after = received.begun;
      continue;
    }
    if (!crashed) TIM_RETURN_IF_ERROR(AnswerOf(arguments, received));
    const ProcessEnd& end = received.end;
    if (!crashed && end.signal == 0 && end.exit_status == 0) return all;
    return FailedPrecondition("'", arguments.file,
                              "' ends the process, while it checks no "
                              "operator: ",
                              end.ToString());
  }
}

}  // namespace tim::tool
