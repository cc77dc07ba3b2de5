// The network as a binary: built once, then run without the weights' file and
// the code that builds the graph.
#ifndef TIM_SAMPLES_DIGITS_BINARY_H_
#define TIM_SAMPLES_DIGITS_BINARY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "classifier.h"

namespace digits {

/// The compiled network for one digit at a time. An application keeps these
/// bytes in a file.
bool WriteBinary(tim::vx::Context* context, const TensorFile& model,
                 std::vector<char>* binary, std::string* error);

/// Classifies `count` digits by the operator NBG, in a graph like others.
/// `like` tells the types and shapes of input and output.
bool ClassifyByGraph(tim::vx::Context* context, const std::vector<char>& binary,
                     const Lenet& like, const std::uint8_t* pixels,
                     std::size_t count, std::vector<Probabilities>* result,
                     std::string* error);

/// The same by tim::lite, which knows no graphs: memory of the caller is input
/// and output.
bool ClassifyByLite(const std::vector<char>& binary, const Lenet& like,
                    const std::uint8_t* pixels, std::size_t count,
                    std::vector<Probabilities>* result, std::string* error);

}  // namespace digits

#endif  // TIM_SAMPLES_DIGITS_BINARY_H_
