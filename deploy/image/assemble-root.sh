#!/bin/sh
# The root of an image that runs Node and nothing else: no shell, no package manager, nothing that an intruder could use.
# What it has of Debian is listed in /var/lib/dpkg/status.d, where scanners look for it.
set -eu
root=$1
node=$(readlink -f "$(command -v node)")

mkdir -p "$root/nodejs/bin" "$root/etc/ssl/certs" "$root/home/nonroot" "$root/var/lib/dpkg/status.d"
mkdir -m 1777 "$root/tmp"
cp "$node" "$root/nodejs/bin/node"
# The loader and every library of these packages, not only node's own: the embedded inventory's binary asks for more of them.
for package in libc6 libgcc-s1 libstdc++6; do
  dpkg --listfiles "$package" | grep -E '^(/usr)?/lib(64|/[^/]+)/[^/]+\.so(\.[0-9]+)?$' | while read -r library; do
    cp -L --parents "$library" "$root"
  done
  dpkg --status "$package" > "$root/var/lib/dpkg/status.d/$package"
done
# Node's own list, as a file for whatever reads one; a site adds its own with NODE_EXTRA_CA_CERTS.
"$node" -p 'require("node:tls").rootCertificates.join("\n")' > "$root/etc/ssl/certs/ca-certificates.crt"

cp -L /etc/os-release "$root/etc/os-release"
printf 'root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n' > "$root/etc/passwd"
printf 'root:x:0:\nnonroot:x:65532:\n' > "$root/etc/group"
printf 'hosts: files dns\n' > "$root/etc/nsswitch.conf"
