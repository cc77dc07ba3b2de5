// Texts that several tests run.
#ifndef TIM_TESTS_EXPR_TEXTS_H_
#define TIM_TESTS_EXPR_TEXTS_H_

namespace tim::testing {

inline constexpr char kMatmulText[] = "O[i, j : M, N] = +(A[i, k] * B[k, j])";

inline constexpr char kBiasReluText[] = R"(
op bias_relu(X[N, C, H, W], B[C]) -> (O) {
  T[n, c, y, x : like X] = =(X[n, c, y, x] + B[c]);
  O = max(T, 0.0); })";

inline constexpr char kConv2dText[] = R"(
op conv2d(I[N, CI, H, W], F[CO, CI, KH, KW], B[CO]) -> (O)
    attr (int sy = 1, int sx = 1, int py = 0, int px = 0, int dy = 1,
          int dx = 1) {
  C[n, o, y, x : N, CO, (H + 2*py - dy*(KH - 1) - 1)/sy + 1,
    (W + 2*px - dx*(KW - 1) - 1)/sx + 1] =
      +(I[n, c, sy*y + dy*i - py, sx*x + dx*j - px] * F[o, c, i, j]);
  O[n, o, y, x : like C] = =(C[n, o, y, x] + B[o]); })";

inline constexpr char kMaxPoolText[] = R"(
op max_pool(I[N, C, H, W]) -> (O) attr (int k = 2, int step = 2, int p = 0) {
  O[n, c, y, x : N, C, (H + 2*p - k)/step + 1, (W + 2*p - k)/step + 1] =
      >(I[n, c, step*y + i - p, step*x + j - p]), i < k, j < k; })";

inline constexpr char kSoftmaxText[] = R"(
op softmax(X[N, C]) -> (O) {
  M[n : N] = >(X[n, c]);
  S[n : N] = +(exp(X[n, c] - M[n]));
  O[n, c : N, C] = =(exp(X[n, c] - M[n]) / S[n]); })";

inline constexpr char kDeconvText[] = R"(
op deconv1d(I[N, C, W], F[C, O, K]) -> (R) attr (int s = 2, int p = 1) {
  R[n, o, x : N, O, s*(W - 1) + K - 2*p] = +(I[n, c, w] * F[c, o, k]),
      s*w + k - p == x; })";

}  // namespace tim::testing

#endif  // TIM_TESTS_EXPR_TEXTS_H_
