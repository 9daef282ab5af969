#!/bin/sh
# Follows docs/production.md on a bare Debian with systemd: installs the current commit, restarts, kills, reboots, upgrades and
# uninstalls it, while visitors come. Ends with 1 at the first failure.
#
#   sh e2e/systemd/trial.sh bookworm|trixie [<folder with prepared assets>]
#
# Needs root, mmdebstrap, python3 and Debian's mirror. Without prepared assets, WordPress is fetched too.
set -eu

suite=$1
assets=${2:-}
here=$(realpath "$(dirname "$0")")
repository=$(realpath "$here/../..")
folder=$(mktemp -d "${TMPDIR:-/tmp}/sitewright-trial-XXXXXX")
root=$folder/root
groups=$folder/groups
group=$groups/sitewright-trial-$$
machine=$here/machine.sh

say() { echo "$(date +%T) $*"; }
fail() {
  say "FAILED: $*"
  guest journalctl --unit sitewright --no-pager --lines 30 >&2
  exit 1
}
guest() { sh "$machine" run "$group" "$@"; }
fetch() { sh "$machine" fetch "$group" "$@"; }
until_true() {
  tries=600
  until "$@" >/dev/null 2>&1; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || fail "Not within five minutes: $*"
    sleep 0.5
  done
}
console_is_there() {
  guest sh -c 'curl --silent --fail --max-time 60 "$(grep -o "http://[^/]*" /var/lib/sitewright/first-run.json | head -n 1)/" | grep -q "<script type=.module."'
}
site_is_there() { guest curl --silent --fail --max-time 60 --header 'Host: demo.sites.example.com' http://127.0.0.1/; }
is_off() { ! kill -0 "$booted" 2>/dev/null; }

boot() {
  sh "$machine" boot "$root" "$group" >"$folder/boot.log" 2>&1 &
  booted=$!
  until_true guest systemctl is-active multi-user.target
}
turn_off() {
  guest systemctl poweroff || true
  until_true is_off
  booted=
}
cleanup() {
  [ -z "${booted:-}" ] || kill -KILL "$booted" 2>/dev/null || true
  until_true find "$group" -depth -type d -exec rmdir {} +
  umount "$groups"
  rm -rf "$folder"
}

while_visited() {
  what=$1
  shift
  say "$what"
  nsenter --target "$(head -n 1 "$group/init.scope/cgroup.procs")" --net python3 "$here/visitors.py" &
  visitors=$!
  sleep 2
  "$@"
  until_true site_is_there
  sleep 2
  kill -TERM $visitors
  wait $visitors || fail "Visitors were not answered."
}

# What a system has: files, users, groups, units, and sockets that wait for others.
inventory() {
  guest sh -c '
    find / -xdev -path /srv -prune -o -print
    getent passwd | sed "s/^/user /"
    getent group | sed "s/^/group /"
    systemctl list-unit-files --no-legend | sed "s/ .*//; s/^/unit /"
    ss --no-header --listening --numeric --tcp --udp | sed "s/^/socket /"
  ' | sort -u
}

# What is there now and was not before, without what Debian's packages bring and make.
added() {
  inventory >"$folder/now"
  {
    cat "$root"/var/lib/dpkg/info/*.list "$root"/var/lib/systemd/deb-systemd-helper-enabled/*.dsh-also
    sed -n 's,.*/systemd/system/\([^/]*\)$,unit \1,p' "$root"/var/lib/dpkg/info/*.list
  } >"$folder/packaged"
  comm -13 "$folder/before" "$folder/now" | grep -vxFf "$folder/packaged" | grep -vE "^/($made_by_packages)(/|$)" || true
}
made_by_packages='usr/(bin|include|lib|sbin|share|local/lib/python[^/]*|local/share/fonts)|root/\.npm'
made_by_packages="$made_by_packages|etc/(alternatives|fonts|php|python3|rc[0-9S]\.d|ssl)"
made_by_packages="$made_by_packages|var/(backups|cache|log|tmp/systemd-private-[^/]*)|var/lib/(apt|dpkg|php|python|systemd|ucf)"

# Everything of Sitewright that a search finds, wherever it is.
remains() {
  guest sh -c '
    find / /dev/shm /run /sys/fs/cgroup /tmp -xdev -name "*sitewright*" -not -path "/srv/*"
    find / /dev/shm /run /tmp -xdev \( -nouser -o -nogroup \)
    systemctl list-units --all --plain --no-legend "*sitewright*"
    nft list tables
    ps -e -o args= | grep -E "bwrap|nft|node|php|postgres|sitewright" | grep -vE "ps -e|grep"
  ' || true
}

supervisor() { guest systemctl show --property MainPID --value sitewright; }
kill_child() { guest pkill -KILL --parent "$(supervisor)" --full "server/main.ts $1"; }

say "Making a bare Debian in $root"
mmdebstrap --quiet --variant=important --include=dbus "$suite" "$root"
cp /etc/resolv.conf "$root/etc/resolv.conf"
git clone --quiet --bare --no-hardlinks "$repository" "$root/srv/sitewright.git"
git -C "$root/srv/sitewright.git" update-ref refs/heads/trial "$(git -C "$repository" rev-parse HEAD)"
mkdir -p -m 700 "$root/var/lib/sitewright"
[ -z "$assets" ] || cp -a "$assets" "$root/var/lib/sitewright/assets"
# A registry behind a private authority.
if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
  cp "$NODE_EXTRA_CA_CERTS" "$root/srv/ca.pem"
  TRIAL_ENV="NODE_EXTRA_CA_CERTS=/srv/ca.pem npm_config_cafile=/srv/ca.pem"
  export TRIAL_ENV
fi
# Users of sites that no other installation of this machine has.
if [ -n "${SITEWRIGHT_FIRST_USER_ID:-}" ]; then
  mkdir "$root/etc/systemd/system/sitewright.service.d"
  printf '[Service]\nEnvironment=SITEWRIGHT_FIRST_USER_ID=%s\n' "$SITEWRIGHT_FIRST_USER_ID" >"$root/etc/systemd/system/sitewright.service.d/trial.conf"
fi
mkdir "$groups"
mount -t cgroup2 cgroup2 "$groups"
mkdir "$group"
trap cleanup EXIT
boot

say "Installing"
fetch sh -c 'apt-get update && apt-get install --yes git' >"$folder/git.log" 2>&1 || { cat "$folder/git.log" && fail "apt-get"; }
inventory >"$folder/before"
fetch sh -ec '
  git clone --branch trial /srv/sitewright.git /opt/sitewright
  sh /opt/sitewright/packaging/install.sh sites.example.com admin@example.com
' >"$folder/install.log" 2>&1 || { tail -n 20 "$folder/install.log" && fail "install.sh"; }
if [ -z "$assets" ]; then
  fetch sh -c 'cd /opt/sitewright && SITEWRIGHT_DATA=/var/lib/sitewright node_modules/.bin/node supervisor/prepare.ts' >"$folder/prepare.log"
  guest systemctl restart sitewright
fi
until_true guest sh -c 'journalctl --unit sitewright --output cat | grep -q "^curl -X POST"'
say "Creating a site with the printed command"
guest sh -c 'journalctl --unit sitewright --output cat | grep "^curl -X POST" | tail -n 1 | sh' >/dev/null 2>&1
until_true site_is_there
say "Opening the console"
until_true console_is_there

while_visited "systemctl restart" guest systemctl restart sitewright
while_visited "kill -9 of the edge" kill_child edge
while_visited "kill -9 of control" kill_child control
while_visited "kill -9 of the supervisor" guest kill -KILL "$(supervisor)"

say "Wrong settings"
settings=/var/lib/sitewright/settings.env
guest sed -i s/^SITEWRIGHT_EDGE_PORT=80/SITEWRIGHT_EDGE_PORT=http/ $settings
guest systemctl restart sitewright || true
until_true guest sh -c '! systemctl is-active sitewright.socket && systemctl is-failed sitewright.service'
guest sed -i s/^SITEWRIGHT_EDGE_PORT=http/SITEWRIGHT_EDGE_PORT=80/ $settings
guest systemctl restart sitewright
until_true site_is_there

say "Reboot"
turn_off
boot
until_true site_is_there

bare=$root/srv/sitewright.git
export GIT_AUTHOR_NAME=trial GIT_AUTHOR_EMAIL=trial@example.com GIT_COMMITTER_NAME=trial GIT_COMMITTER_EMAIL=trial@example.com
newer=$(git -C "$bare" commit-tree 'trial^{tree}' -p trial -m Newer)
git -C "$bare" update-ref refs/heads/trial "$newer"
upgrade() {
  fetch sh -ec "$(sed -n '/^cp -a .opt.sitewright/,/^```/p' "$repository/docs/production.md" | grep -v '^```')" >"$folder/upgrade.log" 2>&1 ||
    { tail -n 20 "$folder/upgrade.log" && fail "The upgrade"; }
}
while_visited "Upgrade" upgrade
[ "$(guest git -C /opt/sitewright rev-parse HEAD)" = "$newer" ] || fail "The old version is still there."

say "Uninstallation"
guest sh -ec "$(sed -n '/^systemctl disable --now sitewright.socket/,/^```/p' "$repository/docs/production.md" | grep -v '^```')"
left=$(remains && added)
[ -z "$left" ] || fail "Something is left: $left"
turn_off
say "Everything worked."
