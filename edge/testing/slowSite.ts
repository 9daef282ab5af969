/** A site with a slow PHP, and concurrent visitors of the same page. */
import { once } from "node:events";
import { expect } from "vitest";
import { eventually } from "./eventually.ts";
import { textAnswer } from "./fakeUpstream.ts";
import { ask, openRaw, type Sending } from "./http.ts";
import { type EdgeWorld, startSite } from "./withEdge.ts";

export const frontPage = "GET / HTTP/1.1\r\nHost: site.localhost\r\n\r\n";
export const html = [["Content-Type", "text/html"]] as const;

export const wordpress = { environment: { wordpressVersion: "7.1.1" } };

/** A site whose pages are numbered and wait for `make()`; marker pages are answered at once. */
export async function startSlowSite(
  files: Record<string, string> = {},
  options: Parameters<typeof startSite>[1] = wordpress,
) {
  const world = await startSite(files, options);
  const { upstream } = world;
  const gate = Promise.withResolvers<void>();
  let made = 0;
  const headers: readonly (readonly [string, string])[] = html;
  const slow = {
    ...world,
    headers,
    status: 200,
    make: () => gate.resolve(),
    /** The URLs that PHP was asked for, without markers. */
    asked: () => upstream.asked.map(({ request }) => request.url).filter((url) => !url.startsWith("/marker")),
  };
  upstream.answer = async ({ url }) => {
    if (url.startsWith("/marker")) return textAnswer("marker");
    made += 1;
    const page = `page ${made}`;
    await gate.promise;
    return textAnswer(page, slow.headers, slow.status);
  };
  return slow;
}

/** Lets a first visitor ask for the front page. Resolves when PHP has the request. */
export async function beginPage({ edge, upstream }: Pick<EdgeWorld, "edge" | "upstream">, sending?: Sending) {
  const before = upstream.asked.length;
  const page = ask(edge, "/", sending);
  page.catch(() => undefined);
  await eventually(() => expect(upstream.asked.length).toBe(before + 1));
  return { page };
}

let markers = 0;

/**
 * Asks for the front page on a separate connection. Resolves when the edge has the request, shown by a marker sent
 * after it.
 */
export async function arrive({ edge, upstream }: Pick<EdgeWorld, "edge" | "upstream">) {
  markers += 1;
  const marker = `/marker/${markers}`;
  const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: site.localhost\r\n`;
  const visitor = openRaw(edge);
  visitor.socket.write(`${head("/")}\r\n${head(marker)}Connection: close\r\n\r\n`);
  await eventually(() => expect(upstream.asked.some(({ request }) => request.url === marker)).toBe(true));
  return { ...visitor, ended: once(visitor.socket, "close") };
}
