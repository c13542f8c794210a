# Builds a file system that holds nothing but what is named, and runs a command in it without any privilege.
# Runs as the first process of new user, mount, pid, network, ipc and uts namespaces.
#   box.sh ROOT DATA_KB PROCESSES CHROOT SETPRIV ENV FILE... -- COMMAND...      FILE is SOURCE=PLACE; 0 processes: no limit
set -eu
root=$1 data_kb=$2 processes=$3 chroot=$4 setpriv=$5 env=$6
shift 6
mount -t tmpfs -o mode=755,size=1m,nosuid,nodev tmpfs "$root"
mkdir "$root/tmp" "$root/dev"
mount -t tmpfs -o mode=1777,size=64m,nosuid,nodev tmpfs "$root/tmp"
while [ "$1" != -- ]; do
  source=${1%%=*} place=$root${1#*=}
  mkdir -p "${place%/*}"
  if [ -d "$source" ]; then mkdir -p "$place"; else : >"$place"; fi
  mount --bind "$source" "$place"
  # Where the host's mount has flags that may not be touched, its owner's permissions must do.
  mount -o remount,bind,ro "$place" 2>/dev/null || true
  shift
done
shift
for device in null urandom; do
  : >"$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mount -o remount,bind,ro "$root"
ulimit -c 0
ulimit -n 64
ulimit -d "$data_kb"
# Shells do not agree on the letter.
[ "$processes" = 0 ] || ulimit -u "$processes" 2>/dev/null || ulimit -p "$processes"
exec "$env" -i "$chroot" "$root" "$setpriv" --bounding-set=-all --inh-caps=-all --ambient-caps=-all --no-new-privs \
  --securebits=+noroot,+noroot_locked "$@"
