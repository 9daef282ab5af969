import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { makeLoudRule } from "../pool/loudCompanies.ts";
import { companyProcesses } from "../testing/companyProcesses.ts";
import {
  companyTimes,
  installationTimes,
  removeEmptyGroups,
  runAsSpare,
  separateLoudCompanies,
  shareProcessor,
  shareWithOthers,
  useProcessorGroups,
  weighCompanies,
} from "./companies.ts";
import { closeProcessorGroups, type Groups, groupsAt, hasProcessorGroups, openProcessorGroups } from "./groups.ts";
import { makeTimeCounter } from "./times.ts";

/** Keeps a processor busy for this long, and resolves when that is over. */
async function work(milliseconds: number, onStart: (pid: number | undefined) => void): Promise<void> {
  // It begins when it may have moved.
  const script = `process.once("message", () => { while (process.cpuUsage().user < ${milliseconds * 1_000}); process.exit(); })`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "ignore", "ignore", "ipc"] });
  onStart(child.pid);
  child.send("begin");
  await once(child, "exit");
}

describe("groups of this machine", () => {
  let data: string;
  /** Null if this machine has none. */
  let groups: Groups | null;
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
    groups = openProcessorGroups(data);
    useProcessorGroups(data);
  });

  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.kill("SIGKILL");
      await vi.waitUntil(() => child.signalCode !== null);
    }
    await closeProcessorGroups(data);
    useProcessorGroups(data);
    rmSync(data, { recursive: true });
  });

  test("processes of a company are in its group, which is removed when they have ended", async () => {
    const pid = start();
    shareProcessor("one", pid);
    if (groups === null) return expect(groupsOf(pid)).toBe(groupsOf(process.pid));
    await vi.waitUntil(() => /sitewright-\w+-quiet\/one$/m.test(groupsOf(pid)));
    await removeEmptyGroups();
    const group = path.join(groups.foreground, "one");
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
    if (groups === null) return;
    await vi.waitUntil(() => /\/three$/m.test(groupsOf(pid)));
  });

  test("companies have different weights", async () => {
    const pid = start();
    shareProcessor("one", pid);
    if (groups === null) return;
    await vi.waitUntil(() => /\/one$/m.test(groupsOf(pid)));
    expect(companyProcesses(groups)).toEqual(new Map([["one", [pid]]]));
    const group = path.join(groups.foreground, "one");
    const file = ["cpu.shares", "cpu.weight"].map((name) => path.join(group, name)).find(existsSync) ?? "";
    const shown = () => Number(readFileSync(file, "utf8"));
    const usual = shown();
    weighCompanies(new Map([["one", 4]]));
    expect(shown()).toBe(4 * usual);
    weighCompanies(new Map([["one", 1 / 4]]));
    expect(shown()).toBe(usual / 4);
  });

  /** What the company has used since the previous call. */
  function counted(company: string): () => number {
    const count = makeTimeCounter(companyTimes);
    return () => count().get(company) ?? 0;
  }

  test("the time of processes that have ended counts once, wherever the company's group was", async () => {
    const count = counted("one");
    const join = (pid: number | undefined) => shareProcessor("one", pid);
    await work(200, join);
    if (groups === null) return expect(count()).toBe(0);
    const here = groups;
    expect(count()).toBeGreaterThan(150);
    expect(count()).toBeLessThan(10);

    await work(200, join);
    await separateLoudCompanies(new Set(["one"]));
    await work(200, join);
    await separateLoudCompanies(new Set());
    expect(count()).toBeGreaterThan(350);
    expect(count()).toBeLessThan(10);

    await work(200, join);
    const isThere = () => companyProcesses(here).has("one");
    await vi.waitUntil(async () => {
      await removeEmptyGroups();
      return !isThere();
    });
    await work(200, join);
    expect(count()).toBeGreaterThan(350);
    expect(count()).toBeLessThan(10);
  });

  test("a company that starts processes of 100 ms each without a pause becomes loud", async () => {
    const count = makeTimeCounter(companyTimes);
    // A small machine, so that other work on this one matters little.
    const isLoud = makeLoudRule(1 / 4);
    let isOver = false;
    const flood = async () => {
      while (!isOver) await work(100, (pid) => shareProcessor("one", pid));
    };
    const ended = [flood(), flood()];
    await vi.waitUntil(() => groups === null || isLoud(count(), performance.now()).has("one"), {
      interval: 1_000,
      timeout: 30_000,
    });
    isOver = true;
    await Promise.all(ended);
  });

  test("a loud company without processes at the moment stays in the background", async () => {
    shareProcessor("one", start());
    if (groups === null) return;
    const here = groups;
    const { background, foreground } = groups;
    await vi.waitUntil(() => companyProcesses(here).get("one")?.length === 1);
    for (const child of children) child.kill("SIGKILL");
    await vi.waitUntil(() => companyProcesses(here).get("one")?.length === 0);
    await separateLoudCompanies(new Set(["one"]));
    await removeEmptyGroups();
    expect([background, foreground].map((folder) => existsSync(path.join(folder, "one")))).toEqual([true, false]);
    await separateLoudCompanies(new Set());
    await removeEmptyGroups();
    expect([background, foreground].map((folder) => existsSync(path.join(folder, "one")))).toEqual([false, false]);
  });

  test("a worker that is started in advance has the smallest weight until it gets a company", async () => {
    const pid = start();
    runAsSpare(pid);
    if (groups === null) return;
    await vi.waitUntil(() => /\/spares$/m.test(groupsOf(pid)));
    await removeEmptyGroups();
    expect(companyProcesses(groups)).toEqual(new Map());
    shareProcessor("one", pid);
    await vi.waitUntil(() => /\/one$/m.test(groupsOf(pid)));
    await removeEmptyGroups();
    expect(existsSync(groups.spares)).toBe(true);
  });

  test("a process whose company's group can't be made is among the server's processes", async () => {
    const pid = start();
    shareProcessor("one", pid);
    shareProcessor("no/such/\0group", pid);
    await vi.waitUntil(() => groupsOf(pid) === groupsOf(process.pid));
  });

  test("the edge has a group of its own, which the server's other processes leave", async () => {
    const edge = fork(fileURLToPath(new URL("../testing/edgeGroupChild.ts", import.meta.url)), [data]);
    children.push(edge);
    const [pid]: unknown[] = await once(edge, "message");
    if (groups === null || typeof pid !== "number") return expect(pid).toBeTypeOf("number");
    expect(groupsOf(edge.pid ?? 0)).toContain(path.basename(groups.edge));
    await vi.waitUntil(() => groupsOf(pid) === groupsOf(process.pid));
    process.kill(pid);
  });

  test("the server's processes are in its group until the groups are closed, and those that outlive them are not", async () => {
    const outliving = start();
    if (groups === null) return;
    const { services, version } = groups;
    for (const pid of [outliving, process.pid]) expect(groupsOf(pid)).toContain(path.basename(services));
    if (version !== 1) return;
    await closeProcessorGroups(data);
    for (const pid of [outliving, process.pid]) expect(groupsOf(pid)).not.toContain(path.basename(services));
    expect(existsSync(services)).toBe(false);
  });

  test("with version 1, the server comes before a program next to it, and companies only if such programs are busy", () => {
    if (groups?.version !== 1) return;
    const { services, edge, foreground, background } = groups;
    const weight = (group: string) => Number(readFileSync(path.join(group, "cpu.shares"), "utf8")) / 1_024;
    for (const group of [services, edge]) expect(weight(group)).toBeGreaterThan(1);
    shareWithOthers({ isInBackground: false, areProgramsBusy: false });
    expect(weight(foreground)).toBe(1);
    expect(weight(background)).toBeLessThan(1);
    shareWithOthers({ isInBackground: false, areProgramsBusy: true });
    for (const group of [foreground, background]) expect(weight(group)).toBeGreaterThan(1);
  });

  test("each process of the installation finds the same groups, wherever it is", () => {
    const outside = { version: 1, folder: "/sys/fs/cgroup/cpu" } as const;
    const found = groupsAt(outside, data);
    const { services, edge, foreground, background } = found;
    for (const folder of [services, edge, path.join(foreground, "one"), path.join(background, "one")])
      expect(groupsAt({ version: 1, folder }, data)).toEqual(found);
    expect(groupsAt({ version: 1, folder: services }, "/another")).not.toEqual(found);
  });

  test("the installation has groups until it closes them", async () => {
    expect(hasProcessorGroups(data, process.pid)).toBe(groups !== null);
    await work(10, (pid) => shareProcessor("one", pid));
    await closeProcessorGroups(data);
    expect(hasProcessorGroups(data, process.pid)).toBe(false);
    for (const folder of [groups?.background, groups?.foreground, groups?.counted])
      expect(existsSync(folder ?? "")).toBe(false);
  });

  test("all processes of a company are in the background while it is loud", async () => {
    const pids = [start(), start()];
    for (const pid of pids) shareProcessor("one", pid);
    shareProcessor("two", start());
    if (groups === null) return;
    const { background, foreground } = groups;
    const arePlaced = (company: string, folder: string, ids: readonly number[]) =>
      ids.every((pid) => groupsOf(pid).includes(`/${path.basename(folder)}/${company}\n`));
    await vi.waitUntil(() => arePlaced("one", foreground, pids));
    weighCompanies(new Map([["one", 1 / 4]]));
    await separateLoudCompanies(new Set(["one"]));
    expect(arePlaced("one", background, pids)).toBe(true);
    expect(existsSync(path.join(foreground, "one"))).toBe(false);
    expect(existsSync(path.join(foreground, "two"))).toBe(true);
    const next = start();
    shareProcessor("one", next);
    await vi.waitUntil(() => arePlaced("one", background, [next]));
    expect(companyProcesses(groups).get("one")).toEqual([...pids, next]);

    await separateLoudCompanies(new Set());
    expect(arePlaced("one", foreground, [...pids, next])).toBe(true);
    expect(existsSync(path.join(background, "one"))).toBe(false);
    const [version1, version2] = ["cpu.shares", "cpu.weight"].map((name) => path.join(foreground, "one", name));
    const isFirst = version1 !== undefined && existsSync(version1);
    expect(Number(readFileSync((isFirst ? version1 : version2) ?? "", "utf8"))).toBe(isFirst ? 1_024 / 4 : 100 / 4);
  });

  test("companies leave the background when they would starve, also next to busy programs", () => {
    const file = groups && path.join(groups.background, "cpu.idle");
    const isIdle = () => file !== null && readFileSync(file, "utf8").trim() === "1";
    shareWithOthers({ isInBackground: false, areProgramsBusy: false });
    if (file === null || !existsSync(file)) return;
    expect(isIdle()).toBe(false);
    shareWithOthers({ isInBackground: true, areProgramsBusy: false });
    expect(isIdle()).toBe(true);
    shareWithOthers({ isInBackground: true, areProgramsBusy: true });
    expect(isIdle()).toBe(groups?.version !== 1);
  });

  test("the installation has used the time of the server and of companies, also of processes that have ended", async () => {
    const count = makeTimeCounter(() => new Map([["installation", installationTimes()]]));
    const used = () => count().get("installation") ?? 0;
    await work(200, () => undefined);
    if (groups === null) return expect(used()).toBe(0);
    expect(used()).toBeGreaterThan(150);
    await work(200, (pid) => shareProcessor("one", pid));
    expect(used()).toBeGreaterThan(150);
    await work(200, runAsSpare);
    expect(used()).toBeGreaterThan(150);
  });
});
