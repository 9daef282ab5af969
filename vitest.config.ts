import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Real PHP and real PostgreSQL take their time on a small machine, and beside the longest file twice as much. */
const patience = { testTimeout: 240_000, hookTimeout: 240_000, expect: { poll: { timeout: 60_000 } } };
const never = ["**/node_modules/**", "data/**"];

/** A third of all the time is one file's. Begun last, it would keep one of the workers, and the other would be idle. */
const longest = "server/operations/faults/crash.test.ts";

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLongest = ({ moduleId }: TestSpecification) => moduleId.endsWith(longest);
    const sorted = await super.sort(files);
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))];
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // A machine of two cores runs tests, PHP and PostgreSQL at once.
    maxWorkers: 2,
    reporters: ["default"],
    projects: [
      {
        test: {
          ...patience,
          name: "rooms",
          include: ["**/*.test.ts"],
          exclude: [...never, "e2e/**"],
          globalSetup: ["server/testing/globalSetup.ts"],
          sequence: { groupOrder: 0 },
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
          // The started product measures time: nothing else may run beside it.
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
