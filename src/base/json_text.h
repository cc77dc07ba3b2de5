// Text as a JSON string.
#ifndef TIM_BASE_JSON_TEXT_H_
#define TIM_BASE_JSON_TEXT_H_

#include <string>
#include <string_view>

namespace tim {

/// `text` between quotes, with everything escaped that JSON wants escaped.
/// Bytes that are no UTF-8 become U+FFFD, one each, so that any name of a user
/// is legal JSON.
std::string JsonString(std::string_view text);

}  // namespace tim

#endif  // TIM_BASE_JSON_TEXT_H_
