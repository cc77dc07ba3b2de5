# One program per folder of samples/; those of samples/plugins are libraries,
# which docs/plugins.md says how to build.  The one on oneDNN is built here,
# where that is installed.
include(cmake/stb.cmake)

file(GLOB folders CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/samples/*")
list(FILTER folders EXCLUDE REGEX "/plugins$")
foreach(folder IN LISTS folders)
  get_filename_component(name "${folder}" NAME)
  tim_cl_glob(sources samples/${name}/*.cc)
  if(sources)
    add_executable(tim-cl-sample-${name} ${sources})
    tim_cl_compile_options(tim-cl-sample-${name})
    target_include_directories(tim-cl-sample-${name} PRIVATE
      "${PROJECT_SOURCE_DIR}")
    target_link_libraries(tim-cl-sample-${name} PRIVATE
      tim-vx tim-cl-custom-ops Threads::Threads)
    set_target_properties(tim-cl-sample-${name} PROPERTIES OUTPUT_NAME ${name})
  endif()
endforeach()
target_link_libraries(tim-cl-sample-detection PRIVATE "${TIM_CL_STB}")

find_package(dnnl 2 CONFIG QUIET)
if(dnnl_FOUND)
  tim_cl_glob(sources samples/plugins/onednn/*.cc)
  add_library(timcl_onednn MODULE ${sources})
  target_compile_features(timcl_onednn PRIVATE cxx_std_17)
  target_compile_options(timcl_onednn PRIVATE -fvisibility=hidden -Wall -Wextra)
  target_include_directories(timcl_onednn PRIVATE
    "${PROJECT_SOURCE_DIR}/include")
  target_link_options(timcl_onednn PRIVATE
    "-Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/tim_plugin.map")
  target_link_libraries(timcl_onednn PRIVATE DNNL::dnnl gomp)
endif()
