import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  closeProcessorGroups,
  companyProcesses,
  hasProcessorGroups,
  openProcessorGroups,
  placeIn,
  removeEmptyGroups,
  runAsSpare,
  runInBackground,
  shareProcessor,
  useProcessorGroups,
  weighCompanies,
} from "./processorGroups.ts";

const version1 = "30 24 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct";
const version2 = "35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";

describe("the place of a process", () => {
  test.each([
    {
      description: "version 1",
      groups: "4:memory:/a\n3:cpu,cpuacct:/system.slice/b\n0::/c",
      mounts: version1,
      place: { version: 1, folder: "/sys/fs/cgroup/cpu,cpuacct/system.slice/b" },
    },
    {
      description: "version 2",
      groups: "0::/system.slice/sitewright.service",
      mounts: version2,
      place: { version: 2, folder: "/sys/fs/cgroup/system.slice/sitewright.service" },
    },
    {
      description: "both versions, and the processor belongs to the first",
      groups: "3:cpu:/\n0::/c",
      mounts: `${version2.replace("/sys/fs/cgroup ", "/sys/fs/cgroup/unified ")}\n${version1}`,
      place: { version: 1, folder: "/sys/fs/cgroup/cpu,cpuacct" },
    },
    {
      description: "a container that sees only its own part",
      groups: "3:cpu:/docker/abc/x",
      mounts: "30 24 0:26 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu",
      place: { version: 1, folder: "/sys/fs/cgroup/cpu/x" },
    },
    { description: "no groups", groups: "", mounts: "20 1 0:1 / / rw - ext4 /dev/vda rw", place: null },
  ])("$description", ({ groups, mounts, place }) => {
    expect(placeIn(groups, mounts)).toEqual(place);
  });
});

describe("groups of this machine", () => {
  let data: string;
  /** The companies' groups, or null if this machine has none. */
  let folder: string | null;
  const children: ChildProcess[] = [];

  function start(): number {
    const child = spawn("sleep", ["60"]);
    children.push(child);
    if (child.pid === undefined) throw new Error("sleep was not started");
    return child.pid;
  }

  /** The groups of a process, as the system names them. */
  const groupsOf = (pid: number) => readFileSync(`/proc/${pid}/cgroup`, "utf8");

  beforeEach(async () => {
    data = await mkdtemp(path.join(tmpdir(), "groups-"));
    folder = openProcessorGroups(data);
    useProcessorGroups(data);
  });

  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.kill("SIGKILL");
      await vi.waitUntil(() => child.signalCode !== null);
    }
    closeProcessorGroups(data);
    rmSync(data, { recursive: true });
  });

  test("processes of a company are in its group, which is removed when they have ended", async () => {
    const pid = start();
    shareProcessor("one", pid);
    if (folder === null) return expect(groupsOf(pid)).toBe(groupsOf(process.pid));
    await vi.waitUntil(() => /sitewright-\w+\/one$/m.test(groupsOf(pid)));
    await removeEmptyGroups();
    const group = path.join(folder, "one");
    expect(existsSync(group)).toBe(true);
    for (const child of children) child.kill("SIGKILL");
    await vi.waitUntil(async () => {
      await removeEmptyGroups();
      return !existsSync(group);
    });
  });

  test("a company that a worker gets while it moves is the one that it ends up in", async () => {
    const pid = start();
    for (const company of ["one", "two", "three"]) shareProcessor(company, pid);
    if (folder === null) return;
    await vi.waitUntil(() => /\/three$/m.test(groupsOf(pid)));
  });

  test("companies have different weights", async () => {
    const pid = start();
    shareProcessor("one", pid);
    if (folder === null) return;
    await vi.waitUntil(() => /\/one$/m.test(groupsOf(pid)));
    expect(companyProcesses()).toEqual(new Map([["one", [pid]]]));
    const group = path.join(folder, "one");
    const file = ["cpu.shares", "cpu.weight"].map((name) => path.join(group, name)).find(existsSync) ?? "";
    const shown = () => Number(readFileSync(file, "utf8"));
    const usual = shown();
    weighCompanies(new Map([["one", 4]]));
    expect(shown()).toBe(4 * usual);
    weighCompanies(new Map([["one", 1 / 4]]));
    expect(shown()).toBe(usual / 4);
  });

  test("a worker that is started in advance has the smallest weight until it gets a company", async () => {
    const pid = start();
    runAsSpare(pid);
    if (folder === null) return;
    await vi.waitUntil(() => /\/spares$/m.test(groupsOf(pid)));
    await removeEmptyGroups();
    expect(companyProcesses()).toEqual(new Map());
    shareProcessor("one", pid);
    await vi.waitUntil(() => /\/one$/m.test(groupsOf(pid)));
    await removeEmptyGroups();
    expect(existsSync(path.join(folder, "spares"))).toBe(true);
  });

  test("a process whose company's group can't be made is among the server's processes", async () => {
    const pid = start();
    shareProcessor("one", pid);
    shareProcessor("no/such/\0group", pid);
    await vi.waitUntil(() => groupsOf(pid) === groupsOf(process.pid));
  });

  test("the edge has a group of its own, which the server's other processes leave", async () => {
    const edge = fork(fileURLToPath(new URL("./testing/edgeGroupChild.ts", import.meta.url)), [data]);
    children.push(edge);
    const [pid]: unknown[] = await once(edge, "message");
    if (folder === null || typeof pid !== "number") return expect(pid).toBeTypeOf("number");
    const name = path.basename(folder);
    expect(groupsOf(edge.pid ?? 0)).toContain(`${name}-edge`);
    await vi.waitUntil(() => groupsOf(pid) === groupsOf(process.pid));
    process.kill(pid);
  });

  test("the installation has groups until it closes them", () => {
    expect(hasProcessorGroups(data, process.pid)).toBe(folder !== null);
    closeProcessorGroups(data);
    expect(hasProcessorGroups(data, process.pid)).toBe(false);
  });

  test("companies leave the background when they would starve", () => {
    const file = folder && path.join(folder, "cpu.idle");
    runInBackground(false);
    if (file === null || !existsSync(file)) return;
    expect(readFileSync(file, "utf8").trim()).toBe("0");
    runInBackground(true);
    expect(readFileSync(file, "utf8").trim()).toBe("1");
  });
});
