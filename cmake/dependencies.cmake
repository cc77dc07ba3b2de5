# The OpenCL loader and CLBlast are linked; the others are header-only and
# private.
find_package(OpenCL REQUIRED)
find_package(Threads REQUIRED)

function(tim_cl_require_header header package)
  string(MAKE_C_IDENTIFIER "TIM_CL_${header}_DIR" variable)
  find_path(${variable} ${header})
  mark_as_advanced(${variable})
  if(NOT ${variable})
    message(FATAL_ERROR "${header} was not found; Debian's package is "
                        "${package}, see tools/install_deps.sh")
  endif()
  list(APPEND TIM_CL_DEPENDENCY_DIRS "${${variable}}")
  set(TIM_CL_DEPENDENCY_DIRS "${TIM_CL_DEPENDENCY_DIRS}" PARENT_SCOPE)
endfunction()

tim_cl_require_header(CL/opencl.hpp opencl-clhpp-headers)
tim_cl_require_header(xxhash.h libxxhash-dev)
tim_cl_require_header(clblast.h libclblast-dev)
tim_cl_require_header(flatbuffers/flatbuffers.h libflatbuffers-dev)
if(TIM_CL_BUILD_TOOL)
  tim_cl_require_header(CLI/CLI.hpp libcli11-dev)
  tim_cl_require_header(nlohmann/json.hpp nlohmann-json3-dev)
endif()
find_program(TIM_CL_FLATC flatc)
mark_as_advanced(TIM_CL_FLATC)
if(NOT TIM_CL_FLATC)
  message(FATAL_ERROR "flatc was not found; Debian's package is "
                      "flatbuffers-compiler, see tools/install_deps.sh")
endif()
find_library(TIM_CL_CLBLAST clblast)
mark_as_advanced(TIM_CL_CLBLAST)
if(NOT TIM_CL_CLBLAST)
  message(FATAL_ERROR "libclblast was not found; Debian's package is "
                      "libclblast-dev, see tools/install_deps.sh")
endif()
list(REMOVE_DUPLICATES TIM_CL_DEPENDENCY_DIRS)
# The compiler's own folders must keep their place in the search order.
list(REMOVE_ITEM TIM_CL_DEPENDENCY_DIRS
     ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
