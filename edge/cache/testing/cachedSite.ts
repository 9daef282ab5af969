/** A site with a page cache, and a fake PHP that numbers the pages it renders. */
import { type Answer, type FakeAnswer, textAnswer } from "../../testing/fakeUpstream.ts";
import { ask, type Sending } from "../../testing/http.ts";
import { type EdgeWorld, startSite } from "../../testing/withEdge.ts";

export const html = [["Content-Type", "text/html; charset=UTF-8"]] as const;

const kept = { wordpressVersion: "7.1.1", pageCache: { epoch: 1 } };

interface CachedSite extends EdgeWorld {
  /** How PHP responds. By default with `page 1`, `page 2` and so on. */
  respond: (made: number, request: Parameters<Answer>[0]) => FakeAnswer | Promise<FakeAnswer>;
  /** The URLs that PHP was asked for. */
  asked(): readonly string[];
  /** Makes an address known as one whose page can be cached, as its first visitor does. Not counted. */
  meet(path: string): Promise<void>;
  /** Sends a request like a browser's first visit. */
  get(path: string, headers?: Sending["headers"], more?: Sending): Promise<Seen>;
  purge(order: object): Promise<{ readonly status: number; readonly body: string }>;
}

interface Seen {
  readonly status: number;
  readonly cache: string | undefined;
  readonly body: string;
  readonly headers: Awaited<ReturnType<typeof ask>>["headers"];
  readonly bytes: Buffer;
}

export const browser = {
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36",
};

export async function startCachedSite(
  files: Record<string, string> = {},
  options: Parameters<typeof startSite>[1] = {},
): Promise<CachedSite> {
  const world = await startSite(files, { ...options, environment: { ...kept, ...options.environment } });
  let renders = 0;
  const site: CachedSite = {
    ...world,
    respond: (number) => textAnswer(`page ${number}`, html),
    asked: () => world.upstream.asked.map(({ request }) => request.url),
    async meet(path) {
      const { respond } = site;
      site.respond = () => textAnswer("met", html);
      await ask(world.edge, path, { headers: browser });
      site.respond = respond;
      renders = 0;
      world.upstream.asked.splice(0);
    },
    async get(path, headers = {}, more = {}) {
      const {
        status,
        headers: got,
        body,
        bytes,
      } = await ask(world.edge, path, { headers: { ...browser, ...headers }, ...more });
      const state = got["x-cache"];
      return { status, cache: typeof state === "string" ? state : undefined, body, bytes, headers: got };
    },
    async purge(order) {
      const body = JSON.stringify({ environmentId: "one", ...order });
      return ask(world.edge, "/cache/purge", { socketPath: world.edge.adminSocket, method: "POST", body });
    },
  };
  world.upstream.answer = (request) => {
    renders += 1;
    return site.respond(renders, request);
  };
  return site;
}
