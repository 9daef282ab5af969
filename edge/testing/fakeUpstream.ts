/** A fake PHP that records its requests. */
import { Readable } from "node:stream";
import type { Upstream, UpstreamRequest, UpstreamResponse, UpstreamUsage } from "../php/upstream.ts";
import type { EdgeEnvironment } from "../tables/table.ts";

export interface Asked {
  readonly environmentId: string;
  readonly request: UpstreamRequest;
}

/** By default, PHP finishes when the body ends, logs nothing, and shows nothing that has a tag. */
export type FakeAnswer = Omit<UpstreamResponse, "finished" | "errors" | "isCacheable" | "tags"> &
  Partial<UpstreamResponse>;

export type Answer = (request: UpstreamRequest, environmentId: string) => Promise<FakeAnswer> | FakeAnswer;

export interface Tried {
  readonly environment: EdgeEnvironment;
  readonly request: UpstreamRequest;
}

export interface FakeUpstream extends Upstream {
  readonly asked: Asked[];
  /** Every list of environments that was set, oldest first. */
  readonly lists: (readonly EdgeEnvironment[])[];
  /** Awaited before PHP begins with a request. */
  worker: () => Promise<void>;
  /** How requests are answered. By default with the name of the script. */
  answer: Answer;
  readonly tried: Tried[];
  /** How test requests are answered. By default with the name of the script. */
  trial: (request: UpstreamRequest) => Promise<FakeAnswer> | FakeAnswer;
  /** Awaited by `setEnvironments` before it resolves. */
  beforeTaking: (environments: readonly EdgeEnvironment[]) => Promise<void>;
  closed: boolean;
  /** The result of `usage`. */
  used: readonly UpstreamUsage[];
}

function whole(answer: FakeAnswer): UpstreamResponse {
  const isCacheable = Promise.resolve(true);
  const tags = Promise.resolve([]);
  return { finished: untilClosed(answer.body), errors: Promise.resolve(""), isCacheable, tags, ...answer };
}

function untilClosed(body: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (body.closed) resolve();
    else body.once("close", () => resolve());
  });
}

export function createFakeUpstream(): FakeUpstream {
  const fake: FakeUpstream = {
    asked: [],
    lists: [],
    worker: async () => {},
    answer: (request) => textAnswer(`${request.method} ${request.script}${request.pathInfo}`),
    tried: [],
    trial: (request) => textAnswer(request.script),
    beforeTaking: async () => {},
    closed: false,
    used: [],
    usage: () => fake.used,
    async setEnvironments(environments) {
      fake.lists.push(environments);
      await fake.beforeTaking(environments);
    },
    async handle(environmentId, { headersAtStart, ...sent }) {
      await fake.worker();
      const request = { ...sent, headers: { ...sent.headers, ...headersAtStart?.() } };
      fake.asked.push({ environmentId, request });
      return whole(await fake.answer(request, environmentId));
    },
    async runTrial(environment, request) {
      fake.tried.push({ environment, request });
      return whole(await fake.trial(request));
    },
    async close() {
      fake.closed = true;
    },
  };
  return fake;
}

export function textAnswer(
  body: string,
  headers: readonly (readonly [string, string])[] = [["Content-Type", "text/plain"]],
  status = 200,
): FakeAnswer {
  return { status, headers, body: Readable.from([Buffer.from(body)]) };
}

/** An error with a reason, as the interface requires. */
export class FakeNoAnswer extends Error {
  override readonly name = "NoAnswer";
  readonly reason: string;
  constructor(reason: string) {
    super(`internal details about ${reason}: /srv/secret/path`);
    this.reason = reason;
  }
}
