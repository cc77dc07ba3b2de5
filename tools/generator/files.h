// Files that generate_sources reads and writes.
#ifndef TIM_TOOLS_GENERATOR_FILES_H_
#define TIM_TOOLS_GENERATOR_FILES_H_

#include <stdexcept>
#include <string>

namespace tim::generator {

/// What the user did wrong; ends the program.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string ReadFile(const std::string& path);
void WriteFile(const std::string& path, const std::string& text);

/// `text` as adjacent raw string literals, cut behind a line where possible.
std::string RawLiterals(const std::string& text);

}  // namespace tim::generator

#endif  // TIM_TOOLS_GENERATOR_FILES_H_
