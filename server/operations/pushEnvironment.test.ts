/** In which order a push tries out and backs up, and what it does where one of the two fails. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pushing } from "../testing/environments.ts";
import { withEngine } from "../testing/withEngine.ts";
import { makeWorld, type World } from "../testing/world.ts";
import { StepFailure } from "./operation.ts";
import type { PushPart } from "./pushEnvironment.ts";
import type { Services } from "./services.ts";

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
      put: async (...archive) => {
        kept.resolve();
        await tried.promise;
        return archives.put(...archive);
      },
    },
  }));
  expect(row.state).toBe("succeeded");
});

describe.each([
  ["the files alone", "all", "none"],
  ["the database alone", "none", "all"],
] as const)("of a push of %s, which shares the rest,", (_, files, database) => {
  test("the backup is there before anything is tried out", async () => {
    const order: string[] = [];
    const { row } = await push(files, database, ({ archives, tryOut }) => ({
      tryOut: (...candidate) => {
        order.push("tried out");
        return tryOut(...candidate);
      },
      archives: {
        ...archives,
        put: async (...archive) => {
          const bytes = await archives.put(...archive);
          order.push("backed up");
          return bytes;
        },
      },
    }));
    expect(row.state).toBe("succeeded");
    expect(order).toEqual(["backed up", "tried out"]);
  });
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
      put: (...archive) => {
        backups += 1;
        return archives.put(...archive);
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
      put: (_name, _folder, signal) =>
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
    archives: { ...archives, put: () => Promise.reject(new StepFailure("There is not enough room for a backup.")) },
  }));
  expect(row).toMatchObject({ state: "failed", public_error: "There is not enough room for a backup." });
  expect(await left()).toEqual([]);
});
