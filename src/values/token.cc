// Tokens: whether the changes that they stand for have been made.
#include <utility>

#include "values/access.h"
#include "values/failure.h"
#include "values/token_state.h"

namespace tim::values {

using internal::Access;

Token::Token() = default;

bool Token::ok() const { return internal::StatusOf(*this).ok(); }

bool Token::Wait() const {
  if (state_ == nullptr) return true;
  Status status = state_->status;
  for (const auto& value : state_->values) {
    if (status.ok()) status = value->Force();
    if (status.ok()) status = value->completion().Wait();
  }
  if (!status.ok()) internal::Fail(status);
  return status.ok();
}

namespace internal {

Status StatusOf(const Token& token) {
  const auto& state = Access::StateOf(token);
  if (state == nullptr) return OkStatus();
  TIM_RETURN_IF_ERROR(state->status);
  for (const auto& value : state->values) {
    TIM_RETURN_IF_ERROR(value->status());
  }
  return OkStatus();
}

Status WaitOutside(const Token& token) {
  TIM_RETURN_IF_ERROR(StatusOf(token));
  const auto& state = Access::StateOf(token);
  if (state == nullptr) return OkStatus();
  for (const auto& value : state->values) {
    if (value->graph() != nullptr) continue;
    TIM_RETURN_IF_ERROR(value->Force());
    TIM_RETURN_IF_ERROR(value->completion().Wait());
  }
  return OkStatus();
}

Token MakeToken(TokenState state) {
  return Access::Make<Token>(
      std::make_shared<const TokenState>(std::move(state)));
}

}  // namespace internal
}  // namespace tim::values
