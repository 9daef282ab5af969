import { describe, expect, onTestFinished, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { describeSchema } from "../testing/schema.ts";
import type { Tables } from "./database.ts";
import { migrate, readMigrations } from "./migrate.ts";
import { openPool } from "./open.ts";

async function emptyDatabase(): Promise<TestDatabase> {
  const own = await createTestDatabase({ template: "template0" });
  onTestFinished(own.drop);
  return own;
}

describe("migrate", () => {
  test("from empty it runs every file in order, and nothing the second time", async () => {
    const { pool } = await emptyDatabase();
    const names = (await readMigrations()).map((migration) => migration.name);
    expect(names[0]).toBe("0001-first");
    expect(await migrate(pool)).toEqual(names);
    expect(await migrate(pool)).toEqual([]);
  });

  test("the resulting schema equals the committed dump", async () => {
    const { pool } = await emptyDatabase();
    await migrate(pool);
    await expect(await describeSchema(pool)).toMatchFileSnapshot("migrations/schema.txt");
  });

  test("of four that start at once one works and the others wait for it", async () => {
    const { url, pool } = await emptyDatabase();
    const pools = [1, 2, 3, 4].map(() => openPool(url, { connections: 1 }));
    const ran = await Promise.all(pools.map((each) => migrate(each)));
    await Promise.all(pools.map((each) => each.end()));
    const worked = ran.filter((names) => names.length > 0);
    expect(worked).toEqual([(await readMigrations()).map((migration) => migration.name)]);
    expect(await migrate(pool)).toEqual([]);
  });

  test("a file that fails leaves nothing of itself, keeps those before it, and frees the lock", async () => {
    const { pool } = await emptyDatabase();
    const good = { name: "0001-good", sql: "create table good (id integer)" };
    const bad = { name: "0002-bad", sql: "create table half (id integer); select 1 / 0" };
    await expect(migrate(pool, [good, bad])).rejects.toThrow("Migration 0002-bad failed");
    const schema = await describeSchema(pool);
    expect(schema).toContain("table good");
    expect(schema).not.toContain("table half");
    expect(await migrate(pool, [good, { name: "0002-bad", sql: "create table whole (id integer)" }])).toEqual([
      "0002-bad",
    ]);
  });

  test("a database of a newer version is refused", async () => {
    const { pool } = await emptyDatabase();
    await migrate(pool, [{ name: "0009-future", sql: "select 1" }]);
    await expect(migrate(pool)).rejects.toThrow("newer version: this one does not know 0009-future");
  });
});

/** Every column of every table as TypeScript knows it: leaving one out, or naming one too many, does not compile. */
const columns: { [T in keyof Tables]: Record<keyof Tables[T], true> } = {
  companies: { id: true, name: true, created_at: true },
  users: {
    id: true,
    company_id: true,
    email: true,
    full_name: true,
    first_name: true,
    role: true,
    password_hash: true,
    created_at: true,
  },
  api_keys: {
    id: true,
    company_id: true,
    user_id: true,
    name: true,
    secret_hash: true,
    scopes: true,
    expires_at: true,
    revoked_at: true,
    created_at: true,
  },
  sites: {
    id: true,
    company_id: true,
    name: true,
    display_name: true,
    region: true,
    state: true,
    created_at: true,
  },
  environments: {
    id: true,
    number: true,
    site_id: true,
    company_id: true,
    name: true,
    display_name: true,
    is_premium: true,
    php_version: true,
    wordpress_version: true,
    is_opt_out_from_automatic_php_update: true,
    state: true,
    container_id: true,
    created_at: true,
    is_frozen: true,
    php_run: true,
    denied_ips: true,
    redirect_rules: true,
    edge_caching: true,
    page_cache_epoch: true,
    redirect_list: true,
    backup_due_at: true,
    backup_failures: true,
    last_proof_began: true,
    awaits_rebuild: true,
    php_threads: true,
    php_memory_mb: true,
    request_seconds: true,
    disk_quota_bytes: true,
    disk_bytes: true,
    disk_measured_at: true,
    written_at: true,
    packages_read_at: true,
    update_checks: true,
    packages_problem: true,
    mail_delivery: true,
    force_https: true,
  },
  backups: {
    id: true,
    company_id: true,
    site_id: true,
    environment_id: true,
    name: true,
    note: true,
    type: true,
    operation_id: true,
    bytes: true,
    manifest: true,
    files: true,
    added_bytes: true,
    address: true,
    verified_at: true,
    fully_read_at: true,
    expires_at: true,
    created_at: true,
    row_counts: true,
    last_proof: true,
    last_proven_restore: true,
    proof_error: true,
    damage: true,
    examine_at: true,
  },
  downloadable_backups: {
    id: true,
    company_id: true,
    site_id: true,
    environment_id: true,
    file_name: true,
    bytes: true,
    created_at: true,
    expires_at: true,
  },
  cron_runs: { environment_id: true, began_at: true, ended_at: true, error: true, failures: true },
  packs: { id: true, company_id: true, state: true, bytes: true, state_since: true, read_at: true },
  pieces: { company_id: true, name: true, pack_id: true, start: true, length: true },
  backup_packs: { backup_id: true, pack_id: true },
  archive_store: { is_only: true, mark: true, place: true },
  deleted_sites: {
    id: true,
    company_id: true,
    name: true,
    display_name: true,
    region: true,
    created_at: true,
    deleted_at: true,
    deleted_by: true,
    restorable_until: true,
  },
  deleted_environments: {
    id: true,
    site_id: true,
    company_id: true,
    went_with_site: true,
    name: true,
    display_name: true,
    is_premium: true,
    php_version: true,
    wordpress_version: true,
    is_opt_out_from_automatic_php_update: true,
    container_id: true,
    php_threads: true,
    php_memory_mb: true,
    request_seconds: true,
    disk_quota_bytes: true,
    created_at: true,
    domain_id: true,
    host: true,
    is_wildcard: true,
    deleted_at: true,
    deleted_by: true,
    restorable_until: true,
    denied_ips: true,
    redirect_rules: true,
    edge_caching: true,
    redirect_list: true,
    mail_delivery: true,
    domains: true,
    force_https: true,
  },
  mails: {
    id: true,
    company_id: true,
    site_id: true,
    environment_id: true,
    sender: true,
    from_field: true,
    subject: true,
    recipients: true,
    waiting: true,
    refused: true,
    message: true,
    bytes: true,
    state: true,
    is_wanted: true,
    attempts: true,
    queued_at: true,
    next_attempt_at: true,
    claimed_until: true,
    last_error: true,
    sent_at: true,
    created_at: true,
  },
  domains: {
    id: true,
    environment_id: true,
    site_id: true,
    company_id: true,
    name: true,
    is_active: true,
    is_primary: true,
    is_wildcard: true,
    created_at: true,
    setup_type: true,
    is_https: true,
    verified_at: true,
    points_here_at: true,
    seen: true,
    checked_at: true,
    next_check_at: true,
    failed_checks: true,
    uses_own_dns: true,
    challenge_name: true,
    zone_id: true,
  },
  activity: {
    id: true,
    company_id: true,
    site_id: true,
    category: true,
    type: true,
    parameters: true,
    is_done: true,
    has_failed: true,
    has_warning: true,
    public_error: true,
    ip_address: true,
    user_id: true,
    user_role: true,
    user_full_name: true,
    user_first_name: true,
    api_key_id: true,
    api_key_name: true,
    browser_name: true,
    browser_version: true,
    os_name: true,
    created_at: true,
  },
  operations: {
    id: true,
    kind: true,
    company_id: true,
    site_id: true,
    environment_id: true,
    activity_id: true,
    state: true,
    step: true,
    steps_done: true,
    steps_total: true,
    input: true,
    secret: true,
    result: true,
    public_error: true,
    reference_id: true,
    created_at: true,
    started_at: true,
    finished_at: true,
    attempts: true,
  },
  environment_locks: { environment_id: true, operation_id: true },
  operation_wants: { operation_id: true, environment_id: true },
  idempotency_keys: {
    api_key_id: true,
    key: true,
    request_hash: true,
    status: true,
    headers: true,
    body: true,
    created_at: true,
  },
  restores: { id: true, made_at: true, restored_at: true },
  packages: {
    environment_id: true,
    company_id: true,
    site_id: true,
    kind: true,
    name: true,
    file: true,
    title: true,
    description: true,
    version: true,
    version_key: true,
    is_elsewhere: true,
    is_active: true,
    is_auto_updated: true,
    update_version: true,
    update_status: true,
    is_vulnerable: true,
    is_update_vulnerable: true,
  },
  package_offers: {
    kind: true,
    file: true,
    slug: true,
    version: true,
    version_key: true,
    php_key: true,
    wordpress_key: true,
    is_vulnerable: true,
    checked_at: true,
  },
  advisory_ranges: {
    reading: true,
    advisory_id: true,
    kind: true,
    slug: true,
    from_key: true,
    is_from_included: true,
    to_key: true,
    is_to_included: true,
    affected: true,
    patched: true,
    title: true,
    cve: true,
    score: true,
    reference: true,
  },
  advisory_feed: {
    only_one: true,
    reading: true,
    mark: true,
    read_at: true,
    checked_at: true,
    records: true,
    skipped: true,
    problem: true,
  },
  usage_hours: {
    environment_id: true,
    hour: true,
    php_requests: true,
    php_milliseconds: true,
    cpu_milliseconds: true,
    killed_for_time: true,
    killed_for_memory: true,
    refused_busy: true,
    bytes_sent: true,
  },
  certificates: {
    id: true,
    company_id: true,
    environment_id: true,
    source: true,
    names: true,
    chain: true,
    key_sealed: true,
    not_before: true,
    not_after: true,
    fingerprint: true,
    created_at: true,
  },
  acme_accounts: {
    directory: true,
    key_sealed: true,
    url: true,
    wait_until: true,
    wait_reason: true,
  },
  certificate_orders: {
    domain_id: true,
    certificate_id: true,
    directory: true,
    names: true,
    url: true,
    key_sealed: true,
    left_out: true,
    claimed_until: true,
    next_try_at: true,
    failures: true,
    last_error: true,
    last_error_at: true,
    limited_until: true,
  },
  begun_orders: {
    id: true,
    registrable: true,
    began_at: true,
  },
  acme_challenges: {
    domain_id: true,
    host: true,
    token: true,
    content: true,
  },
  zone_versions: { zone_id: true, serial: true, created_at: true, records: true },
  zones: { id: true, company_id: true, name: true, serial: true, created_at: true },
  dns_records: { zone_id: true, name: true, type: true, ttl: true, resource_records: true },
  dns_challenges: { name: true, value: true, expires_at: true },
  usage_seen: { environment_id: true, edge_run: true, counters: true, recent_cores: true, seen_at: true },
};

test("the tables that TypeScript knows are the tables there are", async () => {
  await using own = await createTestDatabase();
  const { rows } = await own.pool.query<{ name: string }>(
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = 'public' and table_name <> 'schema_migrations'`,
  );
  const known = Object.entries(columns).flatMap(([table, names]) =>
    Object.keys(names).map((column) => `${table}.${column}`),
  );
  expect(known.sort()).toEqual(rows.map((row) => row.name).sort());
});
