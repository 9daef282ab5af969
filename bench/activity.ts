/**
 * Measures the activity log of a company with 1,000,000 entries: pages of the API with their totals, and writing, next to the same
 * log without counts.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { send } from "@sitewright/e2e/http.ts";
import { createFolder, type Installation, startHere } from "@sitewright/e2e/installation.ts";
import { recordActivity, systemActor } from "@sitewright/server/store/company/activity.ts";
import { countActivity } from "@sitewright/server/store/company/activityCounts.ts";
import { type OpenDatabase, openDatabase } from "@sitewright/server/store/open.ts";
import { startPostgres } from "@sitewright/supervisor/postgres/postgres.ts";
import { atMost, duration, type Figure } from "./report.ts";
import { median, percentile, timed } from "./statistics.ts";

const entries = 1_000_000;
const requests = 300;
const maxMilliseconds = 10;
const writeRounds = 5;
const writesPerRound = 200;
const parallelWritesPerRound = 1_000;
const writers = 20;

const id = (kind: number, number: number) =>
  `00000000-0000-4000-800${kind}-${number.toString(16).padStart(12, "0")}` as const;

/**
 * 200 sites and no site, 20 keys of 8 users, the first of them busier, and five categories. The last user changed DNS records only
 * a long time ago.
 */
const fill = `
  insert into activity (company_id, site_id, category, type, parameters, is_done, is_sealed, ip_address, user_id, user_role,
    user_full_name, user_first_name, api_key_id, api_key_name, browser_name, created_at)
  select $1::uuid, case when n % 50 > 0 then format('00000000-0000-4000-8001-%s', lpad(to_hex(site), 12, '0'))::uuid end,
    case when key % 8 = 7 and category = 'providerDns' and n > 300 then 'billing' else category end, 'addSite', '{"siteName":"Harbour"}',
    true, true, '203.0.113.7', format('00000000-0000-4000-8002-%s', lpad(to_hex(key % 8), 12, '0'))::uuid, 'owner', 'Ada Lovelace',
    'Ada', format('00000000-0000-4000-8003-%s', lpad(to_hex(key), 12, '0'))::uuid, 'Deploy', 'curl',
    now() - ($2 - n) * interval '30 s'
  from (
    select n, (random() * 200)::int as site, (random() * random() * 20)::int as key,
      (array['siteActions', 'siteActions', 'siteActions', 'providerDns', 'billing', 'userManagement'])[1 + floor(random() * 6)::int] as category
    from generate_series(1, $2::int) n
  ) random_entries order by n`;

const filters = {
  "no filter": "",
  category: "&category=siteActions",
  site: `&site_id=${id(1, 7)}`,
  user: `&id_initiated_by=${id(2, 0)}`,
  key: `&id_api_key=${id(3, 0)}`,
  "category and site": `&category=providerDns&site_id=${id(1, 7)}`,
  "category and key": `&category=siteActions&id_api_key=${id(3, 0)}`,
  "category and user, few matches": `&category=providerDns&id_initiated_by=${id(2, 7)}`,
  "all four": `&category=siteActions&site_id=${id(1, 7)}&id_initiated_by=${id(2, 0)}&id_api_key=${id(3, 0)}`,
};

interface Log {
  readonly company: {
    readonly activity_logs: { readonly items: readonly { readonly id: number }[]; readonly total: number };
  };
}

/** Returns a function that reads a page over one connection. */
function reader({ firstRun: { api_url, api_key, company_id } }: Installation) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return async (query: string) => {
    const answer = await send("GET", `${api_url}/company/${company_id}/activity-logs?${query}`, {
      key: api_key,
      agent,
    });
    if (answer.status !== 200) throw new Error(`${query}: ${answer.status} ${answer.text}`);
    return answer.json<Log>().company.activity_logs;
  };
}

async function measurePages(read: ReturnType<typeof reader>): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (let number = 0; number < requests; number += 1) await read("");
  for (const [name, filter] of Object.entries(filters)) {
    const { total } = await read(`limit=0${filter}`);
    const isSingle = filter.lastIndexOf("&") <= 0;
    const pages = [
      { page: "newest 10", query: "", target: maxMilliseconds },
      { page: "last page", query: `&offset=${Math.max(0, total - 10)}`, target: maxMilliseconds },
      { page: "middle page", query: `&offset=${Math.floor(total / 2)}`, target: isSingle ? maxMilliseconds : Infinity },
      { page: "before an id", query: `&before=${entries / 2}`, target: maxMilliseconds },
    ];
    for (const { page, query, target } of pages) {
      const times: number[] = [];
      const count = Number.isFinite(target) ? requests : 20;
      for (let number = 0; number < count; number += 1) {
        times.push((await timed(() => read(`limit=10${filter}${query}`))).milliseconds);
      }
      const reference = `p50: ${duration(median(times))}`;
      figures.push(atMost(`${page}, ${name} (${total}), p99`, percentile(times, 0.99), target, reference));
    }
  }
  return figures;
}

interface Writes {
  readonly each: number[];
  /** Per second, by all writers together. */
  readonly parallel: number[];
}

/** Writes entries in transactions of their own. */
async function write({ database }: OpenDatabase, companyId: string, count: number): Promise<number[]> {
  const actor = { ...systemActor, userId: id(2, 0), apiKeyId: id(3, 0) };
  const entry = { companyId, siteId: id(1, 7), category: "siteActions", type: "addSite", parameters: {}, actor };
  const times: number[] = [];
  for (let number = 0; number < count; number += 1) {
    const { value } = await timed(() =>
      database.transaction().execute((transaction) => timed(() => recordActivity(transaction, entry))),
    );
    times.push(value.milliseconds);
  }
  return times;
}

/** Alternates between the databases. The first round warms up and is not counted. */
async function measureWrites(opened: readonly OpenDatabase[], companyId: string): Promise<Writes[]> {
  const writes: Writes[] = opened.map(() => ({ each: [], parallel: [] }));
  for (let round = 0; round <= writeRounds; round += 1) {
    for (const [at, each] of opened.entries()) {
      const times = await write(each, companyId, writesPerRound);
      const share = parallelWritesPerRound / writers;
      const { milliseconds } = await timed(() =>
        Promise.all(Array.from({ length: writers }, () => write(each, companyId, share))),
      );
      if (round === 0) continue;
      writes[at]?.each.push(...times);
      writes[at]?.parallel.push(parallelWritesPerRound / (milliseconds / 1_000));
    }
  }
  return writes;
}

const withoutCounts = `
  drop trigger activity_inserted on activity;
  drop trigger activity_deleted on activity;
  drop index activity_combination`;

async function measureWriting(url: string, name: string, companyId: string): Promise<Figure[]> {
  // Two copies, because a copy is faster than its original.
  const names = [`${name}_with_counts`, `${name}_without_counts`];
  const maintenance = openDatabase(url, { connections: 1 });
  for (const copy of names) await maintenance.pool.query(`create database ${copy} template ${name}`);
  await maintenance.close();
  const [counted, plain] = names.map((each) => openDatabase(onDatabase(url, each), { connections: writers }));
  if (counted === undefined || plain === undefined) throw new Error("Unreachable");
  try {
    await plain.pool.query(withoutCounts);
    const [ours, reference] = await measureWrites([counted, plain], companyId);
    if (ours === undefined || reference === undefined) throw new Error("Unreachable");
    const { milliseconds } = await timed(() => countActivity(counted.database));
    const [rate, otherRate] = [median(ours.parallel), median(reference.parallel)];
    return [
      atMost("writing an entry, median", median(ours.each), 1, `without counts: ${duration(median(reference.each))}`),
      {
        name: `${writers} writers of one company, entries per second`,
        measured: rate.toFixed(0),
        target: "–",
        isMet: true,
        reference: `without counts: ${otherRate.toFixed(0)}`,
      },
      atMost(
        `adding ${(writesPerRound + parallelWritesPerRound) * (writeRounds + 1)} entries to the counts`,
        milliseconds,
        1_000,
      ),
    ];
  } finally {
    await counted.close();
    await plain.close();
  }
}

function onDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** Starts an installation with its own database server. */
export async function measureActivity(log: (line: string) => void): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), "sw-activity-"));
  const home = await createFolder();
  const server = await startPostgres({ dataDirectory: join(folder, "data", "pg"), runDirectory: join(folder, "run") });
  const name = `activity_${randomUUID().slice(0, 8)}`;
  try {
    const maintenance = openDatabase(server.url, { connections: 1 });
    await maintenance.pool.query(`create database ${name}`);
    await maintenance.close();
    const url = onDatabase(server.url, name);
    const settings = { DATABASE_URL: url, SITEWRIGHT_RATE_LIMIT_PER_MINUTE: "10000000" };
    const installation = await startHere(home.folder, settings);
    const companyId = installation.firstRun.company_id;
    const figures: Figure[] = [];
    try {
      log(`  writing ${entries} entries …`);
      const { pool, database, close } = openDatabase(url);
      await pool.query(fill, [companyId, entries]);
      await countActivity(database);
      await pool.query("vacuum (analyze) activity, activity_changes, activity_counts, activity_combinations");
      await pool.query("checkpoint");
      await close();
      log("  reading pages …");
      figures.push(...(await measurePages(reader(installation))));
    } finally {
      await installation.stop();
    }
    log("  writing …");
    figures.push(...(await measureWriting(server.url, name, companyId)));
    return figures;
  } finally {
    await server.stop();
    await home.remove();
    await rm(folder, { recursive: true, force: true });
  }
}
