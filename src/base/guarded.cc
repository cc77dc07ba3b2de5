#include "base/guarded.h"

#include <exception>
#include <new>

namespace tim {

Status StatusOfException() noexcept {
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
    } catch (const std::exception& thrown) {
      return {StatusCode::kInternal,
              StrCat("an exception was thrown: ", thrown.what())};
    } catch (...) {
      return {StatusCode::kInternal, "an exception of unknown type was thrown"};
    }
  } catch (...) {  // the message itself found no memory
  }
  // So short that it lies in the string, which thus needs no memory.
  return {StatusCode::kOutOfMemory, "no memory left"};
}

}  // namespace tim
