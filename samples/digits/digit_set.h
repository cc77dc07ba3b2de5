// The held-out digits, and how to show one in a terminal.
#ifndef TIM_SAMPLES_DIGITS_DIGIT_SET_H_
#define TIM_SAMPLES_DIGITS_DIGIT_SET_H_

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "classifier.h"

namespace digits {

/// Handwritten digits: 8 x 8 pixels each, 0 (paper) .. 16 (ink), row by row.
struct DigitSet {
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;  // 0 .. 9

  std::size_t Size() const { return labels.size(); }
  const std::uint8_t* Digit(std::size_t i) const {
    return pixels.data() + i * kPixels;
  }
};

bool ReadDigitSet(const std::string& path, DigitSet* set, std::string* error);

/// How many of the digits have their label as the most probable class.
std::size_t CountCorrect(const DigitSet& set,
                         const std::vector<Probabilities>& results);

/// The digit whose most probable class is less probable than any other's.
std::size_t LeastCertain(const std::vector<Probabilities>& results);

/// What one network says about a digit.
struct Opinion {
  std::string network;
  Probabilities probabilities;
};

/// Draws a digit; beside it, the three most probable classes per network.
void PrintDigit(const std::uint8_t* pixels,
                const std::vector<Opinion>& opinions, std::ostream& out);

}  // namespace digits

#endif  // TIM_SAMPLES_DIGITS_DIGIT_SET_H_
