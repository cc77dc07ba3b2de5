// The kernel texts of the library as a C++ source, with their facts.
#ifndef TIM_TOOLS_GENERATOR_KERNELS_H_
#define TIM_TOOLS_GENERATOR_KERNELS_H_

#include <string>
#include <vector>

namespace tim::generator {

/// "--root DIR" and files, as generate_sources takes them.
std::string KernelsSource(const std::vector<std::string>& arguments);

}  // namespace tim::generator

#endif  // TIM_TOOLS_GENERATOR_KERNELS_H_
