/**
 * Backs up every environment before the installation is backed up. Uses the API of the running installation, with a
 * temporary API key for each company.
 */
import { readRun } from "@sitewright/supervisor/records.ts";
import type { Pool } from "pg";
import * as v from "valibot";
import { makeToken, readToken } from "../app/company/token.ts";
import { deleteApiKey, insertApiKey } from "../store/company/apiKeys.ts";
import type { Database } from "../store/database.ts";
import { databaseOn } from "../store/open.ts";
import { listServedByCompany, type ServedOfCompany } from "../store/restoredInstallation.ts";
import { exitFailed, Failure } from "./failure.ts";

const Accepted = v.object({ operation_id: v.string() });
const Status = v.object({ status: v.number(), data: v.object({ message: v.optional(v.string()) }) });

const day = 86_400_000;
/** The system lets connections wait while control is started again. */
const answerMilliseconds = 10_000;
const running = 202;
const succeeded = 200;

/** Prints the name of each environment before its backup. Returns a message for each backup that failed. */
export async function backUpAll(pool: Pool, dataFolder: string, print: (line: string) => void): Promise<string[]> {
  const api = await runningApi(dataFolder);
  const database = databaseOn(pool);
  const problems: string[] = [];
  for (const company of await listServedByCompany(database)) {
    await withKey(database, company, async (key) => {
      for (const { id, name } of company.environments) {
        print(`Backing up ${name} …`);
        const problem = await backUpOne(api, key, id).catch((error: Error) => error.message);
        if (problem !== null) problems.push(`${name}: ${problem}`);
      }
    });
  }
  return problems;
}

/** The URL of the API. Checks that it answers, since a killed supervisor leaves its record behind. */
async function runningApi(dataFolder: string): Promise<string> {
  const api = readRun(dataFolder)?.api_url;
  if (api !== undefined && (await isAnswered(new URL("/health", api)))) return api;
  throw new Failure(
    "--with-backups needs the installation to run. Start it with: npm start. Then try again.",
    exitFailed,
  );
}

async function isAnswered(url: URL): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(answerMilliseconds) });
    await answer.text();
    return answer.ok;
  } catch {
    return false;
  }
}

async function withKey(
  database: Database,
  { companyId, ownerId }: ServedOfCompany,
  work: (key: string) => Promise<void>,
): Promise<void> {
  const key = makeToken();
  const row = { companyId, userId: ownerId, name: "Backup of the installation", scopes: null };
  const { id, secretHash } = readToken(key);
  // Limits the key's life in case this process is killed.
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

/** Backs up one environment. Returns why it failed, or null. */
async function backUpOne(api: string, key: string, environmentId: string): Promise<string | null> {
  const authorization = `Bearer ${key}`;
  const response = await fetch(`${api}/sites/environments/${environmentId}/manual-backups`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json", "when-busy": "queue" },
    body: JSON.stringify({ tag: "With a backup of the installation" }),
  });
  const accepted: unknown = await response.json();
  if (!v.is(Accepted, accepted)) return `the API answered with status ${response.status}`;
  for (;;) {
    const path = `${api}/operations/${encodeURIComponent(accepted.operation_id)}?wait=30`;
    const poll = await fetch(path, { headers: { authorization } });
    const body: unknown = await poll.json();
    if (poll.status === running) continue;
    if (poll.status === succeeded) return null;
    return (v.is(Status, body) ? body.data.message : undefined) ?? `the operation ended with status ${poll.status}`;
  }
}
