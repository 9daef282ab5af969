/** The trial, the backup and the check of a move to another runtime, and failures of each. */
import { combineRuntimes } from "@sitewright/runtimes/severalRuntimes.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeBackupLists } from "../../store/backups/backupList.ts";
import { findPhp, findRuntimes, setRuntime } from "../../store/sites/environmentStates.ts";
import { changingRuntime, notesOf } from "../../testing/environments.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import { StepFailure } from "../engine/operation.ts";
import type { Services } from "../steps/services.ts";
import type { Candidate } from "../steps/trial.ts";

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

interface Wanted {
  readonly runtime?: string;
  readonly phpVersion?: string | null;
}

const moving = changingRuntime("other");

/** Moves a site with some services replaced by `change`. */
async function move(change: (services: Services, environmentId: string) => Partial<Services>, wanted: Wanted = {}) {
  const request = await moving.prepare(world);
  const { environment, site } = notesOf(request);
  const { runtime = "other", phpVersion = "8.4" } = wanted;
  const input = { environment: site.environment, runtime, phpVersion, address: site.address };
  const services = { ...world.services, ...change(world.services, environment.id) };
  const row = await withEngine({ ...world, services }, (harness) => harness.submit({ ...request, input }));
  const listed = await makeBackupLists(world.own.pool).list(environment.id);
  const php = await findPhp(world.own.database, environment.id);
  const left = () => moving.undone(world, request);
  return { row, backups: listed?.backups ?? [], php, left };
}

const shown = ({ php, page, isReadOnly }: Candidate) =>
  `${php.runtime} ${php.version} ${page?.url} ${isReadOnly ? "read-only" : "writing"}`;

test("front page and login page are tried out under the new runtime before visitors see it, and then the front page again", async () => {
  const tried: string[] = [];
  const { row, backups, php } = await move(({ runTrial, database }, id) => ({
    runTrial: async (candidate, signal) => {
      const served = await findPhp(database, id);
      tried.push(`${shown(candidate)}, served by ${served?.runtime}`);
      return runTrial(candidate, signal);
    },
  }));
  expect(row).toMatchObject({
    state: "succeeded",
    public_error: null,
    result: { runtime: "other", php_version: "8.4" },
  });
  expect(php).toMatchObject({ runtime: "other", version: "8.4" });
  expect(tried).toEqual([
    "other 8.4 / read-only, served by playground",
    "other 8.4 /wp-login.php read-only, served by playground",
    "other 8.4 / writing, served by other",
  ]);
  const name = "Before the move to the runtime other";
  expect(backups).toMatchObject([{ type: "system-generated", name, note: name }]);
});

test("pages that need to write are tried out on a copy", async () => {
  const tried: string[] = [];
  const { row } = await move(({ runtime }) => ({
    runTrial: async (candidate) => {
      const live = await runtime.layout(candidate.environment);
      const isCopy = candidate.layout.documentRoot !== live?.documentRoot;
      tried.push(`${shown(candidate)} ${isCopy ? "copy" : "live"}`);
      return !candidate.isReadOnly;
    },
  }));
  expect(row.state).toBe("succeeded");
  expect(tried).toEqual([
    "other 8.4 / read-only live",
    "other 8.4 / writing copy",
    "other 8.4 /wp-login.php writing copy",
    "other 8.4 / writing live",
  ]);
});

test("a site that fails under the new runtime stays where it is, and the backup is removed", async () => {
  const message = "The site under the runtime other failed its check: its front page has the status 500.";
  const { row, left } = await move(() => ({
    runTrial: async () => {
      throw new StepFailure(message);
    },
  }));
  expect(row).toMatchObject({ state: "failed", public_error: message });
  expect(await left()).toEqual([]);
});

test("a site that fails when visitors use the new runtime moves back", async () => {
  const served: (string | undefined)[] = [];
  const { row, left } = await move(({ runTrial, database }, id) => ({
    runTrial: async (candidate, signal) => {
      if (candidate.isReadOnly) return runTrial(candidate, signal);
      served.push((await findPhp(database, id))?.runtime);
      throw new StepFailure("Broken for visitors.");
    },
  }));
  expect(row).toMatchObject({ state: "failed", public_error: "Broken for visitors." });
  expect(served).toEqual(["other"]);
  expect(await left()).toEqual([]);
});

test("nothing is changed if the backup fails", async () => {
  const { row, left } = await move(({ archives }) => ({
    archives: { ...archives, keep: () => Promise.reject(new StepFailure("The store is closed.")) },
  }));
  expect(row).toMatchObject({ state: "failed", public_error: "The store is closed." });
  expect(await left()).toEqual([]);
});

test("the PHP version of the moment is kept if none is chosen", async () => {
  const { php } = await move(
    ({ database, archives }, id) => ({
      archives: {
        ...archives,
        keep: async (...archive) => {
          // As an earlier operation would, but the version has been read by now.
          await setRuntime(database, id, { runtime: "playground", version: "8.2" });
          return archives.keep(...archive);
        },
      },
    }),
    { phpVersion: null },
  );
  expect(php).toMatchObject({ runtime: "other", version: "8.3" });
});

test("no backup is made if nothing changes", async () => {
  const { row, backups } = await move(() => ({}), { runtime: "playground", phpVersion: null });
  expect(row.state).toBe("succeeded");
  expect(backups).toEqual([]);
});

test("the release is tried out as the new runtime lays it out", async () => {
  const { row } = await move(({ database, runtime }) => {
    const named = (name: string): Services["runtime"] => ({
      ...runtime,
      layout: async (environment) => {
        const layout = await runtime.layout(environment);
        return layout === null ? null : { ...layout, overlays: { [name]: layout.documentRoot } };
      },
    });
    const both = { playground: named("playground"), other: named("other") };
    return {
      runtime: combineRuntimes(both, (ids) => findRuntimes(database, ids)),
      runTrial: async ({ layout }) => {
        expect(Object.keys(layout.overlays)).toEqual(["other"]);
        return true;
      },
    };
  });
  expect(row).toMatchObject({ state: "succeeded", public_error: null });
});
