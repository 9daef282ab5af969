/**
 * Runs an operation through every failure and every death there is, and looks at the world afterwards: it must be finished
 * or as it was before, with no lock, no secret and no half of anything left, whatever happened.
 *
 * Nothing in the product knows of this; the points are put around the definitions from here. `runners.ts` says which deaths
 * are those of a process.
 */
import { join } from "node:path";
import { openSealer } from "../../../sealing.ts";
import { openNotifications } from "../../../store/notifications.ts";
import { acceptedChannel, endedChannel, type OperationRow, readOperation } from "../../../store/operations.ts";
import { silentLog, testBackoffs } from "../../../testing/engine.ts";
import { type Fault, withFaults } from "../../../testing/faults.ts";
import type { RunnerFault } from "../../../testing/faultyEngine.ts";
import { forgetSites, type World } from "../../../testing/world.ts";
import { type OperationDefinitions, operationDefinitions } from "../../definitions.ts";
import { type AcceptOperation, makeAcceptOperation, type OperationRequest } from "../../engine/accept.ts";
import { startEngine } from "../../engine/engine.ts";
import { makeWaitForOperation } from "../../engine/wait.ts";
import { type Case, together } from "./cases.ts";
import { type Runner, type StartRunner, startEngineHere } from "./runners.ts";

/** What is operated on, and how to see what became of it. The checks give sentences about what is wrong. */
export interface Subject {
  readonly kind: keyof OperationDefinitions;
  /** Makes what the operation needs, anew for each run. */
  prepare(world: World): Promise<OperationRequest>;
  finished(world: World, request: OperationRequest): Promise<string[]>;
  cleanSlate(world: World, request: OperationRequest): Promise<string[]>;
  /** Its work is never done twice: it may end badly where it was killed during it. Absent: false. */
  readonly isAtMostOnce?: boolean;
}

/** On a machine that is busy with something else, too. */
const patienceSeconds = 180;

/** Runs the cases with one engine in this process, one after the other. Returns what is wrong. */
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
    backoffs: testBackoffs,
  });
  const wrong: string[] = [];
  for (const each of cases) {
    const request = await subject.prepare(world);
    const row = await table.submit(request, (id) => void faults.set(id, each.fault));
    wrong.push(...(await judge(subject, world, each, request, row)));
    await forgetSites(world);
  }
  await engine.stop();
  return wrong;
}

/** A runner that one run leaves to the next: to start a process takes longer than most operations. */
export interface Spare {
  runner: Runner | null;
}

export interface DeathOptions {
  /** Absent: an engine in this process, which can't die during work. */
  readonly start?: StartRunner;
  /** Absent: the runner ends with this run. Whoever made it ends what is left in it. */
  readonly spare?: Spare;
  /** How many operations one death is that of. Absent: 16. Where work takes seconds, those that wait would run out of time. */
  readonly mostTogether?: number;
  /** Deaths in the middle of work come up to so long after its beginning. Absent: 3. */
  readonly longestWorkMilliseconds?: number;
}

/**
 * Runs the cases in groups: several operations wait where their cases want them, and die together; a new runner goes on with
 * all of them. No other runner may work in the world. Returns what is wrong.
 */
export async function runDeaths(
  subject: Subject,
  world: World,
  cases: readonly Case[],
  { start = startEngineHere, spare, mostTogether = 16, longestWorkMilliseconds = 3 }: DeathOptions = {},
): Promise<string[]> {
  await using table = await openTable(world);
  const wrong: string[] = [];
  let runner = spare?.runner ?? (await start(world));
  try {
    for (const group of together(cases, mostTogether)) {
      const dying: { each: Case; request: OperationRequest; ended: Promise<OperationRow> }[] = [];
      const survivors: Record<string, RunnerFault> = {};
      const current = runner;
      const requests: OperationRequest[] = [];
      for (const _ of group) requests.push(await subject.prepare(world));
      for (const [at, each] of group.entries()) {
        const request = requests[at];
        if (request === undefined) continue;
        const ended = table.submit(request, async (operationId) => {
          // What failed before the death fails again after it, and dies no more.
          const { killAt: _, killAtEnd: __, ...survivor } = each.fault;
          survivors[operationId] = survivor;
          const killAfterMilliseconds = Math.random() * longestWorkMilliseconds;
          await current.arm({ operationId, fault: { ...each.fault, together: group.length, killAfterMilliseconds } });
        });
        dying.push({ each, request, ended });
      }
      if (!(await diesInTime(current))) {
        wrong.push(`${group.map(({ name }) => name).join(", ")}: not all of them came to their points`);
      }
      runner = await start(world, survivors);
      const rows = await Promise.all(dying.map(({ ended }) => ended));
      for (const [at, { each, request }] of dying.entries()) {
        const row = rows[at];
        if (row) wrong.push(...(await judge(subject, world, each, request, row)));
      }
      await forgetSites(world);
    }
  } finally {
    if (spare) spare.runner = runner;
    else await runner.end();
  }
  return wrong;
}

/** Whether it dies of its fault within the time that operations have. It is dead afterwards. */
async function diesInTime(runner: Runner): Promise<boolean> {
  const enough = setTimeout(() => void runner.end(), patienceSeconds * 1_000);
  const isByFault = await runner.died;
  clearTimeout(enough);
  return isByFault;
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
