/** Copies a template quickly: the system's `cp` takes a fifth of the time of Node's own copying. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
const environment = { PATH: process.env.PATH, LC_ALL: "C" };

/** Copies folders into `target`, with times and permissions; shares blocks where the file system can. */
export async function copyFolders(sources: readonly string[], target: string): Promise<void> {
  const reflink = process.platform === "linux" ? ["--reflink=auto"] : [];
  await run("cp", ["-a", ...reflink, ...sources, target], { env: environment });
}

export async function giveTo(owner: number, folder: string): Promise<void> {
  await run("chown", ["-R", `${owner}:${owner}`, folder], { env: environment });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : null;
}

/** Whether the disk was full, whoever noticed it: Node, `cp` or SQLite. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const sqliteFull = "errcode" in error && error.errcode === 13;
  const sqliteWriteFailed = "errcode" in error && error.errcode === 778;
  return (
    codeOf(error) === "ENOSPC" || sqliteFull || sqliteWriteFailed || /No space left|Disk quota/.test(error.message)
  );
}
