/** The web console: one page for all of its addresses, and the files that this page loads. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Console, type ConsoleFile, type ConsolePaths, makeConsole } from "./consoleFiles.ts";
import { HttpFailure } from "./faults.ts";
import { escapeHtml } from "./reference.ts";

const pageHeaders = {
  // The console's components have style elements. Inline scripts and requests to other servers stay forbidden.
  "content-security-policy":
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-cache",
  vary: "accept-encoding",
};

const fileHeaders = {
  "cache-control": "public, max-age=31536000, immutable",
  "x-content-type-options": "nosniff",
  vary: "accept-encoding",
};

/** How soon a browser asks again while the console is being built, in seconds. */
const retrySeconds = 2;

/** Serves the page at `/`, and at all paths for which `isConsolePage` holds. */
export function serveConsole(server: FastifyInstance, paths: ConsolePaths): void {
  const current = makeConsole(paths);
  const sendPage = async (request: FastifyRequest, reply: FastifyReply) => {
    const page = await current();
    const index = page.files?.get("index.html");
    if (index !== undefined) return send(request, reply.headers(pageHeaders), index);
    return reply
      .code(503)
      .headers({ ...pageHeaders, "content-type": "text/html; charset=utf-8", "retry-after": retrySeconds })
      .send(waitingPage(page));
  };
  server.get("/", sendPage);
  server.setNotFoundHandler(sendPage);
  server.get<{ Params: { name: string } }>("/console/:name", async (request, reply) => {
    const { files } = await current();
    const file = files?.get(request.params.name);
    if (file === undefined || request.params.name === "index.html") throw new HttpFailure(404);
    return send(request, reply.headers(fileHeaders), file);
  });
}

function send(request: FastifyRequest, reply: FastifyReply, file: ConsoleFile): FastifyReply {
  reply.header("content-type", file.type);
  const accepted = request.headers["accept-encoding"] ?? "";
  if (/\bbr\b/.test(accepted)) return reply.header("content-encoding", "br").send(file.brotli);
  if (/\bgzip\b/.test(accepted)) return reply.header("content-encoding", "gzip").send(file.gzip);
  return reply.send(file.content);
}

/** Shown until the console is built. Loads itself again, without a script. */
function waitingPage(page: Console): string {
  const failure = page.files === null ? page.failure : null;
  const sentence =
    failure === null
      ? "The console is being built. This takes a few seconds; this page then opens it."
      : `The console could not be built, and the next start tries again: ${failure}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${failure === null ? `<meta http-equiv="refresh" content="${retrySeconds}">` : ""}
<title>Sitewright</title>
</head>
<body>
<h1>Sitewright</h1>
<p>${escapeHtml(sentence)}</p>
<p>The API works meanwhile: <a href="/docs">API reference</a></p>
</body>
</html>
`;
}
