/**
 * Runs an operation through every failure and every death there is, and looks at the world afterwards: it must be
 * finished or as it was before, with no lock, no secret and no half of anything left, whatever happened.
 *
 * Failures happen in an engine in this process. Deaths are real: a child process (`testing/operationsChild.ts`) kills
 * itself with SIGKILL at the point, and a new process goes on. Nothing in the product knows of this; the points are
 * put around the definitions from here.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { openSealer } from "../sealing.ts";
import { openNotifications } from "../store/notifications.ts";
import { acceptedChannel, endedChannel, type OperationRow, readOperation } from "../store/operations.ts";
import { silentLog, testPaces } from "../testing/engine.ts";
import { type Fault, type Point, withFaults } from "../testing/faults.ts";
import type { ToChild } from "../testing/operationsChild.ts";
import type { World } from "../testing/world.ts";
import { type AcceptOperation, makeAcceptOperation, type OperationRequest } from "./accept.ts";
import { type OperationDefinitions, operationDefinitions } from "./definitions.ts";
import { startEngine } from "./engine.ts";
import type { AnyDefinition } from "./operation.ts";
import { makeWaitForOperation } from "./wait.ts";

/** What is operated on, and how to see what became of it. The checks give sentences about what is wrong. */
export interface Subject {
  readonly kind: keyof OperationDefinitions;
  /** Makes what the operation needs, anew for each run. */
  prepare(world: World): Promise<OperationRequest>;
  finished(world: World, request: OperationRequest): Promise<string[]>;
  cleanSlate(world: World, request: OperationRequest): Promise<string[]>;
  /** Its work is never done twice: it may end badly where it was killed amid that. Absent: false. */
  readonly isAtMostOnce?: boolean;
}

export interface HarnessOptions {
  /** Worlds, used side by side; each run of the operation happens in one. */
  readonly worlds: readonly World[];
  /** Kills in the middle of work come up to so long after its beginning. */
  readonly longestWorkMilliseconds?: number;
}

export interface Case {
  readonly name: string;
  readonly fault: ToChild["fault"];
  readonly ends: "succeeded" | "failed";
}

const patienceSeconds = 60;

/** Every point of the definition at which it may fail, and how it must end then. */
export function failureCases(definition: AnyDefinition): Case[] {
  const { revocable, final } = stepsOf(definition);
  const points = (name: string): Point[] => [`${name}:before`, `${name}:after`];
  const lastRevocable = revocable.at(-1);
  return [
    { name: "nothing fails", fault: {}, ends: "succeeded" },
    ...revocable.flatMap(({ name }) => points(`run ${name}`).map((failAt) => failing(failAt, "failed"))),
    ...final.flatMap(({ name }) =>
      points(`run ${name}`).map((failAt) => ({ ...failing(failAt, "succeeded"), fault: { failAt, failTimes: 3 } })),
    ),
    ...(final.length === 0 && lastRevocable
      ? [failing("succeed:before", "failed"), failing("succeed:after", "failed")]
      : []),
  ];
}

function failing(failAt: Point, ends: Case["ends"]): Case {
  return { name: `fails at ${failAt}`, fault: { failAt }, ends };
}

/** Every point at which the process may be killed, on the way forward and on the way back. */
export function killCases(definition: AnyDefinition): { readonly forward: Case[]; readonly back: Case[] } {
  const { revocable } = stepsOf(definition);
  if (revocable.length === 0) throw new Error(`${definition.kind} needs a step before its point of no return.`);
  const failAt = `run ${revocable.at(-1)?.name}:after`;
  const kill = (killAt: Point, more: Fault, ends: Case["ends"]): Case => ({
    name: `killed at ${killAt}`,
    fault: { ...more, killAt },
    ends,
  });
  const around = (name: string): Point[] => [`${name}:before`, `${name}:in`, `${name}:after`];
  return {
    forward: [
      ...definition.steps.flatMap(({ name }) => around(`run ${name}`).map((at) => kill(at, {}, "succeeded"))),
      ...["succeed:before", "succeed:after"].map((at) => kill(at, {}, "succeeded")),
      { name: "killed when it had ended well", fault: { killAtEnd: true }, ends: "succeeded" },
    ],
    back: [
      ...revocable.flatMap(({ name, undo }) =>
        undo ? around(`undo ${name}`).map((at) => kill(at, { failAt }, "failed")) : [],
      ),
      ...["fail:before", "fail:after"].map((at) => kill(at, { failAt }, "failed")),
      { name: "killed when it had ended badly", fault: { failAt, killAtEnd: true }, ends: "failed" },
    ],
  };
}

function stepsOf({ steps, pointOfNoReturn }: AnyDefinition) {
  const index = pointOfNoReturn ? steps.findIndex(({ name }) => name === pointOfNoReturn) : steps.length;
  return { revocable: steps.slice(0, index), final: steps.slice(index) };
}

/** Runs the cases with an engine in this process, one after the other, in the first world. Gives what is wrong. */
export async function runFailures(subject: Subject, world: World, cases: readonly Case[]): Promise<string[]> {
  await using table = await openTable(world);
  const faults = new Map<string, Fault>();
  const engine = await startEngine({
    url: world.facts.databaseUrl,
    database: world.own.database,
    notifications: table.notifications,
    sealer: table.sealer,
    definitions: Object.values(table.definitions).map((each) => withFaults(each, (id) => faults.get(id))),
    log: silentLog,
    paces: testPaces,
  });
  const wrong: string[] = [];
  for (const each of cases) {
    const request = await subject.prepare(world);
    const row = await table.submit(request, (id) => faults.set(id, each.fault));
    wrong.push(...(await judge(subject, world, each, request, row)));
  }
  await engine.stop();
  return wrong;
}

/** Runs the cases with child processes, as many at once as there are worlds. Gives what is wrong. */
export async function runKills(subject: Subject, options: HarnessOptions, cases: readonly Case[]): Promise<string[]> {
  const left = [...cases];
  const lane = async (world: World): Promise<string[]> => {
    await using table = await openTable(world);
    let child = await startChild(world);
    const wrong: string[] = [];
    try {
      for (let next = left.shift(); next; next = left.shift()) {
        const request = await subject.prepare(world);
        await arm(child, withMoment(next, options));
        const died = once(child, "exit");
        const ended = table.submit(request);
        const [, signal] = await died;
        if (signal !== "SIGKILL") wrong.push(`${next.name}: the process ended by itself`);
        // What failed before the kill fails again after it, and dies no more.
        const { killAt: _, killAtEnd: __, ...survivors } = next.fault;
        child = await startChild(world, survivors);
        wrong.push(...(await judge(subject, world, next, request, await ended)));
      }
    } finally {
      child.kill("SIGKILL");
    }
    return wrong;
  };
  return (await Promise.all(options.worlds.map(lane))).flat();
}

function withMoment({ fault }: Case, { longestWorkMilliseconds = 3 }: HarnessOptions): Fault {
  return { ...fault, killAfterMilliseconds: Math.random() * longestWorkMilliseconds };
}

export interface Table extends AsyncDisposable {
  readonly notifications: Awaited<ReturnType<typeof openNotifications>>;
  readonly sealer: Awaited<ReturnType<typeof openSealer>>;
  readonly definitions: OperationDefinitions;
  /** Accepts the operation and resolves with its row when it has ended. */
  submit(request: OperationRequest, accepted?: (operationId: string) => void): Promise<OperationRow>;
}

/** What a test needs to accept operations in a world, and to see them end. */
export async function openTable({ facts, own, services }: World): Promise<Table> {
  const notifications = await openNotifications({ url: facts.databaseUrl, channels: [acceptedChannel, endedChannel] });
  const sealer = await openSealer(join(facts.dataFolder, "secrets", "key"));
  const definitions = operationDefinitions(services);
  const accept: AcceptOperation = makeAcceptOperation({ sealer, definitions });
  const wait = makeWaitForOperation({ database: own.database, notifications });
  return {
    notifications,
    sealer,
    definitions,
    submit: async (request, accepted) => {
      const { operationId } = await own.database.transaction().execute(async (transaction) => {
        const answer = await accept(transaction, request);
        accepted?.(answer.operationId);
        return answer;
      });
      await wait(operationId, patienceSeconds);
      const row = await readOperation(own.database, operationId);
      if (!row) throw new Error(`${operationId} is gone`);
      return row;
    },
    [Symbol.asyncDispose]: () => notifications.close(),
  };
}

/** A process that runs operations in the world; ready when this resolves. */
export async function startChild(world: World, fault: ToChild["fault"] = {}): Promise<ChildProcess> {
  const { module, factory, options } = world.runtime;
  const child = spawn(process.execPath, [join(import.meta.dirname, "../testing/operationsChild.ts")], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env: {
      ...process.env,
      WORLD: JSON.stringify(world.facts),
      FAULT: JSON.stringify(fault),
      RUNTIME_MODULE: module,
      RUNTIME_FACTORY: factory,
      RUNTIME_OPTIONS: JSON.stringify(options),
    },
  });
  const first = await Promise.race([once(child, "message"), once(child, "exit").then(() => ["ended"])]);
  if (first[0] === "ended") throw new Error("The child ended before it was ready");
  return child;
}

async function arm(child: ChildProcess, fault: Fault): Promise<void> {
  const armed = once(child, "message");
  child.send({ fault } satisfies ToChild);
  await armed;
}

async function judge(
  subject: Subject,
  world: World,
  each: Case,
  request: OperationRequest,
  row: OperationRow,
): Promise<string[]> {
  const wrong: string[] = [];
  const isInterrupted = subject.isAtMostOnce && row.state === "failed" && /^run .*:in$/.test(each.fault.killAt ?? "");
  if (row.state !== each.ends && !isInterrupted)
    wrong.push(`it is ${row.state} at ${row.step}, not ${each.ends}: ${row.public_error}`);
  if (row.secret !== null) wrong.push("its secret is kept");
  wrong.push(...(await leftOvers(world, row)));
  const check = row.state === "succeeded" ? subject.finished : subject.cleanSlate;
  wrong.push(...(await check(world, request)));
  return wrong.map((sentence) => `${each.name}: ${sentence}`);
}

async function leftOvers({ own: { database } }: World, row: OperationRow): Promise<string[]> {
  const locks = await database.selectFrom("environment_locks").selectAll().where("operation_id", "=", row.id).execute();
  const activity = await database
    .selectFrom("activity")
    .selectAll()
    .where("id", "=", row.activity_id)
    .executeTakeFirstOrThrow();
  const isRight = activity.is_done && activity.has_failed === (row.state === "failed");
  return [...(locks.length > 0 ? ["it kept a lock"] : []), ...(isRight ? [] : ["its activity entry is not ended"])];
}
