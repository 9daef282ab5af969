import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type AccountedMember, createAccounts, type Taken } from "./accounts.ts";

const look = 500;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
afterEach(() => void vi.useRealTimers());

function environment(id: string): AccountedMember["environment"] {
  return { id, number: 1, release: 1, documentRoot: "/", overlays: {}, multisite: null, phpVersion: "8.3" };
}

/** Workers that take what they are told to, in milliseconds at each look. */
function makeWorkers(shares: Readonly<Record<string, Taken>>) {
  const taken = new Map<number, Taken>();
  const steps = new Map<string, number>();
  const members = Object.keys(shares).map((id, index): AccountedMember => {
    const standBack = (back: number) => void steps.set(id, back);
    const worker = { pid: index + 1, requests: 5, firstBegan: 0, standBack };
    return { environment: environment(id), isBusy: true, keptUntil: 0, worker };
  });
  const accounts = createAccounts(
    () => members,
    (pid) => taken.get(pid) ?? { got: 0, wanted: 0 },
  );
  function pass(looks: number, now: Readonly<Record<string, Taken>> = shares): void {
    for (let count = 0; count < looks; count += 1) {
      for (const {
        environment: { id },
        worker,
      } of members) {
        const before = taken.get(worker.pid) ?? { got: 0, wanted: 0 };
        const { got, wanted } = now[id] ?? { got: 0, wanted: 0 };
        taken.set(worker.pid, { got: before.got + got, wanted: before.wanted + wanted });
      }
      vi.advanceTimersByTime(look);
    }
  }
  return { accounts, members, pass, stepsOf: (id: string) => steps.get(id) };
}

test("an environment that keeps a processor busy stands behind the others, and comes forward when it is quiet", () => {
  const burns = { got: look, wanted: look };
  const rests = { got: 0, wanted: 0 };
  const { pass, stepsOf } = makeWorkers({ loud: burns, quiet: rests });
  pass(20);
  expect(stepsOf("loud")).toBe(19);
  expect(stepsOf("quiet")).toBe(5);
  pass(60, { loud: rests, quiet: rests });
  expect(stepsOf("loud")).toBe(5);
});

test("one that only waits for a busy neighbour is spared, and one that stands back and waits stays there", () => {
  const waits = { got: look / 10, wanted: look };
  const { pass, stepsOf } = makeWorkers({ waiting: waits, loud: { got: look, wanted: look } });
  pass(20);
  expect(stepsOf("waiting")).toBe(5);
  pass(60, { waiting: waits, loud: waits });
  expect(stepsOf("loud")).toBe(19);
});

test("whose first page is being made is spared, whatever it takes", () => {
  const { members, pass, stepsOf } = makeWorkers({ new: { got: look, wanted: look } });
  Object.assign(members[0]?.worker ?? {}, { requests: 1, firstBegan: null });
  pass(20);
  expect(stepsOf("new")).toBe(5);
});

test("what a worker had taken before it had its environment is nobody's", () => {
  const { accounts, members, pass } = makeWorkers({ one: { got: 100, wanted: 100 } });
  pass(1);
  const [member] = members;
  if (member === undefined) throw new Error("There is no worker");
  const before = accounts.of("one").counted.cpuMilliseconds;
  accounts.opened(member.worker);
  accounts.look(member);
  expect(accounts.of("one").counted.cpuMilliseconds).toBe(before);
  expect(accounts.usage()).toMatchObject([{ environmentId: "one", cpuMilliseconds: 100 }]);
});
