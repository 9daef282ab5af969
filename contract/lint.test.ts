import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const linter = fileURLToPath(new URL("../node_modules/.bin/redocly", import.meta.url));
const here = fileURLToPath(new URL(".", import.meta.url));

/** Without requests to its makers. */
const offline = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };

it("openapi.json breaks no recommended rule of Redocly", async () => {
  const lint = [linter, "lint", "openapi.json", "--format=json"];
  const options = { cwd: here, env: { ...process.env, ...offline } };
  const { stdout } = await promisify(execFile)(process.execPath, lint, options);
  expect(JSON.parse(stdout).problems).toEqual([]);
});
