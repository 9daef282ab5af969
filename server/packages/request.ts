/**
 * Requests to the package source, which is another machine of somebody else's: it may hang, be slow, send more than anybody wants,
 * or send us elsewhere. Where it was set to be we go, wherever that is; where it sends us, to public addresses only, because
 * what is asked there is asked from inside of this machine's network. The connection is made to the very address that was
 * judged.
 */
import { type LookupAddress, lookup } from "node:dns";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";

/** `message` may be shown to the customer; `cause` is for the log. */
export class SourceFailure extends Error {
  override readonly name = "SourceFailure";
}

export interface SourceRequest {
  /** Absent: it is a GET. */
  readonly form?: Readonly<Record<string, string>>;
  /** Where the source is: everything there may be asked. */
  readonly source: URL;
  /** Of the whole, the content included. */
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** An answer that is none of the source's own making ends with it. */
export interface SourceAnswer {
  readonly status: number;
  readonly body: AsyncIterable<Buffer>;
  /** As it says; null: it does not. */
  readonly bytes: number | null;
}

const mostRedirects = 5;
const agent = "Sitewright";

/** Whether an address is one of the internet's, and not of this machine, its network, or of no use. */
export function isPublic(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === "unicast";
}

/** Finds public addresses only. */
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
    throw new SourceFailure(`The package source names ${url.host}, which is not a public address.`);
  }
  const content = form === undefined ? null : new URLSearchParams(form).toString();
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const asked = send(url, {
      method: content === null ? "GET" : "POST",
      headers: {
        "user-agent": agent,
        "accept-encoding": "identity",
        ...(content !== null && { "content-type": "application/x-www-form-urlencoded" }),
      },
      signal,
      ...(isOwn ? {} : { lookup: publicLookup }),
    });
    asked.once("error", reject);
    asked.once("response", resolve);
    asked.end(content ?? undefined);
  });
}

/** Where an answer sends us; null: it is the answer. */
function nextOf({ statusCode = 0, headers }: IncomingMessage, from: URL): URL | null {
  if (statusCode < 300 || statusCode >= 400 || headers.location === undefined) return null;
  const next = URL.canParse(headers.location, from.href) ? new URL(headers.location, from) : null;
  if (next === null || !["http:", "https:"].includes(next.protocol)) {
    throw new SourceFailure("The package source sends us to an address that is none.");
  }
  return next;
}

/** `late` is aborted where the time is over. */
function explained(error: unknown, url: URL, { signal }: SourceRequest, late: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof SourceFailure) return error;
  const why = late.aborted ? "took too long to answer" : "could not be reached";
  return new SourceFailure(`The package source at ${url.host} ${why}. Try again later.`, { cause: error });
}

/** Resolves when the answer begins. Rejects with `SourceFailure`, or as `signal` says. */
export async function ask(address: URL, wish: SourceRequest): Promise<SourceAnswer> {
  const late = AbortSignal.timeout(wish.seconds * 1_000);
  const signal = AbortSignal.any([wish.signal, late]);
  let url = address;
  try {
    for (let hops = 0; hops <= mostRedirects; hops += 1) {
      const answer = await connect(url, wish, signal);
      const next = nextOf(answer, url);
      if (next === null) return answerOf(answer, (error) => explained(error, url, wish, late));
      answer.destroy();
      if (wish.form !== undefined) throw new SourceFailure("The package source sends questions elsewhere.");
      url = next;
    }
  } catch (error) {
    throw explained(error, url, wish, late);
  }
  throw new SourceFailure("The package source sends us from one address to the next without end.");
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

/** No list of versions is longer. */
const mostJsonBytes = 20_000_000;

/** What it answers, as a value; null if there is no such thing there (404). Rejects with `SourceFailure`. */
export async function askJson(address: URL, wish: SourceRequest): Promise<unknown> {
  const { status, body } = await ask(address, wish);
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > mostJsonBytes) throw new SourceFailure(`The package source at ${address.host} answers without end.`);
    parts.push(part);
  }
  if (status === 404) return null;
  if (status !== 200)
    throw new SourceFailure(`The package source at ${address.host} answers with the status ${status}.`);
  try {
    return JSON.parse(Buffer.concat(parts).toString("utf8"));
  } catch (cause) {
    throw new SourceFailure(`The package source at ${address.host} answers with something else than JSON.`, { cause });
  }
}
