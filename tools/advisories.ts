/**
 * Compares the packages in `package-lock.json` with known vulnerabilities in `tools/advisories.json`, without a network.
 *
 * - `npm run advisories`: reports matches, and how old the file is. Fails if one is of high or critical severity.
 * - `npm run advisories -- --refresh`: asks the npm registry first, and rewrites the file.
 * - `npm run advisories -- --from <file>`: rewrites it from the output of `npm audit --json` on another machine.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  type Advisory,
  type AdvisoryFile,
  advisoriesOf,
  findMatches,
  isSevere,
  readAdvisoryFile,
} from "./advisoryFile.ts";
import { readLockedPackages } from "./lockedPackages.ts";

const root = join(import.meta.dirname, "..");
const file = join(root, "tools", "advisories.json");

function refresh(from: string | undefined): void {
  const text = from === undefined ? askNpm() : readFileSync(from, "utf8");
  const content: AdvisoryFile = { checkedAt: new Date().toISOString(), advisories: advisoriesOf(text) };
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
}

/** npm exits with 1 if it finds vulnerabilities. */
function askNpm(): string {
  const { stdout } = spawnSync("npm", ["audit", "--json"], { cwd: root, encoding: "utf8", maxBuffer: 64 << 20 });
  return stdout;
}

const noMatch = (packages: number, advisories: number) =>
  `None of the ${packages} packages is affected by one of the ${advisories} advisories of the list.`;

function describe({ name, version, advisory }: { name: string; version: string; advisory: Advisory }): string {
  return `${advisory.severity}: ${name} ${version}: ${advisory.title}\n  ${advisory.url}`;
}

function age(checkedAt: string | null): string {
  if (checkedAt === null) return "The list has never been refreshed. Run: npm run advisories -- --refresh";
  const days = Math.floor((Date.now() - Date.parse(checkedAt)) / 86_400_000);
  return `The list is ${days} days old. To refresh it: npm run advisories -- --refresh`;
}

try {
  const { values } = parseArgs({ options: { refresh: { type: "boolean" }, from: { type: "string" } } });
  if (values.refresh === true || values.from !== undefined) refresh(values.from);
  const { checkedAt, advisories } = readAdvisoryFile(readFileSync(file, "utf8"));
  const packages = readLockedPackages(join(root, "package-lock.json"));
  const matches = findMatches(packages, advisories);
  const found = matches.length === 0 ? [noMatch(packages.length, advisories.length)] : matches.map(describe);
  process.stdout.write(`${[...found, age(checkedAt)].join("\n")}\n`);
  if (matches.some(({ advisory }) => isSevere(advisory))) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 2;
}
