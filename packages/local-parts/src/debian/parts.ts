/**
 * What each real part consists of on Debian: everything of it that we run or load, and the packages that we install for
 * it. A test asks dpkg who owns each file, and apt what the packages bring on a machine that has nothing: whatever is
 * named here is there after an install, also where no one ever installed more by hand.
 */
export interface Part {
  readonly packages: readonly string[];
  /** What we run, and what it runs in turn; where Debian puts it. Elsewhere it may stand anywhere on PATH. */
  readonly commands: readonly string[];
  /** What we load: jars. */
  readonly files: readonly string[];
}

const jar = (name: string): string => `/usr/share/java/${name}.jar`;

/** Debian's jar names the jars it needs in its manifest, but not the one that makes it log, and not all of Netty's. */
const ZOOKEEPER_JARS = [
  "zookeeper",
  "slf4j-simple",
  "netty-codec",
  "netty-resolver",
  "netty-transport-native-unix-common",
];

export const PARTS = {
  zookeeper: {
    packages: ["zookeeper", "default-jre-headless", "libslf4j-java", "libnetty-java"],
    commands: ["/usr/bin/java"],
    files: ZOOKEEPER_JARS.map(jar),
  },
  mariadb: {
    packages: ["mariadb-server-core", "mariadb-client-core"],
    commands: [
      "/usr/sbin/mariadbd",
      "/usr/bin/mariadb-install-db",
      // mariadb-install-db runs these two.
      "/usr/bin/my_print_defaults",
      "/usr/bin/resolveip",
    ],
    files: [],
  },
  prometheus: { packages: ["prometheus"], commands: ["/usr/bin/prometheus", "/usr/bin/promtool"], files: [] },
  chromium: { packages: ["chromium"], commands: ["/usr/bin/chromium"], files: [] },
  openssl: { packages: ["openssl"], commands: ["/usr/bin/openssl"], files: [] },
  bzip2: { packages: ["bzip2"], commands: ["/usr/bin/bzip2"], files: [] },
  /** For handlers in PHP. */
  php: { packages: ["php-cli"], commands: ["/usr/bin/php"], files: [] },
  /** The engine, its client and what the engine runs; only for images, never in `npm test`. */
  docker: {
    packages: ["docker.io", "runc", "containerd"],
    commands: ["/usr/sbin/dockerd", "/usr/bin/docker", "/usr/bin/containerd", "/usr/sbin/runc"],
    files: [],
  },
  dockerCompose: { packages: ["docker-compose"], commands: ["/usr/bin/docker-compose"], files: [] },
} as const satisfies Readonly<Record<string, Part>>;

export type PartName = keyof typeof PARTS;
