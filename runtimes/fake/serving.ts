/** Answers for the fake's environments: a page with the title, made in this process. */
import path from "node:path";
import { Readable } from "node:stream";
import {
  NoAnswer,
  type NoAnswerReason,
  type PhpRequest,
  type PhpResponse,
  type PlatformTask,
  type ServedEnvironment,
  type Serving,
} from "../serving.ts";
import { readTables, writeTables } from "./database.ts";
import { readSpec } from "./runtime.ts";
import { createUser } from "./users.ts";

/** What the fake has at once, so that it is never in the middle of an answer. */
type Page = Omit<PhpResponse, "finished" | "errors" | "mayBeCached"> & { readonly errors?: string };

/** A page, or why there is none, instead of the front page. */
export type FakeAnswer = (environmentId: string, request: PhpRequest) => Promise<Page | NoAnswerReason>;

/** The same for what is tried out, with what PHP wrote to its log; null: the front page, and nothing in the log. */
export type FakeTrial = (environment: ServedEnvironment, request: PhpRequest) => Promise<Page | NoAnswerReason | null>;

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

async function frontPage(environment: ServedEnvironment): Promise<Page | NoAnswerReason> {
  const spec = await readSpec(path.join(environment.documentRoot, "..", "spec.json"));
  if (spec === null) return "unavailable";
  const title = escapeHtml(spec.wordpress?.title ?? "No WordPress");
  const html = `<!doctype html><html><head><title>${title}</title></head><body></body></html>`;
  const headers = [["content-type", "text/html; charset=UTF-8"]] as const;
  return { status: 200, headers, body: Readable.from([html]) };
}

/** Throws if there is none. */
function responseOf(answer: Page | NoAnswerReason): PhpResponse {
  if (typeof answer === "string") throw new NoAnswer(answer, `The fake answers ${answer}.`);
  const errors = Promise.resolve(answer.errors ?? "");
  return { ...answer, finished: Promise.resolve(), errors, mayBeCached: Promise.resolve(true) };
}

/** What the fake takes of a machine. */
const nothing = {
  phpMilliseconds: 0,
  cpuMilliseconds: 0,
  killedForTime: 0,
  killedForMemory: 0,
  refusedBusy: 0,
  writes: 0,
  recentCores: 0,
};

/** What a task of the platform answers to its input. */
export type FakeTask = (environment: ServedEnvironment, input: unknown) => Promise<object> | object;

async function describe({ documentRoot }: ServedEnvironment): Promise<object> {
  const wordpress = (await readSpec(path.join(documentRoot, "..", "spec.json")))?.wordpress;
  return { version: "7.1.1", address: wordpress?.address, multisite: (wordpress?.multisite ?? null) !== null };
}

async function makeUser({ documentRoot }: ServedEnvironment, input: unknown): Promise<object> {
  const folder = path.join(documentRoot, "..", "database");
  const email = typeof input === "object" && input !== null && "email" in input ? String(input.email) : "";
  const { tables, answer } = createUser(await readTables(folder), email);
  await writeTables(folder, tables);
  return answer;
}

/** As `playground/platform/task.php` has it: the answer between two marks, which are given with the input. */
async function runTask(
  environment: ServedEnvironment,
  { input }: PlatformTask,
  task: FakeTask | undefined,
): Promise<Page> {
  if (task === undefined) return { status: 404, headers: [], body: Readable.from(["Not found\n"]) };
  const order: unknown = JSON.parse(input);
  const [given, mark] =
    typeof order === "object" && order !== null && "input" in order && "mark" in order
      ? [order.input, String(order.mark)]
      : [null, ""];
  const answer = JSON.stringify(await task(environment, given));
  return { status: 200, headers: [], body: Readable.from([`${mark}${answer}${mark}`]) };
}

export interface FakeServingOptions {
  readonly answer?: FakeAnswer;
  readonly trial?: FakeTrial;
  /** By name, the tasks that it knows besides `describe` and `createUser`. */
  readonly tasks?: Readonly<Record<string, FakeTask>>;
}

export function createFakeServing(options: FakeServingOptions = {}): Serving {
  let environments = new Map<string, ServedEnvironment>();
  const asked = new Map<string, number>();
  const tasks = new Map<string, FakeTask>(Object.entries({ describe, createUser: makeUser, ...options.tasks }));

  async function answer(environment: ServedEnvironment, request: PhpRequest): Promise<Page | NoAnswerReason> {
    const { id } = environment;
    if (request.task !== undefined) return runTask(environment, request.task, tasks.get(request.task.name));
    return (await options.answer?.(id, request)) ?? frontPage(environment);
  }

  return {
    setEnvironments: async (next) => {
      environments = new Map(next.map((environment) => [environment.id, environment]));
    },
    handle: async (environmentId, request) => {
      const environment = environments.get(environmentId);
      if (environment === undefined) throw new NoAnswer("unavailable", "This environment is not served here.");
      asked.set(environmentId, (asked.get(environmentId) ?? 0) + 1);
      return responseOf(await answer(environment, request));
    },
    tryOut: async (environment, request) =>
      responseOf((await options.trial?.(environment, request)) ?? (await frontPage(environment))),
    usage: () => [...asked].map(([environmentId, phpRequests]) => ({ environmentId, ...nothing, phpRequests })),
    close: async () => {
      environments = new Map();
    },
  };
}
