/** The page at `/docs`: the API reference, which openapi-explorer draws in the browser from `/v2/openapi.json`. */
import { readFile } from "node:fs/promises";
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import { endpoints } from "@sitewright/contract/endpoints.ts";
import type { FastifyInstance } from "fastify";
import { originOf } from "./paths.ts";
import { serveReferenceFiles } from "./referenceFiles.ts";

const headers = {
  "content-type": "text/html; charset=utf-8",
  // The explorer has style attributes and elements. Inline scripts and requests to other servers stay forbidden.
  "content-security-policy":
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self'; style-src 'self' 'unsafe-inline'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-cache",
};

const tour = new URL("../../docs/tour.md", import.meta.url);

export function serveReference(server: FastifyInstance): void {
  const folder = serveReferenceFiles(server);
  server.get("/docs", async (request, reply) =>
    reply.headers(headers).send(referencePage(originOf(request), await folder())),
  );
  server.get("/tour.md", async (_, reply) =>
    reply.headers({ ...headers, "content-type": "text/plain; charset=utf-8" }).send(await readFile(tour)),
  );
}

/** The page as HTML. `origin` is the address that the browser used, `folder` the URL path of its files. */
export function referencePage(origin: string, folder: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sitewright API</title>
<link rel="icon" href="${folder}/reference.svg">
<link rel="stylesheet" href="${folder}/reference.css">
<script defer src="${folder}/openapi-explorer.js"></script>
<script type="module" src="${folder}/reference.js"></script>
</head>
<body>
<header>
<h1>Sitewright <span>API</span></h1>
<p>The API is at <code>${escapeHtml(origin)}/v2</code>. Send an <a href="#?route=auth">API key</a> as
<code>Authorization: Bearer sk_…</code>
<span>The first start saves one in <code>first-run.json</code> in the data folder.</span></p>
<a href="/tour.md">Tour</a>
<a href="/v2/openapi.json">openapi.json</a>
<button type="button" hidden aria-expanded="false">Menu</button>
</header>
<main>
<noscript>
<p>This page needs JavaScript. The same content is in <a href="/v2/openapi.json">openapi.json</a>.</p>
<ul>
${Object.values<Endpoint>(endpoints).map(entry).join("\n")}
</ul>
</noscript>
</main>
</body>
</html>
`;
}

function entry({ method, path, summary }: Endpoint): string {
  return `<li><code>${method} ${escapeHtml(path)}</code> ${escapeHtml(summary)}</li>`;
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
