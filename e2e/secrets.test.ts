/** A used installation has no secret in plain text: not on disk, in the database, in its output, or in process arguments. */
import { execFile } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeCertificate, type TestCertificate } from "@sitewright/server/certificates/testing/openssl.ts";
import { openKeys } from "@sitewright/server/keyFile.ts";
import { secretsKeyFile } from "@sitewright/server/sealedSettings.ts";
import { sealPrefix } from "@sitewright/server/sealing.ts";
import { openPool } from "@sitewright/server/store/open.ts";
import { rowsOf } from "@sitewright/server/testing/installation.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { send } from "./http.ts";
import { createFolder, type Installation, startHere, type TestFolder } from "./installation.ts";
import { type CreatedSite, createSite, succeed } from "./sites.ts";
import { until } from "./until.ts";

const word = () => randomBytes(18).toString("hex");
const given = {
  smtpPassword: word(),
  metricsToken: word(),
  dnsKey: randomBytes(32).toString("base64"),
  accountKey: word(),
  providerSecret: word(),
  firstApiKey: word(),
};
const settings = {
  SITEWRIGHT_SMTP_URL: `smtp://mailer:${given.smtpPassword}@127.0.0.1:9`,
  SITEWRIGHT_METRICS_TOKEN: given.metricsToken,
  SITEWRIGHT_DNS_KEY: `transfer:${given.dnsKey}`,
  SITEWRIGHT_DNS_SECONDARIES: "127.0.0.1:9",
  SITEWRIGHT_ACME_URL: "https://127.0.0.1:9/directory",
  SITEWRIGHT_ACME_EAB_KEY_ID: "account",
  SITEWRIGHT_ACME_EAB_KEY: given.accountKey,
  SITEWRIGHT_OIDC_ISSUER: "https://127.0.0.1:9",
  SITEWRIGHT_OIDC_CLIENT_ID: "sitewright",
  SITEWRIGHT_OIDC_CLIENT_SECRET: given.providerSecret,
  SITEWRIGHT_FIRST_API_KEY: given.firstApiKey,
};

let home: TestFolder;
let installation: Installation;
let secrets: Readonly<Record<string, string>>;
/** The address of the downloadable backup. */
let download: string;

beforeAll(async () => {
  home = await createFolder();
  installation = await startHere(home.folder, settings);
  secrets = { ...given, ownerPassword: installation.firstRun.admin_password, ...(await useEverything()) };
});
afterAll(async () => {
  await installation?.stop();
  await home?.remove();
});

/** Sends every kind of secret to the installation, and takes every kind from it. */
async function useEverything(): Promise<Record<string, string>> {
  const sitePassword = word();
  const commandPassword = word();
  const unknownKey = `sk_${word()}`;
  const site = await createSite(installation, { admin_password: sitePassword });
  const environment = `/sites/environments/${site.environmentId}`;
  const create = ["user", "create", "eve", "eve@example.com", `--user_pass=${commandPassword}`];
  await succeed(installation, "POST", `${environment}/run-wp-cli-command`, { argv: create });
  await succeed(installation, "POST", `${environment}/downloadable-backups`, {});
  await installation.api("GET", "/sites", undefined, unknownKey);
  const certificate = await uploadCertificate(site);
  return {
    ...{ sitePassword, commandPassword, unknownKey },
    newApiKey: await createKey(),
    loginToken: await logIn(environment),
    downloadToken: await takeDownload(environment),
    // The first line of the key itself.
    certificateKey: certificate.key.split("\n")[1] ?? "",
  };
}

/** The answer is stored, because the request may be repeated. */
async function createKey(): Promise<string> {
  const { api_url, api_key: key, company_id } = installation.firstRun;
  const request = { key, json: { name: "Deploy" }, headers: { "idempotency-key": randomUUID() } };
  const answer = await send("POST", `${api_url}/company/${company_id}/api-keys`, request);
  return answer.json<{ token: string }>().token;
}

async function logIn(environment: string): Promise<string> {
  const answer = await installation.api("POST", `${environment}/wpa-login-url`, { email: "owner@example.com" });
  const { login_link } = answer.json<{ login_link: string }>();
  expect((await installation.visit(login_link)).status).toBe(200);
  return new URL(login_link).searchParams.get("token") ?? "";
}

async function takeDownload(environment: string): Promise<string> {
  const answer = await installation.api("GET", `${environment}/downloadable-backups`);
  const [address = "", token = ""] = /http[^"]+\/([A-Za-z0-9_-]{64})[^"]*/.exec(answer.text) ?? [];
  expect(token).not.toBe("");
  download = address;
  return token;
}

async function uploadCertificate(site: CreatedSite): Promise<TestCertificate> {
  const { hostname } = new URL(site.address);
  const certificate = await makeCertificate({ names: [hostname] });
  const answer = await installation.api("GET", `/sites/environments/${site.environmentId}/domains`);
  const [, domain = ""] = /"id":"([0-9a-f-]{36})"/.exec(answer.text) ?? [];
  const path = `/sites/environments/domains/${domain}/certificate`;
  const body = { custom_ssl_key: certificate.key, custom_ssl_cert: certificate.cert };
  const uploaded = await installation.api("PUT", path, body);
  expect(uploaded.status, uploaded.text).toBe(200);
  return certificate;
}

/** The forms in which a secret might be stored. */
function formsOf(secret: string | Buffer): readonly Buffer[] {
  const bytes = Buffer.from(secret);
  return [bytes, ...(["base64", "base64url", "hex"] as const).map((form) => Buffer.from(bytes.toString(form)))];
}

function namesIn(content: Buffer): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    formsOf(secret).some((form) => content.includes(form)) ? [name] : [],
  );
}

async function filesWithSecrets(): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(home.folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const content = await readFile(file).catch(() => Buffer.alloc(0));
    for (const name of namesIn(content)) found.push(`${file.slice(home.folder.length + 1)}: ${name}`);
  }
  return found.sort();
}

async function operator(...command: readonly string[]): Promise<string> {
  const env = { ...process.env, SITEWRIGHT_DATA: installation.data };
  const options = { cwd: join(import.meta.dirname, ".."), env };
  return (await promisify(execFile)("npm", ["run", "--silent", "operator", "--", ...command], options)).stdout;
}

/** All rows, each after the name of its table. */
async function databaseLines(): Promise<string[]> {
  const run: { database_url: string } = JSON.parse(await readFile(join(installation.data, "run.json"), "utf8"));
  const pool = openPool(run.database_url, { connections: 1 });
  const rows = await rowsOf(pool).finally(() => pool.end());
  return Object.entries(rows).flatMap(([table, lines]) => lines.map((line) => `${table} ${line}`));
}

describe("a used installation", () => {
  test("has the first credentials in one file, which the operator can delete, and no other secret in any file", async () => {
    expect(await filesWithSecrets()).toEqual([
      "data/first-run.json: firstApiKey",
      "data/first-run.json: ownerPassword",
    ]);
    await operator("first-run", "--forget");
    expect(await filesWithSecrets()).toEqual([]);
    expect((await installation.api("GET", "/validate")).status).toBe(200);
  });

  test("has no secret in its database", async () => {
    const tables = (await databaseLines()).filter((line) => namesIn(Buffer.from(line)).length > 0);
    expect(tables).toEqual([]);
  });

  test("prints no secret", () => {
    expect(namesIn(Buffer.from(installation.output()))).toEqual([]);
  });

  test("has no secret in the arguments of its processes", async () => {
    const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
    const commands = await Promise.all(processes.map((id) => readFile(`/proc/${id}/cmdline`).catch(() => "")));
    expect(namesIn(Buffer.from(commands.join("\n")))).toEqual([]);
  });

  test("rotates the key of its secrets while it runs", async () => {
    const [old] = await openKeys(secretsKeyFile(installation.data));
    await until(
      async () => {
        const { remaining }: { remaining: string[] } = JSON.parse(await operator("secrets", "rotate", "--json"));
        expect(remaining).toEqual([expect.stringMatching(/^running processes/), "links to downloadable backups"]);
      },
      { deadlineSeconds: 60, intervalMilliseconds: 500 },
    );
    const forms = formsOf(sealPrefix(old));
    const isOld = (content: Buffer) => forms.some((form) => content.includes(form));
    expect((await databaseLines()).filter((line) => isOld(Buffer.from(line)))).toEqual([]);
    const files = await readdir(installation.data, { recursive: true, withFileTypes: true });
    for (const entry of files.filter((each) => each.isFile() && !each.parentPath.includes("/postgres"))) {
      const file = join(entry.parentPath, entry.name);
      expect({ file, isOld: isOld(await readFile(file).catch(() => Buffer.alloc(0))) }).toEqual({ file, isOld: false });
    }
    // Old results can be read, and control seals with the new key without a restart.
    const operations = (await installation.api("GET", "/operations?limit=100")).text;
    const [, operation = ""] = /"operation_id":"([^"]*wp-cli[^"]*)"/.exec(operations) ?? [];
    const result = await installation.api("GET", `/operations/${operation}`);
    expect(result.json<{ data: { result: { exit_code: number } } }>().data.result.exit_code).toBe(0);
    await createSite(installation, { display_name: "After", admin_password: word() });
    expect((await send("GET", download)).status).toBe(200);
  });
});
