# One program per tests/**/*_test.cc, as in tests/BUILD. The tests see the
# inside of the library, so they and the custom operators in them link the
# archive.
find_package(GTest CONFIG REQUIRED)
find_package(benchmark CONFIG REQUIRED)

tim_cl_glob(support tests/*.cc)
list(FILTER support EXCLUDE REGEX "_test\\.cc$|^tests/structure/consumer/")
tim_cl_glob(tests tests/*_test.cc)
# Compares this build with Bazel's, and needs Bazel's list.
list(REMOVE_ITEM tests tests/structure/build_sources_test.cc)

function(tim_cl_test_options target)
  tim_cl_compile_options(${target})
  tim_cl_internal_includes(${target})
endfunction()

tim_cl_generate("${TIM_CL_GENERATED_DIR}/operator_table.cc" operator_table
                ${TIM_CL_OPERATORS})
add_library(tim-cl-test-support STATIC
  ${support} ${TIM_CL_CUSTOM_OPS}
  "${TIM_CL_GENERATED_DIR}/operator_table.cc")
tim_cl_test_options(tim-cl-test-support)
target_link_libraries(tim-cl-test-support PUBLIC
  tim-vx-static OpenCL::OpenCL GTest::gtest_main GTest::gmock GTest::gtest)

# What bench/'s programs share, as in bench/BUILD; Bazel builds the programs.
tim_cl_glob(bench bench/*/*.cc)
list(FILTER bench EXCLUDE REGEX "^bench/clblast/|^bench/networks/run\\.cc$")
add_library(tim-cl-bench STATIC ${bench})
tim_cl_test_options(tim-cl-bench)
target_link_libraries(tim-cl-bench PUBLIC
  tim-cl-test-support benchmark::benchmark)

foreach(source IN LISTS tests)
  string(REGEX REPLACE "^tests/(.*)\\.cc$" "\\1" path "${source}")
  string(REPLACE "/" "_" name "${path}")
  add_executable(${name} ${source})
  tim_cl_test_options(${name})
  target_link_libraries(${name} PRIVATE tim-cl-test-support)
  if(path MATCHES "^bench/")
    target_link_libraries(${name} PRIVATE tim-cl-bench)
  endif()
  set(caches "${PROJECT_BINARY_DIR}/test_caches/${name}")
  file(MAKE_DIRECTORY "${caches}/pocl" "${caches}/timcl")
  # From the project's folder, where Bazel's tests find their data too.
  add_test(NAME ${path} COMMAND ${name}
           WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(${path} PROPERTIES TIMEOUT 1800 ENVIRONMENT
    "POCL_CACHE_DIR=${caches}/pocl;TIMCL_CACHE_DIR=${caches}/timcl")
endforeach()
