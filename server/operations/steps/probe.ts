/** Checks that visitors can open a site: requests its front page through the edge. */
import { type IncomingMessage, request } from "node:http";
import { request as requestHttps } from "node:https";
import { StepFailure } from "../engine/operation.ts";

/**
 * Resolves when the front page of the site at `address` is as `wanted`: a complete `page` with status 200; any `answer`
 * of the site itself, which excludes 502, 503 and 504; or any `sign` of life, which includes these. Rejects with
 * `StepFailure`, which is transient if the site is busy or the edge can't be reached.
 */
export type Probe = (address: string, signal: AbortSignal, wanted: "page" | "answer" | "sign") => Promise<void>;

/** How much of the page's end is kept in memory: only the closing tag matters. */
const tailCharacters = 4_096;
const transientStatuses = new Set([502, 503, 504]);

/** The edge's ports on this machine. */
interface EdgePorts {
  readonly http: number;
  /** Null if TLS is off. */
  readonly tls: number | null;
}

export function makeProbe(ports: EdgePorts): Probe {
  return async (address, signal, wanted) => {
    const answer = await visit(ports, new URL(address), signal).catch((cause: unknown) => {
      signal.throwIfAborted();
      throw new StepFailure("The new site could not be reached.", { cause, isTransient: true });
    });
    if (wanted === "sign") return;
    const isTransient = transientStatuses.has(answer.status);
    if (wanted === "answer" && !isTransient) return;
    if (answer.status !== 200) {
      throw new StepFailure(`The new site answered with status ${answer.status} when it was opened.`, { isTransient });
    }
    if (!/<\/html>\s*$/i.test(answer.end)) {
      throw new StepFailure("The new site's front page is incomplete: it ended without </html>.");
    }
  };
}

/** If the edge redirects visitors to HTTPS, they first see the site there. */
async function visit({ http, tls }: EdgePorts, { host, hostname }: URL, signal: AbortSignal): Promise<FrontPage> {
  const answer = await getFrontPage({ port: http, host, isHttps: false }, signal);
  const { location = "" } = answer;
  const next = URL.canParse(location) ? new URL(location) : null;
  const isToHttps = next?.protocol === "https:" && next.hostname === hostname && Number(next.port || 443) === tls;
  if (!isToHttps || tls === null) return answer;
  return getFrontPage({ port: tls, host: next.host, isHttps: true }, signal);
}

interface FrontPage {
  readonly status: number;
  readonly location: string | undefined;
  readonly end: string;
}

interface ProbeRequest {
  readonly port: number;
  readonly host: string;
  readonly isHttps: boolean;
}

function getFrontPage({ port, host, isHttps }: ProbeRequest, signal: AbortSignal): Promise<FrontPage> {
  const { promise, resolve, reject } = Promise.withResolvers<FrontPage>();
  // With the headers of simple clients, concurrent requests of visitors share this page.
  const headers = { host, accept: "*/*", "accept-encoding": "identity", "user-agent": "Sitewright probe" };
  const options = { host: "127.0.0.1", port, path: "/", headers, signal, agent: false };
  const answered = (response: IncomingMessage) => {
    const { statusCode = 0, headers: head } = response;
    readEnd(response).then((end) => resolve({ status: statusCode, location: head.location, end }), reject);
  };
  // The probe checks the page, not the certificate.
  const tlsOptions = { ...options, servername: host.replace(/:\d+$/, ""), rejectUnauthorized: false };
  const sent = isHttps ? requestHttps(tlsOptions, answered) : request(options, answered);
  sent.on("error", reject);
  sent.end();
  return promise;
}

async function readEnd(response: IncomingMessage): Promise<string> {
  let end = "";
  response.setEncoding("utf8");
  for await (const chunk of response) end = `${end}${chunk}`.slice(-tailCharacters);
  return end;
}
