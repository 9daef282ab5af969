/**
 * What `npm test` runs: types, format and lint, then all tests (one of them proves that generated files are
 * fresh); everything even where something failed, so that one run tells all. With arguments (`npm test -- supervisor`) only the tests they select.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const reports = mkdtempSync(join(tmpdir(), "sitewright-test-"));
const report = join(reports, "tests.json");

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
  { name: "format and lint", program: "biome", parameters: ["ci", "--diagnostic-level=warn"] },
];

function tests(selected: readonly string[]): Check {
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  return { name: "tests", program: "vitest", parameters: ["run", ...reporters, ...selected] };
}

function run(check: Check): Promise<Outcome> {
  process.stdout.write(`\n== ${check.name}\n`);
  const since = performance.now();
  const program = spawn(join(root, "node_modules", ".bin", check.program), [...check.parameters], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
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

const selected = process.argv.slice(2);
const outcomes: Outcome[] = [];
for (const check of selected.length > 0 ? [tests(selected)] : [...checks, tests([])]) {
  outcomes.push(await run(check));
}
process.stdout.write(summary(outcomes));
rmSync(reports, { recursive: true, force: true });
process.exitCode = outcomes.every(({ isGood }) => isGood) ? 0 : 1;
