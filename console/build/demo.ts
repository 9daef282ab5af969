/**
 * `npm run demo`: builds the console with an invented company in place of the API, and serves it. `npm run demo -- --build` only builds.
 * Any server of files can serve the folder.
 */
import { join } from "node:path";
import { preview } from "vite";
import { buildDemo } from "./buildDemo.ts";

const folder = join(import.meta.dirname, "../../.cache/demo");
await buildDemo(folder);
if (process.argv.includes("--build")) {
  process.stdout.write(`The demo is in ${folder}. Any server of files can serve it.\n`);
} else {
  const server = await preview({
    configFile: false,
    logLevel: "error",
    build: { outDir: folder },
    preview: { host: "127.0.0.1" },
  });
  const [address] = server.resolvedUrls?.local ?? [];
  process.stdout.write(`The demo is at ${address}. Its files are in ${folder}.\n`);
}
