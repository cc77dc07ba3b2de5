// What the programs that measure have in common: options, and how they end.
#ifndef TIM_BENCH_TIMING_PROGRAM_H_
#define TIM_BENCH_TIMING_PROGRAM_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "base/status.h"
#include "bench/timing/interleaved.h"

namespace tim::bench {

struct ProgramOptions {
  std::string json_path;  ///< Empty: no file is written.
  Effort effort = Effort::kFull;
};

/// Parses --json, --quick and the options that `app` has, and calls `execute`.
/// The exit status; failures go to stderr.
int RunProgram(CLI::App& app, int argc, char** argv,
               const std::function<Status(const ProgramOptions&)>& execute);

}  // namespace tim::bench

#endif  // TIM_BENCH_TIMING_PROGRAM_H_
