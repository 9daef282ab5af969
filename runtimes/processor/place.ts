/** Where a process is in the hierarchies of control groups. */
import { readFileSync } from "node:fs";
import path from "node:path";

/** What control groups divide, count or limit, as Linux names it. `cpuacct` is only of version 1; with version 2, all groups count. */
export type Controller = "cpu" | "cpuacct" | "memory" | "pids";

export interface Place {
  readonly version: 1 | 2;
  readonly folder: string;
}

/**
 * Finds the place of a process. `groups`: its `/proc/<pid>/cgroup`; `mounts`: `/proc/self/mountinfo`. Null if the controller has no
 * control groups.
 */
export function placeIn(groups: string, mounts: string, controller: Controller): Place | null {
  const own = groups.split("\n").map((line) => line.split(":"));
  const paths = {
    1: own
      .find(([, controllers = ""]) => controllers.split(",").includes(controller))
      ?.slice(2)
      .join(":"),
    2: own
      .find(([number, controllers]) => number === "0" && controllers === "")
      ?.slice(2)
      .join(":"),
  };
  for (const line of mounts.split("\n")) {
    const [left = "", right = ""] = line.split(" - ");
    const [, , , root = "/", point = ""] = left.split(" ");
    const [type, , options = ""] = right.split(" ");
    const version = type === "cgroup" && options.split(",").includes(controller) ? 1 : type === "cgroup2" ? 2 : null;
    const found = version === null ? undefined : paths[version];
    // If both versions are mounted, the controller belongs to the first.
    if (version === null || found === undefined || (version === 2 && paths[1] !== undefined)) continue;
    const isWhole = root === "/";
    if (isWhole || found.startsWith(root)) {
      return { version, folder: path.resolve(point, `./${isWhole ? found : found.slice(root.length)}`) };
    }
  }
  return null;
}

/** Returns null if the controller has no control groups. */
export function placeOf(pid: number | "self", controller: Controller = "cpu"): Place | null {
  try {
    const mounts = readFileSync("/proc/self/mountinfo", "utf8");
    return placeIn(readFileSync(`/proc/${pid}/cgroup`, "utf8"), mounts, controller);
  } catch {
    return null;
  }
}

/** Whether systemd has started this very process as a service. Programs that a service starts inherit the variable. */
export function isSystemdService(env: NodeJS.ProcessEnv = process.env): boolean {
  return env.SYSTEMD_EXEC_PID === String(process.pid);
}
