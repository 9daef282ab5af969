/** Whether visitors can open a site: its front page, asked for as a visitor would, through the edge. */
import { type IncomingMessage, request } from "node:http";
import { request as requestByTls } from "node:https";
import { StepFailure } from "../engine/operation.ts";

/**
 * Resolves when the front page of the site at `address` came: whole and with status 200, or, where only an `answer` is
 * wanted, with whatever the site says, or, where a `sign` is enough, also with what may be said for it because it is busy.
 * Rejects with `StepFailure`: transient where the site says that it is busy or the edge is not there, otherwise for good.
 */
export type Probe = (address: string, signal: AbortSignal, wanted: "page" | "answer" | "sign") => Promise<void>;

/** More of a page than this is not kept; what counts is how it ends. */
const keptCharacters = 4_096;
const passingStatuses = new Set([502, 503, 504]);

/** Where the edge listens on this machine. */
export interface EdgePorts {
  readonly http: number;
  /** Null: it is not asked by TLS. */
  readonly tls: number | null;
}

export function makeProbe(ports: EdgePorts): Probe {
  return async (address, signal, wanted) => {
    const answer = await visit(ports, new URL(address), signal).catch((cause: unknown) => {
      signal.throwIfAborted();
      throw new StepFailure("The new site could not be reached.", { cause, isTransient: true });
    });
    if (wanted === "sign") return;
    const isTransient = passingStatuses.has(answer.status);
    if (wanted === "answer" && !isTransient) return;
    if (answer.status !== 200) {
      throw new StepFailure(`The new site answered with status ${answer.status} when it was opened.`, { isTransient });
    }
    if (!/<\/html>\s*$/i.test(answer.end)) {
      throw new StepFailure("The new site's front page broke off before its end when it was opened.");
    }
  };
}

/** If the edge redirects visitors to HTTPS, they first see the site there. */
async function visit({ http, tls }: EdgePorts, { host, hostname }: URL, signal: AbortSignal): Promise<FrontPage> {
  const answer = await getFrontPage({ port: http, host, isByTls: false }, signal);
  const { location = "" } = answer;
  const next = URL.canParse(location) ? new URL(location) : null;
  const isToHttps = next?.protocol === "https:" && next.hostname === hostname && Number(next.port || 443) === tls;
  if (!isToHttps || tls === null) return answer;
  return getFrontPage({ port: tls, host: next.host, isByTls: true }, signal);
}

interface FrontPage {
  readonly status: number;
  readonly location: string | undefined;
  readonly end: string;
}

interface Asked {
  readonly port: number;
  readonly host: string;
  readonly isByTls: boolean;
}

function getFrontPage({ port, host, isByTls }: Asked, signal: AbortSignal): Promise<FrontPage> {
  const { promise, resolve, reject } = Promise.withResolvers<FrontPage>();
  // A visitor's program that asks in the same form at the same moment shares the page.
  const headers = { host, accept: "*/*", "accept-encoding": "identity", "user-agent": "Sitewright probe" };
  const options = { host: "127.0.0.1", port, path: "/", headers, signal, agent: false };
  const answered = (response: IncomingMessage) => {
    const { statusCode = 0, headers: head } = response;
    readEnd(response).then((end) => resolve({ status: statusCode, location: head.location, end }), reject);
  };
  // Whether visitors trust the certificate is a matter between them and who has signed it.
  const byTls = { ...options, servername: host.replace(/:\d+$/, ""), rejectUnauthorized: false };
  const asked = isByTls ? requestByTls(byTls, answered) : request(options, answered);
  asked.on("error", reject);
  asked.end();
  return promise;
}

async function readEnd(response: IncomingMessage): Promise<string> {
  let end = "";
  response.setEncoding("utf8");
  for await (const chunk of response) end = `${end}${chunk}`.slice(-keptCharacters);
  return end;
}
