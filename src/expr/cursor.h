// The place in a list of tokens where a parser is.
#ifndef TIM_EXPR_CURSOR_H_
#define TIM_EXPR_CURSOR_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "expr/syntax.h"
#include "expr/token.h"

namespace tim::expr {

class Cursor {
 public:
  /// `text` outlives the cursor; `tokens` are its, the last one kEnd.
  Cursor(std::string_view text, std::vector<Token> tokens)
      : text_(text), tokens_(std::move(tokens)) {}

  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  Token Take() {
    const Token token = Peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  /// Takes the symbol if it is there.
  bool Accept(std::string_view symbol) {
    if (!Peek().Is(symbol)) return false;
    Take();
    return true;
  }
  bool AcceptWord(std::string_view word) {
    if (!Peek().IsWord(word)) return false;
    Take();
    return true;
  }
  Status Expect(std::string_view symbol) {
    if (Accept(symbol)) return OkStatus();
    return Unexpected(StrCat("'", symbol, "'"));
  }
  /// A name that is not reserved; `what` is for the message.
  Result<Name> TakeName(std::string_view what) {
    const Token& token = Peek();
    if (token.kind != TokenKind::kName || IsReserved(token.text)) {
      return Unexpected(what);
    }
    Name name{std::string(token.text), token.offset};
    Take();
    return name;
  }

  /// Failure: the next token is not what it should be.
  Status Unexpected(std::string_view expected) const {
    return TextError(text_, Peek().offset, expected, Describe(Peek()));
  }
  Status ErrorAt(size_t offset, std::string_view expected,
                 std::string_view found) const {
    return TextError(text_, offset, expected, found);
  }

 private:
  std::string_view text_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace tim::expr

#endif  // TIM_EXPR_CURSOR_H_
