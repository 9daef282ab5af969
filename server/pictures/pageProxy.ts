/**
 * What a browser of ours is connected to in place of the internet: a proxy that has pages of one site, as whoever made it gives
 * them, and nothing else. What a page would fetch from elsewhere is missing then in each picture alike.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** What a browser is given. */
export interface SeenPage {
  /** 0: there is no answer. */
  readonly status: number;
  /** Why there is none: `wouldWrite` where that can't be made without changing something. Null if there is one. */
  readonly reason: string | null;
  readonly type: string;
  readonly content: Buffer;
  /** Where it leads; null: it is what was asked for. */
  readonly location: string | null;
}

/** `path` has the query with it. */
export type SeePage = (path: string, signal: AbortSignal) => Promise<SeenPage>;

export interface PageProxy extends AsyncDisposable {
  readonly port: number;
}

const isText = /^(text\/|application\/(javascript|json|xml|xhtml\+xml)|image\/svg\+xml)/i;

/** A site that is known by https would have the browser ask by that, which no proxy can answer for it. */
function withoutTls({ type, content }: SeenPage, host: string): Buffer {
  if (!isText.test(type)) return content;
  return Buffer.from(content.toString("latin1").replaceAll(`https://${host}`, `http://${host}`), "latin1");
}

/** Of an error that says nothing Chromium takes no picture, and reports no failure either. */
const blank = { type: "text/html", content: Buffer.from("<p></p>") };

function visible(seen: SeenPage): SeenPage {
  const isError = seen.status === 0 || seen.status >= 400;
  if (!isError || seen.content.length > 0) return seen;
  return { ...seen, status: seen.status || 502, ...blank };
}

/** `host`: of the site, with its port where it has one. */
export async function startPageProxy(host: string, see: SeePage): Promise<PageProxy> {
  const closing = new AbortController();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = URL.parse(request.url ?? "");
    if (request.method !== "GET" || url?.host !== new URL(`http://${host}`).host) {
      response.writeHead(502, { "content-type": blank.type }).end(blank.content);
      return;
    }
    const seen = visible(await see(url.pathname + url.search, closing.signal));
    const location = seen.location?.replace(`https://${host}`, `http://${host}`);
    response.writeHead(seen.status, {
      "content-type": seen.type === "" ? "application/octet-stream" : seen.type,
      "cache-control": "no-store",
      // What somebody's page would do in a browser of ours is nobody's business.
      "content-security-policy": "script-src 'none'; object-src 'none'",
      ...(location !== undefined && { location }),
    });
    response.end(withoutTls(seen, host));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  // What would go by TLS ends here.
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
