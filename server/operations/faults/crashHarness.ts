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
import { openSealer } from "../../sealing.ts";
import { openNotifications } from "../../store/notifications.ts";
import { acceptedChannel, endedChannel, type OperationRow, readOperation } from "../../store/operations.ts";
import { silentLog, testPaces } from "../../testing/engine.ts";
import { type Fault, type Point, withFaults } from "../../testing/faults.ts";
import type { ToChild } from "../../testing/operationsChild.ts";
import type { World } from "../../testing/world.ts";
import { type OperationDefinitions, operationDefinitions } from "../definitions.ts";
import { type AcceptOperation, makeAcceptOperation, type OperationRequest } from "../engine/accept.ts";
import { startEngine } from "../engine/engine.ts";
import type { AnyDefinition } from "../engine/operation.ts";
import { makeWaitForOperation } from "../engine/wait.ts";

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
  /**
   * Processes by their worlds, from the run before and for the next one: to start one takes longer than most operations. Whoever
   * made it ends them. Absent: each run has its own.
   */
  readonly children?: Map<World, ChildProcess>;
  /** How many operations one death is that of. Absent: eight. Where work takes seconds, those that wait would run out of time. */
  readonly mostTogether?: number;
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
    const row = await table.submit(request, (id) => void faults.set(id, each.fault));
    wrong.push(...(await judge(subject, world, each, request, row)));
  }
  await engine.stop();
  return wrong;
}

/**
 * Runs the cases with child processes, as many at once as there are worlds. To start a process takes longer than most
 * operations: one death is that of several, each of which has waited where its case wants it. Gives what is wrong.
 */
export async function runKills(subject: Subject, options: HarnessOptions, cases: readonly Case[]): Promise<string[]> {
  const left = deaths(cases, options.mostTogether ?? 8);
  const lane = async (world: World): Promise<string[]> => {
    await using table = await openTable(world);
    const { children = new Map<World, ChildProcess>() } = options;
    const wrong: string[] = [];
    let child = children.get(world) ?? (await startChild(world));
    children.delete(world);
    try {
      for (let next = left.shift(); next; next = left.shift()) {
        const requests: OperationRequest[] = [];
        for (const _ of next) requests.push(await subject.prepare(world));
        const died = death(child);
        const survivors: Record<string, Fault> = {};
        const ends = requests.map((request, at) =>
          table.submit(request, async (operationId) => {
            const fault = next[at]?.fault ?? {};
            // What failed before the kill fails again after it, and dies no more.
            const { killAt: _, killAtEnd: __, ...survivor } = fault;
            survivors[operationId] = survivor;
            await arm(child, { operationId, fault: withMoment(fault, next.length, options) });
          }),
        );
        const signal = await died;
        const names = next.map(({ name }) => name).join(", ");
        if (signal !== "SIGKILL") wrong.push(`${names}: the process did not come to all of them, or ended by itself`);
        child = await startChild(world, survivors);
        const rows = await Promise.all(ends);
        for (const [at, row] of rows.entries()) {
          const [one, request] = [next[at], requests[at]];
          if (one && request) wrong.push(...(await judge(subject, world, one, request, row)));
        }
      }
      children.set(world, child);
    } finally {
      if (options.children === undefined || !children.has(world)) child.kill("SIGKILL");
    }
    return wrong;
  };
  return (await Promise.all(options.worlds.map(lane))).flat();
}

/**
 * Cases that one death does for: between two pieces of work, amid one, and at the end of the transaction that ends an
 * operation, which dies alone there because it may hold what the others need.
 */
function deaths(cases: readonly Case[], most: number): (readonly Case[])[] {
  const {
    between = [],
    amid = [],
    alone = [],
  } = Object.groupBy(cases, ({ fault: { killAt = "" } }) => {
    if (killAt.endsWith(":in")) return "amid";
    return killAt === "succeed:after" || killAt === "fail:after" ? "alone" : "between";
  });
  return [...inParts(between, most), ...inParts(amid, most), ...inParts(alone, 1)];
}

function inParts(cases: readonly Case[], most: number): (readonly Case[])[] {
  const parts = Math.ceil(cases.length / most);
  return Array.from({ length: parts }, (_, at) => cases.slice(at * most, (at + 1) * most));
}

/** The signal by which it died; null where it did not, within the time that operations have. */
async function death(child: ChildProcess): Promise<string | null> {
  const enough = setTimeout(() => child.kill("SIGTERM"), patienceSeconds * 1_000);
  const [, signal] = await once(child, "exit");
  clearTimeout(enough);
  return signal;
}

function withMoment(fault: ToChild["fault"], together: number, { longestWorkMilliseconds = 3 }: HarnessOptions) {
  return { ...fault, together, killAfterMilliseconds: Math.random() * longestWorkMilliseconds };
}

export interface Table extends AsyncDisposable {
  readonly notifications: Awaited<ReturnType<typeof openNotifications>>;
  readonly sealer: Awaited<ReturnType<typeof openSealer>>;
  readonly definitions: OperationDefinitions;
  /** Accepts the operation and resolves with its row when it has ended. */
  submit(request: OperationRequest, accepted?: (operationId: string) => Promise<void> | void): Promise<OperationRow>;
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
        await accepted?.(answer.operationId);
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
export async function startChild(
  world: World,
  faults: Readonly<Record<string, ToChild["fault"]>> = {},
): Promise<ChildProcess> {
  const { module, factory, options } = world.runtime;
  const child = spawn(process.execPath, [join(import.meta.dirname, "../../testing/operationsChild.ts")], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env: {
      ...process.env,
      WORLD: JSON.stringify(world.facts),
      FAULTS: JSON.stringify(faults),
      RUNTIME_MODULE: module,
      RUNTIME_FACTORY: factory,
      RUNTIME_OPTIONS: JSON.stringify(options),
    },
  });
  const first = await Promise.race([once(child, "message"), once(child, "exit").then(() => ["ended"])]);
  if (first[0] === "ended") throw new Error("The child ended before it was ready");
  return child;
}

async function arm(child: ChildProcess, order: ToChild): Promise<void> {
  const armed = new Promise<void>((resolve) => {
    const hear = (message: unknown) => {
      if (message !== order.operationId) return;
      child.off("message", hear);
      resolve();
    };
    child.on("message", hear);
  });
  child.send(order);
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
