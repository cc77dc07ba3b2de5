// std::to_string() of a float follows the process's locale.
#include "custom_ops/number_text.h"

#include <charconv>

namespace tim {
namespace custom_ops {

std::string NumberText(float value) {
  char text[64];  // FLT_MAX takes 46
  return {text, std::to_chars(text, text + sizeof(text), value,
                              std::chars_format::fixed, 6)
                    .ptr};
}

}  // namespace custom_ops
}  // namespace tim
