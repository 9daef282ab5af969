/** Which endpoints the console calls, according to its sources. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { endpoints } from "@sitewright/contract/endpoints.ts";

const folder = join(import.meta.dirname, "../../../console/app");
const sources = globSync("**/*.{ts,tsx}", { cwd: folder })
  .filter((file) => !file.endsWith(".d.ts"))
  .map((file) => readFileSync(join(folder, file), "utf8"));

/** Calls of the client, and paths of links. */
const calls = new Set(
  sources.flatMap((text) => [
    ...[...text.matchAll(/api\s*\.(GET|POST|PUT|DELETE)\(\s*"([^"]+)"/g)].map(
      ([, method, path]) => `${method} ${path}`,
    ),
    ...[...text.matchAll(/: keyof paths = "([^"]+)"/g)].map(([, path]) => `GET ${path}`),
  ]),
);

/** The names of the endpoints that it does not call. */
export const notCalled: readonly string[] = Object.entries(endpoints)
  .filter(([, { method, path }]) => !calls.has(`${method} ${path}`))
  .map(([name]) => name);
