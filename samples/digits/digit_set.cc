#include "digit_set.h"

#include <algorithm>
#include <array>
#include <iomanip>
#include <numeric>
#include <ostream>

#include "tensor_file.h"

namespace digits {
namespace {

constexpr std::size_t kTop = 3;

using Classes = std::array<std::size_t, kClasses>;

// All classes, the most probable first.
Classes Ranked(const Probabilities& p) {
  Classes classes;
  std::iota(classes.begin(), classes.end(), std::size_t{0});
  std::stable_sort(classes.begin(), classes.end(),
                   [&p](std::size_t a, std::size_t b) { return p[a] > p[b]; });
  return classes;
}

// Two characters a pixel, so that it looks square.
void PrintPixels(const std::uint8_t* row, std::ostream& out) {
  const std::string shades = " .:-=+*#%@";
  for (std::size_t x = 0; x < kImageSize; ++x) {
    const std::size_t level = row[x] * (shades.size() - 1) / 16;
    out << std::string(2, shades[std::min(level, shades.size() - 1)]);
  }
}

// Line 0 is the heading, line n the n-th most probable class.
void PrintRank(std::size_t line, const std::vector<Opinion>& opinions,
               std::ostream& out) {
  for (const Opinion& opinion : opinions) {
    out << "    ";
    if (line == 0) {
      out << std::left << std::setw(11) << opinion.network << std::right;
      continue;
    }
    const std::size_t top = Ranked(opinion.probabilities)[line - 1];
    out << top << std::setw(8) << 100.0f * opinion.probabilities[top] << " %";
  }
}

}  // namespace

bool ReadDigitSet(const std::string& path, DigitSet* set, std::string* error) {
  TensorFile file;
  if (!ReadTensorFile(path, &file, error)) return false;
  set->pixels = std::move(file["images"].data);
  set->labels = std::move(file["labels"].data);
  if (!set->labels.empty() &&
      set->pixels.size() == set->labels.size() * kPixels) {
    return true;
  }
  *error = path + ": holds no 8 x 8 'images' with a label each";
  return false;
}

std::size_t CountCorrect(const DigitSet& set,
                         const std::vector<Probabilities>& results) {
  std::size_t correct = 0;
  for (std::size_t i = 0; i < set.Size() && i < results.size(); ++i) {
    if (Ranked(results[i])[0] == set.labels[i]) ++correct;
  }
  return correct;
}

std::size_t LeastCertain(const std::vector<Probabilities>& results) {
  const auto less_certain = [](const Probabilities& a, const Probabilities& b) {
    return *std::max_element(a.begin(), a.end()) <
           *std::max_element(b.begin(), b.end());
  };
  const auto it =
      std::min_element(results.begin(), results.end(), less_certain);
  return static_cast<std::size_t>(it - results.begin());
}

void PrintDigit(const std::uint8_t* pixels,
                const std::vector<Opinion>& opinions, std::ostream& out) {
  out << std::fixed << std::setprecision(2);
  for (std::size_t y = 0; y < kImageSize; ++y) {
    out << "  |";
    PrintPixels(pixels + y * kImageSize, out);
    out << "|";
    if (y >= 1 && y <= 1 + kTop) PrintRank(y - 1, opinions, out);
    out << "\n";
  }
}

}  // namespace digits
