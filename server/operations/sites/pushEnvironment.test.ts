/** The parallel trial and backup of a push, and failures of each. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pushing } from "../../testing/environments.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import { StepFailure } from "../engine/operation.ts";
import type { Services } from "../steps/services.ts";
import type { Candidate } from "../steps/trial.ts";
import type { PushPart } from "./pushEnvironment.ts";

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** Pushes with some services replaced by `change`. */
async function push(files: PushPart, database: PushPart, change: (services: Services) => Partial<Services>) {
  const subject = pushing(files, database);
  const request = await subject.prepare(world);
  const services = { ...world.services, ...change(world.services) };
  const row = await withEngine({ ...world, services }, (harness) => harness.submit(request));
  return { row, left: () => subject.undone(world, request) };
}

test("a push of everything is tried out while the backup is made", async () => {
  const [tried, kept] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { row } = await push("all", "all", ({ archives, runTrial }) => ({
    runTrial: async (...candidate) => {
      tried.resolve();
      await kept.promise;
      return runTrial(...candidate);
    },
    archives: {
      ...archives,
      keep: async (...archive) => {
        kept.resolve();
        await tried.promise;
        return archives.keep(...archive);
      },
    },
  }));
  expect(row.state).toBe("succeeded");
});

describe.each([
  ["the files alone", "all", "none", true],
  ["the database alone", "none", "all", true],
  ["everything", "all", "all", false],
  ["a part of both", ["index.php"], ["wp_options"], false],
] as const)("a push of %s", (_, files, database, isReadOnly) => {
  test("is tried out without changing live data", async () => {
    const tried: Candidate[] = [];
    const { row } = await push(files, database, ({ runTrial }) => ({
      runTrial: (candidate, signal) => {
        tried.push(candidate);
        return runTrial(candidate, signal);
      },
    }));
    expect(row.state).toBe("succeeded");
    expect(tried).toMatchObject([{ isReadOnly }]);
  });
});

test("a trial that needs to write to live data runs on a copy, which is removed", async () => {
  const tried: Candidate[] = [];
  const { row, left } = await push("all", "none", ({ runTrial }) => ({
    runTrial: async (candidate, signal) => {
      tried.push(candidate);
      if (candidate.isReadOnly) return false;
      await runTrial(candidate, signal);
      throw new StepFailure("Its tables are broken.");
    },
  }));
  expect(row).toMatchObject({ state: "failed", public_error: "Its tables are broken." });
  expect(tried.map(({ isReadOnly }) => isReadOnly)).toEqual([true, false]);
  expect(tried[1]?.layout.release).toBeGreaterThan(tried[0]?.layout.release ?? 0);
  expect(await left()).toEqual([]);
});

test("if PHP is busy, the trial is retried without repeating the backup", async () => {
  let [tries, backups] = [0, 0];
  const { row } = await push("all", "all", ({ archives, runTrial }) => ({
    runTrial: async (...candidate) => {
      tries += 1;
      if (tries < 3) throw new StepFailure("No PHP process was free for it.", { isTransient: true });
      return runTrial(...candidate);
    },
    archives: {
      ...archives,
      keep: (...archive) => {
        backups += 1;
        return archives.keep(...archive);
      },
    },
  }));
  expect(row.state).toBe("succeeded");
  expect([tries, backups]).toEqual([3, 1]);
});

test("if the trial fails, the push fails with its message, and the backup is aborted and removed", async () => {
  const message = "The pushed site failed its check: its front page has the status 500.";
  const { row, left } = await push("all", "all", ({ archives }) => ({
    runTrial: async () => {
      throw new StepFailure(message);
    },
    archives: {
      ...archives,
      keep: (_backup, _folder, _before, signal) =>
        new Promise((_, reject) => {
          if (signal.aborted) reject(signal.reason);
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
    },
  }));
  expect(row).toMatchObject({ state: "failed", public_error: message });
  expect(await left()).toEqual([]);
});

test("if the backup fails, nothing is switched", async () => {
  const { row, left } = await push("all", "all", ({ archives }) => ({
    archives: { ...archives, keep: () => Promise.reject(new StepFailure("There is not enough room for a backup.")) },
  }));
  expect(row).toMatchObject({ state: "failed", public_error: "There is not enough room for a backup." });
  expect(await left()).toEqual([]);
});

test("a push that would exceed the target's quota is rejected, and nothing is changed", async () => {
  const { row, left } = await push("all", "all", () => ({ diskQuotaBytes: 1 }));
  expect(row.state).toBe("failed");
  expect(row.public_error).toMatch(/^The push would grow the environment to \d+ MB, but its disk quota is 1 MB\./);
  expect(await left()).toEqual([]);
});
