/** restic on the same machine and the same files, with a repository, a password and a cache of the measurement's own. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { folderBytes } from "./folderBytes.ts";
import { timed } from "./statistics.ts";

const run = promisify(execFile);

export interface ResticBackup {
  readonly milliseconds: number;
  /** That the repository has grown by. */
  readonly addedBytes: number;
}

export interface Restic extends AsyncDisposable {
  /** `restic 0.14.0`. */
  readonly version: string;
  backUp(folder: string): Promise<ResticBackup>;
  /** Of what was backed up of the folder last, into a new one. Gives milliseconds. */
  restore(folder: string): Promise<number>;
}

export const howToGetRestic = "restic is not installed: apt-get install restic, or brew install restic";

/** Null if the machine has none. */
export async function openRestic(): Promise<Restic | null> {
  const version = await versionOf();
  if (version === null) return null;
  const place = await mkdtemp(join(tmpdir(), "sw-restic-"));
  const repository = join(place, "repository");
  const env = {
    ...process.env,
    RESTIC_REPOSITORY: repository,
    RESTIC_PASSWORD: "as people have one",
    RESTIC_CACHE_DIR: join(place, "cache"),
  };
  const call = (...parameters: string[]) => timed(() => run("restic", [...parameters, "--quiet"], { env }));
  await call("init");
  return {
    version,
    backUp: async (folder) => {
      const before = await folderBytes(repository);
      const { milliseconds } = await call("backup", folder);
      return { milliseconds, addedBytes: (await folderBytes(repository)) - before };
    },
    restore: async (folder) => {
      const target = await mkdtemp(join(place, "restored-"));
      const { milliseconds } = await call("restore", "latest", "--path", folder, "--target", target);
      await rm(target, { recursive: true });
      return milliseconds;
    },
    [Symbol.asyncDispose]: () => rm(place, { recursive: true, force: true }),
  };
}

async function versionOf(): Promise<string | null> {
  try {
    const { stdout } = await run("restic", ["version"]);
    return stdout.split(" ").slice(0, 2).join(" ");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
