# SPDX-License-Identifier: Apache-2.0
#
# Points builds and programs at this SDK. Source it; running it changes nothing:
#   . "$(softnpu sdk)/set_env.sh"
#
# Works in bash, zsh, dash and other POSIX shells, with any path, and any number of times.

# A POSIX shell keeps a sourced file open while it reads it, but has no variable with its name. It
# closes the file in its children, so this must not run in $(...). /proc/self/stat is read by the
# shell itself: in a subshell $$ would be the process id of another one.
_softnpu_find_sourced_file() {
  _softnpu_home=
  IFS=' ' read -r _softnpu_pid _softnpu_rest < /proc/self/stat || return 0
  for _softnpu_fd in "/proc/$_softnpu_pid/fd/"*; do
    _softnpu_file=$(readlink "$_softnpu_fd") || continue
    case $_softnpu_file in
      */set_env.sh)
        if [ -f "${_softnpu_file%/*}/include/acl/acl.h" ]; then _softnpu_home=$_softnpu_file; fi
        ;;
    esac
  done
  unset _softnpu_pid _softnpu_rest _softnpu_fd _softnpu_file
}

# Prints the search path $2 with the folder $1 first and nowhere else.
_softnpu_prepended() {
  _softnpu_rest=$2:
  _softnpu_path=$1
  while [ -n "$_softnpu_rest" ]; do
    _softnpu_entry=${_softnpu_rest%%:*}
    _softnpu_rest=${_softnpu_rest#*:}
    if [ -n "$_softnpu_entry" ] && [ "$_softnpu_entry" != "$1" ]; then
      _softnpu_path=$_softnpu_path:$_softnpu_entry
    fi
  done
  printf '%s\n' "$_softnpu_path"
}

if [ -n "${BASH_VERSION:-}" ]; then
  # shellcheck disable=SC3028,SC3054
  _softnpu_home=$BASH_SOURCE
elif [ -n "${ZSH_VERSION:-}" ]; then
  eval '_softnpu_home=${(%):-%x}'
else
  _softnpu_find_sourced_file
fi
case $_softnpu_home in
  */*) _softnpu_home=${_softnpu_home%/*} ;;
  ?*) _softnpu_home=. ;;
esac
_softnpu_home=$(CDPATH='' cd -- "${_softnpu_home:-/nonexistent}" 2> /dev/null && pwd) || _softnpu_home=

if [ -f "$_softnpu_home/include/acl/acl.h" ]; then
  export ASCEND_HOME_PATH="$_softnpu_home"
  export ASCEND_TOOLKIT_HOME="$_softnpu_home"
  export ASCEND_CUSTOM_PATH="$_softnpu_home"
  LD_LIBRARY_PATH=$(_softnpu_prepended "$_softnpu_home/lib64" "${LD_LIBRARY_PATH:-}")
  PYTHONPATH=$(_softnpu_prepended "$_softnpu_home/python/site-packages" "${PYTHONPATH:-}")
  export LD_LIBRARY_PATH PYTHONPATH
  _softnpu_home=found
else
  # shellcheck disable=SC2016
  echo 'set_env.sh: cannot tell where it lies; use instead: eval "$(softnpu env)"' >&2
  _softnpu_home=
fi

unset -f _softnpu_find_sourced_file _softnpu_prepended
[ -n "$_softnpu_home" ] && unset _softnpu_home
