/** Fills an installation with data of all kinds, to be backed up and restored. */
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Pool } from "pg";
import { openKeys } from "../keyFile.ts";
import { backUp } from "../operations/steps/backup.ts";
import { findNewestBackup } from "../store/backups/backups.ts";
import { beginSnapshot, dumpRows, listTables } from "../store/dump.ts";
import { insertNewSite, liveSite } from "./sites.ts";
import type { World } from "./world.ts";

export type LiveSite = Awaited<ReturnType<typeof liveSite>>;

/** Backs up a live site with this text in its marker file. Returns the backup's id. */
export async function backUpWith({ services, own }: World, site: LiveSite, text: string): Promise<number> {
  const { environment, address } = site;
  const layout = await services.runtime.layout(environment);
  await writeFile(join(layout?.documentRoot ?? "", "own.txt"), text);
  const request = { environment, address, operationId: randomUUID(), type: "manual", name: text, note: null } as const;
  await backUp(services, request, new AbortController().signal);
  const backup = await findNewestBackup(own.database, environment.id);
  if (backup === null) throw new Error("There is no backup");
  return backup.id;
}

/** Creates two live sites, one of them with a backup, and keys in the data folder. */
export async function fillInstallation(world: World): Promise<{ readonly kept: LiveSite; readonly bare: LiveSite }> {
  const { dataFolder } = world.facts;
  for (const name of ["key", "archive-key"]) await openKeys(join(dataFolder, "secrets", name));
  await writeFile(join(dataFolder, "first-run.json"), `{"company_id":"c","api_key":"sk_kept"}\n`, { mode: 0o600 });
  const kept = await liveSite(world);
  await backUpWith(world, kept, "then");
  return { kept, bare: await liveSite(world) };
}

/**
 * Leaves unfinished operations, one running and one waiting, with their locks and rows. Returns the unfinished new
 * site.
 */
export async function leaveUnfinished({ own, facts, services, runtime, ...rest }: World, site: LiveSite) {
  const { database } = own;
  const newSite = await insertNewSite({ own, facts, services, runtime, ...rest });
  const common = { company_id: site.companyId, parameters: "{}", category: "siteActions" };
  for (const [state, kind] of [
    ["running", "addManualBackup"],
    ["waiting", "restartPhp"],
  ] as const) {
    const { id: activity_id } = await database
      .insertInto("activity")
      .values({ ...common, site_id: site.siteId, type: kind })
      .returning("id")
      .executeTakeFirstOrThrow();
    const id = `${kind}-${randomUUID()}`;
    const row = { id, kind, company_id: site.companyId, site_id: site.siteId, environment_id: site.environment.id };
    const more = { activity_id, state, steps_total: 2, input: "{}", secret: Buffer.from("sealed") };
    await database
      .insertInto("operations")
      .values({ ...row, ...more, reference_id: randomUUID(), step: "backup" })
      .execute();
    const lock = { operation_id: id, environment_id: site.environment.id };
    await database
      .insertInto(state === "running" ? "environment_locks" : "operation_wants")
      .values(lock)
      .execute();
  }
  await database
    .updateTable("environments")
    .set({ is_frozen: true, state: "deleting" })
    .where("id", "=", site.environment.id)
    .execute();
  await database.updateTable("sites").set({ state: "deleting" }).where("id", "=", site.siteId).execute();
  const unfinished = { environment_id: site.environment.id, site_id: site.siteId, company_id: site.companyId };
  await database
    .insertInto("backups")
    .values({
      ...unfinished,
      name: "unfinished",
      type: "manual",
      operation_id: "unfinished",
      address: "",
      expires_at: new Date(),
    })
    .execute();
  return newSite;
}

/** Returns all rows as text, by table. */
export async function rowsOf(pool: Pool): Promise<Record<string, string[]>> {
  const client = await pool.connect();
  await beginSnapshot(client);
  const rows: Record<string, string[]> = {};
  for (const table of await listTables(client)) {
    const lines: string[] = [];
    for await (const line of dumpRows(client, table)) lines.push(line);
    rows[table.name] = lines.sort();
  }
  await client.query("commit");
  client.release();
  return rows;
}
