// Text that other programs read as UTF-8.
#ifndef TIM_BASE_UTF8_H_
#define TIM_BASE_UTF8_H_

#include <string>
#include <string_view>

namespace tim {

/// `text` with U+FFFD in place of every byte that is part of no character of
/// UTF-8; names come from users, and may be anything.
std::string ValidUtf8(std::string_view text);

}  // namespace tim

#endif  // TIM_BASE_UTF8_H_
