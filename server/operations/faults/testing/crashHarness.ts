/**
 * Runs an operation with every possible failure and death, and checks the world afterwards: the operation must have either
 * completed or left no trace, with no lock, no secret and nothing unfinished left behind.
 *
 * The product has no code for this: the faults are wrapped around the definitions from here. `runners.ts` explains which
 * deaths kill a real process.
 */
import { join } from "node:path";
import { openSealer } from "../../../sealing.ts";
import { openNotifications } from "../../../store/notifications.ts";
import {
  acceptedChannel,
  endedChannel,
  makeOperationRead,
  type OperationRow,
  readOperation,
} from "../../../store/operations.ts";
import { silentLog, testBackoffs } from "../../../testing/engine.ts";
import { type Fault, withFaults } from "../../../testing/faults.ts";
import type { RunnerFault } from "../../../testing/faultyEngine.ts";
import { forgetSites, type World } from "../../../testing/world.ts";
import { type OperationDefinitions, operationDefinitions } from "../../definitions.ts";
import { type AcceptOperation, makeAcceptOperation, type OperationRequest } from "../../engine/accept.ts";
import { startEngine } from "../../engine/engine.ts";
import { makeOperationWaits } from "../../engine/wait.ts";
import { type Case, together } from "./cases.ts";
import { type Runner, type StartRunner, startEngineHere } from "./runners.ts";

/** An operation with its preparation and its checks. The checks return problems as sentences. */
export interface Subject {
  readonly kind: keyof OperationDefinitions;
  /** Creates new data for the operation. Called for each run. */
  prepare(world: World): Promise<OperationRequest>;
  /** Checks the state after success. Returns the problems. */
  finished(world: World, request: OperationRequest): Promise<string[]>;
  /** Checks that the operation has left nothing behind. */
  undone(world: World, request: OperationRequest): Promise<string[]>;
  /** Whether its work is never repeated: if it is killed during the work, it may end as failed. Absent: false. */
  readonly isAtMostOnce?: boolean;
}

/** Generous, for a machine that is busy. */
const timeoutSeconds = 180;

/** Runs the cases at the same time, with one engine in this process. Returns the problems. */
export async function runFailures(subject: Subject, world: World, cases: readonly Case[]): Promise<string[]> {
  await using harness = await openHarness(world);
  const faults = new Map<string, Fault>();
  const engine = await startEngine({
    url: world.facts.databaseUrl,
    database: world.own.database,
    notifications: harness.notifications,
    sealer: harness.sealer,
    definitions: Object.values(harness.definitions).map((each) => withFaults(each, (id) => faults.get(id))),
    log: silentLog,
    backoffs: testBackoffs,
  });
  const prepared = await prepareAll(subject, world, cases);
  const submit = ({ each, request }: Prepared) =>
    harness.submit(request, (operationId) => void faults.set(operationId, each.fault));
  const rows = await Promise.all(prepared.map(submit));
  const wrong = await checkEnds(subject, world, prepared, rows);
  await engine.stop();
  return wrong;
}

interface Prepared {
  readonly each: Case;
  readonly request: OperationRequest;
}

/** Prepares all at once: they share most publications. */
function prepareAll(subject: Subject, world: World, cases: readonly Case[]): Promise<Prepared[]> {
  return Promise.all(cases.map(async (each) => ({ each, request: await subject.prepare(world) })));
}

/** A runner that is passed from one run to the next, because starting a process takes longer than most operations. */
export interface Spare {
  runner: Runner | null;
}

interface DeathOptions {
  /** Starts a runner. Absent: an engine in this process, which can't die during work. */
  readonly start?: StartRunner;
  /** A runner to use and to leave for the next run; its owner ends it. Absent: the runner ends with this run. */
  readonly spare?: Spare;
  /**
   * Maximum number of operations that one death kills. Absent: 16. Use fewer if work takes seconds, because the waiting
   * operations would time out.
   */
  readonly mostTogether?: number;
  /** Maximum delay between the start of work and a death in its middle. Absent: 3. */
  readonly longestWorkMilliseconds?: number;
}

/**
 * Runs the cases in groups: several operations wait at the points of their cases and die together, and a new runner
 * continues all of them. No other runner may work in the world. Returns the problems.
 */
export async function runDeaths(
  subject: Subject,
  world: World,
  cases: readonly Case[],
  { start = startEngineHere, spare, mostTogether = 16, longestWorkMilliseconds = 3 }: DeathOptions = {},
): Promise<string[]> {
  await using harness = await openHarness(world);
  const wrong: string[] = [];
  let runner = spare?.runner ?? (await start(world));
  try {
    for (const group of together(cases, mostTogether)) {
      const survivors: Record<string, RunnerFault> = {};
      const current = runner;
      const dying = await prepareAll(subject, world, group);
      const submit = ({ each, request }: Prepared) =>
        harness.submit(request, async (operationId) => {
          // A failure before the death happens again afterwards, but the runner dies no more.
          const { killAt: _, killAtEnd: __, ...survivor } = each.fault;
          survivors[operationId] = survivor;
          const killAfterMilliseconds = Math.random() * longestWorkMilliseconds;
          await current.arm({ operationId, fault: { ...each.fault, together: group.length, killAfterMilliseconds } });
        });
      const ended = Promise.all(dying.map(submit));
      if (!(await diesInTime(current))) {
        wrong.push(`${group.map(({ name }) => name).join(", ")}: not all operations reached their points`);
      }
      runner = await start(world, survivors);
      wrong.push(...(await checkEnds(subject, world, dying, await ended)));
    }
  } finally {
    if (spare) spare.runner = runner;
    else await runner.end();
  }
  return wrong;
}

/**
 * Runs one operation whose runner dies once for each of the cases, which are in the order in which they are reached. All
 * have the same fault apart from the point of death, and the same end. Returns the problems.
 */
export async function runDeathsInTurn(
  subject: Subject,
  world: World,
  cases: readonly Case[],
  { start = startEngineHere, spare, longestWorkMilliseconds = 3 }: DeathOptions & { readonly spare: Spare },
): Promise<string[]> {
  await using harness = await openHarness(world);
  const [first, ...others] = cases;
  if (first === undefined) return [];
  const faultOf = (each: Case) => ({ ...each.fault, killAfterMilliseconds: Math.random() * longestWorkMilliseconds });
  const { killAt: _, ...survivor } = first.fault;
  const followers = [
    ...others.map((each) => ({ name: each.name, fault: faultOf(each) })),
    { name: "", fault: survivor },
  ];
  const request = await subject.prepare(world);
  const wrong: string[] = [];
  let runner = spare.runner ?? (await start(world));
  spare.runner = null;
  const accepted = Promise.withResolvers<string>();
  const ended = harness.submit(request, async (operationId) => {
    await runner.arm({ operationId, fault: faultOf(first) });
    accepted.resolve(operationId);
  });
  const operationId = await accepted.promise;
  let { name } = first;
  for (const next of followers) {
    if (!(await diesInTime(runner))) wrong.push(`${name}: the operation did not reach its point`);
    ({ name } = next);
    runner = await start(world, { [operationId]: next.fault });
  }
  spare.runner = runner;
  const every = { ...first, name: cases.map((each) => each.name).join(", ") };
  wrong.push(...(await checkEnd(subject, world, every, request, await ended)));
  await forgetSites(world);
  return wrong;
}

/** Waits for the runner to die. Ends it at the timeout. Returns whether it died of its fault. */
async function diesInTime(runner: Runner): Promise<boolean> {
  const timeout = setTimeout(() => void runner.end(), timeoutSeconds * 1_000);
  const isByFault = await runner.died;
  clearTimeout(timeout);
  return isByFault;
}

export interface Harness extends AsyncDisposable {
  readonly notifications: Awaited<ReturnType<typeof openNotifications>>;
  readonly sealer: Awaited<ReturnType<typeof openSealer>>;
  readonly definitions: OperationDefinitions;
  /** Accepts the operation and waits for it to end. Returns its row. */
  submit(request: OperationRequest, accepted?: (operationId: string) => Promise<void> | void): Promise<OperationRow>;
}

/** Opens what a test needs to submit operations in a world and to wait for them. */
export async function openHarness({ facts, own, services }: World): Promise<Harness> {
  const notifications = await openNotifications({ url: facts.databaseUrl, channels: [acceptedChannel, endedChannel] });
  const sealer = await openSealer(join(facts.dataFolder, "secrets", "key"));
  const definitions = operationDefinitions(services);
  const accept: AcceptOperation = makeAcceptOperation({ sealer, definitions });
  const { untilEnded } = makeOperationWaits({ read: makeOperationRead(own.pool), notifications });
  return {
    notifications,
    sealer,
    definitions,
    submit: async (request, accepted) => {
      const { operationId } = await own.database.transaction().execute(async (transaction) => {
        const acceptance = await accept(transaction, request);
        await accepted?.(acceptance.operationId);
        return acceptance;
      });
      await untilEnded(operationId, timeoutSeconds);
      const row = await readOperation(own.database, operationId);
      if (!row) throw new Error(`${operationId} is gone`);
      return row;
    },
    [Symbol.asyncDispose]: () => notifications.close(),
  };
}

/** Checks operations that have ended, and forgets their sites. Returns the problems. */
async function checkEnds(
  subject: Subject,
  world: World,
  ended: readonly Prepared[],
  rows: readonly OperationRow[],
): Promise<string[]> {
  const wrong: string[] = [];
  for (const [index, { each, request }] of ended.entries()) {
    const row = rows[index];
    if (row) wrong.push(...(await checkEnd(subject, world, each, request, row)));
  }
  await forgetSites(world);
  return wrong;
}

async function checkEnd(
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
  if (row.secret !== null) wrong.push("it still has its secret");
  wrong.push(...(await leftovers(world, row)));
  const check = row.state === "succeeded" ? subject.finished : subject.undone;
  wrong.push(...(await check(world, request)));
  return wrong.map((sentence) => `${each.name}: ${sentence}`);
}

/** Returns what an operation that has ended still holds, as sentences. */
export async function leftovers({ own: { database } }: World, row: OperationRow): Promise<string[]> {
  const locks = await database.selectFrom("environment_locks").selectAll().where("operation_id", "=", row.id).execute();
  const activity = await database
    .selectFrom("activity")
    .selectAll()
    .where("id", "=", row.activity_id)
    .executeTakeFirstOrThrow();
  const isRight = activity.is_done && activity.has_failed === (row.state === "failed");
  return [
    ...(locks.length > 0 ? ["it still has a lock"] : []),
    ...(isRight ? [] : ["its activity entry has the wrong state"]),
  ];
}
