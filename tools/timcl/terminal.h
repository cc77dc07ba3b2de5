// Texts that timcl writes to stdout and, on a terminal, to stderr.
#ifndef TIM_TOOLS_TIMCL_TERMINAL_H_
#define TIM_TOOLS_TIMCL_TERMINAL_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/status.h"
#include "tools/timcl/commands.h"

namespace tim::tool {

using Json = nlohmann::ordered_json;

void Print(const std::string& text);
/// Bytes that are no UTF-8, in names of tensors, become U+FFFD.
void PrintJson(const Json& json);

/// `code`, or kFailed where stdout has not taken all that was printed.
Result<ExitCode> WithStdout(ExitCode code);

/// Rows as columns of one width each, two spaces apart.
std::string Columns(const std::vector<std::vector<std::string>>& rows);
/// Rows as lines of CSV (RFC 4180, with \n).
std::string Csv(const std::vector<std::vector<std::string>>& rows);

/// "12.35", with as many digits behind the point.
std::string Fixed(double number, int digits);
/// "1.2e-07".
std::string Scientific(double number);
/// "0.52 ms", "1.25 s".
std::string Milliseconds(double ms);
/// "512 bytes", "1.5 MiB".
std::string Bytes(int64_t bytes);

/// A line that says what takes so long, in place of the last one, where stderr
/// is a terminal.
void ShowProgress(const std::string& text);
void ClearProgress();

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_TERMINAL_H_
