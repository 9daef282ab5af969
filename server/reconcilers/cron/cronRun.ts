/** One run of the due events of one environment: of each of its sites in turn, through the edge. */
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

/** What came of a run. */
export interface CronReport {
  /** How many events were run, with those that failed. */
  readonly ran: number;
  readonly failed: readonly FailedEvent[];
  /** In sentences; null: nothing went wrong. */
  readonly error: string | null;
  /** It could not be ended: the next one should wait longer. */
  readonly isFailure: boolean;
}

/** Of one run; a site may claim any number, and each is a line of the log. */
const mostFailed = 50;
const shortened = (length: number) =>
  v.pipe(
    v.string(),
    v.transform((text) => text.slice(0, length)),
  );

/** What `platform/tasks/cron.php` answers. */
const Answer = v.object({
  ran: v.number(),
  failed: v.array(v.object({ hook: shortened(200), message: shortened(500) })),
  /** An event has ended PHP, and others are due. */
  isCutShort: v.boolean(),
});

/**
 * Why a site's events were not run, or not to their end. `patient`: nothing is wrong with it, and it is tried again as if
 * nothing had been due; `others`: the other sites of the network may do better; `stop`: it has used up the time.
 */
interface Problem {
  readonly problem: string;
  readonly kind: "patient" | "others" | "stop";
}

type Outcome = v.InferOutput<typeof Answer> | Problem;

/** PHP begins no other event after half of the time that it may take. */
const beginSeconds = 30;
const deadlineSeconds = 60;
/** Of one site in one run; each begins with what is due then. */
const mostTries = 5;
const longestError = 2_000;

const problems: Readonly<Record<string, Problem>> = {
  busy: { problem: "Every PHP process was busy.", kind: "patient" },
  frozen: { problem: "The environment was being replaced.", kind: "patient" },
  unfinished: { problem: "The environment was being replaced.", kind: "patient" },
  unavailable: { problem: "The environment was not served.", kind: "patient" },
  deadline: { problem: `PHP was ended after ${deadlineSeconds} seconds, in the middle of an event.`, kind: "stop" },
  crashed: { problem: "PHP ended in the middle of an event.", kind: "stop" },
};

function readAnswer({ status, body, reason }: TaskResult): Outcome {
  if (reason !== null) return problems[reason] ?? { problem: `PHP gave no answer: ${reason}.`, kind: "stop" };
  const answer = v.safeParse(v.pipe(v.string(), v.parseJson(), Answer), body);
  if (answer.success) return answer.output;
  return { problem: `WordPress ended with status ${status} before its events were run.`, kind: "others" };
}

interface Around {
  readonly edge: TaskClient;
  readonly now: () => number;
}

async function ask(
  order: Parameters<TaskClient["runTask"]>[0],
  edge: TaskClient,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    return readAnswer(await edge.runTask(order, signal));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EdgeUnavailable) return { problem: "The edge gave no answer.", kind: "patient" };
    throw error;
  }
}

/** Of the site at `place`, until nothing more is due, PHP gives no answer, or the time is used up. */
async function* runSite(
  { id, host }: DueEnvironment,
  { place }: NextEvent,
  { edge, isOver }: { readonly edge: TaskClient; readonly isOver: () => boolean },
  signal: AbortSignal,
): AsyncGenerator<Outcome> {
  const work = { task: "cron", input: { path: place?.path ?? "/", seconds: beginSeconds } };
  const order = { environmentId: id, host: place?.host ?? host, work, deadlineSeconds, isBackground: true };
  for (let tried = 1; tried <= mostTries; tried += 1) {
    const outcome = await ask(order, edge, signal);
    yield outcome;
    if ("problem" in outcome || !outcome.isCutShort || isOver()) return;
  }
}

async function* runSites(due: DueEnvironment, { edge, now }: Around, signal: AbortSignal): AsyncGenerator<Outcome> {
  const began = now();
  const sites = due.events.filter(({ dueAt }) => dueAt <= began).toSorted((one, other) => one.dueAt - other.dueAt);
  const isOver = () => now() - began > beginSeconds * 1_000;
  for (const site of sites) {
    // The turn of the others comes with the next run.
    if (isOver()) return;
    for await (const outcome of runSite(due, site, { edge, isOver }, signal)) {
      yield outcome;
      if ("problem" in outcome && outcome.kind !== "others") return;
    }
  }
}

/** Rejects when `signal` is aborted; PHP goes on then. */
export async function runDueEvents(
  environment: DueEnvironment,
  around: Around,
  signal: AbortSignal,
): Promise<CronReport> {
  const outcomes: Outcome[] = [];
  for await (const outcome of runSites(environment, around, signal)) outcomes.push(outcome);
  const found = outcomes.filter((outcome) => "problem" in outcome);
  const answers = outcomes.filter((outcome) => "ran" in outcome);
  const failed = answers.flatMap((answer) => answer.failed).slice(0, mostFailed);
  const sentences = [
    ...failed.map(({ hook, message }) => `${hook}: ${message}`),
    ...found.map(({ problem }) => problem),
  ];
  return {
    ran: answers.reduce((sum, { ran }) => sum + ran, 0),
    failed,
    error: sentences.length === 0 ? null : sentences.join("\n").slice(0, longestError),
    isFailure: found.some(({ kind }) => kind === "stop" || (kind === "others" && answers.length === 0)),
  };
}
