/** The API for environments that wait to be restored after the installation was moved. */
import { beforeAll, describe, expect, it } from "vitest";
import { setAwaitsRebuild } from "../../store/restoredInstallation.ts";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();

let site: string;
let away: string;
let present: string;
beforeAll(async () => {
  site = await test.current.addSite();
  const { id, liveId } = await test.current.addEnvironment(site);
  [away, present] = [id, liveId];
  await setAwaitsRebuild(test.current.database, away, true);
});

const restorePath = (id: string) => `/v2/sites/environments/${id}/backups/restore`;

async function outcomeOf(operationId: string) {
  return (await test.current.call("GET", `/v2/operations/${operationId}`)).body;
}

describe("an environment that is waiting to be restored", () => {
  it("is listed as blocked", async () => {
    const { site: shown } = (await test.current.call("GET", `/v2/sites/${site}`)).body;
    const states = shown.environments.map((each: { id: string; is_blocked: boolean }) => [each.id, each.is_blocked]);
    expect(states).toEqual([
      [present, false],
      [away, true],
    ]);
  });

  it("fails all operations if it has no backup, and says what to do", async () => {
    const path = `/v2/sites/environments/${away}/manual-backups`;
    const answer = await test.current.call("POST", path, { body: {} });
    expect(await outcomeOf(answer.body.operation_id)).toMatchObject({
      status: 500,
      data: {
        message:
          "The environment is not on this server, and has no backup that it could be restored from. Restore a backup of another environment to it, or delete it.",
      },
    });
  });

  it("fails operations that need it and says why, even if they would queue", async () => {
    await test.current.addBackup(away);
    for (const whenBusy of ["fail", "queue"]) {
      const path = `/v2/sites/environments/${away}/manual-backups`;
      const answer = await test.current.call("POST", path, { body: {}, headers: { "when-busy": whenBusy } });
      expect(answer.status).toBe(202);
      const ended = await outcomeOf(answer.body.operation_id);
      expect(ended).toMatchObject({
        status: 500,
        data: { message: expect.stringContaining("still being restored") },
      });
    }
    const locks = await test.current.database.selectFrom("environment_locks").selectAll().execute();
    expect(locks).toEqual([]);
  });

  it("can't be cloned, and a failed clone reserves no name", async () => {
    const body = { display_name: "Copy", is_premium: false, source_env_id: away };
    const answer = await test.current.call("POST", `/v2/sites/${site}/environments/clone`, { body });
    expect(await outcomeOf(answer.body.operation_id)).toMatchObject({ status: 500 });
    const { site: shown } = (await test.current.call("GET", `/v2/sites/${site}`)).body;
    expect(shown.environments).toHaveLength(2);
  });

  it("is rebuilt by restoring any backup of the company to it, but only completely", async () => {
    const { addBackup, call, database, fail } = test.current;
    const backup_id = await addBackup(present);
    const part = await call("POST", restorePath(away), { body: { backup_id, only: "files" } });
    expect(part.status).toBe(400);
    expect(part.body.data).toMatchObject({ code: "environment_away", fields: ["only"] });
    const preview = await call("POST", restorePath(away), { body: { backup_id, dry_run: true } });
    expect(preview.body.data).toMatchObject({ code: "environment_away", fields: ["dry_run"] });
    const answer = await call("POST", restorePath(away), { body: { backup_id } });
    expect(answer.body.operation_id).toMatch(/^environments:rebuild-/);
    const row = database.selectFrom("operations").select("input").where("id", "=", answer.body.operation_id);
    expect((await row.executeTakeFirstOrThrow()).input).toMatchObject({
      environment: { id: away },
      backupId: backup_id,
      address: expect.stringMatching(/^http:\/\/.+\.localhost/),
    });
    const locks = await database.selectFrom("environment_locks").select("environment_id").execute();
    expect(locks.map((lock) => lock.environment_id).toSorted()).toEqual([away, present].toSorted());
    await fail(answer.body.operation_id, "It was only a test.");
  });

  it("can be deleted", async () => {
    const answer = await test.current.call("DELETE", `/v2/sites/environments/${away}`);
    expect(await outcomeOf(answer.body.operation_id)).toMatchObject({ status: 202 });
  });
});
