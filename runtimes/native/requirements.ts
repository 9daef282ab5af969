/** Checks whether this machine can run the native runtime, and says everything that is missing at once. */
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { text } from "node:stream/consumers";
import { ownerOf } from "../owner.ts";
import type { GroupLimits } from "../processor/environments.ts";
import { spawnSandboxed } from "./spawnSandboxed.ts";
import { systemCallFilter } from "./systemCalls.ts";

export interface MachineFindings {
  /** Sentences about what the native runtime can't do without. Empty: it can start. */
  readonly missing: readonly string[];
  /** Sentences about what it does without. Sites work, but are less limited or separated. */
  readonly degraded: readonly string[];
}

/** A program that the sandbox is made with. It must be in `/usr/bin`, which is all that the sandbox has. */
interface Program {
  readonly name: string;
  /** The package that contains it, by any package manager. */
  readonly package: string;
}

const bubblewrap: Program = { name: "bwrap", package: "bubblewrap" };
const setpriv: Program = { name: "setpriv", package: "util-linux" };

/** Commands that install packages, by the program that is tried. */
const installers = [
  ["/usr/bin/apt-get", "apt-get install"],
  ["/usr/bin/dnf", "dnf install"],
  ["/usr/bin/zypper", "zypper install"],
  ["/usr/bin/pacman", "pacman -S"],
] as const;

const isRoot = () => process.getuid?.() === 0;

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns why programs can't run in a sandbox, and what to do, or null if they can. `hasFile`: whether a program exists. */
export async function findSandboxProblem(hasFile = isProgram): Promise<string | null> {
  const absent = [bubblewrap, setpriv].filter(({ name }) => !hasFile(`/usr/bin/${name}`));
  return absent.length > 0 ? describeAbsent(absent, hasFile) : trySandbox();
}

/** The one message for an operator who wants to start the native runtime, or null if it can start. */
export function describeMissing({ missing }: MachineFindings): string | null {
  if (missing.length === 0) return null;
  const lines = missing.map((sentence) => `  - ${sentence}`);
  return ["The native runtime can't start on this machine:", ...lines, "Or set SITEWRIGHT_RUNTIME=playground."].join(
    "\n",
  );
}

function describeAbsent(absent: readonly Program[], hasFile: (file: string) => boolean): string {
  const names = absent.map(({ name }) => name).join(" or ");
  const packages = absent.map((program) => program.package).join(" ");
  const installer = installers.find(([file]) => hasFile(file))?.[1];
  const install = installer === undefined ? `Install ${packages}.` : `Install: ${installer} ${packages}`;
  return `There is no ${names} in /usr/bin, which the sandbox of sites needs. ${install}`;
}

/** Runs a program in a sandbox. Returns why it can't, or null. */
async function trySandbox(): Promise<string | null> {
  const sandbox = { user: ownerOf(0), root: "/", mounts: [], memoryFolders: [], limits: null, isOffline: true };
  const child = spawnSandboxed(sandbox, ["true"], ["ignore", "ignore"]);
  const ended = once(child, "close");
  const [errors, [code]] = await Promise.all([text(child.stderr), ended]);
  return code === 0 ? null : explainFailure(errors, isRoot());
}

/** Returns a sentence for what bubblewrap says, and what to do. */
export function explainFailure(errors: string, asRoot: boolean): string {
  const reason = errors.trim().split("\n").at(-1) ?? "";
  if (/Unknown option/.test(errors)) return `bubblewrap is too old (${reason}). Install version 0.8 or newer.`;
  if (!/namespace|uid map|permi/i.test(errors)) return `Programs can't run in a sandbox on this machine: ${reason}`;
  return asRoot
    ? `Root can't make sandboxes on this machine (${reason}). If it is a container, start it with CAP_SYS_ADMIN and without filters for mounts.`
    : `This user can't make user namespaces (${reason}). Start Sitewright as root, or allow them: sysctl -w ` +
        "user.max_user_namespaces=10000 kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0";
}

/** `filter`: the filter of system calls, or null if there is none for this processor. */
export function degraded(groups: GroupLimits, asRoot = isRoot(), filter = systemCallFilter()): readonly string[] {
  const start = "Start Sitewright as root, with systemd as a service with Delegate=yes.";
  return [
    ...(asRoot
      ? []
      : ["All sites' PHP runs as the same user, because Sitewright is not root. Start it as root to separate sites."]),
    ...(groups.memory
      ? []
      : [`Sites' programs have no common limit of memory, because control groups can't be used. ${start}`]),
    ...(groups.pids || asRoot
      ? []
      : [`Sites' programs have no limit of processes, because control groups can't be used. ${start}`]),
    ...(filter === null
      ? [`Sites' programs can make all system calls: there is no filter for ${process.arch}. Use x64 or arm64.`]
      : []),
  ];
}
