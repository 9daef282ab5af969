/** How a push tries out and backs up, and what it does where one of the two fails. */
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

/** Pushes; `change` gives what takes the place of some services. */
async function push(files: PushPart, database: PushPart, change: (services: Services) => Partial<Services>) {
  const subject = pushing(files, database);
  const request = await subject.prepare(world);
  const services = { ...world.services, ...change(world.services) };
  const row = await withEngine({ ...world, services }, (table) => table.submit(request));
  return { row, left: () => subject.cleanSlate(world, request) };
}

test("what is wholly new is tried out while the backup is made", async () => {
  const [tried, kept] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { row } = await push("all", "all", ({ archives, tryOut }) => ({
    tryOut: async (...candidate) => {
      tried.resolve();
      await kept.promise;
      return tryOut(...candidate);
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
] as const)("of a push of %s", (_, files, database, isReadOnly) => {
  test("what visitors use is not changed when it is tried out", async () => {
    const tried: Candidate[] = [];
    const { row } = await push(files, database, ({ tryOut }) => ({
      tryOut: (candidate, signal) => {
        tried.push(candidate);
        return tryOut(candidate, signal);
      },
    }));
    expect(row.state).toBe("succeeded");
    expect(tried).toMatchObject([{ isReadOnly }]);
  });
});

test("what wants to change what visitors use is tried out with a copy of that, of which nothing is left", async () => {
  const tried: Candidate[] = [];
  const { row, left } = await push("all", "none", ({ tryOut }) => ({
    tryOut: async (candidate, signal) => {
      tried.push(candidate);
      if (candidate.isReadOnly) return false;
      await tryOut(candidate, signal);
      throw new StepFailure("Its tables are broken.");
    },
  }));
  expect(row).toMatchObject({ state: "failed", public_error: "Its tables are broken." });
  expect(tried.map(({ isReadOnly }) => isReadOnly)).toEqual([true, false]);
  expect(tried[1]?.layout.release).toBeGreaterThan(tried[0]?.layout.release ?? 0);
  expect(await left()).toEqual([]);
});

test("where no PHP process is free for a moment, it is tried out again, and the backup is not made again", async () => {
  let [tries, backups] = [0, 0];
  const { row } = await push("all", "all", ({ archives, tryOut }) => ({
    tryOut: async (...candidate) => {
      tries += 1;
      if (tries < 3) throw new StepFailure("No PHP process was free for it.", { isTransient: true });
      return tryOut(...candidate);
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

test("what fails when it is tried out is told as it was found, the backup is broken off, and nothing is left", async () => {
  const message = "What would be pushed does not answer as it should: its front page has the status 500.";
  const { row, left } = await push("all", "all", ({ archives }) => ({
    tryOut: async () => {
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

test("a backup that fails ends the push before anything is switched", async () => {
  const { row, left } = await push("all", "all", ({ archives }) => ({
    archives: { ...archives, keep: () => Promise.reject(new StepFailure("There is not enough room for a backup.")) },
  }));
  expect(row).toMatchObject({ state: "failed", public_error: "There is not enough room for a backup." });
  expect(await left()).toEqual([]);
});

test("a push that would make its target larger than its quota is refused, and nothing is changed", async () => {
  const { row, left } = await push("all", "all", () => ({ diskQuotaBytes: 1 }));
  expect(row.state).toBe("failed");
  expect(row.public_error).toMatch(/^The push would make the environment \d+ MB large, and its disk quota is 1 MB\./);
  expect(await left()).toEqual([]);
});
