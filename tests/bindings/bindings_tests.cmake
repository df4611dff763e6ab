# libinterlock.so, with C compilers of three languages, and from Python.

# Adds a program in C, linked with the shared library, and a test that runs it.
function(interlock_add_c_test name source standard language)
  add_executable(${name} ${source})
  target_compile_options(${name} PRIVATE -std=${standard} -Wall -Wextra -Wpedantic -Werror)
  if(language STREQUAL CXX)
    target_compile_options(${name} PRIVATE -x c++)
  endif()
  target_link_libraries(${name} PRIVATE interlock::c)
  add_test(NAME ${INTERLOCK_TEST_PREFIX}c_library.${name}
    COMMAND ${name} ${CMAKE_CURRENT_BINARY_DIR}/${name}.ilk)
  set_tests_properties(${INTERLOCK_TEST_PREFIX}c_library.${name} PROPERTIES
    PASS_REGULAR_EXPRESSION "${ARGN}")
endfunction()

set(example ${PROJECT_SOURCE_DIR}/docs/examples/check.c)
# That it is C89 but for the 64 bits of stdint.h is seen here, and nowhere else.
interlock_add_c_test(check_c89 ${example} c89 C "RAW of make and add in a.0:1024.")
interlock_add_c_test(check_c99 ${example} c99 C "barrier\nadd: dispatch Consume")
interlock_add_c_test(check_cxx11 ${example} c++11 CXX "RAW of make and add in a.0:1024.")
interlock_add_c_test(both_headers bindings/c/both_headers.c c99 C
  "${PROJECT_VERSION} reads what 1 recorded")

# It exports the functions of its header, and nothing else; and needs the C library alone.
add_test(NAME ${INTERLOCK_TEST_PREFIX}c_library.exports
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/bindings/c/exports.sh
    $<TARGET_FILE:interlock_c> ${PROJECT_SOURCE_DIR}/bindings/c/interlock.h)

# That nothing of it changed that programs were compiled with.
add_test(NAME ${INTERLOCK_TEST_PREFIX}c_library.abi
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/bindings/c/abi.sh
    $<TARGET_FILE:interlock_c> ${PROJECT_SOURCE_DIR})
set_tests_properties(${INTERLOCK_TEST_PREFIX}c_library.abi PROPERTIES SKIP_RETURN_CODE 77)

# The Python package, with the Python that is there.
if(INTERLOCK_TEST_PYTHON)
  foreach(script document_test package_test stop_test)
    set(test ${INTERLOCK_TEST_PREFIX}python.${script})
    add_test(NAME ${test}
      COMMAND ${INTERLOCK_TEST_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/bindings/python/${script}.py
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${test} PROPERTIES ENVIRONMENT
      "INTERLOCK_LIBRARY=$<TARGET_FILE:interlock_c>;PYTHONPATH=${PROJECT_SOURCE_DIR}/bindings/python:${PROJECT_SOURCE_DIR}/capture/torch;PYTHONDONTWRITEBYTECODE=1")
  endforeach()
endif()
