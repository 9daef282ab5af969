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

/** What the fake has at once, so that it is never in the middle of an answer. */
type Page = Omit<PhpResponse, "finished">;

/** A page, or why there is none, instead of the front page. */
export type FakeAnswer = (environmentId: string, request: PhpRequest) => Promise<Page | NoAnswerReason>;

/** The same for what is tried out, with what PHP wrote to its log; null: the front page, and nothing in the log. */
export type FakeTrial = (
  environment: ServedEnvironment,
  request: PhpRequest,
) => Promise<(Page & { readonly errors: string }) | NoAnswerReason | null>;

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

/** Throws where there is none. */
function pageOf<Answer extends object>(answer: Answer | NoAnswerReason): Answer & Pick<PhpResponse, "finished"> {
  if (typeof answer === "string") throw new NoAnswer(answer, `The fake answers ${answer}.`);
  return { ...answer, finished: Promise.resolve() };
}

export function createFakeServing(options: { readonly answer?: FakeAnswer; readonly trial?: FakeTrial } = {}): Serving {
  let environments = new Map<string, ServedEnvironment>();
  return {
    setEnvironments: async (next) => {
      environments = new Map(next.map((environment) => [environment.id, environment]));
    },
    handle: async (environmentId, request) => {
      const environment = environments.get(environmentId);
      if (environment === undefined) throw new NoAnswer("unavailable", "This environment is not served here.");
      return pageOf(await (options.answer?.(environmentId, request) ?? frontPage(environment)));
    },
    tryOut: async (environment, request) => {
      const answer = (await options.trial?.(environment, request)) ?? (await frontPage(environment));
      const { errors, ...page } = { errors: "", ...pageOf(answer) };
      return { ...page, errors: Promise.resolve(errors) };
    },
    close: async () => {
      environments = new Map();
    },
  };
}
