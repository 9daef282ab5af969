/**
 * A fresh backup of every environment, before the installation is backed up: asked for as anybody would, by the interface of
 * the running installation, with a key of each company that is gone afterwards.
 */
import { readRun } from "@sitewright/supervisor/records.ts";
import type { Pool } from "pg";
import * as v from "valibot";
import { makeToken, readToken } from "../app/company/token.ts";
import { deleteApiKey, insertApiKey } from "../store/company/apiKeys.ts";
import type { Database } from "../store/database.ts";
import { listServedByCompany, type ServedOfCompany } from "../store/moved.ts";
import { databaseOn } from "../store/open.ts";
import { Failure, failed } from "./failure.ts";

const Accepted = v.object({ operation_id: v.string() });
const Status = v.object({ status: v.number(), data: v.object({ message: v.optional(v.string()) }) });

const day = 86_400_000;
const running = 202;
const succeeded = 200;

/** Returns a sentence for each environment whose backup failed. `say` is called with each name before its backup starts. */
export async function backUpAll(pool: Pool, dataFolder: string, say: (line: string) => void): Promise<string[]> {
  const api = await runningInterface(dataFolder);
  const database = databaseOn(pool);
  const problems: string[] = [];
  for (const company of await listServedByCompany(database)) {
    await withKey(database, company, async (key) => {
      for (const { id, name } of company.environments) {
        say(`Backing up ${name} …`);
        const problem = await backUpOne(api, key, id).catch((error: Error) => error.message);
        if (problem !== null) problems.push(`${name}: ${problem}`);
      }
    });
  }
  return problems;
}

/** The record of a supervisor that was killed may still lie there. */
async function runningInterface(dataFolder: string): Promise<string> {
  const api = readRun(dataFolder)?.api_url;
  const answer = api === undefined ? null : await fetch(`${api}/openapi.json`).catch(() => null);
  if (api !== undefined && answer?.ok === true) return api;
  throw new Failure("--with-backups needs the installation to run. Start it with: npm start. Then repeat.", failed);
}

async function withKey(
  database: Database,
  { companyId, ownerId }: ServedOfCompany,
  work: (key: string) => Promise<void>,
): Promise<void> {
  const key = makeToken();
  const row = { companyId, userId: ownerId, name: "Backup of the installation", scopes: null };
  const { id, secretHash } = readToken(key);
  // Should this be killed, it is of no use to anybody tomorrow.
  const expiresAt = new Date(Date.now() + day);
  await database
    .transaction()
    .execute((transaction) => insertApiKey(transaction, { id, secretHash, expiresAt, ...row }));
  try {
    await work(key);
  } finally {
    await deleteApiKey(database, id);
  }
}

/** Why it could not be made; null: it is. */
async function backUpOne(api: string, key: string, environmentId: string): Promise<string | null> {
  const authorization = `Bearer ${key}`;
  const asked = await fetch(`${api}/sites/environments/${environmentId}/manual-backups`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json", "when-busy": "queue" },
    body: JSON.stringify({ tag: "With a backup of the installation" }),
  });
  const accepted: unknown = await asked.json();
  if (!v.is(Accepted, accepted)) return `the interface answered with status ${asked.status}`;
  for (;;) {
    const path = `${api}/operations/${encodeURIComponent(accepted.operation_id)}?wait=30`;
    const answer = await fetch(path, { headers: { authorization } });
    const body: unknown = await answer.json();
    if (answer.status === running) continue;
    if (answer.status === succeeded) return null;
    return (v.is(Status, body) ? body.data.message : undefined) ?? `it ended with status ${answer.status}`;
  }
}
