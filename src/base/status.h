// The one error type of the inside: no exceptions, every failure is a Status.
#ifndef TIM_BASE_STATUS_H_
#define TIM_BASE_STATUS_H_

#include <optional>
#include <string>
#include <utility>

#include "base/str_cat.h"

namespace tim {

enum class StatusCode {
  kOk,
  kInvalidArgument,     ///< The caller's mistake; the message says what to do.
  kUnimplemented,       ///< Legal, but not supported here.
  kFailedPrecondition,  ///< Right call at the wrong time.
  kNotFound,
  kOutOfMemory,
  kDeviceLost,    ///< The device cannot be used any more.
  kBuildFailure,  ///< A kernel did not compile; the message has the log.
  kInternal,      ///< A broken invariant: our bug.
};

const char* ToString(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message)
      : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }
  /// "invalid argument: <message>", or "ok".
  std::string ToString() const;
  /// The same failure with `context` and ": " before its message.
  Status WithContext(std::string_view context) const;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

inline Status OkStatus() { return Status(); }

template <typename... Args>
Status InvalidArgument(const Args&... args) {
  return Status(StatusCode::kInvalidArgument, StrCat(args...));
}
template <typename... Args>
Status Unimplemented(const Args&... args) {
  return Status(StatusCode::kUnimplemented, StrCat(args...));
}
template <typename... Args>
Status FailedPrecondition(const Args&... args) {
  return Status(StatusCode::kFailedPrecondition, StrCat(args...));
}
template <typename... Args>
Status NotFound(const Args&... args) {
  return Status(StatusCode::kNotFound, StrCat(args...));
}
template <typename... Args>
Status OutOfMemory(const Args&... args) {
  return Status(StatusCode::kOutOfMemory, StrCat(args...));
}
template <typename... Args>
Status DeviceLost(const Args&... args) {
  return Status(StatusCode::kDeviceLost, StrCat(args...));
}
template <typename... Args>
Status BuildFailure(const Args&... args) {
  return Status(StatusCode::kBuildFailure, StrCat(args...));
}

namespace internal {
Status MakeInternal(const char* file, int line, std::string message);
}  // namespace internal

/// A broken invariant.  Aborts in debug builds, a Status elsewhere.
#define TIM_INTERNAL(...) \
  ::tim::internal::MakeInternal(__FILE__, __LINE__, ::tim::StrCat(__VA_ARGS__))

/// States an invariant: checked in debug builds only.
#ifdef NDEBUG
#define TIM_DCHECK(condition) static_cast<void>(0)
#else
#define TIM_DCHECK(condition) \
  ((condition)                \
       ? static_cast<void>(0) \
       : static_cast<void>(TIM_INTERNAL("check failed: ", #condition)))
#endif

/// A value or the reason why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {
    TIM_DCHECK(!status_.ok());
  }
  template <typename U>
  requires(std::is_constructible_v<T, U&&> &&
           !std::is_same_v<std::remove_cvref_t<U>, T> &&
           !std::is_same_v<std::remove_cvref_t<U>, Status> &&
           !std::is_same_v<std::remove_cvref_t<U>, Result<T>> &&
           std::is_convertible_v<U&&, T>) Result(U&& value)
      : value_(std::forward<U>(value)) {}

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return *std::move(value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

#define TIM_CONCAT_INNER(a, b) a##b
#define TIM_CONCAT(a, b) TIM_CONCAT_INNER(a, b)

/// Returns from the enclosing function where `expression` is not ok.
#define TIM_RETURN_IF_ERROR(expression)      \
  do {                                       \
    ::tim::Status tim_status = (expression); \
    if (!tim_status.ok()) return tim_status; \
  } while (false)

/// Declares or assigns `target` from a Result, or returns its Status.
#define TIM_ASSIGN_OR_RETURN(target, expression)                       \
  TIM_ASSIGN_OR_RETURN_IMPL(TIM_CONCAT(tim_result_, __LINE__), target, \
                            expression)
#define TIM_ASSIGN_OR_RETURN_IMPL(result, target, expression) \
  auto result = (expression);                                 \
  if (!result.ok()) return result.status();                   \
  target = *std::move(result)

}  // namespace tim

#endif  // TIM_BASE_STATUS_H_
