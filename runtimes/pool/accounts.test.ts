import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type AccountedMember, createAccounts } from "./accounts.ts";
import type { CpuTime } from "./cpuTime.ts";

const interval = 500;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** The part of the id before the slash is the company. */
function environment(id: string): AccountedMember["environment"] {
  return {
    id,
    companyId: id.split("/")[0] ?? id,
    number: 1,
    release: 1,
    documentRoot: "/",
    overlays: {},
    multisite: null,
    phpVersion: "8.3",
  };
}

/** Creates workers that use this CPU time, in milliseconds, between two measurements. `haveGroups`: whether companies have control groups. */
function makeWorkers(usage: Readonly<Record<string, CpuTime>>, { haveGroups } = { haveGroups: false }) {
  const measured = new Map<number, CpuTime>();
  const steps = new Map<string, number>();
  const members = Object.keys(usage).map((id, index): AccountedMember => {
    const setLoadSteps = (next: number) => void steps.set(id, next);
    const worker = { pid: index + 1, requests: 5, firstBegan: 0, setLoadSteps };
    return { environment: environment(id), isBusy: true, candidateUntil: 0, worker };
  });
  const accounts = createAccounts(() => members, {
    cpuTime: (pid) => measured.get(pid) ?? { used: 0, wanted: 0 },
    haveGroups: () => haveGroups,
  });
  function pass(intervals: number, now: Readonly<Record<string, CpuTime>> = usage): void {
    for (let count = 0; count < intervals; count += 1) {
      for (const {
        environment: { id },
        worker,
      } of members) {
        const before = measured.get(worker.pid) ?? { used: 0, wanted: 0 };
        const { used, wanted } = now[id] ?? { used: 0, wanted: 0 };
        measured.set(worker.pid, { used: before.used + used, wanted: before.wanted + wanted });
      }
      vi.advanceTimersByTime(interval);
    }
  }
  return { accounts, members, pass, stepsOf: (id: string) => steps.get(id) };
}

test("a busy environment gets low priority, and the default again when it is quiet", () => {
  const busy = { used: interval, wanted: interval };
  const idle = { used: 0, wanted: 0 };
  const { pass, stepsOf } = makeWorkers({ loud: busy, quiet: idle });
  pass(20);
  expect(stepsOf("loud")).toBe(19);
  expect(stepsOf("quiet")).toBe(5);
  pass(60, { loud: idle, quiet: idle });
  expect(stepsOf("loud")).toBe(5);
});

test("a quiet environment keeps its priority next to a busy one of its company, if companies have control groups", () => {
  const usage = { "one/busy": { used: interval, wanted: interval }, "one/quiet": { used: 0, wanted: 0 } };
  const { pass, stepsOf } = makeWorkers(usage, { haveGroups: true });
  pass(20);
  expect(stepsOf("one/busy")).toBe(19);
  expect(stepsOf("one/quiet")).toBe(5);
});

test("without control groups, a company with many little environments gets no more CPU time than one with a busy environment", () => {
  const part = { used: interval / 5, wanted: interval / 5 };
  const many = Object.fromEntries([1, 2, 3, 4, 5].map((index) => [`many/${index}`, part]));
  const { pass, stepsOf } = makeWorkers({ ...many, "one/1": part });
  pass(20);
  expect(stepsOf("many/1")).toBe(19);
  expect(stepsOf("one/1")).toBe(5);
});

test("waiting for a busy neighbour neither lowers nor restores an environment's priority", () => {
  const waits = { used: interval / 10, wanted: interval };
  const { pass, stepsOf } = makeWorkers({ waiting: waits, loud: { used: interval, wanted: interval } });
  pass(20);
  expect(stepsOf("waiting")).toBe(5);
  pass(60, { waiting: waits, loud: waits });
  expect(stepsOf("loud")).toBe(19);
});

test("a worker that renders its first page keeps its priority", () => {
  const { members, pass, stepsOf } = makeWorkers({ new: { used: interval, wanted: interval } });
  Object.assign(members[0]?.worker ?? {}, { requests: 1, firstBegan: null });
  pass(20);
  expect(stepsOf("new")).toBe(5);
});

test("a trial keeps its priority next to its company's other work", () => {
  const { members, pass, stepsOf } = makeWorkers({ tried: { used: interval, wanted: interval } });
  Object.assign(members[0] ?? {}, { candidateUntil: Number.POSITIVE_INFINITY });
  pass(20);
  expect(stepsOf("tried")).toBe(5);
});

test("CPU time that a worker used before it got its environment is not attributed", () => {
  const { accounts, members, pass } = makeWorkers({ one: { used: 100, wanted: 100 } });
  pass(1);
  const [member] = members;
  if (member === undefined) throw new Error("There is no worker");
  const before = accounts.of("one").counted.cpuMilliseconds;
  accounts.opened(member.worker);
  accounts.measure(member);
  expect(accounts.of("one").counted.cpuMilliseconds).toBe(before);
  expect(accounts.usage()).toMatchObject([{ environmentId: "one", cpuMilliseconds: 100 }]);
});
