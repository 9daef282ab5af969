/** Whether visitors can open a site: its front page, asked for as a visitor would, through the edge. */
import { type IncomingMessage, request } from "node:http";
import { StepFailure } from "./operation.ts";

/**
 * Resolves when the front page of the site at `address` came: whole and with status 200, or, where only an `answer` is
 * wanted, with whatever the site says, or, where a `sign` is enough, also with what may be said for it because it is busy.
 * Rejects with `StepFailure`: transient where the site says that it is busy or the edge is not there, otherwise for good.
 */
export type Probe = (address: string, signal: AbortSignal, wanted: "page" | "answer" | "sign") => Promise<void>;

/** More of a page than this is not kept; what counts is how it ends. */
const keptCharacters = 4_096;
const passingStatuses = new Set([502, 503, 504]);

/** `edgePort` is where the edge listens on this machine. */
export function makeProbe(edgePort: number): Probe {
  return async (address, signal, wanted) => {
    const { host } = new URL(address);
    const answer = await getFrontPage(edgePort, host, signal).catch((cause: unknown) => {
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

interface FrontPage {
  readonly status: number;
  readonly end: string;
}

function getFrontPage(port: number, host: string, signal: AbortSignal): Promise<FrontPage> {
  const { promise, resolve, reject } = Promise.withResolvers<FrontPage>();
  // A visitor's program that asks in the same form at the same moment shares the page.
  const headers = { host, accept: "*/*", "accept-encoding": "identity", "user-agent": "Sitewright probe" };
  const asked = request({ host: "127.0.0.1", port, path: "/", headers, signal, agent: false }, (response) => {
    readEnd(response).then((end) => resolve({ status: response.statusCode ?? 0, end }), reject);
  });
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
