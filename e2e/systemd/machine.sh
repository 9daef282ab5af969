#!/bin/sh
# Boots systemd of a folder with Debian as the first process of new namespaces, with a network of its own that only has loopback.
#
#   machine.sh boot <root> <control group>     runs until the machine is off
#   machine.sh run <control group> <command>   in the machine, with its network
#   machine.sh fetch <control group> <command> in the machine, with the network of this one
set -eu

first() {
  head -n 1 "$1/init.scope/cgroup.procs"
}

boot() {
  echo $$ >"$2/cgroup.procs"
  exec unshare --pid --fork --kill-child --mount --uts --ipc --net --cgroup --propagation private -- sh "$0" init "$1"
}

mount_devices() {
  mount -t tmpfs -o mode=755 tmpfs dev
  for device in null zero full random urandom tty; do
    touch "dev/$device"
    mount --bind "/dev/$device" "dev/$device"
  done
  ln -s /proc/self/fd dev/fd
  mkdir dev/pts dev/shm
  mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts dev/pts
  ln -s pts/ptmx dev/ptmx
  mount -t tmpfs tmpfs dev/shm
}

init() {
  mount --bind "$1" "$1"
  cd "$1"
  mount -t proc proc proc
  mount -t sysfs -o ro sysfs sys
  mount -t cgroup2 cgroup2 sys/fs/cgroup
  mount_devices
  mount -t tmpfs -o mode=755 tmpfs run
  mount -t tmpfs -o mode=1777 tmpfs tmp
  ip link set lo up
  pivot_root . mnt
  umount -l /mnt
  exec env -i container=namespaces PATH=/usr/sbin:/usr/bin:/sbin:/bin /sbin/init </dev/null >/run/console 2>&1
}

enter() {
  group=$1
  shift
  exec nsenter --target "$(first "$group")" --mount --pid --uts --ipc --cgroup "$@"
}

clean="env -i HOME=/root TERM=dumb LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin"
action=$1
shift
case "$action" in
  boot) boot "$@" ;;
  init) init "$@" ;;
  # shellcheck disable=SC2086 # words of a command
  run) group=$1 && shift && enter "$group" --net $clean "$@" ;;
  # shellcheck disable=SC2086
  fetch) group=$1 && shift && enter "$group" $clean ${TRIAL_ENV:-} "$@" ;;
esac
