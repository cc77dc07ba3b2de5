// Checks the operators of a shared library for the program that has loaded it.
#include "tim/vx/checked_library.h"

#include <set>

#include "base/guarded.h"
#include "base/status.h"
#include "base/str_cat.h"

namespace tim::vx::check {
namespace {

int32_t Answer(LibraryAnswer answer) { return static_cast<int32_t>(answer); }

Status CheckNames(const std::vector<NamedOperator>& operators) {
  std::set<std::string> names;
  for (const NamedOperator& named : operators) {
    if (named.name.empty()) {
      return InvalidArgument("operator ", names.size(), " has no name");
    }
    if (!names.insert(named.name).second) {
      return InvalidArgument("two operators have the name '", named.name, "'");
    }
  }
  if (!names.empty()) return OkStatus();
  return InvalidArgument("it names no operators to be checked");
}

Status FindName(const std::vector<NamedOperator>& operators,
                const std::string& name) {
  std::vector<std::string> names;
  for (const NamedOperator& named : operators) {
    if (named.name == name) return OkStatus();
    names.push_back(named.name);
  }
  return NotFound("it has no operator '", name, "'; there are ",
                  StrJoin(names, ", "));
}

void Report(const NamedOperator& named, const CheckResult& result,
            const LibraryRequest& request) {
  std::vector<LibraryFault> faults;
  for (const Fault& fault : result.faults) {
    faults.push_back(
        {ToString(fault.kind), fault.device, fault.device_name.c_str(),
         fault.operand.c_str(), fault.element, fault.actual.c_str(),
         fault.expected.c_str(), fault.text.c_str(), fault.program.c_str()});
  }
  const LibraryReport report = {
      named.name.c_str(),  result.mistake.c_str(),
      result.text.c_str(), result.cases,
      result.local_cases,  static_cast<uint32_t>(faults.size()),
      faults.data()};
  request.ends(request.receiver, &report);
}

Status Check(std::vector<NamedOperator> (*function)(),
             const LibraryRequest& request) {
  const std::vector<NamedOperator> operators = function();
  TIM_RETURN_IF_ERROR(CheckNames(operators));
  for (const char* name : {request.name, request.after}) {
    if (name != nullptr) TIM_RETURN_IF_ERROR(FindName(operators, name));
  }
  bool has_begun = request.after == nullptr;
  for (const NamedOperator& named : operators) {
    if (!has_begun) {
      has_begun = named.name == request.after;
      continue;
    }
    if (request.name != nullptr && named.name != request.name) continue;
    request.starts(request.receiver, named.name.c_str());
    CheckOptions options = named.options;
    if (request.cases > 0) options.cases = request.cases;
    if (request.seed != nullptr) options.seed = *request.seed;
    Report(named, CheckCustomOp(named.checked, options), request);
  }
  return OkStatus();
}

}  // namespace

int32_t CheckLibrary(std::vector<NamedOperator> (*operators)(),
                     const LibraryRequest* request) {
  if (request->version != kLibraryVersion) {
    return static_cast<int32_t>(kLibraryVersion);
  }
  const Status status = GuardedCall([&] { return Check(operators, *request); });
  if (status.ok()) return Answer(LibraryAnswer::kDone);
  request->fails(request->receiver, status.message().c_str());
  return Answer(status.code() == StatusCode::kNotFound
                    ? LibraryAnswer::kNoSuchOperator
                    : LibraryAnswer::kFailed);
}

}  // namespace tim::vx::check
