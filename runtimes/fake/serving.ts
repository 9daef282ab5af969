/** Answers for the fake's environments: a page with the title, made in this process. */
import path from "node:path";
import { Readable } from "node:stream";
import {
  NoAnswer,
  type NoAnswerReason,
  type PhpRequest,
  type PhpResponse,
  type ServedEnvironment,
  type Serving,
} from "../runtime.ts";
import { readSpec } from "./runtime.ts";

/** A page, or why there is none, instead of the front page. */
export type FakeAnswer = (environmentId: string, request: PhpRequest) => Promise<PhpResponse | NoAnswerReason>;

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

async function frontPage(environment: ServedEnvironment): Promise<PhpResponse | NoAnswerReason> {
  const spec = await readSpec(path.join(environment.documentRoot, "..", "spec.json"));
  if (spec === null) return "unavailable";
  const title = escapeHtml(spec.wordpress.title);
  const html = `<!doctype html><html><head><title>${title}</title></head><body></body></html>`;
  return { status: 200, headers: [["content-type", "text/html; charset=UTF-8"]], body: Readable.from([html]) };
}

export function createFakeServing(options: { readonly answer?: FakeAnswer } = {}): Serving {
  let environments = new Map<string, ServedEnvironment>();
  return {
    setEnvironments: async (next) => {
      environments = new Map(next.map((environment) => [environment.id, environment]));
    },
    handle: async (environmentId, request) => {
      const environment = environments.get(environmentId);
      if (environment === undefined) throw new NoAnswer("unavailable", "This environment is not served here.");
      const answer = options.answer ? await options.answer(environmentId, request) : await frontPage(environment);
      if (typeof answer === "string") throw new NoAnswer(answer, `The fake answers ${answer}.`);
      return answer;
    },
    close: async () => {
      environments = new Map();
    },
  };
}
