// Texts of operations that the fuzzer begins with.
#include <cstddef>
#include <string_view>

#include "tests/fuzz/corpus.h"

namespace tim::testing {

std::vector<std::vector<std::byte>> Corpus() {
  constexpr std::string_view kTexts[] = {
      "O[i, j : M, N] = +(A[i, k] * B[k, j])",
      "op conv(I[N, C, H, W], F[O, C, K, L], B[O]) -> (R) attr (int sy = 1, "
      "int py = 0, ints d = [1, 2]) {\n  T[n, o, y, x : N, O, (H + 2*py - "
      "K)/sy "
      "+ 1, W - L + 1] = +(I[n, c, sy*y + d[0]*i - py, x + j] * F[o, c, i, "
      "j]);\n  R = max(T, 0.0); }",
      "op pool(I[N, H]) -> (O) attr (int k = 2, bool b = true) { O[n, y : N, "
      "H/k + 1] = >(b ? I[n, k*y + i] : -inf), i < k; }",
      "op softmax(X[N, C]: f32|f16) -> (O: bf16) { M[n : N] = >(X[n, c]); "
      "S[n : N] = +(exp(X[n, c] - M[n])); O[n, c : like X] = =(exp(X[n, c] - "
      "M[n]) / S[n]); }",
      "op deconv(I[C, W], F[C, K]) -> (R) { R[x : 2*(W - 1) + K] = +(I[c, w] * "
      "F[c, k]), 2*w + k == x; }",
      "op ints(X[_, 3]: s8|s32, Y: boolean) -> (O: s64, P: boolean, Q) { O = "
      "div(X, 3) % 5 - abs(X) * 2; P = !Y && X < 4 || false; Q = P ? X * 0.5 : "
      "pow(f32(X), 2) - s32(1.5); }",
  };
  std::vector<std::vector<std::byte>> files;
  for (const std::string_view text : kTexts) {
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    files.emplace_back(bytes, bytes + text.size());
  }
  return files;
}

}  // namespace tim::testing
