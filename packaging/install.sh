#!/bin/sh
# Makes a service of this clone in /opt/sitewright, on Debian 12 or newer: packages, settings, systemd. See docs/production.md.
# It can be run again: existing settings are kept.
set -eu

fail() {
  echo "$1" >&2
  exit 1
}

[ $# -ge 2 ] || fail "Usage: sh packaging/install.sh <suffix of sites> <your mail address> [<name of the API>]
For example: sh packaging/install.sh sites.example.com admin@example.com api.example.com"
[ "$(id -u)" = 0 ] || fail "This needs root. Run it with sudo."
[ "$(realpath "$(dirname "$0")/..")" = /opt/sitewright ] || fail "Clone Sitewright into /opt/sitewright, where the service expects it."
command -v apt-get >/dev/null || fail "This needs apt-get. On other systems, follow docs/production.md by hand."
command -v systemctl >/dev/null || fail "This needs systemd. Without it, use npm start, or the Dockerfile."

had_fpm=$(ls /usr/sbin/php-fpm* 2>/dev/null || true)
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
  ca-certificates curl npm util-linux bubblewrap nftables \
  php-fpm php-cli php-curl php-gd php-intl php-mbstring php-mysql php-sqlite3 php-xml php-zip

# Debian starts a php-fpm that Sitewright does not use. One that was there before may be someone's.
if [ -z "$had_fpm" ]; then
  for program in /usr/sbin/php-fpm*; do
    systemctl disable --now "php${program#/usr/sbin/php-fpm}-fpm"
  done
fi

data=/var/lib/sitewright
mkdir -p -m 700 "$data"
if [ ! -e "$data/settings.env" ]; then
  cat >"$data/settings.env" <<END
SITEWRIGHT_RUNTIME=native
SITEWRIGHT_HOST=0.0.0.0
SITEWRIGHT_EDGE_PORT=80
SITEWRIGHT_EDGE_TLS_PORT=443
SITEWRIGHT_SITE_SUFFIX=$1
SITEWRIGHT_ACME_URL=https://acme-v02.api.letsencrypt.org/directory
SITEWRIGHT_ACME_EMAIL=$2
END
  [ $# -lt 3 ] || echo "SITEWRIGHT_API_NAME=$3" >>"$data/settings.env"
fi

# Installs npm's packages here, where their progress is seen. It also reports wrong settings.
cd /opt/sitewright
SITEWRIGHT_DATA=$data npm run --silent operator -- version

# A service from before the socket unit holds the ports, so the socket could not be started.
if systemctl is-active --quiet sitewright.service && ! systemctl is-active --quiet sitewright.socket; then
  systemctl stop sitewright.service
fi
systemctl enable --now /opt/sitewright/packaging/sitewright.socket /opt/sitewright/packaging/sitewright.service
echo "Sitewright is starting. To watch it: journalctl --unit sitewright --follow"
