// Pages about a command line, made of its subcommands and options.
#ifndef TIM_TOOLS_TIMCL_PAGES_H_
#define TIM_TOOLS_TIMCL_PAGES_H_

#include <CLI/CLI.hpp>
#include <string>

namespace tim::tool {

/// In the language of man(1).
std::string ManPage(const CLI::App& app);

/// A script for bash that completes words of the command line.
std::string BashCompletion(const CLI::App& app);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_PAGES_H_
