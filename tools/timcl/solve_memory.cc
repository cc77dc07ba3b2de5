// `timcl solve-memory`: offsets for a memory problem, or whether those of a
// layout are right.
#include <chrono>
#include <string>
#include <utility>

#include "base/write_file.h"
#include "tools/timcl/commands.h"
#include "tools/timcl/memory_problem.h"
#include "tools/timcl/read_file.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {
namespace {

Result<ExitCode> Check(const NamedProblem& problem, int64_t capacity,
                       const std::string& file) {
  const Status status = CheckOffsets(problem, capacity);
  if (status.code() == StatusCode::kInvalidArgument) {
    return status.WithContext(file);
  }
  Print(StrCat(status.ok() ? "right" : status.message(), "\n"));
  return status.ok() ? kDone : kDiffers;
}

}  // namespace

Result<ExitCode> SolveMemory(const Arguments& arguments) {
  const MemoryArguments& given = arguments.memory;
  TIM_ASSIGN_OR_RETURN(const std::string text, ReadFile(arguments.file));
  auto read = ReadProblem(text);
  if (!read.ok()) return read.status().WithContext(arguments.file);
  NamedProblem problem = *std::move(read);
  if (given.check) return Check(problem, given.capacity, arguments.file);
  const auto solver = compiler::MemorySolverOf(given.solver);
  if (!solver) {
    return InvalidArgument("'", given.solver, "' is no solver; expected ",
                           compiler::kMemorySolverNames);
  }
  problem.problem.alignment = given.alignment;
  const auto begin = std::chrono::steady_clock::now();
  compiler::MemoryLayout layout = compiler::Solve(problem.problem, *solver);
  const std::chrono::duration<double, std::milli> ms =
      std::chrono::steady_clock::now() - begin;
  problem.offsets = std::move(layout.offsets);
  const int64_t bound = compiler::MemoryLowerBound(problem.problem);
  if (!given.out.empty()) {
    const Status status = WriteFile(given.out, {WriteProblem(problem)});
    if (!status.ok()) return NotFound(status.message());
  }
  if (arguments.json) {
    PrintJson({{"peak_bytes", layout.peak},
               {"least_possible_bytes", bound},
               {"proved", layout.proved},
               {"solver", ToString(layout.solver)},
               {"milliseconds", ms.count()}});
  } else if (given.out.empty()) {
    Print(WriteProblem(problem));
  } else {
    Print(StrCat(layout.peak, " bytes by ", ToString(layout.solver),
                 layout.proved
                     ? ", the least possible"
                     : StrCat(", no less than ", bound, " are possible"),
                 "\n"));
  }
  const bool fits = given.capacity < 0 || layout.peak <= given.capacity;
  return fits ? kDone : kDiffers;
}

}  // namespace tim::tool
