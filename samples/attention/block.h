// A block of a transformer that reads one token after the other, as a function
// of values: attention to what it has read, which it keeps in variables, and a
// network of two layers.
#ifndef TIM_SAMPLES_ATTENTION_BLOCK_H_
#define TIM_SAMPLES_ATTENTION_BLOCK_H_

#include <cstdint>
#include <vector>

#include "tim/values/values.h"

namespace attention {

struct Sizes {
  std::int64_t width = 128;   ///< Elements of a token.
  std::int64_t heads = 4;     ///< Divide the width.
  std::int64_t tokens = 64;   ///< Most that are read.
  std::int64_t hidden = 512;  ///< Of the network.
};

class Block {
 public:
  /// Weights by a formula, which attention_numpy.py has, too.
  explicit Block(const Sizes& sizes);

  const Sizes& sizes() const { return sizes_; }
  /// Forgets the tokens that were read.
  void Start();

  /// Reads a token, [width, 1], as number `position`, float32 [1], counted from
  /// 0, and gives what follows, [width, 1].  Keys and values of the token are
  /// assigned to the variables.
  std::vector<tim::values::Value> Step(
      const std::vector<tim::values::Value>& token_and_position);

  /// The first token, and the number of one.
  tim::values::Value FirstToken() const;
  static tim::values::Value Position(std::int64_t number);

 private:
  tim::values::Value Heads(const tim::values::Value& x) const;
  tim::values::Value Attend(const tim::values::Value& x,
                            const tim::values::Value& position);
  tim::values::Value Normalized(const tim::values::Value& x) const;

  const Sizes sizes_;
  // Constants: kernels may pack them once.
  tim::values::Value query_, key_, value_, mix_, widen_, narrow_;
  tim::values::Value numbers_;  // 0, 1, .. of the tokens
  tim::values::Value ones_, zeros_;
  // [width / heads, tokens, heads]
  tim::values::Variable keys_, values_;
};

}  // namespace attention

#endif  // TIM_SAMPLES_ATTENTION_BLOCK_H_
