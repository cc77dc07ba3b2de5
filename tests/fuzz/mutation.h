// Changes of files such as fuzzers make, for tests that have no fuzzer.
#ifndef TIM_TESTS_FUZZ_MUTATION_H_
#define TIM_TESTS_FUZZ_MUTATION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace tim::testing {

/// `file` with one to four changes: bits, bytes and numbers of two to eight
/// bytes that become others, pieces that are left out, put in twice, or put in
/// from `other`.
std::vector<std::byte> Mutated(std::vector<std::byte> file,
                               const std::vector<std::byte>& other,
                               std::mt19937& random);

/// Gives `is_sound`, which must bear anything, changed files of Corpus() for 6
/// seconds, in long tests for 10 minutes.  Both answers must come.
void ExpectChangesAreJudged(
    uint32_t seed,
    const std::function<bool(const std::vector<std::byte>&)>& is_sound);

/// Calls `call` with changed files of Corpus(), and with random bytes, for as
/// long.
void CallWithChanges(
    uint32_t seed,
    const std::function<void(const std::vector<std::byte>&)>& call);

}  // namespace tim::testing

#endif  // TIM_TESTS_FUZZ_MUTATION_H_
