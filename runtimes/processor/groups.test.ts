import { spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { companyProcesses } from "../testing/companyProcesses.ts";
import { useProcessorGroups } from "./companies.ts";
import { closeProcessorGroups, openProcessorGroups } from "./groups.ts";

test("groups of an older version that was killed are no companies, and what runs there goes on as a spare", async () => {
  const data = await mkdtemp(path.join(tmpdir(), "groups-"));
  onTestFinished(() => rmSync(data, { recursive: true }));
  const groups = openProcessorGroups(data);
  if (groups?.version !== 1) return closeProcessorGroups(data);
  const { background } = groups;
  await closeProcessorGroups(data);
  const inner = (...names: readonly string[]) => path.join(background, ...names);
  const name = path.basename(background);
  for (const older of [inner(name, "one"), inner(name, "spares"), inner(`${name}-quiet`, "two"), inner(`${name}-edge`)])
    await mkdir(older, { recursive: true });
  await mkdir(inner("services"));
  const child = spawn("sleep", ["60"]);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await vi.waitUntil(() => child.signalCode !== null);
    await closeProcessorGroups(data);
    useProcessorGroups(data);
  });
  writeFileSync(inner(name, "one", "cgroup.procs"), String(child.pid));
  openProcessorGroups(data);
  useProcessorGroups(data);
  expect(companyProcesses(groups)).toEqual(new Map());
  expect(readFileSync(`/proc/${child.pid}/cgroup`, "utf8")).toMatch(new RegExp(`/${name}/spares$`, "m"));
});
