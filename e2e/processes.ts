/** Finds and kills the processes of an installation. */
import { readdir, readFile, readlink } from "node:fs/promises";

export interface ProcessInfo {
  readonly id: number;
  readonly parent: number;
  readonly command: string;
}

async function readProcess(id: number): Promise<ProcessInfo | null> {
  try {
    const [stat, command] = await Promise.all([
      readFile(`/proc/${id}/stat`, "utf8"),
      readFile(`/proc/${id}/cmdline`, "utf8"),
    ]);
    // The program's name is in parentheses and may itself contain parentheses and spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { id, parent: Number(fields[1]), command: command.replaceAll("\0", " ").trim() };
  } catch {
    return null;
  }
}

/** Returns all living descendants of a process. */
export async function descendants(root: number): Promise<ProcessInfo[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const all = (await Promise.all(ids.map(readProcess))).filter((info) => info !== null);
  const found: ProcessInfo[] = [];
  const toVisit = [root];
  for (let parent = toVisit.pop(); parent !== undefined; parent = toVisit.pop()) {
    for (const info of all.filter((candidate) => candidate.parent === parent)) {
      found.push(info);
      toVisit.push(info.id);
    }
  }
  return found;
}

const roles = {
  supervisor: /\/supervisor\/main\.ts/,
  control: /server\/main\.ts control/,
  edge: /server\/main\.ts edge/,
  dns: /server\/main\.ts dns/,
  postgres: /postgres.* -D /,
} as const;

export type ProcessRole = keyof typeof roles;

/** Returns the living processes of a role below `npm start`; for PostgreSQL only the postmaster. */
export async function find(root: number, role: ProcessRole): Promise<ProcessInfo[]> {
  const matching = (await descendants(root)).filter((info) => roles[role].test(info.command));
  const ids = new Set(matching.map((info) => info.id));
  return matching.filter((info) => !ids.has(info.parent));
}

/** Kills every process of a role with SIGKILL. Throws if there is none, so that a test can't pass by accident. */
export async function kill(root: number, role: ProcessRole): Promise<void> {
  const victims = await find(root, role);
  if (victims.length === 0) throw new Error(`There is no ${role} process below ${root}`);
  for (const victim of victims) process.kill(victim.id, "SIGKILL");
}

/** Returns the living descendants of a process that have a socket which listens on this port. */
export async function listenersOn(root: number, port: number): Promise<ProcessInfo[]> {
  const hexadecimal = port.toString(16).toUpperCase().padStart(4, "0");
  const listening = new RegExp(`^ *\\d+: \\w+:${hexadecimal} \\w+:0000 0A .*`, "gm");
  const rows = (await readFile("/proc/net/tcp", "utf8")).match(listening) ?? [];
  const sockets = new Set(rows.map((row) => `socket:[${row.trim().split(/\s+/)[9]}]`));
  const all = await descendants(root);
  const isListening = await Promise.all(
    all.map(async ({ id }) => (await descriptorsOf(id)).some((descriptor) => sockets.has(descriptor))),
  );
  return all.filter((_, index) => isListening[index]);
}

async function descriptorsOf(id: number): Promise<string[]> {
  const names = await readdir(`/proc/${id}/fd`).catch(() => []);
  return Promise.all(names.map((name) => readlink(`/proc/${id}/fd/${name}`).catch(() => "")));
}

export async function isAlive(id: number): Promise<boolean> {
  return (await readProcess(id)) !== null;
}
