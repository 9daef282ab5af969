/** Answers requests to fake environments with a page that contains the title, rendered in this process. */
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

/** A response. The fake has it all at once, so it never breaks off in the middle. */
type Page = Omit<PhpResponse, "finished" | "errors" | "isCacheable" | "tags"> & { readonly errors?: string };

/** Returns a page, or why there is none, instead of the front page. */
type FakeAnswer = (environmentId: string, request: PhpRequest) => Promise<Page | NoAnswerReason>;

/** Like `FakeAnswer` for trials, with PHP's log output. Null: the front page and an empty log. */
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

/** Converts an answer. Throws `NoAnswer` if it is not a page. */
function responseOf(answer: Page | NoAnswerReason): PhpResponse {
  if (typeof answer === "string") throw new NoAnswer(answer, `The fake answers ${answer}.`);
  const errors = Promise.resolve(answer.errors ?? "");
  const known = { isCacheable: Promise.resolve(true), tags: Promise.resolve([]) };
  return { ...answer, ...known, finished: Promise.resolve(), errors };
}

/** The fake uses no resources. */
const noUsage = {
  phpMilliseconds: 0,
  cpuMilliseconds: 0,
  killedForTime: 0,
  killedForMemory: 0,
  refusedBusy: 0,
  writes: 0,
  recentCores: 0,
};

/** Returns the answer of a platform task to its input. */
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

/** Answers like `platform/task.php`: the result between two markers, which come with the input. */
async function runTask(
  environment: ServedEnvironment,
  { input }: PlatformTask,
  task: FakeTask | undefined,
): Promise<Page> {
  if (task === undefined) return { status: 404, headers: [], body: Readable.from(["Not found\n"]) };
  const order: unknown = JSON.parse(input);
  const [taskInput, mark] =
    typeof order === "object" && order !== null && "input" in order && "mark" in order
      ? [order.input, String(order.mark)]
      : [null, ""];
  const answer = JSON.stringify(await task(environment, taskInput));
  return { status: 200, headers: [], body: Readable.from([`${mark}${answer}${mark}`]) };
}

interface FakeServingOptions {
  readonly answer?: FakeAnswer;
  readonly trial?: FakeTrial;
  /** Tasks by name, in addition to `describe` and `createUser`. */
  readonly tasks?: Readonly<Record<string, FakeTask>>;
}

export function createFakeServing(options: FakeServingOptions = {}): Serving {
  let environments = new Map<string, ServedEnvironment>();
  const requestCounts = new Map<string, number>();
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
      requestCounts.set(environmentId, (requestCounts.get(environmentId) ?? 0) + 1);
      return responseOf(await answer(environment, request));
    },
    runTrial: async (environment, request) =>
      responseOf((await options.trial?.(environment, request)) ?? (await frontPage(environment))),
    usage: () => [...requestCounts].map(([environmentId, phpRequests]) => ({ environmentId, ...noUsage, phpRequests })),
    close: async () => {
      environments = new Map();
    },
  };
}
