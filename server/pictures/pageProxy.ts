/**
 * The HTTP proxy that a browser uses for screenshots. It serves only the pages of one site, from `see`. Resources from elsewhere
 * are missing in all screenshots alike.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** A response for the browser. */
export interface SeenPage {
  /** 0 if there is no answer. */
  readonly status: number;
  /** Why there is no answer: `wouldWrite` if the page can't be rendered without writing. Null if there is one. */
  readonly reason: string | null;
  readonly type: string;
  readonly content: Buffer;
  /** Target of a redirect, or null. */
  readonly location: string | null;
}

/** `path` includes the query. */
export type SeePage = (path: string, signal: AbortSignal) => Promise<SeenPage>;

export interface PageProxy extends AsyncDisposable {
  readonly port: number;
}

const isText = /^(text\/|application\/(javascript|json|xml|xhtml\+xml)|image\/svg\+xml)/i;

/** Rewrites the site's HTTPS URLs to HTTP, because the proxy can't answer HTTPS requests. */
function withoutTls({ type, content }: SeenPage, host: string): Buffer {
  if (!isText.test(type)) return content;
  return Buffer.from(content.toString("latin1").replaceAll(`https://${host}`, `http://${host}`), "latin1");
}

/** Chromium silently takes no screenshot of an error with an empty body. */
const blank = { type: "text/html", content: Buffer.from("<p></p>") };

function withBody(seen: SeenPage): SeenPage {
  const isError = seen.status === 0 || seen.status >= 400;
  if (!isError || seen.content.length > 0) return seen;
  return { ...seen, status: seen.status || 502, ...blank };
}

/** `host` is the site's, with its port if it has one. */
export async function startPageProxy(host: string, see: SeePage): Promise<PageProxy> {
  const closing = new AbortController();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = URL.parse(request.url ?? "");
    if (request.method !== "GET" || url?.host !== new URL(`http://${host}`).host) {
      response.writeHead(502, { "content-type": blank.type }).end(blank.content);
      return;
    }
    const seen = withBody(await see(url.pathname + url.search, closing.signal));
    const location = seen.location?.replace(`https://${host}`, `http://${host}`);
    response.writeHead(seen.status, {
      "content-type": seen.type === "" ? "application/octet-stream" : seen.type,
      "cache-control": "no-store",
      // Untrusted scripts must not run in our browser.
      "content-security-policy": "script-src 'none'; object-src 'none'",
      ...(location !== undefined && { location }),
    });
    response.end(withoutTls(seen, host));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  // No TLS tunnels.
  server.on("connect", (_, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy has no port");
  return {
    port: address.port,
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
