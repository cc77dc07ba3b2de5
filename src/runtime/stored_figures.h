// Measured numbers as text in stores of the cache folder.
#ifndef TIM_RUNTIME_STORED_FIGURES_H_
#define TIM_RUNTIME_STORED_FIGURES_H_

#include <initializer_list>
#include <string>
#include <string_view>

namespace tim::runtime {

/// Numbers in one line: "12.5 200\n".
std::string EncodeFigures(std::initializer_list<double> figures);

/// Reads a line of EncodeFigures().  False where the text is anything but as
/// many numbers above 0 and up to 1e12; `figures` are then unspecified.
bool DecodeFigures(std::string_view text,
                   std::initializer_list<double*> figures);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_STORED_FIGURES_H_
