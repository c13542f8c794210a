/** The command that starts a program behind the walls. Pure. */
import { type Interpreter, withoutNested } from "./interpreters.ts";

export interface Tools {
  readonly sh: string;
  readonly unshare: string;
  readonly setpriv: string;
  readonly chroot: string;
  readonly env: string;
  readonly script: string;
  /** That Node and setpriv are linked with. */
  readonly libraries: readonly string[];
}

export interface Box {
  /** Where each box has its file system, in a view of its own. */
  readonly root: string;
  /** Of `node` handlers. */
  readonly harness: string;
  /** Of scripts that an interpreter runs. */
  readonly programs: string;
  /** What both of them load. */
  readonly frames: string;
  readonly node: string;
  /** Null: this Node has no permission model. */
  readonly permissionFlag: string | null;
  /** Whom it runs as; null: as ourselves, who are not root. */
  readonly uid: number | null;
  /** Needed to be somebody else, and to end with the runner. */
  readonly setpriv: string | null;
  /** Null: no namespaces. */
  readonly tools: Tools | null;
}

export interface InBox {
  readonly memoryMb: number;
  /** On the host, and where they are seen inside. Read only. */
  readonly files: readonly { readonly source: string; readonly place: string }[];
  /** Node's own arguments, after those of the walls. */
  readonly run: readonly string[];
  /** Its files are seen too, and programs may be started. */
  readonly interpreter?: Interpreter;
}

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  /** Of the builder; what is inside gets none. */
  readonly env: Readonly<Record<string, string>>;
}

/** Besides the heap: the program itself, its threads' stacks, young objects. */
const BESIDE_HEAP_MB = 192;
const BUILDER_ENV = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" };
const NAMESPACES = [
  "--user",
  "--map-root-user",
  "--net",
  "--pid",
  "--mount",
  "--ipc",
  "--uts",
  "--fork",
  "--kill-child",
];
const HARNESS_PLACE = "/harness.cjs";
const FRAMES_PLACE = "/frames.cjs";
/** Of the box, Node's own threads among them. 0: whatever the system gives; nothing that could be started is there. */
const PROCESSES = { alone: 0, withPrograms: 48 } as const;
/** Of the harness of scripts, whose memory is not theirs. */
const PROGRAMS_HEAP_MB = 128;

export function harnessPlace(box: Box): string {
  return box.tools === null ? box.harness : HARNESS_PLACE;
}

export function commandOf(box: Box, inside: InBox): Command {
  const node = [box.node, ...flagsOf(box, inside), ...inside.run];
  const asUser = ["--reuid", String(box.uid), "--regid", String(box.uid), "--clear-groups"];
  if (box.tools === null) {
    if (box.setpriv === null) return split(node, {});
    // Whoever runs it: a runner that is killed leaves nothing behind that goes on without bounds.
    const bound = [
      ...(box.uid === null ? [] : [...asUser, "--inh-caps=-all"]),
      "--no-new-privs",
      "--pdeathsig",
      "KILL",
    ];
    return split([box.setpriv, ...bound, ...node], {});
  }
  const { sh, unshare, setpriv, chroot, env, script, libraries } = box.tools;
  const { interpreter } = inside;
  const files = [
    ...withoutNested([box.node, setpriv, ...libraries, ...(interpreter?.files ?? [])]).map((path) => `${path}=${path}`),
    `${interpreter === undefined ? box.harness : box.programs}=${HARNESS_PLACE}`,
    `${box.frames}=${FRAMES_PLACE}`,
    ...inside.files.map(({ source, place }) => `${source}=${place}`),
  ];
  const limits = [
    String((inside.memoryMb + BESIDE_HEAP_MB) * 1_024),
    String(interpreter === undefined ? PROCESSES.alone : PROCESSES.withPrograms),
  ];
  return split(
    [
      ...[setpriv, ...(box.uid === null ? [] : asUser), "--pdeathsig", "KILL"],
      ...[unshare, ...NAMESPACES],
      ...[sh, script, box.root, ...limits, chroot, setpriv, env, ...files, "--", ...node],
    ],
    BUILDER_ENV,
  );
}

const split = ([command = "", ...args]: readonly string[], env: Command["env"]): Command => ({ command, args, env });

function flagsOf(box: Box, { memoryMb, files, interpreter }: InBox): readonly string[] {
  const heap = `--max-old-space-size=${interpreter === undefined ? memoryMb : PROGRAMS_HEAP_MB}`;
  // The harness of scripts runs no code but ours.
  if (interpreter !== undefined) return ["--no-warnings", heap];
  const readable = [
    harnessPlace(box),
    box.tools === null ? box.frames : FRAMES_PLACE,
    ...files.map(({ source, place }) => (box.tools === null ? source : place)),
  ];
  const scratch = box.tools === null ? [] : ["--allow-fs-read=/tmp/*", "--allow-fs-write=/tmp/*"];
  const permissions =
    box.permissionFlag === null
      ? []
      : [box.permissionFlag, ...readable.map((path) => `--allow-fs-read=${path}`), ...scratch];
  return [...permissions, "--no-addons", "--no-warnings", "--disable-proto=delete", heap];
}
