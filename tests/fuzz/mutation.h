// Changes of files such as fuzzers make, for tests that have no fuzzer.
#ifndef TIM_TESTS_FUZZ_MUTATION_H_
#define TIM_TESTS_FUZZ_MUTATION_H_

#include <cstddef>
#include <random>
#include <vector>

namespace tim::testing {

/// `file` with one to four changes: bits, bytes and numbers of two to eight
/// bytes that become others, pieces that are left out, put in twice, or put in
/// from `other`.
std::vector<std::byte> Mutated(std::vector<std::byte> file,
                               const std::vector<std::byte>& other,
                               std::mt19937& random);

}  // namespace tim::testing

#endif  // TIM_TESTS_FUZZ_MUTATION_H_
