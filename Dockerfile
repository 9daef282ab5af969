# Sitewright in a container: see docs/production.md#in-a-container

FROM debian:12-slim

RUN apt-get update \
  && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
    ca-certificates npm tini util-linux bubblewrap nftables \
    php-fpm php-cli php-curl php-gd php-intl php-mbstring php-mysql php-sqlite3 php-xml php-zip \
  && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/sitewright
COPY . .
# Installs the packages, Node 24 among them.
RUN npm run --silent operator -- version && rm -rf /root/.npm

ENV SITEWRIGHT_DATA=/var/lib/sitewright \
  SITEWRIGHT_HOST=0.0.0.0 \
  SITEWRIGHT_EDGE_PORT=80 \
  SITEWRIGHT_EDGE_TLS_PORT=443 \
  SITEWRIGHT_DNS_PORT=53 \
  PATH=/opt/sitewright/node_modules/.bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
VOLUME /var/lib/sitewright
EXPOSE 80 443 53/tcp 53/udp

HEALTHCHECK --start-period=3m CMD ["node", "-e", "fetch('http://127.0.0.1:8080/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
# Programs of sites can outlive what started them, and only the first process of a container can collect them.
ENTRYPOINT ["tini", "--"]
CMD ["node", "supervisor/main.ts"]
