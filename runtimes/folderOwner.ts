/** Folders that change their owner, and what another user may have left in them. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
const settings = { env: { PATH: process.env.PATH, LC_ALL: "C" } };

/** Changes the owner of a folder and its content. Doesn't follow links. */
export async function giveTo(owner: number, folder: string): Promise<void> {
  await run("chown", ["-R", `${owner}:${owner}`, folder], settings);
}

/** Removes links, pipes and sockets from a folder, at any depth. */
export async function removeLinksIn(folder: string): Promise<void> {
  await run("find", [folder, "!", "-type", "f", "!", "-type", "d", "-delete"], settings);
}
