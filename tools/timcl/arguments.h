// Requests that a command line of timcl makes.
#ifndef TIM_TOOLS_TIMCL_ARGUMENTS_H_
#define TIM_TOOLS_TIMCL_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tim::tool {

struct RunArguments {
  int runs = 20;    ///< That are measured; none: only the first one is.
  int warm_up = 3;  ///< Runs after the first that are not measured.
  /// Seed of random inputs; nothing: those of a record are taken, else it is 1.
  std::optional<uint64_t> seed = {};
  /// "FILE" of the next input, or "INPUT=FILE" by its name or number.
  std::vector<std::string> inputs;
  std::string outputs;  ///< Folder for them; empty: they are not kept.
  bool anew = false;    ///< Without the file's plan and programs.
  bool compile_times = false;
};

struct CompareArguments {
  std::string other_file;    ///< Empty: the same.
  std::string other_device;  ///< Empty: see docs/timcl.md.
  /// "TIMCL_WINOGRAD=0", in place of the environment's.
  std::vector<std::string> set, other_set;
  double tolerance = -1;  ///< Less than 0: by the type.
  int64_t codes = 0;
  std::string reduce;  ///< Folder for the part that differs; empty: none.
};

struct CheckArguments {
  std::string name;    ///< The only operator that is checked; empty: all are.
  uint32_t cases = 0;  ///< 0: as the library says.
  std::optional<uint64_t> seed;  ///< Nothing: as the library says.
  std::string programs;  ///< Folder for those that repeat faults; empty: none.
};

struct ReportArguments {
  std::string out;  ///< The page; empty: none is written.
  int runs = 10;    ///< That are measured, at least one, in either way.
};

/// Arguments that a subcommand does not have keep their defaults.
struct Arguments {
  std::string file;    ///< A binary graph; of `check` a shared library.
  std::string device;  ///< A name as TIMCL_DEVICE has it; empty: its own.
  bool json = false;
  bool measure = false;  ///< `devices` measures how fast they are.
  std::string node;      ///< The one that `explain` is asked about; empty: all.
  RunArguments run;
  CompareArguments compare;
  ReportArguments report;
  CheckArguments check;
};

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_ARGUMENTS_H_
