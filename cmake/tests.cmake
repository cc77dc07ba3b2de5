# One program per tests/**/*_test.cc, as in tests/BUILD. The tests see the
# inside of the library, so they and the custom operators in them link its
# objects.
find_package(GTest CONFIG REQUIRED)
find_package(benchmark CONFIG REQUIRED)
include(cmake/stb.cmake)

tim_cl_glob(support tests/*.cc)
list(FILTER support EXCLUDE REGEX
     "_(test|cases)\\.cc$|^tests/(fuzz|models|sdk|plugin_abi|plugins|properties|structure|tools)/")
tim_cl_glob(detection samples/detection/*.cc)
list(REMOVE_ITEM detection samples/detection/main.cc)
tim_cl_glob(properties tests/properties/*.cc)
list(FILTER properties EXCLUDE REGEX
     "_test\\.cc$|/operator_properties\\.cc$")
tim_cl_glob(cases tests/ops/*_cases.cc)
tim_cl_glob(tests tests/*_test.cc)
# These test what Bazel made.
list(REMOVE_ITEM tests
     tests/structure/build_sources_test.cc tests/oclgrind/oclgrind_test.cc
     tests/samples/detection_program_test.cc)
list(FILTER tests EXCLUDE REGEX "^tests/(plugin_abi|sdk|tools)/")

# Importers, and with them what needs libonnx-dev's messages.
find_path(TIM_CL_ONNX_DIR onnx/onnx_pb.h)
find_library(TIM_CL_ONNX_PROTO onnx_proto)
find_library(TIM_CL_PROTOBUF protobuf)
mark_as_advanced(TIM_CL_ONNX_DIR TIM_CL_ONNX_PROTO TIM_CL_PROTOBUF)
set(test_models ${TIM_CL_BUILD_MODELS})
if(NOT TIM_CL_ONNX_DIR OR NOT TIM_CL_ONNX_PROTO OR NOT TIM_CL_PROTOBUF)
  message(STATUS "Tests of importers are left out: libonnx-dev or "
                 "libprotobuf-dev was not found")
  set(test_models OFF)
endif()
if(NOT test_models)
  list(FILTER tests EXCLUDE REGEX "^tests/(models/|fuzz/(onnx|tflite)_)")
endif()

function(tim_cl_test_options target)
  tim_cl_compile_options(${target})
  tim_cl_internal_includes(${target})
endfunction()

# What tests of the sources need, most of them alone.
add_library(tim-cl-test-tree STATIC
  tests/structure/page_tables.cc tests/structure/source_tree.cc)
tim_cl_test_options(tim-cl-test-tree)
target_link_libraries(tim-cl-test-tree PUBLIC
  Threads::Threads GTest::gtest_main GTest::gmock GTest::gtest)
string(CONCAT tree_alone
       "^structure/(bench_(agreement|selection|turns)|commands"
       "|custom_operators_page|detection_page|format|generate_sources|headers"
       "|include_direction|links|locale|page_tables|paths|test_report|threads"
       "|timcl_page|troubleshooting)_test$")

tim_cl_generate("${TIM_CL_GENERATED_DIR}/operator_table.cc" operator_table
                ${TIM_CL_OPERATORS})
add_library(tim-cl-test-support STATIC
  ${support} ${TIM_CL_CUSTOM_OPS} custom_ops/template/my_op.cc
  samples/attention/block.cc samples/train_digits/network.cc
  $<TARGET_OBJECTS:tim-vx-objects>
  "${TIM_CL_GENERATED_DIR}/operator_table.cc")
tim_cl_test_options(tim-cl-test-support)
target_link_libraries(tim-cl-test-support PUBLIC
  OpenCL::OpenCL ${TIM_CL_CLBLAST} ${CMAKE_DL_LIBS} tim-cl-test-tree)

# What bench/'s programs share, as in bench/BUILD; Bazel builds the programs.
tim_cl_glob(bench bench/*/*.cc)
list(FILTER bench EXCLUDE REGEX "^bench/clblast/|^bench/networks/run\\.cc$")
add_library(tim-cl-bench STATIC ${bench})
tim_cl_test_options(tim-cl-bench)
target_link_libraries(tim-cl-bench PUBLIC
  tim-cl-test-support benchmark::benchmark)

# As samples/detection/BUILD.
add_library(tim-cl-test-detection STATIC ${detection})
tim_cl_test_options(tim-cl-test-detection)
target_link_libraries(tim-cl-test-detection PUBLIC
  tim-cl-test-support "${TIM_CL_STB}")

# As in tests/BUILD.
if(test_models)
  tim_cl_glob(model_support tests/models/*.cc)
  list(FILTER model_support EXCLUDE REGEX "_test\\.cc$")
  add_library(tim-cl-test-models STATIC
    ${model_support} $<TARGET_OBJECTS:tim-cl-models-objects>)
  tim_cl_test_options(tim-cl-test-models)
  target_compile_definitions(tim-cl-test-models PUBLIC
    ONNX_ML=1 ONNX_NAMESPACE=onnx)
  target_link_libraries(tim-cl-test-models PUBLIC
    tim-cl-test-support ${TIM_CL_ONNX_PROTO} ${TIM_CL_PROTOBUF})
endif()

# Shared libraries that tests load: the program brings the library.
set(plugins "${PROJECT_BINARY_DIR}/tests/plugins")
function(tim_cl_twin_plugin name factor)
  add_library(twin_of_${name} MODULE tests/plugins/twin_plugin.cc)
  tim_cl_test_options(twin_of_${name})
  target_compile_definitions(twin_of_${name} PRIVATE TWIN_FACTOR=${factor})
  set_target_properties(twin_of_${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY "${plugins}")
endfunction()
tim_cl_twin_plugin(five 5)
tim_cl_twin_plugin(seven 7)

# tim_cl_run(<path> <program> <VARIABLE=value>...)
function(tim_cl_run path program)
  # As tools/bazel/run_test.sh.
  set(kernels "${PROJECT_BINARY_DIR}/test_kernels")
  file(MAKE_DIRECTORY "${kernels}")
  # From the project's folder, where Bazel's tests find their data too.
  add_test(NAME ${path} COMMAND ${program}
           WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set(environment "POCL_CACHE_DIR=${kernels}" TIMCL_CACHE_DIR=off
      "TIMCL_TEST_PLUGINS=${plugins}" ${ARGN})
  set_tests_properties(${path} PROPERTIES
    TIMEOUT 1800 ENVIRONMENT "${environment}")
endfunction()

function(tim_cl_test path source)
  string(REPLACE "/" "_" name "${path}")
  add_executable(${name} ${source})
  tim_cl_test_options(${name})
  if(path MATCHES "${tree_alone}")
    target_link_libraries(${name} PRIVATE tim-cl-test-tree)
    tim_cl_run(${path} ${name})
    return()
  endif()
  target_link_libraries(${name} PRIVATE tim-cl-test-support)
  if(path MATCHES "^bench/")
    target_link_libraries(${name} PRIVATE tim-cl-bench)
  endif()
  if(path MATCHES "^(models/|fuzz/(onnx|tflite)_)")
    target_link_libraries(${name} PRIVATE tim-cl-test-models)
  endif()
  if(path MATCHES "^samples/")
    target_link_libraries(${name} PRIVATE tim-cl-test-detection)
  endif()
  set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON)
  add_dependencies(${name} twin_of_five twin_of_seven)
  tim_cl_run(${path} ${name})
endfunction()

# A program per family runs every property over its operators.
add_library(tim-cl-test-properties STATIC ${properties})
tim_cl_test_options(tim-cl-test-properties)
target_link_libraries(tim-cl-test-properties PUBLIC tim-cl-test-support)
set(families ${cases})
list(TRANSFORM families REPLACE "^tests/ops/([^/]+)/.*" "\\1")
list(REMOVE_DUPLICATES families)
foreach(family IN LISTS families)
  set(family_cases ${cases})
  list(FILTER family_cases INCLUDE REGEX "^tests/ops/${family}/")
  tim_cl_test(ops/${family}/properties
              "tests/properties/operator_properties.cc;${family_cases}")
  target_link_libraries(ops_${family}_properties PRIVATE
                        tim-cl-test-properties)
endforeach()

foreach(source IN LISTS tests)
  string(REGEX REPLACE "^tests/(.*)\\.cc$" "\\1" path "${source}")
  tim_cl_test(${path} ${source})
endforeach()
foreach(name properties_planted_test properties_every_operator_test
        properties_graphs_random_layouts_test
        properties_graphs_random_binary_test)
  target_link_libraries(${name} PRIVATE tim-cl-test-properties)
endforeach()
foreach(name properties_every_operator_test
        properties_graphs_random_layouts_test
        properties_graphs_random_binary_test)
  target_sources(${name} PRIVATE ${cases})
endforeach()
# A fuzzer's entry and its corpus with the changes of a test, as in tests/BUILD.
foreach(source IN LISTS tests)
  if(source MATCHES "^tests/fuzz/(.*)_fuzz_test\\.cc$")
    set(fuzzer ${CMAKE_MATCH_1})
    tim_cl_glob(parts tests/fuzz/${fuzzer}_*.cc)
    list(FILTER parts EXCLUDE REGEX "_test\\.cc$")
    target_sources(fuzz_${fuzzer}_fuzz_test PRIVATE
      ${parts} tests/fuzz/mutation.cc)
  endif()
endforeach()
# The reader of graph files is the tool's.
tim_cl_glob(graph_json tools/timcl/graph_json*.cc)
target_sources(fuzz_graph_fuzz_test PRIVATE
  ${graph_json} tools/timcl/json_place.cc)
# Again with the kernels for GPUs, as in tests/BUILD.
set(agrees "*EveryKernelAgrees")
string(CONCAT gpu_goldens
       "${agrees}/conv2d_f32*:${agrees}/conv2d_i8*:${agrees}/conv2d_u8*:"
       "${agrees}/fullyconnected_f32*:${agrees}/fullyconnected_i8*:"
       "${agrees}/fullyconnected_u8*:"
       "${agrees}/instancenormalization_f32*:${agrees}/l2normalization_f32*:"
       "${agrees}/layernormalization_f32*:${agrees}/logsoftmax_f32*:"
       "${agrees}/matmul_f32*:${agrees}/matmul_i8*:${agrees}/matmul_u8*:"
       "${agrees}/rmsnormalization_f32*:${agrees}/softmax_f32*")
tim_cl_run(ops/golden_test_gpu ops_golden_test
           TIMCL_KERNELS=gpu "GTEST_FILTER=${gpu_goldens}")
tim_cl_run(networks/lenet_test_gpu networks_lenet_test TIMCL_KERNELS=gpu)
# The template's own program.
tim_cl_test(custom_ops/template/my_op_test custom_ops/template/my_op_test.cc)
