// Keeps the text of the last failure on each thread.
#include "values/failure.h"

#include <exception>
#include <utility>

#include "tim/values/types.h"
#include "tim/values/value.h"

namespace tim::values {
namespace {

std::string& LastText() {
  thread_local std::string text;
  return text;
}

}  // namespace

namespace internal {

std::string Fail(std::string_view text) {
  LastText() = text.empty() ? "failed for no known reason" : text;
  return LastText();
}

std::string Fail(const Status& status) { return Fail(status.message()); }

void SetLastError(const std::string& text) { Fail(text); }

}  // namespace internal

std::string LastError() { return LastText(); }

}  // namespace tim::values
