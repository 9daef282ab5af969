/** Runs restic with a temporary repository, password and cache. */
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
  /** Growth of the repository. */
  readonly addedBytes: number;
}

export interface Restic extends AsyncDisposable {
  /** `restic 0.14.0`. */
  readonly version: string;
  backUp(folder: string): Promise<ResticBackup>;
  /** Restores the folder's latest backup to a new folder. Returns milliseconds. */
  restore(folder: string): Promise<number>;
}

export const resticInstallHint = "restic is not installed: apt-get install restic, or brew install restic";

/** Returns null if restic is not installed. */
export async function openRestic(): Promise<Restic | null> {
  const version = await versionOf();
  if (version === null) return null;
  const folder = await mkdtemp(join(tmpdir(), "sw-restic-"));
  const repository = join(folder, "repository");
  const env = {
    ...process.env,
    RESTIC_REPOSITORY: repository,
    RESTIC_PASSWORD: "benchmark",
    RESTIC_CACHE_DIR: join(folder, "cache"),
  };
  const call = (...parameters: string[]) => timed(() => run("restic", [...parameters, "--quiet"], { env }));
  await call("init");
  return {
    version,
    backUp: async (source) => {
      const before = await folderBytes(repository);
      const { milliseconds } = await call("backup", source);
      return { milliseconds, addedBytes: (await folderBytes(repository)) - before };
    },
    restore: async (source) => {
      const target = await mkdtemp(join(folder, "restored-"));
      const { milliseconds } = await call("restore", "latest", "--path", source, "--target", target);
      await rm(target, { recursive: true });
      return milliseconds;
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
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
