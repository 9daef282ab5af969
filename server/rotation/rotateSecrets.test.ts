import { randomUUID } from "node:crypto";
import { access, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { dnsKeyContext, transfersOf } from "../dnsTransfers.ts";
import { readKeys } from "../keyFile.ts";
import { openSettings, sealSettings, secretsKeyFile } from "../sealedSettings.ts";
import { openSealer, type Sealer } from "../sealing.ts";
import { storeSecret } from "../store/company/secondFactors.ts";
import { insertUser } from "../store/company/users.ts";
import { dnsGenerations } from "../store/generations.ts";
import { addCompany, addSite } from "../store/testing/rows.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { continueRotation, rotateSecrets } from "./rotateSecrets.ts";

const day = 86_400_000;
const settings = {
  SITEWRIGHT_SMTP_URL: "smtp://mailer:hush@mail.example",
  SITEWRIGHT_METRICS_TOKEN: "a-metrics-token",
};

let own: TestDatabase;
let data: string;
/** Of a process that runs all the time. */
let sealer: Sealer;
let secrets: Secret[];

interface Secret {
  readonly name: string;
  /** The text, opened by the running process. */
  readonly read: () => Promise<string>;
}

beforeEach(async () => {
  own = await createTestDatabase();
  data = await mkdtemp(join(tmpdir(), "swrotation-"));
  sealer = await openSealer(secretsKeyFile(data));
  secrets = [...(await addRows()), ...(await addFiles())];
});
afterEach(async () => {
  await own.drop();
  await rm(data, { recursive: true });
});

/** One value in each sealed column. */
async function addRows(): Promise<Secret[]> {
  const { pool, database } = own;
  const { companyId } = await addCompany(database);
  const site = await addSite(database, companyId);
  const [certificate, ordered, directory] = [randomUUID(), randomUUID(), "https://ca.example/directory"];
  await database
    .insertInto("certificates")
    .values({
      id: certificate,
      company_id: companyId,
      environment_id: site.environmentId,
      source: "custom",
      names: ["example.com"],
      chain: "",
      key_sealed: sealer.seal("certificate", `certificate:${certificate}`),
      not_before: new Date(),
      not_after: new Date(),
      fingerprint: "",
    })
    .execute();
  await pool.query(
    "insert into certificate_orders (domain_id, certificate_id, key_sealed) select id, $1, $2 from domains limit 1",
    [ordered, sealer.seal("order", `certificate:${ordered}`)],
  );
  await pool.query("insert into acme_accounts (directory, key_sealed) values ($1, $2)", [
    directory,
    sealer.seal("account", `acme-account:${directory}`),
  ]);
  const user = {
    id: randomUUID(),
    companyId,
    email: "ada@example.com",
    fullName: "Ada",
    firstName: "Ada",
    role: "owner",
    passwordHash: "",
  } as const;
  await database.transaction().execute(async (transaction) => {
    await insertUser(transaction, user);
    await storeSecret(transaction, user.id, sealer.seal("second factor", `second-factor:${user.id}`));
  });
  const result = { sealed: sealer.seal("result", "operation").toString("base64") };
  const { rows } = await pool.query<{ id: string }>(
    `insert into activity (company_id, site_id, category, type, parameters) values ($1, $2, 'siteActions', 'runWpCli', '{}')
     returning id`,
    [companyId, site.id],
  );
  await pool.query(
    `insert into operations (id, kind, company_id, site_id, environment_id, state, step, steps_total, input, secret, result,
       reference_id, activity_id)
     values ('operation', 'runWpCli', $1, $2, $3, 'running', 'run', 1, '{}', $4, $5, gen_random_uuid(), $6)`,
    [
      ...[companyId, site.id, site.environmentId],
      ...[sealer.seal("command", "operation"), JSON.stringify(result), rows[0]?.id],
    ],
  );
  const read = (name: string, column: string, table: string, context: string): Secret => ({
    name,
    read: async () => {
      const found = await pool.query<{ value: Buffer }>(`select ${column} as value from ${table}`);
      return sealer.open(found.rows[0]?.value ?? Buffer.alloc(0), context);
    },
  });
  return [
    read("certificate", "key_sealed", "certificates", `certificate:${certificate}`),
    read("order", "key_sealed", "certificate_orders", `certificate:${ordered}`),
    read("account", "key_sealed", "acme_accounts", `acme-account:${directory}`),
    read("second factor", "second_factor_sealed", `users where id = '${user.id}'`, `second-factor:${user.id}`),
    read("command", "secret", "operations", "operation"),
    read("result", "decode(result->>'sealed', 'base64')", "operations", "operation"),
  ];
}

async function addFiles(): Promise<Secret[]> {
  for (const folder of ["edge/certificates", "edge/api-certificate", "dns"])
    await mkdir(join(data, folder), { recursive: true });
  const certificate = join(data, "edge", "certificates", "one");
  await writeFile(certificate, sealer.seal("served", "edge-certificate:one"));
  const apiCertificate = join(data, "edge", "api-certificate", "api");
  await writeFile(apiCertificate, sealer.seal("of the API", "edge-certificate:api"));
  const lastStart = join(data, "last-start.json");
  await writeFile(lastStart, JSON.stringify(sealSettings(settings, sealer)));
  await writeFile(join(data, "settings.env"), "SITEWRIGHT_BACKUP_DAYS=30\n");
  await publishZones();
  return [
    { name: "served", read: async () => sealer.open(await readFile(certificate), "edge-certificate:one") },
    { name: "of the API", read: async () => sealer.open(await readFile(apiCertificate), "edge-certificate:api") },
    {
      name: "smtp://mailer:hush@mail.example",
      read: async () => openSettings(JSON.parse(await readFile(lastStart, "utf8")), data).SITEWRIGHT_SMTP_URL,
    },
    {
      name: "aGVsbG8=",
      read: async () => sealer.open((await zoneSecret()) ?? Buffer.alloc(0), dnsKeyContext("transfer")),
    },
  ];
}

/** What the control process does when the generation is raised. */
async function publishZones(): Promise<void> {
  const key = { name: "transfer", algorithm: "hmac-sha256", secret: "aGVsbG8=" } as const;
  const { keys } = transfersOf({ addresses: [], key }, sealer);
  await writeFile(join(data, "dns", "table.jsonl"), `${JSON.stringify({ generation: 1, keys })}\n`);
}

async function zoneSecret(): Promise<Buffer | null> {
  const [, text] = /"sealedSecret":"([^"]+)"/.exec(await readFile(join(data, "dns", "table.jsonl"), "utf8")) ?? [];
  return text === undefined ? null : Buffer.from(text, "base64");
}

async function expectReadable(): Promise<void> {
  for (const { name, read } of secrets) expect(await read()).toBe(name);
}

const options = () => ({ database: own.database, data });
const later = () => new Date(Date.now() + 8 * day);
const keyCount = () => readKeys(secretsKeyFile(data))?.length;

describe("rotating the key for secrets", () => {
  test("seals everything again, and keeps the old key for a week", async () => {
    const [old] = readKeys(secretsKeyFile(data)) ?? [];
    const generation = await dnsGenerations.last(own.database);
    const state = await rotateSecrets(options());
    expect(state).toMatchObject({ count: 10, olderKeys: 1 });
    expect(state.remaining).toEqual([
      "the DNS server's table, which is being published again",
      expect.stringMatching(/^running processes, until 20/),
    ]);
    expect(await dnsGenerations.last(own.database)).toBeGreaterThan(generation);
    await expectReadable();
    await publishZones();
    expect(await continueRotation({ ...options(), now: later })).toMatchObject({
      count: 0,
      remaining: [],
      olderKeys: 0,
    });
    expect(readKeys(secretsKeyFile(data))?.[0].id).not.toEqual(old?.id);
    await expectReadable();
    expect(await continueRotation(options())).toBeNull();
  });

  test("can be interrupted at every step: nothing is lost, and the same command continues", async () => {
    const steps: string[] = [];
    await rotateSecrets({ ...options(), onStep: (step) => void steps.push(step) });
    await publishZones();
    await continueRotation({ ...options(), now: later });
    expect(steps.length).toBeGreaterThan(5);
    for (const step of [...steps, "removal"]) {
      const killed = {
        ...options(),
        now: later,
        onStep: (reached: string) => {
          if (reached === step) throw new Error("killed");
        },
      };
      if (step === "removal") {
        await rotateSecrets(options());
        await publishZones();
      }
      await expect(rotateSecrets(killed)).rejects.toThrow("killed");
      expect(keyCount()).toBe(2);
      await expectReadable();
      await rotateSecrets(options());
      expect(keyCount()).toBe(2);
      await publishZones();
      await continueRotation({ ...options(), now: later });
      expect(keyCount()).toBe(1);
      await expectReadable();
    }
  });

  test("keeps the old key while something sealed with it can't be opened, or a link needs it", async () => {
    await own.pool.query(
      "update acme_accounts set key_sealed = set_byte(key_sealed, 40, 255 - get_byte(key_sealed, 40))",
    );
    await rotateSecrets(options());
    await publishZones();
    const damaged = await continueRotation({ ...options(), now: later });
    expect(damaged?.remaining).toEqual(["1 keys at certificate authorities that can't be opened"]);
    await own.pool.query("delete from acme_accounts");
    await own.pool.query(
      `insert into downloadable_backups (id, company_id, site_id, environment_id, file_name, created_at, expires_at)
       select gen_random_uuid(), company_id, site_id, id, 'x.zip', now() - interval '1 hour', now() + interval '30 days'
       from environments limit 1`,
    );
    const linked = await continueRotation({ ...options(), now: later });
    expect(linked?.remaining).toEqual(["links to downloadable backups"]);
    await own.pool.query("delete from downloadable_backups");
    expect(await continueRotation({ ...options(), now: later })).toMatchObject({ remaining: [], olderKeys: 0 });
  });

  test("does not keep it for temporary files of killed processes, and removes old ones", async () => {
    const temporary = ["api-certificate/api.12.0123456789ab", "certificates/one.12.0123456789ab"].map((path) =>
      join(data, "edge", path),
    );
    for (const file of temporary) await writeFile(file, sealer.seal("half", "edge-certificate:api").subarray(0, 50));
    await rotateSecrets(options());
    await publishZones();
    for (const file of temporary) {
      await access(file);
      await utimes(file, 0, 0);
    }
    expect(await continueRotation({ ...options(), now: later })).toMatchObject({ remaining: [], olderKeys: 0 });
    for (const file of temporary) await expect(access(file)).rejects.toThrow("ENOENT");
  });

  test("begins once, however often and by however many it is asked, unless it is forced", async () => {
    await Promise.all([rotateSecrets(options()), rotateSecrets(options()), rotateSecrets(options())]);
    expect(keyCount()).toBe(2);
    await rotateSecrets(options(), { isForced: true });
    expect(keyCount()).toBe(3);
    await expectReadable();
  });
});
