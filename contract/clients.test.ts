/** Generates clients from the served document with two public generators, compiles them, and uses them. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { useTestServer } from "@sitewright/server/http/testing/server.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { heyApiProgram, openapiFetchProgram, type Program } from "./testing/clients.ts";

const root = join(import.meta.dirname, "..");
const run = promisify(execFile);
const test = useTestServer();

/** In the repository, so that the generated code finds the packages that it imports. */
let folder: string;
let origin: string;

/** Runs a program of a package with this version of Node. */
async function node(program: string, ...parameters: readonly string[]): Promise<void> {
  const ended = run(process.execPath, [join(root, program), ...parameters], { cwd: folder });
  // Compilers write errors to their standard output.
  await ended.catch((error) => expect.fail(`${error.stdout}${error.stderr}`));
}

beforeAll(async () => {
  const cache = join(root, ".cache");
  await mkdir(cache, { recursive: true });
  folder = await mkdtemp(join(cache, "clients-"));
  origin = `http://127.0.0.1:${await test.current.listen()}`;
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "commonjs" }));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function compile(name: string, program: string): Promise<Program> {
  await writeFile(join(folder, `${name}.ts`), program);
  const options = ["--ignoreConfig", "--strict", "--target", "es2024", "--module", "nodenext", "--types", ""];
  await node("node_modules/.bin/tsc", ...options, "--outDir", `out-${name}`, `${name}.ts`);
  return import(join(folder, `out-${name}`, `${name}.js`));
}

async function expectSession(client: Program, name: string): Promise<void> {
  const { company, succeed } = test.current;
  expect(await client.run(company.api_key, name, succeed)).toEqual({
    company: company.company_id,
    step: null,
    address: expect.stringMatching(/^http:/),
    sites: [name],
    takenName: name,
  });
}

it("@hey-api/openapi-ts generates a client that knows its server, compiles and works", async () => {
  const document = `${origin}/v2/openapi.json`;
  await node("contract/node_modules/@hey-api/openapi-ts/bin/run.js", "--input", document, "--output", "sdk");
  await expectSession(await compile("heyApi", heyApiProgram), "Garden");
});

it("openapi-typescript generates types for openapi-fetch that compile and work", async () => {
  const document = `${origin}/v2/openapi.json`;
  // Its default is to require fields that have a default value.
  const options = ["--output", "paths.ts", "--default-non-nullable=false"];
  await node("contract/node_modules/openapi-typescript/bin/cli.js", document, ...options);
  await expectSession(await compile("openapiFetch", openapiFetchProgram(`${origin}/v2`)), "Orchard");
});
