// The subcommands and options of timcl.
#ifndef TIM_TOOLS_TIMCL_COMMAND_LINE_H_
#define TIM_TOOLS_TIMCL_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/timcl/arguments.h"

namespace tim::tool {

/// A parser that fills `arguments`, which must outlive it.  Man page and
/// completion are made of it, too.
std::unique_ptr<CLI::App> MakeCommandLine(Arguments* arguments);

/// The words that name the subcommand that was parsed: "cache show".
std::string CommandOf(const CLI::App& app);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_COMMAND_LINE_H_
