/**
 * `npm run console`: serves the console from its sources, and passes requests of the API on to a running Sitewright, by default the one
 * at port 8080 of this machine (`SITEWRIGHT_API=http://127.0.0.1:8080`).
 */
import { createServer } from "vite";
import { viteConfig } from "./viteConfig.ts";

const target = process.env.SITEWRIGHT_API ?? "http://127.0.0.1:8080";
const proxied = { target, changeOrigin: true };
const server = await createServer({
  ...viteConfig,
  logLevel: "info",
  server: { host: "127.0.0.1", proxy: { "/v2": proxied, "/docs": proxied, "/reference": proxied } },
});
await server.listen();
server.printUrls();
