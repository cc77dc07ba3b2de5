# Targets tim-cl-models (as tim-vx shared or not) and tim-cl-models-static: the
# importers of model files, over the public API, custom_ops and src/base, which
# each library has inside.
add_library(tim-cl-models-objects OBJECT
  ${TIM_CL_MODELS} ${TIM_CL_MODEL_HEADERS})
tim_cl_glob(base src/base/*.cc)
add_library(tim-cl-base-objects OBJECT ${base})
foreach(objects tim-cl-models-objects tim-cl-base-objects)
  tim_cl_compile_options(${objects})
  tim_cl_internal_includes(${objects})
  set_target_properties(${objects} PROPERTIES
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endforeach()
set(exports "${PROJECT_SOURCE_DIR}/cmake/models_exports.map")

tim_cl_archive(tim-cl-models-static tim-cl-models "${exports}"
               tim-cl-models-objects tim-cl-base-objects)
target_link_libraries(tim-cl-models-static PUBLIC
  tim-cl-custom-ops-static tim-vx-static)

if(BUILD_SHARED_LIBS)
  add_library(tim-cl-models SHARED
    $<TARGET_OBJECTS:tim-cl-models-objects>
    $<TARGET_OBJECTS:tim-cl-base-objects>)
  set_target_properties(tim-cl-models PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LINK_DEPENDS "${exports}")
  target_link_libraries(tim-cl-models
    PUBLIC tim-vx tim-cl-custom-ops
    PRIVATE Threads::Threads
            "-Wl,--version-script=${exports}" "-Wl,-z,defs")
else()
  add_library(tim-cl-models INTERFACE)
  target_link_libraries(tim-cl-models INTERFACE tim-cl-models-static)
endif()
add_library(tim-cl::tim-cl-models ALIAS tim-cl-models)
add_library(tim-cl::tim-cl-models-static ALIAS tim-cl-models-static)
