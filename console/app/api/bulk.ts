/**
 * Actions on many sites, carried out by this tab: at most a few at once, each with its own idempotency key, so that a request
 * that may have arrived can be sent again. What has been sent goes on when the tab is closed.
 */
import { useSyncExternalStore } from "react";
import { answered, api, type Schemas } from "./client.ts";
import { ApiFailure, fieldOf, textAt } from "./failure.ts";

/** What a request started, or null if it did everything at once. */
export type Started = Schemas["Accepted"] | null;
/** Sends the request. `headers` make it safe to send again. */
export type Send = (headers: BulkHeaders) => Promise<Started>;

export type BulkHeaders = {
  readonly "Idempotency-Key": string;
  /** The operation waits for its turn if another one is working on the environment. */
  readonly "When-Busy": "queue";
};

/** One request of an action. */
export interface BulkTask {
  /** What it is about, for people. */
  readonly name: string;
  /** Number of sites. */
  readonly sites: number;
  /** Finds out what to send. Null: there is nothing to do. */
  readonly prepare: () => Promise<Send | null>;
}

type TaskState =
  | { readonly state: "unsent" | "running" | "succeeded" | "unneeded" }
  | { readonly state: "failed"; readonly reason: string };

export type BulkItem = TaskState & { readonly name: string; readonly sites: number };

export interface BulkRun {
  readonly id: number;
  readonly title: string;
  readonly items: readonly BulkItem[];
}

interface Work {
  readonly task: BulkTask;
  /** Kept while it is unknown whether the request has arrived. */
  key: string;
  send: Send | null;
}

const atOnce = 4;
/** Seconds before a request is sent again that was not answered, or refused for now. */
const pauseSeconds = 2;
const maxAttempts = 10;

let runs: readonly BulkRun[] = [];
const works = new Map<number, readonly Work[]>();
const listeners = new Set<() => void>();
let running = 0;
let lastId = 0;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** All runs that have not been dismissed, the oldest first. */
export const useBulkRuns = (): readonly BulkRun[] => useSyncExternalStore(subscribe, () => runs);

function change(id: number, index: number, state: TaskState): void {
  runs = runs.map((run) => {
    const item = run.items[index];
    if (run.id !== id || item === undefined) return run;
    return { ...run, items: run.items.with(index, { name: item.name, sites: item.sites, ...state }) };
  });
  tell();
}

function tell(): void {
  window.onbeforeunload = unsentTasks() > 0 ? (event) => event.preventDefault() : null;
  for (const listener of listeners) listener();
}

/** Number of requests of all runs that have not been sent. */
const unsentTasks = (): number => runs.flatMap(({ items }) => items).filter(({ state }) => state === "unsent").length;

export function startBulk(title: string, tasks: readonly BulkTask[]): void {
  lastId += 1;
  works.set(
    lastId,
    tasks.map((task) => ({ task, key: crypto.randomUUID(), send: null })),
  );
  const items = tasks.map(({ name, sites }) => ({ name, sites, state: "unsent" as const }));
  runs = [...runs, { id: lastId, title, items }];
  tell();
  sendNext();
}

/** Sends what failed once more. */
export function retryFailed(id: number): void {
  runs = runs.map((run) => (run.id === id ? { ...run, items: run.items.map(retried) } : run));
  tell();
  sendNext();
}

const retried = (item: BulkItem): BulkItem =>
  item.state === "failed" ? { name: item.name, sites: item.sites, state: "unsent" } : item;

/** Forgets a run of which everything was sent. */
export function dismissBulk(id: number): void {
  runs = runs.filter((run) => run.id !== id);
  works.delete(id);
  tell();
}

function sendNext(): void {
  for (const { id, items } of runs) {
    for (const [index, { state }] of items.entries()) {
      if (running >= atOnce) return;
      const work = works.get(id)?.[index];
      if (state === "unsent" && work !== undefined) void carryOut(id, index, work);
    }
  }
}

async function carryOut(id: number, index: number, work: Work): Promise<void> {
  running += 1;
  change(id, index, { state: "running" });
  const end = await stateOf(work);
  running -= 1;
  change(id, index, end);
  sendNext();
}

async function stateOf(work: Work): Promise<TaskState> {
  try {
    work.send ??= await patiently(work.task.prepare);
    const { send } = work;
    if (send === null) return { state: "unneeded" };
    const started = await patiently(() => send({ "Idempotency-Key": work.key, "When-Busy": "queue" }));
    const reason = started === null ? null : await failureOf(started.operation_id);
    if (reason === null) return { state: "succeeded" };
    forget(work);
    return { state: "failed", reason };
  } catch (error) {
    // Without an answer, the request may have arrived: it is sent again as it was.
    if (!(error instanceof ApiFailure && error.isTemporary)) forget(work);
    return { state: "failed", reason: error instanceof Error ? error.message : String(error) };
  }
}

function forget(work: Work): void {
  work.key = crypto.randomUUID();
  work.send = null;
}

/** Makes a call again while its failure is temporary. */
async function patiently<Result>(call: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ApiFailure && error.isTemporary) || attempt === maxAttempts) throw error;
      await pause(error.retryAfter ?? pauseSeconds);
    }
  }
}

const pause = (seconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, seconds * 1_000));

/** Waits for the end of an operation. Returns why it failed, or null. */
async function failureOf(operationId: string): Promise<string | null> {
  const params = { path: { operation_id: operationId }, query: { wait: 30 } };
  for (;;) {
    const { data, error, response } = await patiently(() =>
      answered(api.GET("/operations/{operation_id}", { params })).then((answer) => {
        if (textAt(fieldOf(answer.data ?? answer.error, "data"), "kind") === null) {
          throw new ApiFailure(answer.response.status, answer.error);
        }
        return answer;
      }),
    );
    if (response.status === 200) return null;
    if (response.status !== 202) return textAt(fieldOf(error ?? data, "data"), "message") ?? "";
  }
}
