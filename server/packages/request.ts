/**
 * Requests to the package source, which is not trusted: it may hang, be slow, send too much, or redirect. The configured
 * source itself may be at any address. Links and redirects to other hosts are followed only to public addresses, because
 * requests come from inside this machine's network; the connection is made to exactly the address that was checked.
 */
import { type LookupAddress, lookup } from "node:dns";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { isPublic } from "@sitewright/runtimes/publicAddress.ts";

/** `message` may be shown to the customer; `cause` is for the log. */
export class SourceFailure extends Error {
  override readonly name = "SourceFailure";
}

interface SourceRequest {
  /** Sent by POST. Absent: a GET request. */
  readonly form?: Readonly<Record<string, string>>;
  /** URL of the source. All URLs with its origin are allowed. */
  readonly source: URL;
  /** Time limit for the whole request, including the body. */
  readonly seconds: number;
  readonly signal: AbortSignal;
}

interface SourceAnswer {
  readonly status: number;
  readonly body: AsyncIterable<Buffer>;
  /** The content length, or null if unknown. */
  readonly bytes: number | null;
}

const maxRedirects = 5;
const agent = "Sitewright";

/** Returns only public addresses. */
const publicLookup: LookupFunction = (host, options, done) => {
  lookup(host, { ...options, all: true }, (error, found: LookupAddress[]) => {
    const addresses = error === null ? found.filter(({ address }) => isPublic(address)) : [];
    const [first] = addresses;
    if (error !== null) done(error, "", 4);
    else if (first === undefined) done(new SourceFailure(`${host} is not a public address.`), "", 4);
    else if (options.all) done(null, addresses);
    else done(null, first.address, first.family);
  });
};

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

function connect(url: URL, { form, source }: SourceRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const isOwn = url.origin === source.origin;
  const host = hostOf(url);
  if (!isOwn && isIP(host) !== 0 && !isPublic(host)) {
    throw new SourceFailure(`The package source refers to ${url.host}, which is not a public address.`);
  }
  const content = form === undefined ? null : new URLSearchParams(form).toString();
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method: content === null ? "GET" : "POST",
      headers: {
        "user-agent": agent,
        "accept-encoding": "identity",
        ...(content !== null && { "content-type": "application/x-www-form-urlencoded" }),
      },
      signal,
      ...(isOwn ? {} : { lookup: publicLookup }),
    });
    request.once("error", reject);
    request.once("response", resolve);
    request.end(content ?? undefined);
  });
}

/** The target of a redirect, or null if the response is not one. */
function nextOf({ statusCode = 0, headers }: IncomingMessage, from: URL): URL | null {
  if (statusCode < 300 || statusCode >= 400 || headers.location === undefined) return null;
  const next = URL.canParse(headers.location, from.href) ? new URL(headers.location, from) : null;
  if (next === null || !["http:", "https:"].includes(next.protocol)) {
    throw new SourceFailure("The package source redirects to an invalid URL.");
  }
  return next;
}

/** `timeout` is aborted when the time limit has passed. */
function explained(error: unknown, url: URL, { signal }: SourceRequest, timeout: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof SourceFailure) return error;
  const why = timeout.aborted ? "took too long to answer" : "could not be reached";
  return new SourceFailure(`The package source at ${url.host} ${why}. Try again later.`, { cause: error });
}

/** Resolves when the response begins. Rejects with `SourceFailure`, or with the reason of `signal`. */
export async function ask(address: URL, options: SourceRequest): Promise<SourceAnswer> {
  const timeout = AbortSignal.timeout(options.seconds * 1_000);
  const signal = AbortSignal.any([options.signal, timeout]);
  let url = address;
  try {
    for (let hops = 0; hops <= maxRedirects; hops += 1) {
      const answer = await connect(url, options, signal);
      const next = nextOf(answer, url);
      if (next === null) return answerOf(answer, (error) => explained(error, url, options, timeout));
      answer.destroy();
      if (options.form !== undefined) throw new SourceFailure("The package source redirects POST requests.");
      url = next;
    }
  } catch (error) {
    throw explained(error, url, options, timeout);
  }
  throw new SourceFailure("The package source redirects too often.");
}

function answerOf(answer: IncomingMessage, explain: (error: unknown) => unknown): SourceAnswer {
  async function* content(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of answer) yield chunk;
    } catch (error) {
      throw explain(error);
    }
  }
  const length = Number(answer.headers["content-length"] ?? Number.NaN);
  return { status: answer.statusCode ?? 0, body: content(), bytes: Number.isSafeInteger(length) ? length : null };
}

/** Larger than any list of versions. */
const maxJsonBytes = 20_000_000;

/** Returns the parsed response, or null for 404. Rejects with `SourceFailure`. */
export async function askJson(address: URL, options: SourceRequest): Promise<unknown> {
  const { status, body } = await ask(address, options);
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > maxJsonBytes) throw new SourceFailure(`The package source at ${address.host} sent too much data.`);
    parts.push(part);
  }
  if (status === 404) return null;
  if (status !== 200) throw new SourceFailure(`The package source at ${address.host} answered with status ${status}.`);
  try {
    return JSON.parse(Buffer.concat(parts).toString("utf8"));
  } catch (cause) {
    throw new SourceFailure(`The package source at ${address.host} did not answer with JSON.`, { cause });
  }
}
