/** Sends one test request to an environment before it is served. */
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { mime } from "@fastify/send";
import * as v from "valibot";
import { resolve } from "../files/resolve.ts";
import type { VisitorPath } from "../http/path.ts";
import { checkInput, hostName, visitorPath } from "../tables/checkInput.ts";
import { createFileLookup } from "../tables/fileLookup.ts";
import { environmentSchema } from "../tables/readTable.ts";
import type { EdgeEnvironment } from "../tables/table.ts";
import type { Script } from "./script.ts";
import {
  type NoAnswerReason,
  reasonOf,
  type Upstream,
  type UpstreamRequest,
  type UpstreamResponse,
} from "./upstream.ts";

interface TrialOrder {
  readonly environment: EdgeEnvironment;
  readonly host: string;
  readonly path: VisitorPath;
  /** Whether writes are forbidden. If PHP tries to write, the reason is `wouldWrite`. */
  readonly isReadOnly: boolean;
  /** Whether PHP sees an HTTPS request. */
  readonly isHttps: boolean;
  /** Whether to return the body. */
  readonly wantsContent: boolean;
}

/** The body of the response. */
interface TrialContent {
  readonly type: string;
  readonly base64: string;
}

interface Trial {
  /** 0 if there was no response. Redirects are not followed. */
  readonly status: number;
  /** Whether the body ends with `</html>`, except for comments. */
  readonly isComplete: boolean;
  readonly errors: string;
  readonly reason: NoAnswerReason | null;
  readonly location: string | null;
  /** Present if requested; empty if the body is longer than ten megabytes. */
  readonly content?: TrialContent;
}

const noResponse: Trial = { status: 0, isComplete: false, errors: "", reason: null, location: null };

/** Longer bodies can't be a page. */
const maxBodyBytes = 10_000_000;
/** Limit for white space and comments after `</html>`. */
const maxTrailingBytes = 4096;

const orderSchema = v.pipe(
  v.object({
    environment: environmentSchema,
    host: hostName,
    url: visitorPath,
    isReadOnly: v.boolean(),
    isHttps: v.optional(v.boolean(), false),
    wantsContent: v.optional(v.boolean(), false),
  }),
  v.transform(({ url, ...order }) => ({ ...order, path: url })),
);

/** Throws `InvalidInput` if a field is missing or invalid. */
export function readTrialOrder(value: unknown): TrialOrder {
  return checkInput(orderSchema, value);
}

/** Requests a page like a browser. */
export async function runTrial(order: TrialOrder, upstream: Upstream, signal: AbortSignal): Promise<Trial> {
  const { environment, path, host } = order;
  const decision = await resolve(path, { ...environment, host }, createFileLookup(environment));
  switch (decision.kind) {
    case "refuse":
      return { ...noResponse, status: 404 };
    case "redirect":
      return { ...noResponse, status: 301, location: decision.location };
    case "static":
      return read(async () => fileResponse(decision.file), order);
    case "php":
      return read(() => upstream.runTrial(environment, requestFor(order, decision, signal)), order);
  }
}

function requestFor(
  { host, path, isReadOnly, isHttps }: TrialOrder,
  { script, pathInfo }: Script,
  signal: AbortSignal,
): UpstreamRequest {
  return {
    method: "GET",
    url: path.url,
    script,
    pathInfo,
    headers: { host, accept: "text/html,*/*;q=0.8", "user-agent": "Sitewright" },
    body: null,
    remoteAddress: "127.0.0.1",
    https: isHttps,
    fromPhp: false,
    signal,
    isReadOnly,
  };
}

function fileResponse(file: string): TrialResponse {
  const headers = [["content-type", mime.getType(file) ?? "application/octet-stream"]] as const;
  return { status: 200, headers, body: createReadStream(file), errors: Promise.resolve("") };
}

type TrialResponse = Omit<UpstreamResponse, "finished" | "isCacheable" | "tags">;

async function read(ask: () => Promise<TrialResponse>, { wantsContent }: TrialOrder): Promise<Trial> {
  let answer: TrialResponse;
  try {
    answer = await ask();
  } catch (error) {
    return { ...noResponse, reason: reasonOf(error) };
  }
  const { status, headers, body } = answer;
  try {
    const header = (wanted: string) => headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? null;
    const kept: Buffer[] = [];
    const isComplete = await endsAsPage(body, wantsContent ? kept : null);
    const content = { type: header("content-type") ?? "", base64: Buffer.concat(kept).toString("base64") };
    const trial = { status, isComplete, errors: await answer.errors, reason: null, location: header("location") };
    return wantsContent ? { ...trial, content } : trial;
  } catch (error) {
    return { ...noResponse, errors: await answer.errors, reason: reasonOf(error) };
  }
}

/** Whether the body ends like a page. `kept` collects it, unless it is too long. Rejects if the body is cut off. */
async function endsAsPage(body: Readable, kept: Buffer[] | null): Promise<boolean> {
  let bytes = 0;
  let end = Buffer.alloc(0);
  for await (const chunk of body) {
    const piece = Buffer.from(chunk);
    bytes += piece.length;
    kept?.push(piece);
    if (bytes > maxBodyBytes) {
      kept?.splice(0);
      return false;
    }
    end = Buffer.concat([end, piece]).subarray(-maxTrailingBytes);
  }
  return /<\/html>(?:\s|<!--(?:(?!-->).)*-->)*$/is.test(end.toString("latin1"));
}
