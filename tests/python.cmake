# The python3 of the tests, which start it hundreds of times: INTERLOCK_TEST_PYTHON, if there is one, and
# in interlock_test_path what puts it first in the PATH of a test (ENVIRONMENT_MODIFICATION). It is the
# system's own where there is one, which has the packages that ./dev installs. What a PATH has first may
# be a script that looks for an interpreter; its start takes eight times as long.
find_program(INTERLOCK_TEST_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(INTERLOCK_TEST_PYTHON python3)
mark_as_advanced(INTERLOCK_TEST_PYTHON)

set(interlock_test_path "")
if(INTERLOCK_TEST_PYTHON)
  set(python_folder ${CMAKE_CURRENT_BINARY_DIR}/python)
  file(MAKE_DIRECTORY ${python_folder})
  file(CREATE_LINK ${INTERLOCK_TEST_PYTHON} ${python_folder}/python3 SYMBOLIC)
  set(interlock_test_path "PATH=path_list_prepend:${python_folder}")
endif()
