/** Adds database rows for many environments and plugins, to measure lists. */
import { randomInt, randomUUID } from "node:crypto";
import { readRun } from "@sitewright/supervisor/records.ts";
import pg from "pg";

/** Number of plugins that every environment has. */
const common = 10;
const others = 290;

/** Sort key of a version with two small numbers, in the format of the `packages` table. */
const keyOf = (major: number, minor: number) =>
  `${[major, minor].map((part) => `6${String(part).padStart(20, "0")}`).join("")}5`;

function pluginsOf(count: number): readonly string[] {
  const chosen = new Set(Array.from({ length: common }, (_, at) => `common-${at}`));
  while (chosen.size < count) chosen.add(`plugin-${randomInt(others)}`);
  return [...chosen];
}

function rowsOf(environmentId: string, plugins: number) {
  return pluginsOf(plugins).map((name) => {
    const minor = randomInt(10);
    return {
      environment_id: environmentId,
      name,
      title: `The plugin ${name}`,
      version: `1.${minor}`,
      key: keyOf(1, minor),
      update: minor < 3 ? "2.0" : null,
      is_active: randomInt(4) > 0,
      is_vulnerable: randomInt(50) === 0,
    };
  });
}

export interface Fleet {
  /** Changes the version of one plugin in one environment. */
  updateOne(): Promise<void>;
}

/**
 * Adds environments to the company while `work` runs. Their state is `adding`, so that the rest of the installation
 * ignores them. `data` is the data folder of a running installation.
 */
export async function withFleet<T>(
  data: string,
  companyId: string,
  { environments, plugins }: { readonly environments: number; readonly plugins: number },
  work: (fleet: Fleet) => Promise<T>,
): Promise<T> {
  const run = readRun(data);
  if (run === null) throw new Error(`No installation is running on ${data}`);
  const client = new pg.Client({ connectionString: run.database_url });
  await client.connect();
  const siteId = randomUUID();
  try {
    await client.query(
      "insert into sites (id, company_id, name, display_name, region, state) values ($1::uuid, $2, $1::uuid::text, 'Fleet', 'europe-west3', 'adding')",
      [siteId, companyId],
    );
    const ids = Array.from({ length: environments }, () => randomUUID());
    await client.query(
      `insert into environments (id, site_id, company_id, name, display_name, php_version, wordpress_version, state, container_id)
       select id, $2::uuid, $3::uuid, id::text, 'Environment ' || id, '8.3', '7.1.1', 'adding', id from unnest($1::uuid[]) as id`,
      [ids, siteId, companyId],
    );
    await client.query(
      `insert into packages (environment_id, company_id, site_id, kind, name, file, title, description, version, version_key,
         is_elsewhere, is_active, is_auto_updated, update_version, is_vulnerable)
       select n.environment_id, $2::uuid, $3::uuid, 'plugin', n.name, n.name || '/' || n.name || '.php', n.title, '', n.version, n.key,
         true, n.is_active, false, n.update, n.is_vulnerable
       from jsonb_to_recordset($1::jsonb) as n(environment_id uuid, name text, title text, version text, key text,
         update text, is_active boolean, is_vulnerable boolean)`,
      [JSON.stringify(ids.flatMap((id) => rowsOf(id, plugins))), companyId, siteId],
    );
    await client.query("analyze packages");
    await client.query("analyze environments");
    return await work({
      updateOne: async () => {
        const values = [ids[randomInt(ids.length)], `common-${randomInt(common)}`, `1.${10 + randomInt(10)}`];
        await client.query("update packages set version = $3 where environment_id = $1 and name = $2", values);
      },
    });
  } finally {
    await client.query("delete from sites where id = $1", [siteId]);
    await client.end();
  }
}
