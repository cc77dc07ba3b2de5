# lib/ on every machine: clients spell it out.
include(CMakePackageConfigHelpers)
set(package_dir lib/cmake/tim-vx)

install(TARGETS tim-vx tim-vx-static EXPORT tim-vx-targets
        LIBRARY DESTINATION lib
        ARCHIVE DESTINATION lib
        RUNTIME DESTINATION bin)
if(BUILD_SHARED_LIBS)
  install(FILES "$<TARGET_FILE_DIR:tim-vx>/libtim-vx.so" DESTINATION lib)
  install(FILES "$<TARGET_FILE_DIR:tim-vx-static>/libtim-vx.a" DESTINATION lib)
else()
  install(FILES "$<TARGET_FILE_DIR:tim-vx>/libtim-vx.a" DESTINATION lib)
endif()
install(DIRECTORY include/ DESTINATION include FILES_MATCHING PATTERN "*.h")

if(TARGET tim-cl-custom-ops)
  install(TARGETS tim-cl-custom-ops EXPORT tim-vx-targets
          LIBRARY DESTINATION lib
          ARCHIVE DESTINATION lib)
  install(DIRECTORY custom_ops/ DESTINATION include/tim/custom_ops
          FILES_MATCHING PATTERN "*.h" PATTERN template EXCLUDE)
  install(DIRECTORY custom_ops/template/
          DESTINATION share/tim-cl/custom_op_template PATTERN BUILD EXCLUDE)
endif()

install(EXPORT tim-vx-targets NAMESPACE tim-vx:: DESTINATION ${package_dir})
configure_package_config_file(
  cmake/tim-vx-config.cmake.in "${PROJECT_BINARY_DIR}/tim-vx-config.cmake"
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/tim-vx-config-version.cmake"
  COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tim-vx-config.cmake"
              "${PROJECT_BINARY_DIR}/tim-vx-config-version.cmake"
        DESTINATION ${package_dir})
