import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import {
  closeEnvironmentGroups,
  type EnvironmentLimits,
  environmentEntries,
  environmentGroupsOf,
  type GroupLimits,
  removeEmptyEnvironmentGroups,
  removeEnvironmentGroups,
  useEnvironmentGroups,
} from "./environments.ts";
import { groupName } from "./groups.ts";

const limits: EnvironmentLimits = { environmentId: "shop", companyId: "acme", memoryBytes: 100e6, processes: 50 };

let data: string;
let found: GroupLimits;
beforeEach(async () => {
  data = await mkdtemp(path.join(tmpdir(), "groups-"));
  found = await useEnvironmentGroups(data);
  onTestFinished(async () => {
    await closeEnvironmentGroups(data);
    await rm(data, { recursive: true });
  });
});

/** The groups of the environment. */
const groups = () =>
  environmentEntries(limits).flatMap(({ folder, file }) => (file === "cgroup.procs" ? [folder] : []));

/** Starts a process that writes all entries first. Resolves when it has. */
async function startInGroups(): Promise<ChildProcess> {
  for (const { folder } of environmentEntries(limits)) await mkdir(folder, { recursive: true });
  const writes = environmentEntries(limits).map(({ folder, file, value }) => `echo ${value} > '${folder}/${file}'`);
  const child = spawn("sh", ["-c", `set -e; ${[...writes, "echo ready", "exec sleep 60"].join("; ")}`]);
  onTestFinished(() => void child.kill("SIGKILL"));
  await expect.poll(() => child.stdout.read()?.toString()).toBe("ready\n");
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await expect.poll(() => child.signalCode).toBe("SIGKILL");
}

test("a process that writes the entries is limited, by as many groups as this machine allows", async () => {
  const child = await startInGroups();
  const own = readFileSync(`/proc/${child.pid}/cgroup`, "utf8");
  const count = own.split("\n").filter((line) => line.includes(`${groupName(data)}-environments/`)).length;
  expect(count).toBe(groups().length);
  const limitIn = (pattern: RegExp) => {
    const entry = environmentEntries(limits).findLast(({ file }) => pattern.test(file));
    return entry && Number(readFileSync(path.join(entry.folder, entry.file), "utf8"));
  };
  expect(limitIn(/^pids/)).toBe(found.pids ? 50 : undefined);
  expect(limitIn(/^memory/)).toBe(found.memory ? 100e6 - (100e6 % 4096) : undefined);
});

test("an environment's groups are removed when its processes have ended", async () => {
  const child = await startInGroups();
  await removeEnvironmentGroups(limits);
  expect(groups().every(existsSync)).toBe(true);
  await end(child);
  await expect
    .poll(async () => {
      await removeEnvironmentGroups(limits);
      return groups().some(existsSync);
    })
    .toBe(false);
});

test.each([
  ["from time to time", removeEmptyEnvironmentGroups],
  ["at the next start", () => useEnvironmentGroups(data)],
])("groups that were left behind are removed %s, others are not", async (_, remove) => {
  const child = await startInGroups();
  const left = groups().map((group) => path.join(path.dirname(group), "left"));
  for (const group of left) await mkdir(group);
  await remove();
  expect(left.some(existsSync)).toBe(false);
  expect(groups().every(existsSync)).toBe(true);
  await end(child);
});

test("another process finds out what is limited, until the installation stops", async () => {
  expect(environmentGroupsOf(data, process.pid)).toEqual(found);
  await closeEnvironmentGroups(data);
  expect(environmentGroupsOf(data, process.pid)).toEqual({ memory: false, pids: false });
});

test("nothing is left when the installation stops", async () => {
  const trees = groups().map((group) => group.slice(0, group.indexOf("/", group.indexOf(groupName(data)))));
  expect(trees.every(existsSync)).toBe(true);
  await end(await startInGroups());
  await expect
    .poll(async () => {
      await closeEnvironmentGroups(data);
      return trees.some(existsSync);
    })
    .toBe(false);
});

test("a machine without control groups has no entries", async () => {
  await closeEnvironmentGroups(data);
  expect(environmentEntries(limits)).toEqual([]);
});
