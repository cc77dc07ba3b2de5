// Marks of a text's encoding, which editors put before it.
#ifndef TIM_KERNELS_TEXT_BYTE_ORDER_MARK_H_
#define TIM_KERNELS_TEXT_BYTE_ORDER_MARK_H_

#include <string>

#include "base/status.h"

namespace tim::kernels {

/// A user's `text` without the byte-order marks of UTF-8 at its beginning and
/// at those of its lines, where texts of several files meet: a compiler takes
/// one as the first character of all that it is given only.  A failure for text
/// in UTF-16 or UTF-32.
Result<std::string> WithoutByteOrderMarks(std::string text);

}  // namespace tim::kernels

#endif  // TIM_KERNELS_TEXT_BYTE_ORDER_MARK_H_
