// Signals of state changes.
#ifndef TIM_VALUES_TOKEN_STATE_H_
#define TIM_VALUES_TOKEN_STATE_H_

#include <memory>

#include "base/status.h"
#include "tim/values/value.h"
#include "values/value_state.h"

namespace tim::values::internal {

/// Values that a change made, which its token waits for, or its failure.
struct TokenState {
  Status status;
  std::vector<std::shared_ptr<ValueState>> values = {};
};

/// The failure that is known.
Status StatusOf(const Token& token);
/// Waits for changes that no graph that is being made stands for.  Nodes of
/// such a graph follow those that were added before.
Status WaitOutside(const Token& token);
Token MakeToken(TokenState state);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_TOKEN_STATE_H_
