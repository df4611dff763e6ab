#!/usr/bin/env bash
# The libraries of the project for 64-bit ARM, from the distribution's packages: sysroot.sh FOLDER.
# They are unpacked into FOLDER/root, where tests/arm64/toolchain.cmake finds them. What apt knows of
# that architecture stays in FOLDER too, so that the architectures of this system stay as they are.
set -euo pipefail
if (($# != 1)); then
  echo "Usage: $0 FOLDER" >&2
  exit 2
fi
folder=$(realpath -m "$1")
# The shared library of fmt is not linked; the package that has the headers asks for it.
packages=(libfmt9 libfmt-dev libcli11-dev nlohmann-json3-dev zlib1g-dev)
if [[ -e $folder/complete && $(<"$folder/complete") == "${packages[*]}" ]]; then exit 0; fi

rm -rf "$folder"
mkdir -p "$folder"/{lists/partial,archives/partial,packages,root}
apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64
  -o APT::Sandbox::User=root -o Dir::State="$folder" -o Dir::State::status=/dev/null -o Dir::Cache="$folder")
if ! "${apt[@]}" update || ! (cd "$folder/packages" && "${apt[@]}" download "${packages[@]}"); then
  echo "sysroot.sh: the sources of apt on this system have not the packages ${packages[*]} for arm64." >&2
  exit 2
fi
for package in "$folder"/packages/*.deb; do dpkg-deb --extract "$package" "$folder/root"; done
echo "${packages[*]}" >"$folder/complete"
