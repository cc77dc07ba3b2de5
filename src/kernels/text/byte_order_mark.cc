// What of a text no compiler takes behind other text.
#include "kernels/text/byte_order_mark.h"

#include <string_view>

namespace tim::kernels {
namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";
// UTF-32's little-endian one begins with the same bytes.
constexpr std::string_view kMarksOfUtf16[] = {"\xFE\xFF", "\xFF\xFE"};

}  // namespace

Result<std::string> WithoutByteOrderMarks(std::string text) {
  for (const std::string_view mark : kMarksOfUtf16) {
    if (std::string_view(text).starts_with(mark)) {
      return InvalidArgument(
          "the text begins with the byte-order mark of UTF-16; OpenCL C is "
          "compiled from UTF-8");
    }
  }
  for (size_t at = text.find(kMark); at != std::string::npos;
       at = text.find(kMark, at)) {
    if (at == 0 || text[at - 1] == '\n') {
      text.erase(at, kMark.size());
    } else {
      at += kMark.size();
    }
  }
  return text;
}

}  // namespace tim::kernels
