/** What a container job says, and what of it is done. */
import { z } from "zod";

/** Names would be looked up in the image, which may say that any of them is root. */
export const USER = /^[1-9]\d{0,8}(?::[1-9]\d{0,8})?$/;
const WORKING_DIR = "/data";
const SYSTEM_FOLDERS = ["proc", "sys", "dev"];

const namesIn = (path: string): readonly string[] => path.split("/").filter((name) => name !== "" && name !== ".");
function isSystemFolder(path: string): boolean {
  const [first] = namesIn(path);
  return first === undefined || SYSTEM_FOLDERS.includes(first);
}

/** Where its files are, spelt in one way. */
export const workingDirOf = ({ WorkingDir = WORKING_DIR }: Pick<ContainerConfig, "WorkingDir">): string =>
  `/${namesIn(WorkingDir).join("/")}`;

/** The image's own business. Whatever reaches out of the container (mounts, devices, privileges, networks) is not in it. */
const Config = z.strictObject({
  Image: z.string().min(1).max(512),
  Cmd: z.array(z.string()).optional(),
  Entrypoint: z.array(z.string()).optional(),
  Env: z.array(z.string()).optional(),
  WorkingDir: z
    .string()
    .regex(/^\/[A-Za-z0-9._/-]+$/, "must be an absolute path of plain names")
    .refine((path) => !path.split("/").includes(".."), "must not lead upwards")
    .refine((path) => !isSystemFolder(path), "must be a folder of its own, not the root, /proc, /sys or /dev")
    .optional(),
  User: z
    .string()
    .regex(USER, "must be the number of a user that is not root, with a group that is not root's or without: 1000:1000")
    .optional(),
});
export type ContainerConfig = z.infer<typeof Config>;

const filesetName = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/, "must be a plain name");
const Fileset = z.object({ Name: filesetName, Patterns: z.array(z.string().min(1).max(512)).max(100).nullish() });
export type FilesetSpec = z.infer<typeof Fileset>;

const Spec = z.object({
  Container: z.object({ Config: z.preprocess(parsedText, Config) }),
  Fileset: z.object({ Input: Fileset.nullish(), Output: Fileset.nullish() }).nullish(),
});

export interface ContainerSpec {
  readonly config: ContainerConfig;
  readonly input: FilesetSpec | null;
  readonly output: FilesetSpec | null;
}

/** The document has Config as a text; most callers will send what the text would say. */
function parsedText(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

export type ReadSpec =
  { readonly ok: true; readonly spec: ContainerSpec } | { readonly ok: false; readonly why: string };

export function readSpec(data: unknown): ReadSpec {
  const parsed = Spec.safeParse(data);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0] ?? { path: [], message: "is not understood" };
    return { ok: false, why: `${path.join(".")}: ${message}` };
  }
  const { Container, Fileset: sets } = parsed.data;
  return { ok: true, spec: { config: Container.Config, input: sets?.Input ?? null, output: sets?.Output ?? null } };
}
