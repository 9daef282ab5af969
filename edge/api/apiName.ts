/**
 * Requests to the API's own name. They are passed on to the control process, over TLS only: API keys must not travel in plain
 * text.
 */
import { refuseBody } from "../http/uploads.ts";
import type { VisitorRequest, VisitorResponse } from "../http/visitorHttp.ts";
import { readHost } from "../tables/hosts.ts";
import { errorPage } from "./errorPage.ts";
import { forward } from "./forward.ts";

export interface ApiName {
  /** In lower case. */
  readonly name: string;
  /** Where the control process listens. Only the installation's user may enter its folder. */
  readonly socket: string;
  /** How long requests wait while nobody listens there, because the control process is started again. Absent: 30 s. */
  readonly patienceMs?: number;
}

interface ApiRequest {
  readonly request: VisitorRequest;
  readonly response: VisitorResponse;
  /** Path and query. */
  readonly url: string;
  /** The client's IP address. */
  readonly address: string;
  readonly https: boolean;
  /** Whether a trusted proxy sent it. Its connections may be for all names. */
  readonly isProxied: boolean;
}

const challengeFolder = "/.well-known/acme-challenge/";
const defaultPort = 443;

/** `tlsPort` is null if the edge has no TLS. */
export async function answerForApi(
  asked: ApiRequest,
  { name, socket, patienceMs = 30_000 }: ApiName,
  tlsPort: number | null,
): Promise<void> {
  const { request, response, url, https, isProxied } = asked;
  const { headers, method = "GET", socket: connection } = request;
  const origin = `https://${name}${tlsPort === defaultPort ? "" : `:${tlsPort}`}`;
  if (https && !isProxied && readHost(String(connection.servername ?? "")) !== name) {
    return refuseBody(request, response, errorPage(421, "This connection was made for another name. Open a new one."));
  }
  if (https || isChallenge(method, url)) {
    return forward({ ...asked, host: origin.slice("https://".length), socket, patienceMs });
  }
  if (headers.authorization !== undefined) {
    const message = `Your API key was sent without encryption, and others may have read it. Revoke it, and use ${origin}/ with a new one.`;
    return refuseBody(request, response, errorPage(403, message));
  }
  if (method !== "GET" && method !== "HEAD") {
    return refuseBody(request, response, errorPage(403, `The API needs encryption. Send the request to ${origin}/.`));
  }
  response.writeHead(301, { location: `${origin}${url}`, "content-length": 0 }).end();
}

/** The certificate authority proves the name over plain HTTP. */
function isChallenge(method: string, url: string): boolean {
  return url.startsWith(challengeFolder) && (method === "GET" || method === "HEAD");
}
