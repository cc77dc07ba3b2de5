// Words of a text that describes an operation, and where they stand.
#ifndef TIM_EXPR_TOKEN_H_
#define TIM_EXPR_TOKEN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tim::expr {

inline constexpr size_t kMostBytes = 64 * 1024;

enum class TokenKind : uint8_t { kName, kInteger, kFloat, kSymbol, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text = {};  ///< Part of the source.
  size_t offset = 0;
  int64_t integer = 0;
  double real = 0;

  bool Is(std::string_view symbol) const {
    return kind == TokenKind::kSymbol && text == symbol;
  }
  bool IsWord(std::string_view word) const {
    return kind == TokenKind::kName && text == word;
  }
};

/// "op", "like" and the other words that are no names.
bool IsReserved(std::string_view word);

/// kInvalidArgument: "2:7: expected <expected>, found <found>", the line and a
/// caret under byte `offset` of `text`.  Columns count bytes from 1.
Status TextError(std::string_view text, size_t offset,
                 std::string_view expected, std::string_view found);

/// "'max'", "the end of the text"
std::string Describe(const Token& token);

/// All tokens of `text`, which they point into; the last one is kEnd.
Result<std::vector<Token>> Tokenize(std::string_view text);

}  // namespace tim::expr

#endif  // TIM_EXPR_TOKEN_H_
