# stb's images, of samples/detection and its tests.
find_library(TIM_CL_STB stb)
mark_as_advanced(TIM_CL_STB)
if(NOT TIM_CL_STB)
  message(FATAL_ERROR "libstb was not found; Debian's package is libstb-dev, "
                      "see tools/install_deps.sh")
endif()
