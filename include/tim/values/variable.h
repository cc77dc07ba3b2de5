// Values that change.
#ifndef TIM_VALUES_VARIABLE_H_
#define TIM_VALUES_VARIABLE_H_

#include <memory>
#include <string>
#include <vector>

#include "tim/export.h"
#include "tim/values/value.h"

namespace tim {
namespace values {

namespace internal {
class VariableState;
}  // namespace internal

/// A place with a value.  In a captured function it is a state: each run reads
/// the value from before it, and leaves the one that was assigned last.  Any
/// thread, each call atomic.
class TIM_API Variable {
 public:
  explicit Variable(const Value& initial, const std::string& name = "");
  /// A move copies: no handle is left without what it stood for.
  Variable(const Variable& other) = default;
  Variable& operator=(const Variable& other) = default;
  /// The value now, which stays as it is.
  Value Read(const std::vector<Token>& after = {}) const;
  /// Puts a value of the same spec in its place.
  Token Assign(const Value& value, const std::vector<Token>& after = {});

 private:
  friend struct internal::Access;
  std::shared_ptr<internal::VariableState> state_;
};

}  // namespace values
}  // namespace tim

#endif  // TIM_VALUES_VARIABLE_H_
