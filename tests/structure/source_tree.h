#ifndef TIM_TESTS_STRUCTURE_SOURCE_TREE_H_
#define TIM_TESTS_STRUCTURE_SOURCE_TREE_H_

#include <string>
#include <vector>

namespace tim::structure {

/// Files under `folder` with one of `extensions` (".h"), or all of them where
/// none is given, sorted. Names are relative to the repository's root, which is
/// where tests run.
std::vector<std::string> FilesUnder(const std::string& folder,
                                    const std::vector<std::string>& extensions);

std::string ReadText(const std::string& path);
void WriteText(const std::string& path, const std::string& text);

/// "ops/normalization/softmax.cc" -> "softmax"
std::string StemOf(const std::string& path);

/// A folder of the running test's own, created empty.
std::string FreshFolder(const std::string& name);

struct CommandResult {
  int exit_status = -1;
  std::string output;  // standard output and error
};
/// Runs a shell command.
CommandResult RunCommand(const std::string& command);

}  // namespace tim::structure

#endif  // TIM_TESTS_STRUCTURE_SOURCE_TREE_H_
