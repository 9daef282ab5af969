/** Runs the due WP-Cron events of one environment through the edge, one site of its network after the other. */
import type { NextEvent } from "@sitewright/runtimes/runtime.ts";
import * as v from "valibot";
import { type EdgeClient, EdgeUnavailable, type TaskResult } from "../../clients/edgeClient.ts";

export type TaskClient = Pick<EdgeClient, "runTask">;

export interface DueEnvironment {
  readonly id: string;
  /** With port. */
  readonly host: string;
  readonly events: readonly NextEvent[];
}

export interface FailedEvent {
  readonly hook: string;
  readonly message: string;
}

export interface CronReport {
  /** Number of events that were run, including failed ones. */
  readonly ran: number;
  readonly failed: readonly FailedEvent[];
  /** Sentences, or null if nothing went wrong. */
  readonly error: string | null;
  /** The run could not be completed: the next one should wait longer. */
  readonly isFailure: boolean;
}

/** Per run. A site can report any number, and each is logged. */
const maxFailed = 50;
const shortened = (length: number) =>
  v.pipe(
    v.string(),
    v.transform((text) => text.slice(0, length)),
  );

/** The response of `platform/tasks/cron.php`. */
const CronResponse = v.object({
  ran: v.number(),
  failed: v.array(v.object({ hook: shortened(200), message: shortened(500) })),
  /** An event has ended PHP, and more are due. */
  isCutShort: v.boolean(),
});

/**
 * Why a site's events were not run, or not all of them. `postponed`: not the site's fault; retried without back-off.
 * `nextSite`: continue with the other sites of the network. `stop`: the time of this run is used up.
 */
interface Problem {
  readonly problem: string;
  readonly kind: "postponed" | "nextSite" | "stop";
}

type Outcome = v.InferOutput<typeof CronResponse> | Problem;

/** PHP starts no more events after half of its deadline. */
const startSeconds = 30;
const deadlineSeconds = 60;
/** Requests per site and run. Each starts with the events that are still due. */
const maxRequests = 5;
const maxErrorLength = 2_000;

const problems: Readonly<Record<string, Problem>> = {
  busy: { problem: "Every PHP process was busy.", kind: "postponed" },
  frozen: { problem: "The environment was being replaced.", kind: "postponed" },
  unfinished: { problem: "The environment was being replaced.", kind: "postponed" },
  unavailable: { problem: "The environment was not served.", kind: "postponed" },
  deadline: { problem: `PHP was killed after ${deadlineSeconds} seconds, in the middle of an event.`, kind: "stop" },
  diskFull: { problem: "The disk is full: raise the environment's quota.", kind: "postponed" },
  crashed: { problem: "PHP ended in the middle of an event.", kind: "stop" },
};

function readResult({ status, body, reason }: TaskResult): Outcome {
  if (reason !== null) return problems[reason] ?? { problem: `PHP did not answer: ${reason}.`, kind: "stop" };
  const response = v.safeParse(v.pipe(v.string(), v.parseJson(), CronResponse), body);
  if (response.success) return response.output;
  return { problem: `WordPress ended with status ${status} before its events were run.`, kind: "nextSite" };
}

interface RunContext {
  readonly edge: TaskClient;
  readonly now: () => number;
}

async function runTask(
  order: Parameters<TaskClient["runTask"]>[0],
  edge: TaskClient,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    return readResult(await edge.runTask(order, signal));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EdgeUnavailable) return { problem: "The edge did not answer.", kind: "postponed" };
    throw error;
  }
}

/** Runs the events of the site at `place` until none are due, PHP does not answer, or the time is used up. */
async function* runSite(
  { id, host }: DueEnvironment,
  { place }: NextEvent,
  { edge, isOver }: { readonly edge: TaskClient; readonly isOver: () => boolean },
  signal: AbortSignal,
): AsyncGenerator<Outcome> {
  const work = { task: "cron", input: { path: place?.path ?? "/", seconds: startSeconds } };
  const order = { environmentId: id, host: place?.host ?? host, work, deadlineSeconds, isBackground: true };
  for (let request = 1; request <= maxRequests; request += 1) {
    const outcome = await runTask(order, edge, signal);
    yield outcome;
    if ("problem" in outcome || !outcome.isCutShort || isOver()) return;
  }
}

async function* runSites(due: DueEnvironment, { edge, now }: RunContext, signal: AbortSignal): AsyncGenerator<Outcome> {
  const began = now();
  const sites = due.events.filter(({ dueAt }) => dueAt <= began).toSorted((one, other) => one.dueAt - other.dueAt);
  const isOver = () => now() - began > startSeconds * 1_000;
  for (const site of sites) {
    // The remaining sites are left to the next run.
    if (isOver()) return;
    for await (const outcome of runSite(due, site, { edge, isOver }, signal)) {
      yield outcome;
      if ("problem" in outcome && outcome.kind !== "nextSite") return;
    }
  }
}

/** Rejects if `signal` is aborted; PHP then continues. */
export async function runDueEvents(
  environment: DueEnvironment,
  context: RunContext,
  signal: AbortSignal,
): Promise<CronReport> {
  const outcomes: Outcome[] = [];
  for await (const outcome of runSites(environment, context, signal)) outcomes.push(outcome);
  const found = outcomes.filter((outcome) => "problem" in outcome);
  const responses = outcomes.filter((outcome) => "ran" in outcome);
  const failed = responses.flatMap((response) => response.failed).slice(0, maxFailed);
  const sentences = [
    ...failed.map(({ hook, message }) => `${hook}: ${message}`),
    ...found.map(({ problem }) => problem),
  ];
  return {
    ran: responses.reduce((sum, { ran }) => sum + ran, 0),
    failed,
    error: sentences.length === 0 ? null : sentences.join("\n").slice(0, maxErrorLength),
    isFailure: found.some(({ kind }) => kind === "stop" || (kind === "nextSite" && responses.length === 0)),
  };
}
