/**
 * The HTTP proxy that a browser uses for screenshots. It serves only the pages of one site, from `load`. Resources from elsewhere
 * are missing in all screenshots alike.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** A response for the browser. */
export interface LoadedPage {
  /** 0 if there is no answer. */
  readonly status: number;
  /** Why there is no answer: `wouldWrite` or `diskFull` if the page can't be rendered without writing. Null if there is one. */
  readonly reason: string | null;
  readonly type: string;
  readonly content: Buffer;
  /** Target of a redirect, or null. */
  readonly location: string | null;
}

/** `path` includes the query. */
export type LoadPage = (path: string, signal: AbortSignal) => Promise<LoadedPage>;

interface PageProxy extends AsyncDisposable {
  readonly port: number;
}

const isText = /^(text\/|application\/(javascript|json|xml|xhtml\+xml)|image\/svg\+xml)/i;

/** Rewrites the site's HTTPS URLs to HTTP, because the proxy can't answer HTTPS requests. */
function withoutTls({ type, content }: LoadedPage, host: string): Buffer {
  if (!isText.test(type)) return content;
  return Buffer.from(content.toString("latin1").replaceAll(`https://${host}`, `http://${host}`), "latin1");
}

/** Chromium silently takes no screenshot of an error with an empty body. */
const blank = { type: "text/html", content: Buffer.from("<p></p>") };

function withBody(page: LoadedPage): LoadedPage {
  const isError = page.status === 0 || page.status >= 400;
  if (!isError || page.content.length > 0) return page;
  return { ...page, status: page.status || 502, ...blank };
}

/** `host` is the site's, with its port if it has one. */
export async function startPageProxy(host: string, load: LoadPage): Promise<PageProxy> {
  const closing = new AbortController();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = URL.parse(request.url ?? "");
    if (request.method !== "GET" || url?.host !== new URL(`http://${host}`).host) {
      response.writeHead(502, { "content-type": blank.type }).end(blank.content);
      return;
    }
    const page = withBody(await load(url.pathname + url.search, closing.signal));
    const location = page.location?.replace(`https://${host}`, `http://${host}`);
    response.writeHead(page.status, {
      "content-type": page.type === "" ? "application/octet-stream" : page.type,
      "cache-control": "no-store",
      // Untrusted scripts must not run in our browser.
      "content-security-policy": "script-src 'none'; object-src 'none'",
      ...(location !== undefined && { location }),
    });
    response.end(withoutTls(page, host));
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
