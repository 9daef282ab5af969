import { defineConfig } from "vitest/config";

/** Real PHP and real PostgreSQL take their time on a small machine. */
const patience = { testTimeout: 120_000, hookTimeout: 120_000 };
const never = ["**/node_modules/**", "data/**"];

export default defineConfig({
  test: {
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
