/** The parallel trial and backup of a PHP change, and failures of each. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeBackupLists } from "../../store/backups/backupList.ts";
import { modifyingPhpVersion, notesOf } from "../../testing/environments.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import { StepFailure } from "../engine/operation.ts";
import type { Services } from "../steps/services.ts";
import { comparedFrontPage } from "../steps/trial.ts";

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** Changes the version with some services replaced by `change`. */
async function modify(change: (services: Services, environmentId: string) => Partial<Services>, to = "8.4") {
  const request = await modifyingPhpVersion.prepare(world);
  const { environment, site } = notesOf(request);
  const input = { environment: site.environment, to, address: site.address, isOptOut: true, onlyFrom: null };
  const services = { ...world.services, ...change(world.services, environment.id) };
  const row = await withEngine({ ...world, services }, (harness) => harness.submit({ ...request, input }));
  const listed = await makeBackupLists(world.own.pool).list(environment.id);
  return { row, backups: listed?.backups ?? [], left: () => modifyingPhpVersion.undone(world, request) };
}

test("the backup runs in parallel with the trial, and the environment is not frozen", async () => {
  const [tried, kept] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const frozen: (boolean | undefined)[] = [];
  const { row, backups } = await modify(({ archives, database, runTrial }, id) => ({
    runTrial: async (...candidate) => {
      tried.resolve();
      await kept.promise;
      return runTrial(...candidate);
    },
    archives: {
      ...archives,
      keep: async (...archive) => {
        const found = database.selectFrom("environments").select("is_frozen").where("id", "=", id);
        frozen.push((await found.executeTakeFirst())?.is_frozen);
        kept.resolve();
        await tried.promise;
        return archives.keep(...archive);
      },
    },
  }));
  expect(row).toMatchObject({ state: "succeeded", public_error: null });
  expect(frozen).toEqual([false]);
  expect(backups).toMatchObject([{ type: "system-generated", name: "Before PHP 8.4", note: "Before PHP 8.4" }]);
});

test("if PHP is busy, the trial is retried without repeating the backup", async () => {
  let [tries, keeps] = [0, 0];
  const { row } = await modify(({ archives, runTrial }) => ({
    runTrial: async (...candidate) => {
      expect(candidate[0].page).toBe(comparedFrontPage);
      tries += 1;
      if (tries < 3) throw new StepFailure("No PHP process was free for it.", { isTransient: true });
      return runTrial(...candidate);
    },
    archives: {
      ...archives,
      keep: (...archive) => {
        keeps += 1;
        return archives.keep(...archive);
      },
    },
  }));
  expect(row.state).toBe("succeeded");
  expect([tries, keeps]).toEqual([3, 1]);
});

test("a site that fails on the new version keeps the old one, and the backup is aborted and removed", async () => {
  const message = "The site on PHP 8.4 failed its check: its front page has the status 500.";
  const { row, left } = await modify(({ archives }) => ({
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

test("nothing is changed if the backup fails", async () => {
  const { row, left } = await modify(({ archives }) => ({
    archives: { ...archives, keep: () => Promise.reject(new StepFailure("The store is closed.")) },
  }));
  expect(row).toMatchObject({ state: "failed", public_error: "The store is closed." });
  expect(await left()).toEqual([]);
});

test("nothing is started if there is no disk space for the backup, and the error has the numbers", async () => {
  let tries = 0;
  const { row, left } = await modify(({ runtime }) => ({
    runtime: {
      ...runtime,
      diskUse: async () => ({ files: 3e9, database: 1e9, temporary: 0 }),
      freeDisk: async () => 2e9,
    },
    runTrial: async () => {
      tries += 1;
      return true;
    },
  }));
  expect(row.public_error).toBe(
    "The change to PHP 8.4 needs about 5050 MB on the server's disk, but only 2000 MB are free for sites. Nothing was changed.",
  );
  expect(tries).toBe(0);
  expect(await left()).toEqual([]);
});

test("no backup is made if the version stays the same", async () => {
  const { row, backups } = await modify(() => ({}), "8.3");
  expect(row.state).toBe("succeeded");
  expect(backups).toEqual([]);
});
