// Operands of operators that go through sequences: values small enough that
// states neither grow from step to step nor double a difference.
#ifndef TIM_TESTS_PROPERTIES_FAMILIES_SEQUENCE_OPERANDS_H_
#define TIM_TESTS_PROPERTIES_FAMILIES_SEQUENCE_OPERANDS_H_

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/properties/case_rng.h"
#include "tests/properties/node_case.h"

namespace tim::testing {

/// Of float sums of states that are fed back, in another order than eval's.
inline constexpr Tolerance kStepTolerance = {.absolute = 2e-5,
                                             .relative = 1e-5};

/// Few sequences, or so many that kernels compute several tiles of them.
inline int64_t SequenceBatch(CaseRng& rng) {
  return rng.OneIn(5) ? rng.Int(13, 19) : rng.Int(1, 6);
}

/// So many units and sequences that a step with products of `gates` gates is
/// worth a launch of its own (ops/launch/loop_launches.h); whole and part
/// tiles.
inline void WidenSequence(CaseRng& rng, int gates, int64_t* units,
                          int64_t* batch) {
  constexpr double kProducts = 250000;
  *batch = rng.Pick<int64_t>({1, 3, 17});
  const double of_unit = static_cast<double>(*batch) * gates;
  *units =
      static_cast<int64_t>(std::sqrt(kProducts / of_unit)) + rng.Int(1, 16);
}

enum class Known : uint8_t { kAtRun, kAtCompile };

/// Input `index` of `type` with values up to `magnitude`, mostly; inputs before
/// it that are missing are absent.
void AddStepInput(NodeCase* node, size_t index, const std::string& type,
                  std::vector<int64_t> shape, double magnitude, Known known,
                  CaseRng& rng);
/// Weights [depth, units] whose products are as large as what they multiply.
void AddStepWeights(NodeCase* node, size_t index, const std::string& type,
                    int64_t depth, int64_t units, Known known, CaseRng& rng);
/// An output whose codes, where it is quantized, reach `magnitude`.
ir::TensorDesc StepDesc(const std::string& type, std::vector<int64_t> shape,
                        double magnitude, CaseRng& rng);

}  // namespace tim::testing

#endif  // TIM_TESTS_PROPERTIES_FAMILIES_SEQUENCE_OPERANDS_H_
