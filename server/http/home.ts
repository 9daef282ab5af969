/** The page at `/`: the API's address and all endpoints. */
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import { endpoints } from "@sitewright/contract/endpoints.ts";
import type { FastifyInstance } from "fastify";
import { homeStyle } from "./homeStyle.ts";

const headers = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-cache",
};

export function serveHome(server: FastifyInstance): void {
  server.get("/", (request, reply) => reply.headers(headers).send(homePage(`${request.protocol}://${request.host}`)));
}

/** The page as HTML. `origin` is the address that the browser used. */
export function homePage(origin: string): string {
  const api = escapeHtml(`${origin}/v2`);
  const rows: readonly Endpoint[] = Object.values(endpoints);
  const groups = [...Map.groupBy(rows, ({ tag }) => tag)].map(([tag, group]) => section(tag, group)).join("\n");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sitewright</title>
<style>${homeStyle}</style>
</head>
<body>
<header>
<h1>Sitewright</h1>
<p>A host for WordPress sites. This server creates, serves and deletes them through an HTTP API.</p>
</header>
<main>
<dl class="facts">
<dt>API</dt><dd><code>${api}</code></dd>
<dt>Description</dt><dd><a href="/v2/openapi.json">OpenAPI 3.1 document</a></dd>
<dt>Key</dt><dd>Send it with every request: <code>Authorization: Bearer sk_…</code></dd>
</dl>
<p>The first start prints your API key and company id, and saves them in <code>first-run.json</code> in the data
folder. To check a key:</p>
<pre><code>curl -H "Authorization: Bearer $KEY" ${api}/validate</code></pre>
<h2>Endpoints</h2>
<p>Paths are relative to the API's address. Calls that take longer than a moment return 202 and an
<code>operation_id</code>; follow the operation with <code>GET /operations/{operation_id}</code>.</p>
${groups}
</main>
</body>
</html>
`;
}

function section(tag: string, rows: readonly Endpoint[]): string {
  return `<section>
<h3>${escapeHtml(tag)}</h3>
${rows.map(entry).join("\n")}
</section>`;
}

function entry(row: Endpoint): string {
  return `<details>
<summary><span class="method ${row.method.toLowerCase()}">${row.method}</span> <code>${escapeHtml(row.path)}</code> <span>${escapeHtml(row.summary)}</span></summary>
<p>${markdownCode(row.description)}</p>
${fieldTable("Path", row.params)}${fieldTable("Query", row.query)}${fieldTable("Body", row.body)}</details>`;
}

function fieldTable(caption: string, schema: Endpoint["query"]): string {
  const fields = Object.entries(schema?.properties ?? {});
  if (fields.length === 0) return "";
  const lines = fields.map(([name, field]) => {
    const need = schema?.required?.includes(name) ? "required" : "optional";
    const text = "description" in field && typeof field.description === "string" ? field.description : "";
    return `<tr><th scope="row"><code>${escapeHtml(name)}</code></th><td>${need}</td><td>${markdownCode(text)}</td></tr>`;
  });
  return `<table><caption>${caption}</caption><tbody>${lines.join("")}</tbody></table>\n`;
}

function markdownCode(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
