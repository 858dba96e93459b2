#!/bin/sh
# Runs a compiler through ccache; CMake's compiler launcher.
# usage: ccache.sh CCACHE COMPILER ARGUMENT...
# A precompiled header that is about to be made again is removed first: GCC would read the old one in its place.
for argument in "$@"; do
  case "$argument" in *.gch) rm -f "$argument" ;; esac
done
exec "$@"
