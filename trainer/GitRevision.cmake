# packtrain_git_revision(VARIABLE): twelve digits of the commit checked out, "-dirty" after it where files differ
# from it; empty outside a Git checkout. A commit makes CMake run again.
function(packtrain_git_revision variable)
  # Never a repository that merely surrounds this one.
  cmake_path(GET PROJECT_SOURCE_DIR PARENT_PATH ceiling)
  set(git ${CMAKE_COMMAND} -E env GIT_CEILING_DIRECTORIES=${ceiling} git -C ${PROJECT_SOURCE_DIR})
  execute_process(COMMAND ${git} describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${git} rev-parse --path-format=absolute --git-path logs/HEAD
                  OUTPUT_VARIABLE head_log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(EXISTS "${head_log}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${head_log})
  endif()
  set(${variable} "${revision}" PARENT_SCOPE)
endfunction()
