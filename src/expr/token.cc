// Splits the text of an operation into words and tells where errors stand.
#include "expr/token.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tim::expr {
namespace {

constexpr std::array<std::string_view, 6> kReserved = {"op",  "attr", "like",
                                                       "inf", "true", "false"};

// Longer ones first.
constexpr std::array<std::string_view, 27> kSymbols = {
    "->", "||", "&&", "==", "!=", "<=", ">=", "(", ")", "[", "]", "{", "}", ",",
    ";",  ":",  "=",  "+",  "-",  "*",  "/",  "%", "<", ">", "?", "!", "|"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Bytes of a line around the caret that are shown.
constexpr size_t kShownBytes = 60;

std::string Printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c < 0x20 || c > 0x7e) c = c == '\t' ? ' ' : '?';
  }
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> Run() {
    std::vector<Token> tokens;
    while (SkipBlanks(), at_ < text_.size()) {
      Token token{.offset = at_};
      TIM_RETURN_IF_ERROR(Next(&token));
      token.text = text_.substr(token.offset, at_ - token.offset);
      tokens.push_back(token);
    }
    tokens.push_back({.offset = text_.size()});
    return tokens;
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void SkipBlanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '/' && Peek(1) == '/') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++at_;
      } else {
        return;
      }
    }
  }

  Status Next(Token* token) {
    if (IsNameStart(Peek())) {
      token->kind = TokenKind::kName;
      while (IsNameStart(Peek()) || IsDigit(Peek())) ++at_;
      return OkStatus();
    }
    if (IsDigit(Peek())) return Number(token);
    for (const std::string_view symbol : kSymbols) {
      if (!text_.substr(at_).starts_with(symbol)) continue;
      token->kind = TokenKind::kSymbol;
      at_ += symbol.size();
      return OkStatus();
    }
    return TextError(
        text_, at_, "a name, a number or an operator",
        StrCat("the character '", Printable(text_.substr(at_, 1)), "'"));
  }

  Status Number(Token* token) {
    bool real = false;
    while (IsDigit(Peek())) ++at_;
    if (Peek() == '.') {
      real = true;
      ++at_;
      while (IsDigit(Peek())) ++at_;
    }
    const size_t sign = Peek(1) == '+' || Peek(1) == '-' ? 1 : 0;
    if ((Peek() == 'e' || Peek() == 'E') && IsDigit(Peek(1 + sign))) {
      real = true;
      at_ += 1 + sign;
      while (IsDigit(Peek())) ++at_;
    }
    const char* first = text_.data() + token->offset;
    const char* last = text_.data() + at_;
    std::from_chars_result read{};
    if (real) {
      token->kind = TokenKind::kFloat;
      read = std::from_chars(first, last, token->real);
    } else {
      token->kind = TokenKind::kInteger;
      read = std::from_chars(first, last, token->integer);
    }
    if (read.ec == std::errc() && read.ptr == last) return OkStatus();
    return TextError(
        text_, token->offset,
        real ? "a float that a double holds" : "an integer of 64 bits",
        StrCat("'", std::string_view(first, last - first), "'"));
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

bool IsReserved(std::string_view word) {
  return std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end();
}

Status TextError(std::string_view text, size_t offset,
                 std::string_view expected, std::string_view found) {
  offset = std::min(offset, text.size());
  const auto before = text.substr(0, offset);
  const auto lines = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t newline = before.rfind('\n');
  const size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  const size_t end = std::min(text.find('\n', offset), text.size());
  const size_t from = std::max(start, offset - std::min(offset, kShownBytes));
  const size_t to = std::min(end, offset + kShownBytes);
  return InvalidArgument(lines, ":", offset - start + 1, ": expected ",
                         expected, ", found ", found, "\n",
                         Printable(text.substr(from, to - from)), "\n",
                         std::string(offset - from, ' '), "^");
}

std::string Describe(const Token& token) {
  if (token.kind == TokenKind::kEnd) return "the end of the text";
  constexpr size_t kMost = 40;
  if (token.text.size() <= kMost) return StrCat("'", token.text, "'");
  return StrCat("'", token.text.substr(0, kMost), "...'");
}

Result<std::vector<Token>> Tokenize(std::string_view text) {
  if (text.size() > kMostBytes) {
    return TextError(text.substr(0, kShownBytes), 0,
                     StrCat("at most ", kMostBytes, " bytes of text"),
                     StrCat(text.size()));
  }
  return Lexer(text).Run();
}

}  // namespace tim::expr
