/** The built demo on a server that only has files, in a folder of it, as on any host. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join } from "node:path";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

/** Where the demo is on that server. */
const place = "/some/folder/";

export interface ServedDemo extends AsyncDisposable {
  readonly address: string;
  /** Paths that were asked for and do not exist. */
  readonly missing: readonly string[];
}

/** `folder`: the built files. */
export async function serveDemo(folder: string): Promise<ServedDemo> {
  const missing: string[] = [];
  const server = createServer(async ({ url = "/" }, response) => {
    const path = new URL(url, "http://localhost").pathname;
    const name = path.startsWith(place) ? path.slice(place.length) || "index.html" : null;
    try {
      if (name === null || name.includes("/")) throw new Error("There is no such file");
      const content = await readFile(join(folder, name));
      response.writeHead(200, { "content-type": types[extname(name)] ?? "text/plain" }).end(content);
    } catch {
      missing.push(path);
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const bound = server.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : 0;
  return {
    address: `http://127.0.0.1:${port}${place}`,
    missing,
    [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}
