/**
 * Finds operations that nobody runs, at once when asked and every so often, and has them run. What it finds is
 * read from rows each time, so that any number of processes may do this side by side.
 */
import type { Pool } from "pg";
import type { Logger } from "pino";
import { whileDead } from "./executor.ts";

export interface SweeperOptions {
  readonly pool: Pool;
  /** Of this process. */
  readonly executorId: string;
  readonly log: Logger;
  /** Between two sweeps. */
  readonly milliseconds: number;
  /** Begins an operation unless any process has; for an operation that was begun it does nothing. */
  readonly start: (operationId: string) => Promise<void>;
  /** Has operations go on that were being run by a process that is dead. */
  readonly resume: (operationIds: readonly string[]) => Promise<void>;
  /** Forgets what was recorded of an operation and begins it anew. */
  readonly startOver: (operationId: string) => Promise<void>;
}

export interface Sweeper {
  /** Begins one operation that was just accepted. Should that fail, a sweep does it. */
  start(operationId: string): void;
  /** Never rejects. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

/** A running operation, and its workflow as DBOS has it: null where it has none. */
export interface Unattended {
  readonly id: string;
  readonly status: string | null;
  readonly executor: string | null;
}

export interface Plan {
  readonly start: string[];
  /** Operations by the executor that began them, which is to be found dead first. */
  readonly resume: Map<string, string[]>;
  /** Their workflow has ended and they have not: a mistake of ours, or a kind that the process did not know. */
  readonly startOver: string[];
}

/** What is to be done about operations that this process does not run. */
export function planSweep(rows: readonly Unattended[]): Plan {
  const plan: Plan = { start: [], resume: new Map(), startOver: [] };
  for (const { id, status, executor } of rows) {
    if (status === null) plan.start.push(id);
    else if (status !== "PENDING") plan.startOver.push(id);
    else if (executor !== null) plan.resume.set(executor, [...(plan.resume.get(executor) ?? []), id]);
  }
  return plan;
}

export function startSweeper(options: SweeperOptions): Sweeper {
  const { pool, log } = options;
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> | undefined;
  let stopped = false;
  /** Once for each in the life of a process: should it end that way again, the next process tries. */
  const startedOver = new Set<string>();

  function sweep(): Promise<void> {
    clearTimeout(timer);
    current ??= sweepOnce()
      .catch((err: unknown) => log.warn({ err }, "Interrupted operations could not be looked for; the next sweep does"))
      .finally(() => {
        current = undefined;
        if (!stopped) timer = setTimeout(sweep, options.milliseconds);
      });
    return current;
  }

  async function sweepOnce(): Promise<void> {
    const plan = planSweep(await listUnattended(pool, options.executorId));
    await Promise.all(plan.start.map(options.start));
    for (const executor of plan.resume.keys()) await whileDead(pool, executor, () => resume(executor));
    for (const id of plan.startOver.filter((each) => !startedOver.has(each))) {
      startedOver.add(id);
      log.error({ operation: id }, "An operation was left unfinished; it is begun anew");
      await options.startOver(id);
    }
  }

  /** Listed again under the lock: another process may have resumed them and may be running them by now. */
  async function resume(executor: string): Promise<void> {
    const ids = planSweep(await listUnattended(pool, options.executorId)).resume.get(executor) ?? [];
    if (ids.length === 0) return;
    log.warn({ operations: ids }, "Operations that a process left are resumed");
    await options.resume(ids);
  }

  return {
    sweep,
    start: (id) => {
      if (stopped) return;
      options
        .start(id)
        .catch((err: unknown) =>
          log.warn({ err, operation: id }, "An operation did not start; the next sweep starts it"),
        );
    },
    stop: async () => {
      stopped = true;
      await current;
      clearTimeout(timer);
    },
  };
}

async function listUnattended(pool: Pool, executorId: string): Promise<Unattended[]> {
  const { rows } = await pool.query<Unattended>(
    `select o.id, w.status, w.executor_id as executor
     from operations o left join dbos.workflow_status w on w.workflow_uuid = o.id
     where o.state = 'running'
       and (w.status is null or w.status not in ('PENDING', 'ENQUEUED') or (w.status = 'PENDING' and w.executor_id <> $1))`,
    [executorId],
  );
  return rows;
}
