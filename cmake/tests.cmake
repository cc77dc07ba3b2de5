# One program per tests/**/*_test.cc, as in tests/BUILD. The tests see the
# inside of the library, so they and the custom operators in them link its
# objects.
find_package(GTest CONFIG REQUIRED)

tim_cl_glob(support tests/*.cc)
list(FILTER support EXCLUDE REGEX "_test\\.cc$|^tests/sdk/consumer/")
tim_cl_glob(tests tests/*_test.cc)
# These two test what Bazel made.
list(REMOVE_ITEM tests
     tests/structure/build_sources_test.cc tests/sdk/sdk_test.cc)

function(tim_cl_test_options target)
  tim_cl_compile_options(${target})
  tim_cl_internal_includes(${target})
endfunction()

tim_cl_generate("${TIM_CL_GENERATED_DIR}/operator_table.cc" operator_table
                ${TIM_CL_OPERATORS})
add_library(tim-cl-test-support STATIC
  ${support} ${TIM_CL_CUSTOM_OPS} $<TARGET_OBJECTS:tim-vx-objects>
  "${TIM_CL_GENERATED_DIR}/operator_table.cc")
tim_cl_test_options(tim-cl-test-support)
target_link_libraries(tim-cl-test-support PUBLIC
  OpenCL::OpenCL Threads::Threads ${CMAKE_DL_LIBS}
  GTest::gtest_main GTest::gmock GTest::gtest)

foreach(source IN LISTS tests)
  string(REGEX REPLACE "^tests/(.*)\\.cc$" "\\1" path "${source}")
  string(REPLACE "/" "_" name "${path}")
  add_executable(${name} ${source})
  tim_cl_test_options(${name})
  target_link_libraries(${name} PRIVATE tim-cl-test-support)
  set(caches "${PROJECT_BINARY_DIR}/test_caches/${name}")
  file(MAKE_DIRECTORY "${caches}/pocl" "${caches}/timcl")
  # From the project's folder, where Bazel's tests find their data too.
  add_test(NAME ${path} COMMAND ${name}
           WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(${path} PROPERTIES TIMEOUT 1800 ENVIRONMENT
    "POCL_CACHE_DIR=${caches}/pocl;TIMCL_CACHE_DIR=${caches}/timcl")
endforeach()
