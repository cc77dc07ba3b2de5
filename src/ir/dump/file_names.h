// Names of tensors as names of files.
#ifndef TIM_IR_DUMP_FILE_NAMES_H_
#define TIM_IR_DUMP_FILE_NAMES_H_

#include <set>
#include <string>
#include <string_view>

namespace tim::ir {

/// `name` as a part of a file's name: letters and digits of ASCII, '-', '.',
/// '_', and other characters of UTF-8 stay, everything else is '_'; it does not
/// begin with a dot, is not empty and at most 100 bytes long.
std::string FileNameOf(std::string_view name);

/// Names of one folder.
class FileNames {
 public:
  /// `stem` and `extension`, with "_2", "_3", … between where that was given
  /// before.
  std::string Unique(const std::string& stem, const std::string& extension);

 private:
  std::set<std::string> given_;
};

}  // namespace tim::ir

#endif  // TIM_IR_DUMP_FILE_NAMES_H_
