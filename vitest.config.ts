import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { Slowest } from "./tools/slowest.ts";

/** Where `tools/test.ts` reads what became of the tests. */
const report = process.env.SITEWRIGHT_TEST_REPORT;

/** Real PHP and PostgreSQL are slow on a small machine, and twice as slow next to the longest file. */
const patience = { testTimeout: 240_000, hookTimeout: 240_000, expect: { poll: { timeout: 60_000 } } };
const never = ["**/node_modules/**", "data/**", ".cache/**"];
const globalSetup = ["server/testing/globalSetup.ts"];
const setupFiles = ["server/testing/transactions.ts"];

/** Real PHP. */
const playground = ["**/*.playground.test.ts", "runtimes/playground/*.test.ts"];
/** What every engine promises. */
const promises = ["runtimes/promises/*.test.ts"];

/** Operations in every crash. */
const crashes = ["server/operations/faults/crash*.test.ts"];

/** Files next to those below that need no process of their own, which would take longer to start than most of their tests. */
const modest = [
  "banner|dataFolder|forbiddenAddresses|keepRunning|logFile|postgresUser|previousAddresses|runFolder|terminal|userIds",
  "firstRun|geoip|keyFile|phpNetwork|sealedSettings|sealing|updateWindow",
  "advisories|requireWritable",
].join("|");

/** Files that need a process of their own: they change or stop it, measure its memory, or replace a module of Node. */
const isolated = [
  `supervisor/**/!(${modest}).test.ts`,
  `tools/**/!(${modest}).test.ts`,
  `server/!(${modest}).test.ts`,
  "contract/clients.test.ts",
  "runtimes/sqlite/replace/replaceTexts.test.ts",
  "runtimes/playground/php/dnsRecords.playground.test.ts",
  "runtimes/playground/php/flushing.playground.test.ts",
];

/** Started last, these would keep one worker busy and leave the other idle. */
const longest =
  /e2e\/(tour|kills|first-site|visitors)|\/(faults\/crash|compiled|install|wpCli|updatePackages|playground\.test)/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLongest = ({ moduleId }: TestSpecification) => longest.test(moduleId);
    const sorted = await super.sort(files);
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))];
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // One more than the cores of the smallest machine: many tests wait for other processes.
    maxWorkers: 3,
    // Processes that tests start load their modules in half of the time.
    env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? "node_modules/.cache/sitewright" },
    reporters: ["default", new Slowest(), ...(report === undefined ? [] : ["json"])],
    ...(report !== undefined && { outputFile: report }),
    projects: [
      {
        test: {
          ...patience,
          name: "rooms",
          include: ["**/*.test.ts"],
          exclude: [...never, ...playground, ...promises, ...crashes, ...isolated, "e2e/**"],
          globalSetup,
          setupFiles,
          // Files share a process and the modules loaded in it: a third of the time was spent loading them again.
          isolate: false,
        },
      },
      {
        test: {
          ...patience,
          name: "crashes",
          include: crashes,
          exclude: [...never, "**/*.playground.test.ts"],
          globalSetup,
          setupFiles,
          isolate: false,
        },
      },
      {
        test: {
          ...patience,
          name: "isolated",
          include: isolated,
          exclude: never,
          globalSetup,
          setupFiles,
        },
      },
      {
        test: {
          ...patience,
          name: "playground",
          include: [...playground, ...promises],
          exclude: [...never, ...isolated],
          globalSetup: [...globalSetup, "runtimes/playground/testing/globalSetup.ts"],
          isolate: false,
        },
      },
      {
        test: {
          ...patience,
          name: "native",
          include: promises,
          exclude: never,
          env: { SITEWRIGHT_TEST_ENGINE: "native" },
          globalSetup: [...globalSetup, "runtimes/playground/testing/globalSetup.ts"],
          isolate: false,
        },
      },
      {
        test: {
          ...patience,
          testTimeout: 600_000,
          hookTimeout: 600_000,
          name: "e2e",
          include: ["e2e/**/*.test.ts"],
          exclude: never,
        },
      },
    ],
  },
});
