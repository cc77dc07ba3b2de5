// The conditions of #if and #elif: integers, defined(), and C's operators.
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "kernels/text/preprocess.h"

namespace tim::kernels {
namespace {

struct Operator {
  std::string_view text;
  int precedence;
};

// The longer ones first.
constexpr Operator kOperators[] = {
    {"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7},
    {"<<", 8}, {">>", 8}, {"|", 3},  {"^", 4},  {"&", 5},  {"<", 7},
    {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};

Result<int64_t> Apply(std::string_view op, int64_t a, int64_t b) {
  if (op == "||") return a != 0 || b != 0 ? 1 : 0;
  if (op == "&&") return a != 0 && b != 0 ? 1 : 0;
  if (op == "==") return a == b ? 1 : 0;
  if (op == "!=") return a != b ? 1 : 0;
  if (op == "<=") return a <= b ? 1 : 0;
  if (op == ">=") return a >= b ? 1 : 0;
  if (op == "<") return a < b ? 1 : 0;
  if (op == ">") return a > b ? 1 : 0;
  if (op == "|") return a | b;
  if (op == "^") return a ^ b;
  if (op == "&") return a & b;
  const auto x = static_cast<uint64_t>(a);
  const auto y = static_cast<uint64_t>(b);
  if (op == "+") return static_cast<int64_t>(x + y);
  if (op == "-") return static_cast<int64_t>(x - y);
  if (op == "*") return static_cast<int64_t>(x * y);
  if (op == "<<") return static_cast<int64_t>(x << (y & 63));
  if (op == ">>") return a >> (y & 63);
  if (b == 0) return Unimplemented("divides by 0");
  if (b == -1) return op == "%" ? 0 : static_cast<int64_t>(0 - x);
  return op == "%" ? a % b : a / b;
}

// Binary operators by precedence: one function for all of them.
class Evaluator {
 public:
  explicit Evaluator(const TextTokens& tokens) : tokens_(tokens) {}

  Result<bool> Run() {
    TIM_ASSIGN_OR_RETURN(const int64_t value, Binary(0));
    if (at_ < tokens_.size()) {
      return Unimplemented("'", tokens_[at_], "' in a condition");
    }
    return value != 0;
  }

 private:
  std::string_view Peek(size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead]
                                        : std::string_view();
  }

  const Operator* NextOperator() const {
    for (const Operator& op : kOperators) {
      const bool matches =
          op.text.size() == 1
              ? Peek() == op.text
              : Peek() == op.text.substr(0, 1) && Peek(1) == op.text.substr(1);
      if (matches) return &op;
    }
    return nullptr;
  }

  // Operators that bind tighter than `least`.
  Result<int64_t> Binary(int least) {
    TIM_ASSIGN_OR_RETURN(int64_t value, Unary());
    for (const Operator* op = NextOperator();
         op != nullptr && op->precedence > least; op = NextOperator()) {
      at_ += op->text.size();
      TIM_ASSIGN_OR_RETURN(const int64_t right, Binary(op->precedence));
      TIM_ASSIGN_OR_RETURN(value, Apply(op->text, value, right));
    }
    return value;
  }

  Result<int64_t> Unary() {
    if (++depth_ > kMostDepth) return Unimplemented("a condition too deep");
    const Result<int64_t> value = Operand();
    --depth_;
    return value;
  }

  Result<int64_t> Operand() {
    const std::string_view token = Peek();
    ++at_;
    if (token == "!" || token == "~" || token == "-" || token == "+") {
      TIM_ASSIGN_OR_RETURN(const int64_t value, Unary());
      if (token == "!") return value == 0 ? 1 : 0;
      if (token == "~") return ~value;
      return Apply(token, 0, value);
    }
    if (token == "(") {
      TIM_ASSIGN_OR_RETURN(const int64_t value, Binary(0));
      if (Peek() != ")") return Unimplemented("a condition without its ')'");
      ++at_;
      return value;
    }
    if (token.empty() || !IsNameCharacter(token[0])) {
      return Unimplemented("'", token, "' in a condition");
    }
    return IsAsciiDigit(token[0]) ? Number(token) : 0;
  }

  static Result<int64_t> Number(std::string_view token) {
    const bool hex = token.starts_with("0x") || token.starts_with("0X");
    std::string_view digits = token.substr(hex ? 2 : 0);
    const size_t end = digits.find_last_not_of("uUlL");
    digits = digits.substr(0, end == std::string_view::npos ? 0 : end + 1);
    int64_t value = 0;
    const char* const last = digits.data() + digits.size();
    const auto [stop, error] =
        std::from_chars(digits.data(), last, value, hex ? 16 : 10);
    if (error == std::errc() && stop == last) return value;
    return Unimplemented("'", token, "' in a condition");
  }

  static constexpr int kMostDepth = 100;

  const TextTokens& tokens_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<bool> EvaluateCondition(std::string_view condition,
                               const MacroTable& macros) {
  const TextTokens tokens = TokensOf(condition);
  TextTokens known;  // defined() is answered before macros are expanded.
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] != "defined") {
      known.push_back(tokens[i]);
      continue;
    }
    const bool bracketed = i + 3 < tokens.size() && tokens[i + 1] == "(";
    i += bracketed ? 2 : 1;
    if (i >= tokens.size()) return Unimplemented("defined without a name");
    known.emplace_back(macros.Has(tokens[i]) ? "1" : "0");
    if (bracketed) ++i;
  }
  return Evaluator(macros.Expand(known)).Run();
}

}  // namespace tim::kernels
