// Texts that describe operations: grammar, names and where errors stand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "expr/program.h"
#include "tests/support/status_macros.h"

namespace tim::expr {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Malformed {
  const char* text;
  const char* place;     // "line:column"
  const char* expected;  // Part of the message.
};

void ExpectErrors(const std::vector<Malformed>& cases) {
  for (const Malformed& text : cases) {
    const auto program = ReadProgram(text.text);
    ASSERT_FALSE(program.ok()) << text.text;
    EXPECT_EQ(program.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(program.status().message(),
                StartsWith(StrCat(text.place, ": ")))
        << text.text;
    EXPECT_THAT(program.status().message(), HasSubstr(text.expected))
        << text.text;
  }
}

TEST(ExpressionText, MessageShowsLineAndCaret) {
  const auto program = ReadProgram("O[i,j] =\n  +(A[i,k] * B[k,j)");
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.status().message(),
            "2:19: expected ']', found ')'\n"
            "  +(A[i,k] * B[k,j)\n"
            "                  ^");
}

TEST(ExpressionText, LongLinesAreShownInPart) {
  const std::string text =
      "O = A" + std::string(500, ' ') + "$" + std::string(500, ' ') + "\n;";
  const auto program = ReadProgram(text);
  ASSERT_FALSE(program.ok());
  EXPECT_THAT(program.status().message(), StartsWith("1:506: "));
  EXPECT_LT(program.status().message().size(), 300u);
}

TEST(ExpressionText, GrammarErrorsStandAtTheirToken) {
  ExpectErrors({
      {"O[i,j] = +(A[i,k] * B[k,j)", "1:26", "expected ']'"},
      {"O[i,j] = (A[i,k])", "1:10", "expected an aggregation"},
      {"", "1:1", "the name that a statement defines"},
      {"O = A $ B", "1:7", "found the character '$'"},
      {"O = A +", "1:8", "found the end of the text"},
      {"O = (A", "1:7", "expected ')'"},
      {"O = A B", "1:7", "expected ';'"},
      {"O A", "1:3", "expected '[' or '='"},
      {"= A", "1:1", "the name that a statement defines"},
      {"O = A;;", "1:7", "the name that a statement defines"},
      {"O[i = +(A[i])", "1:5", "expected ']'"},
      {"O[1] = +(A[i])", "1:3", "an index variable"},
      {"O[i] +(A[i])", "1:6", "expected '='"},
      {"O[i] = +A[i]", "1:9", "expected '('"},
      {"O[i] = +(A[i]), i", "1:18", "expected '<' or '=='"},
      {"O[i] = +(A[i]), i > 3", "1:19", "expected '<' or '=='"},
      {"O = A ? B", "1:10", "expected ':'"},
      {"O = like", "1:5", "found 'like'"},
      {"O = max(A, 1", "1:13", "expected ')'"},
      {"O = 99999999999999999999", "1:5", "an integer of 64 bits"},
      {"O = A * 1e999", "1:9", "a float that a double holds"},
      {"op (X) -> (O) { O = X }", "1:4", "the operation's name"},
      {"op f() -> (O) { O = X }", "1:6", "a parameter's name"},
      {"op f(X) (O) { O = X }", "1:9", "expected '->'"},
      {"op f(X) -> () { O = X }", "1:13", "a result's name"},
      {"op f(X) -> (O) attr (double a) { O = X }", "1:22",
       "an attribute's type"},
      {"op f(X) -> (O) attr (int a = 1.5) { O = X }", "1:30", "an integer"},
      {"op f(X) -> (O) attr (bool a = 1) { O = X }", "1:31", "true or false"},
      {"op f(X: f33) -> (O) { O = X }", "1:9", "a type (f16, bf16"},
      {"op f(X[N, 1.5]) -> (O) { O = X }", "1:11", "a dimension's name"},
      {"op f(X) -> (O) { O = X", "1:23", "expected ';' or '}'"},
      {"op f(X) -> (O) { O = X } O", "1:26", "the end of the text"},
      {"op f(X[A,B,C,D,E,F,G,H,I]) -> (O) { O = X }", "1:24",
       "at most 8 extents"},
  });
}

TEST(ExpressionText, NamesAreDefinedOnceAndBeforeTheyAreRead) {
  ExpectErrors({
      {"op f(X, X) -> (O) { O = X }", "1:9", "not defined yet"},
      {"op f(X[X]) -> (O) { O = X }", "1:8", "not defined yet"},
      {"op f(X) -> (X) { X = 1.0 }", "1:13", "not defined yet"},
      {"op f(X[N]) -> (O) attr (int N) { O = X }", "1:29", "not defined yet"},
      {"op f(X) -> (O) { O = X; O = X }", "1:25", "not defined yet"},
      {"op f(X) -> (O) { X = 1.0; O = X }", "1:18", "not defined yet"},
      {"op f(X) -> (O) { O = X + Q }", "1:26", "the unknown name 'Q'"},
      {"op f(X[N]) -> (O) {\n O[i] = +(Q[i]) }", "2:11",
       "the unknown name 'Q'"},
      {"op f(X) -> (O) { O = X + O }", "1:26", "assigned before"},
      {"O = O + A", "1:1", "not defined yet"},
      {"O = maxx(A, B)", "1:5", "the unknown name 'maxx'"},
      {"O = max(A)", "1:5", "2 arguments of 'max'"},
      {"op f(X) -> (O, P) { O = X }", "1:16", "assigns the result 'P'"},
      {"O[i : M + 1] = +(A[i])", "1:7", "the unknown name 'M'"},
      {"O[i : like Q] = +(A[i])", "1:12", "a tensor behind 'like'"},
      {"op f(X[N]) -> (O) { O[N] = +(X[N]) }", "1:23", "the dimension 'N'"},
      {"O[i, i] = +(A[i])", "1:6", "for the second time"},
      {"op f(X) -> (O) attr (ints s) { O = X * s }", "1:40", "a position"},
      {"op f(X[N], B) -> (O) { O[i] = +(X[i] * B) }", "1:40", "the tensor 'B'"},
      {"op f(X) -> (O) { O = X[0] }", "1:22", "without indices"},
  });
}

TEST(ExpressionText, IndicesAreAffineSizedAndBounded) {
  ExpectErrors({
      {"O[i,j] = +(A[i,k] * B[k*i,j])", "1:24", "affine"},
      {"O[i,j] = +(A[i,k] * B[k,2*j])", "1:5", "unknown size of 'j'"},
      {"O[i : 4] = +(A[i/2])", "1:17", "affine"},
      {"O[i : 4] = +(A[i%2])", "1:17", "affine"},
      {"O[i : 4] = +(A[max(i, 2)])", "1:16", "affine"},
      {"O[i : 4] = +(A[1.5])", "1:16", "affine"},
      {"O[i : 4] = +(A[B[i]])", "1:16", "an affine index"},
      {"O[i] = +(A[i] * k)", "1:17", "bounds 'k'"},
      {"O[i] = +(A[i, j - i - j])", "1:15", "bounds 'j'"},
      {"O[i] = +(A[i] * B[i, i])\n; P[i] = +(B[i])", "2:12",
       "2 indices of 'B'"},
      {"O[i, j : 4] = +(A[i, j])", "1:11", "2 sizes"},
      {"O[i : 4, 5] = +(A[i])", "1:10", "1 sizes"},
      {"O[i : i] = +(A[i])", "1:7", "the index variable 'i'"},
      {"O[i] = +(A[i] * B[k]), k < i", "1:28", "the index variable 'i'"},
      {"op f(X[N, C]) -> (O) { O[n] = +(X[n]) }", "1:33", "2 indices of 'X'"},
      {"op f(X[N]) -> (O) attr (float a) { O[i : 3] = +(X[i + a]) }", "1:55",
       "affine"},
      {"O[a,b,c,d,e,f,g,h,i] = +(A[a])", "1:19", "at most 8 indices"},
      {"O[a] = +(A[a,b,c,d,e,f,g] * B[h,i,j,k,l,m])", "1:41",
       "at most 12 index variables"},
  });
}

TEST(ExpressionText, TypesFit) {
  ExpectErrors({
      {"O = A && B", "1:7", "booleans beside '&&'"},
      {"O = !A", "1:5", "a boolean behind '!'"},
      {"O = A ? B : C", "1:7", "a boolean as the condition"},
      {"O = A < B < C", "1:11", "numbers beside '<'"},
      {"O = A % 2", "1:7", "integers beside '%'"},
      {"O = A * (1 / 2)", "1:12", "integers have div"},
      {"O = div(A, 2)", "1:5", "integers in div"},
      {"O = A < B", "1:7", "a value for 'O'"},
      {"O[i] = >(A[i] < 1.0)", "1:8", "where a boolean is aggregated"},
      {"op f(X: f32|s32) -> (O) { O = X / 2 }", "1:33", "integers have div"},
      {"op f(X: boolean) -> (O: f32) { O = exp(X) }", "1:36", "numbers in exp"},
  });
}

TEST(ExpressionText, LimitsHold) {
  const std::string nested = std::string(80, '(') + "A";
  ExpectErrors({{("O = " + nested).c_str(), "1:69", "at most 64 levels"}});
  std::string many;
  for (int i = 0; i < 65; ++i) many += StrCat("T", i, " = A;\n");
  ExpectErrors({{many.c_str(), "65:1", "at most 64 statements"}});
  const auto large = ReadProgram(std::string(64 * 1024 + 1, ' '));
  EXPECT_THAT(large.status().message(),
              StartsWith("1:1: expected at most 65536 bytes"));
  std::string sum = "O = A";
  while (sum.size() < 60000) sum += " + A";
  EXPECT_OK(ReadProgram(sum));
  std::string signs = "O = ";
  EXPECT_OK(ReadProgram(signs + std::string(60000, '-') + "A"));
}

TEST(ExpressionText, LegalTextsAreTaken) {
  for (const char* text : {
           "O = A;",
           "O=A // all\n// of it",
           "O[i,j:M,N]=+(A[i,k]*B[k,j])",
           "O[] = +(A[i])",
           "op f(X[]) -> (O) { O = X; }",
           "op f(X[_, 3, N]: f32 | s8) -> (O: s64, P) attr (ints s = [1, -2], "
           "floats v = [], float a = -inf, bool b = true) { O = s[1]; P = b ? "
           "X : a; }",
           "O[i : 4] = +(A[i + j] * B[i - j])",
           "T[n : N] = >(X[n, c]); O[n : N] = =(T[n] / N)",
           "O[i, j : like A] = =(i == j ? A[i, j] : -inf)",
           "O = select(A < 1.0 && !(B >= A), min(A, B), pow(A, 2))",
       }) {
    EXPECT_OK(ReadProgram(text));
  }
}

TEST(ExpressionText, BareTextsHaveTheirTensorsInOrder) {
  const auto program =
      ReadProgram("T[i, j] = +(A[i, k] * B[k, j]); O = max(T + C, 0.0)");
  ASSERT_OK(program);
  std::vector<std::string> names;
  for (const int input : (*program)->inputs) {
    names.push_back((*program)->tensors[input].name.text);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"A", "B", "C"}));
  ASSERT_EQ((*program)->outputs.size(), 1u);
  EXPECT_EQ((*program)->tensors[(*program)->outputs[0]].name.text, "O");
}

}  // namespace
}  // namespace tim::expr
