/**
 * What `npm test` runs: types, format and lint, then all tests (one of them proves that generated files are fresh), each
 * even where one before it failed, so that one run shows everything.
 *
 * - `npm test -- server/app dns`: only the tests of files whose path contains one of the arguments.
 * - `npm run test:fast`: without the tests of real PHP, of crashes and of the started product.
 * - `npm run test:watch -- server/app`: runs tests again whenever a file changes that they depend on.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { installPrograms } from "./installPrograms.ts";
import { requireWritable } from "./requireWritable.ts";
import { createTemporaryFolder } from "./temporaryFolder.ts";
import { testEnvironment } from "./testEnvironment.ts";

const root = join(import.meta.dirname, "..");
try {
  requireWritable(root);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}
const temporary = createTemporaryFolder();
const report = join(temporary.path, "tests.json");

interface Check {
  readonly name: string;
  readonly program: string;
  readonly parameters: readonly string[];
}

interface Outcome {
  readonly name: string;
  readonly isGood: boolean;
  readonly seconds: number;
}

const checks: readonly Check[] = [
  { name: "types", program: "tsc", parameters: ["--noEmit", "--project", "."] },
  { name: "console's types", program: "tsc", parameters: ["--noEmit", "--project", "console/app"] },
  { name: "demo's types", program: "tsc", parameters: ["--noEmit", "--project", "console/demo"] },
  { name: "format and lint", program: "biome", parameters: ["ci", "--diagnostic-level=warn"] },
];

/** Without real PHP, crashes, and the started product. */
const fast = ["--project=rooms", "--project=isolated"];

function tests(parameters: readonly string[]): Check {
  return { name: "tests", program: "vitest", parameters: ["run", ...parameters] };
}

let current: ChildProcess | undefined;
let isStopped = false;
// Ctrl-C reaches the running check too. This process waits for its end, and removes what it leaves.
process.on("SIGINT", () => {
  isStopped = true;
});
process.on("SIGTERM", () => {
  isStopped = true;
  current?.kill("SIGTERM");
});

function run(check: Check): Promise<Outcome> {
  process.stdout.write(`\n== ${check.name}\n`);
  const since = performance.now();
  const program = spawn(join(root, "node_modules", ".bin", check.program), [...check.parameters], {
    cwd: root,
    env: { ...testEnvironment(), ...temporary.variables, SITEWRIGHT_TEST_REPORT: report },
    // Its keys select what is run again.
    stdio: [check.name === "watch" ? "inherit" : "ignore", "inherit", "inherit"],
  });
  current = program;
  return new Promise((resolve, reject) => {
    program.on("error", reject);
    program.on("exit", (code) =>
      resolve({ name: check.name, isGood: code === 0, seconds: (performance.now() - since) / 1000 }),
    );
  });
}

/** The last line is one that continuous integration reads. */
function summary(outcomes: readonly Outcome[]): string {
  const lines = outcomes.map(
    ({ name, isGood, seconds }) =>
      `  ${name.padEnd(16)} ${isGood ? "ok    " : "FAILED"} ${seconds.toFixed(1).padStart(7)} s`,
  );
  return ["\n== summary", ...lines, "", counts(), ""].join("\n");
}

function counts(): string {
  try {
    const found: { numPassedTests: number; numFailedTests: number; numPendingTests: number; numTodoTests: number } =
      JSON.parse(readFileSync(report, "utf8"));
    const skipped = found.numPendingTests + found.numTodoTests;
    return `Tests: ${found.numPassedTests} passed, ${found.numFailedTests} failed, ${skipped} skipped`;
  } catch {
    return "The tests left no report: they did not run to their end.";
  }
}

function planned([mode, ...filters]: readonly string[]): readonly Check[] {
  if (mode === "--watch") return [{ name: "watch", program: "vitest", parameters: ["watch", ...filters] }];
  if (mode === "--fast") return [...checks, tests([...fast, ...filters])];
  return mode === undefined ? [...checks, tests([])] : [tests([mode, ...filters])];
}

const given = process.argv.slice(2);
try {
  await installPrograms();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  // A selection of tests may do without them.
  if (given.length === 0) {
    temporary.remove();
    process.exit(1);
  }
}
const outcomes: Outcome[] = [];
for (const check of planned(given)) {
  if (!isStopped) outcomes.push(await run(check));
}
process.stdout.write(summary(outcomes));
temporary.remove();
process.exitCode = outcomes.every(({ isGood }) => isGood) ? 0 : 1;
