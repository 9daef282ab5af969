/**
 * Starts a program with limits: a shell joins the environment's control groups and sets the limits of processes, then becomes the
 * program. So all of it is limited from its first instruction on.
 *
 * - If memory runs out, the system kills these programs before any of the server's.
 * - They leave no memory images when they crash, and open at most `openFiles` files each.
 * - They are killed when the server's process is, which may be before bubblewrap watches it.
 * - A file that would become too large causes an error. The signal for it, which ends PHP, is ignored.
 */
import { mostExpendable } from "../expendable.ts";
import { companyEntries } from "../processor/companies.ts";
import { environmentEntries, type GroupEntry } from "../processor/environments.ts";
import type { SandboxLimits } from "./sandbox.ts";

const openFiles = 10_000;
/** The unit in which shells limit the size of files. */
const blockBytes = 512;
/** A group may be removed, because it is empty, before it is joined. Another process may make it at the same moment. */
const attempts = 5;

/**
 * Parameters: this process's id, blocks of the largest file or `-`, folders, files and values of control groups up to `--`, and the
 * program.
 */
const script = `
[ "$PPID" = "$1" ] || exit 1
shift
{ echo ${mostExpendable} > /proc/self/oom_score_adj; } 2>/dev/null
ulimit -c 0
ulimit -n ${openFiles} 2>/dev/null || ulimit -n "$(ulimit -H -n)"
trap '' XFSZ
[ "$1" = - ] || ulimit -f "$1" || exit
shift
enter() {
  while [ "$1" != -- ]; do
    { [ -d "$1" ] || mkdir "$1" || [ -d "$1" ]; } && echo "$3" > "$1/$2" || return
    shift 3
  done
}
attempt=1
until enter "$@"; do
  [ $attempt -lt ${attempts} ] || exit
  attempt=$((attempt + 1))
done
while [ "$1" != -- ]; do shift; done
shift
exec "$@"`;

/**
 * A service manager may let a server without root open ports below 1024. bubblewrap refuses to run with such a capability, and sites
 * must not have it.
 */
const withoutCapabilities = ["--inh-caps=-all", "--ambient-caps=-all"];
const killedWithParent = ["setpriv", "--pdeathsig", "KILL", ...withoutCapabilities, "--"];

function entriesOf(limits: SandboxLimits | null): readonly GroupEntry[] {
  return limits === null ? [] : [...companyEntries(limits.companyId), ...environmentEntries(limits)];
}

/**
 * Without control groups, root limits the processes of the environment's user. Another user's processes include those of the server.
 */
function processLimit(limits: SandboxLimits | null, entries: readonly GroupEntry[]): readonly string[] {
  const isLimited = limits === null || entries.some(({ file }) => file === "pids.max");
  return isLimited || process.getuid?.() !== 0 ? [] : ["prlimit", `--nproc=${limits.processes}`, "--"];
}

/** Returns the command that runs a command with limits. */
export function limited(limits: SandboxLimits | null, command: readonly string[]): readonly string[] {
  const entries = entriesOf(limits);
  const bytes = limits?.fileBytes ?? null;
  const blocks = bytes === null ? "-" : String(Math.ceil(bytes / blockBytes));
  const groups = entries.flatMap(({ folder, file, value }) => [folder, file, value]);
  const parameters = [String(process.pid), blocks, ...groups, "--", ...processLimit(limits, entries)];
  return [...killedWithParent, "/bin/sh", "-c", script, "sh", ...parameters, ...command];
}
