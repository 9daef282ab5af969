import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { makeRoot, neededModules } from "@sitewright/runtimes/native/testing/handMadeRoot.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isPassword } from "./app/company/passwords.ts";
import { readToken } from "./app/company/token.ts";
import { sealActivity } from "./audit/seal.ts";
import { findCommand } from "./operator/commands.ts";
import { runCommand } from "./operator/runCommand.ts";
import { confirmSecret, findSecondFactor, storeRecoveryCodes, storeSecret } from "./store/company/secondFactors.ts";
import { findSignInUser, insertSession, listSessions, replacePassword } from "./store/company/sessions.ts";
import { edgeGenerations } from "./store/generations.ts";
import { noteSourceCheck } from "./store/packages/packageChecks.ts";
import { addCompany, addOwnDomain, addSite } from "./store/testing/rows.ts";
import { useTestDatabase } from "./testing/database.ts";

const test = useTestDatabase();
const program = join(import.meta.dirname, "operator.ts");
let data = "";
beforeAll(() => {
  data = mkdtempSync(join(tmpdir(), "sw-operator-"));
});
afterAll(() => rmSync(data, { recursive: true, force: true }));

interface Outcome {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** Commands that have run in a process of their own. */
const provenAlone = new Set<string>();
/** Commands that change the process: its users, or what its signals do. */
const alwaysAlone = /^(doctor|php add)/;

/** Runs a command: the first time in a process of its own, as operators do, and then in this one, which takes a tenth of the time. */
async function operator(given: readonly string[], settings: NodeJS.ProcessEnv): Promise<Outcome> {
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    SITEWRIGHT_DATA: data,
    ...settings,
  };
  const name = findCommand(given)?.command.usage ?? "";
  if (!provenAlone.has(name) || alwaysAlone.test(name)) {
    provenAlone.add(name);
    return runAlone(given, env);
  }
  const { exitCode: code, ...printed } = await runCommand(given, { env, terminal });
  return { code, ...printed };
}

/** No command that runs here asks for anything. */
const terminal = { input: process.stdin, output: process.stderr };

function runAlone(given: readonly string[], env: NodeJS.ProcessEnv): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...given], { env }, (error, output, errors) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, output, errors });
    });
  });
}

/** Runs `work` while nothing can be written into the activity log. */
async function withoutActivity(work: () => Promise<void>): Promise<void> {
  await test.database.schema.alterTable("activity").renameTo("away").execute();
  try {
    await work();
  } finally {
    await test.database.schema.alterTable("away").renameTo("activity").execute();
  }
}

describe("operator company create", () => {
  it("creates a company with an owner and a key, and prints only JSON", async () => {
    const made = await operator(["company", "create", 'Zweite Firma "& Söhne"', "--json"], {
      DATABASE_URL: test.url,
    });
    expect(made).toMatchObject({ code: 0, errors: "" });
    const facts: Record<string, string> = JSON.parse(made.output);
    expect(Object.keys(facts)).toEqual(["company_id", "api_key", "admin_email", "admin_password"]);
    const company = await test.database
      .selectFrom("companies")
      .innerJoin("users", "users.company_id", "companies.id")
      .innerJoin("api_keys", "api_keys.user_id", "users.id")
      .select(["companies.name", "users.email", "users.role"])
      .where("companies.id", "=", facts.company_id ?? "")
      .execute();
    expect(company).toEqual([{ name: 'Zweite Firma "& Söhne"', email: facts.admin_email, role: "owner" }]);
  });

  it("prints text without --json", async () => {
    const { code, output } = await operator(["company", "create", "Third"], { DATABASE_URL: test.url });
    expect(code).toBe(0);
    expect(output).toMatch(/^Created the company "Third"\..*\n {2}Company {3}[0-9a-f-]{36}\n {2}API key {3}sk_\S+\n/);
  });

  it("finds the database of the running installation by the data folder", async () => {
    writeFileSync(join(data, "run.json"), JSON.stringify({ pid: 1, database_url: test.url, api_url: "" }));
    const { code } = await operator(["company", "create", "Fourth", "--json"], {});
    rmSync(join(data, "run.json"));
    expect(code).toBe(0);
  });

  it("says what to do if Sitewright is not running or was killed", async () => {
    const before = await operator(["company", "create", "X"], {});
    writeFileSync(
      join(data, "run.json"),
      JSON.stringify({ pid: 1, database_url: `postgresql://postgres@localhost/postgres?host=${data}`, api_url: "" }),
    );
    const after = await operator(["company", "create", "X"], {});
    rmSync(join(data, "run.json"));
    for (const outcome of [before, after]) {
      expect(outcome).toMatchObject({ code: 1, output: "" });
      expect(outcome.errors).toContain(`Sitewright is not running on ${data}. Start it with: npm start\n`);
    }
  });

  it("says why a name can't be used", async () => {
    const { code, output, errors } = await operator(["company", "create", "  "], { DATABASE_URL: test.url });
    expect({ code, output }).toEqual({ code: 1, output: "" });
    expect(errors).toContain("name must be 1 to 200 characters");
    await operator(["company", "create", "Twice"], { DATABASE_URL: test.url });
    const again = await operator(["company", "create", "Twice"], { DATABASE_URL: test.url });
    expect(again).toMatchObject({
      code: 1,
      errors: expect.stringContaining('There already is a company called "Twice".'),
    });
  });

  it("creates nothing that can't be recorded", async () => {
    const before = await test.database.selectFrom("companies").selectAll().execute();
    await withoutActivity(async () => {
      expect((await operator(["company", "create", "Unrecorded"], { DATABASE_URL: test.url })).code).toBe(1);
    });
    expect(await test.database.selectFrom("companies").selectAll().execute()).toEqual(before);
  });

  it("says which settings are wrong", async () => {
    const { code, errors } = await operator(["company", "create", "X"], { SITEWRIGHT_CONTROL_PORT: "x" });
    expect(code).toBe(2);
    expect(errors).toContain("SITEWRIGHT_CONTROL_PORT=x is not accepted");
  });

  it.each([[["company", "create"]], [["company", "create", "a", "b"]], [["company", "create", "a", "--nonsense"]]])(
    "shows only the usage of the command for %j",
    async (given) => {
      const { code, output, errors } = await operator(given, { DATABASE_URL: test.url });
      expect({ code, output }).toEqual({ code: 2, output: "" });
      expect(errors).toContain('Usage: npm run --silent operator -- company create "<name>" [--json]');
      expect(errors).not.toContain("restore");
    },
  );

  it.each([[[]], [["company"]], [["company", "drop", "X"]], [["--nonsense"]]])(
    "lists the commands for %j",
    async (given) => {
      const { code, output, errors } = await operator(given, { DATABASE_URL: test.url });
      expect({ code, output }).toEqual({ code: 2, output: "" });
      expect(errors).toMatch(
        /^(No command given|There is no command ".*")\.\n\nUsage: npm run --silent operator -- <command>/,
      );
    },
  );

  it("shows help for all commands or for one", async () => {
    const all = await operator(["--help"], {});
    expect(all).toMatchObject({ code: 0, output: expect.stringContaining("  keys revoke <key id>\n") });
    const one = await operator(["backup", "--help"], {});
    expect(one.output).toContain("--with-backups  backs up every environment first");
    expect(one.output).not.toContain("mirror");
    const group = await operator(["company", "--help"], {});
    expect(group.output.match(/^ {2}\S.*/gm)).toEqual([
      '  company create "<name>" [--json]',
      "  company delete <company id>",
      "  company limits <company id> | --all [--sites 10] [--disk-gb 50] … [--reset] [--json]",
      "  company list [--json]",
    ]);
  });
});

describe("operator company limits", () => {
  const limits = (...given: string[]) => operator(["company", "limits", ...given], { DATABASE_URL: test.url });
  const limitsOf = async (companyId: string) => JSON.parse((await limits(companyId, "--json")).output).limits;

  it("sets limits of one company, or of all that have none of their own", async () => {
    const [own, common] = [await addCompany(test.database), await addCompany(test.database)];
    expect(await limits(own.companyId, "--sites", "3", "--disk-gb", "0.5")).toMatchObject({
      code: 0,
      errors: "",
      output: expect.stringMatching(/^Test\n {2}Sites +3\n {2}Environments +no limit\n(.*\n)* {2}Disk +500 MB\n/),
    });
    await limits("--all", "--sites", "7", "--threads", "2");
    expect(await limitsOf(own.companyId)).toMatchObject({ sites: 3, disk_bytes: 500_000_000, php_threads: null });
    expect(await limitsOf(common.companyId)).toMatchObject({ sites: 7, disk_bytes: null, php_threads: 2 });
    await limits(own.companyId, "--sites", "none");
    expect(await limitsOf(own.companyId)).toMatchObject({ sites: null, disk_bytes: 500_000_000 });
    const reset = await limits(own.companyId, "--reset");
    expect(reset.output).toContain("Test (the limits of --all apply)");
    expect(await limitsOf(own.companyId)).toMatchObject({ sites: 7, disk_bytes: null });
  });

  it("sets nothing that can't be recorded", async () => {
    const { companyId } = await addCompany(test.database);
    await withoutActivity(async () => expect((await limits(companyId, "--sites", "3")).code).toBe(1));
    const own = test.database.selectFrom("company_limits").select("sites").where("company_id", "=", companyId);
    expect(await own.execute()).toEqual([]);
  });

  it("makes the control process publish them", async () => {
    const before = await edgeGenerations.last(test.database);
    await limits("--all", "--threads", "4");
    expect(await edgeGenerations.last(test.database)).toBeGreaterThan(before);
  });

  it.each([
    [[], "Name one company, or use --all."],
    [["--all", "6a8ebfb6-5a8c-4d2a-a421-a0b4b0c45a4b"], "Name one company, or use --all."],
    [["--all", "--sites", "-1"], "--sites"],
    [["--all", "--sites=-1"], "--sites must be a number from 0"],
    [["--all", "--sites", "1.5"], "--sites must be a number from 0"],
    [["--all", "--sites", "many"], "--sites must be a number from 0"],
    [["--all", "--sites", "99999999999"], "--sites must be a number from 0"],
    [["--all", "--keys", "0"], "--keys must be a number from 1"],
    [["--all", "--memory-mb", "63"], "--memory-mb must be a number from 64"],
  ])("refuses %j", async (given, message) => {
    expect(await limits(...given)).toMatchObject({ code: 2, output: "", errors: expect.stringContaining(message) });
  });

  it("names the command that lists the companies if there is none with this id", async () => {
    const { code, errors } = await limits("6a8ebfb6-5a8c-4d2a-a421-a0b4b0c45a4b");
    expect({ code, errors }).toEqual({ code: 1, errors: expect.stringContaining("List them with: company list") });
  });
});

describe("operator company delete", () => {
  it("deletes a company without sites, and no other", async () => {
    const [empty, busy] = [await addCompany(test.database), await addCompany(test.database)];
    await addSite(test.database, busy.companyId);
    const remove = (id: string) => operator(["company", "delete", id], { DATABASE_URL: test.url });
    expect(await remove(busy.companyId)).toMatchObject({ code: 1, errors: expect.stringContaining("still has sites") });
    expect(await remove(empty.companyId)).toMatchObject({ code: 0, errors: "" });
    expect(await remove(empty.companyId)).toMatchObject({ code: 1, errors: expect.stringContaining("There is no") });
    const left = await test.database.selectFrom("companies").select("id").where("id", "=", busy.companyId).execute();
    expect(left).toHaveLength(1);
  });
});

describe("operator stop", () => {
  it("ends the process that holds the data folder, and waits for it", async () => {
    const folder = mkdtempSync(join(data, "stop-"));
    const lock = `import { lockData } from "@sitewright/supervisor/dataLock.ts"; lockData(process.argv[1]); console.log("locked"); setInterval(() => {}, 1e6);`;
    const holder = spawn(process.execPath, ["--input-type=module", "-e", lock, folder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(holder.stdout, "data");
    const stopped = await operator(["stop"], { SITEWRIGHT_DATA: folder });
    expect(stopped).toMatchObject({ code: 0, output: `Stopped the installation in ${folder}.\n` });
    expect(holder.signalCode).toBe("SIGTERM");
    const again = await operator(["stop"], { SITEWRIGHT_DATA: folder });
    expect(again).toMatchObject({ code: 0, output: `Sitewright is not running on ${folder}.\n` });
  });
});

describe("operator version", () => {
  it("prints the versions of Sitewright and Node", async () => {
    expect((await operator(["version"], {})).output).toMatch(
      /^Sitewright \d+\.\d+\.\d+ on Node 24\.\d+\.\d+, \w+ \w+\n$/,
    );
  });
});

describe("operator keys", () => {
  it("creates a key that works, lists it, and revokes it", async () => {
    const settings = { DATABASE_URL: test.url };
    const { company_id } = JSON.parse((await operator(["company", "create", "Keys", "--json"], settings)).output);
    const { output } = await operator(["keys", "create", company_id, "Deployment", "--json"], settings);
    const { id } = readToken(JSON.parse(output).api_key);
    const statusOf = async () =>
      JSON.parse((await operator(["keys", "--json"], settings)).output).find((key: { id: string }) => key.id === id);
    expect(await statusOf()).toMatchObject({
      name: "Deployment",
      company_name: "Keys",
      status: "active",
      scopes: null,
    });
    const revoked = await operator(["keys", "revoke", id], settings);
    expect(revoked.output).toBe('The key "Deployment" of Keys is revoked.\n');
    expect((await statusOf()).status).toBe("revoked");
    expect((await operator(["keys"], settings)).output).toMatch(
      /^KEY ID +NAME +STATUS +COMPANY +USER +SCOPES +LAST USED +ADDRESSES\n/,
    );
  });

  it("reports unknown ids", async () => {
    const settings = { DATABASE_URL: test.url };
    const created = await operator(["keys", "create", randomUUID()], settings);
    expect(created).toMatchObject({ code: 1, output: "", errors: expect.stringContaining("There is no company") });
    const revoked = await operator(["keys", "revoke", "nothing"], settings);
    expect(revoked).toMatchObject({ code: 1, output: "", errors: expect.stringContaining("There is no key nothing.") });
  });
});

describe("operator users reset-password", () => {
  it("replaces a password, which has to be changed at the next sign-in, and ends the user's sessions", async () => {
    const settings = { DATABASE_URL: test.url };
    const created = JSON.parse((await operator(["company", "create", "Forgetful", "--json"], settings)).output);
    const email = created.admin_email;
    const found = await findSignInUser(test.database, { email });
    if (found === null) throw new Error("The company has no owner");
    const { id: userId, company_id: companyId } = found;
    await test.database.transaction().execute(async (transaction) => {
      await replacePassword(transaction, userId, found.password_hash, "chosen");
      const place = { ipAddress: null, browserName: null, osName: null };
      const session = { id: randomUUID(), secretHash: Buffer.alloc(32), expiresAt: new Date(Date.now() + 60_000) };
      await insertSession(transaction, { ...session, ...place, userId, companyId }, 1);
    });
    const reset = await operator(["users", "reset-password", email.toUpperCase(), "--json"], settings);
    const { password } = JSON.parse(reset.output);
    const user = await findSignInUser(test.database, { email });
    expect(await isPassword(password, user?.password_hash ?? null)).toBe(true);
    expect(user?.must_change_password).toBe(true);
    expect(await listSessions(test.database, userId)).toEqual([]);
  });

  it("reports unknown addresses", async () => {
    const reset = await operator(["users", "reset-password", "nobody@example.com"], { DATABASE_URL: test.url });
    expect(reset).toMatchObject({ code: 1, output: "", errors: expect.stringContaining("No user has the e-mail") });
  });
});

describe("operator users reset-second-factor", () => {
  it("removes a second factor, and ends the user's sessions", async () => {
    const settings = { DATABASE_URL: test.url };
    const created = JSON.parse((await operator(["company", "create", "Without a phone", "--json"], settings)).output);
    const email = created.admin_email;
    const reset = () => operator(["users", "reset-second-factor", email], settings);
    expect((await reset()).output).toBe(`${email} has no second factor.\n`);
    const user = await findSignInUser(test.database, { email });
    if (user === null) throw new Error("The company has no owner");
    await test.database.transaction().execute(async (transaction) => {
      await storeSecret(transaction, user.id, Buffer.from("sealed"));
      await confirmSecret(transaction, user.id);
      await storeRecoveryCodes(transaction, user.id, [Buffer.from("hash")]);
      const place = { ipAddress: null, browserName: null, osName: null };
      const session = { id: randomUUID(), secretHash: Buffer.alloc(32), expiresAt: new Date(Date.now() + 60_000) };
      await insertSession(transaction, { ...session, ...place, userId: user.id, companyId: user.company_id }, 1);
    });
    expect((await reset()).output).toBe(
      `${email} can sign in with the password alone, and has been signed out everywhere.\n`,
    );
    expect(await findSecondFactor(test.database, user.id)).toMatchObject({ since: null, recovery_codes_left: 0 });
    expect(await listSessions(test.database, user.id)).toEqual([]);
  });
});

describe("operator domain confirm", () => {
  it("makes a domain that waits for a proof the company's own, with entries in both logs", async () => {
    const settings = { DATABASE_URL: test.url };
    const { companyId } = await addCompany(test.database);
    const { environmentId, displayName } = await addSite(test.database, companyId);
    const name = `${randomUUID()}.example`;
    const id = await addOwnDomain(test.database, environmentId, { name, proofNeeded: "all" });
    const before = await edgeGenerations.last(test.database);
    const confirmed = await operator(["domain", "confirm", `${name.toUpperCase()}.`], settings);
    expect(confirmed.output).toBe(`"${name}" of the site "${displayName}" is now proven, and will be served.\n`);
    const row = test.database.selectFrom("domains").select(["is_active", "verified_at"]).where("id", "=", id);
    expect(await row.executeTakeFirstOrThrow()).toEqual({ is_active: true, verified_at: expect.any(Date) });
    expect(await edgeGenerations.last(test.database)).toBeGreaterThan(before);
    const entries = test.database
      .selectFrom("activity")
      .select(["company_id", "type"])
      .where("type", "like", "%Domain");
    expect(await entries.orderBy("id").execute()).toEqual([
      { company_id: companyId, type: "verifyDomain" },
      { company_id: null, type: "confirmDomain" },
    ]);
  });

  it.each(["missing.example", "not a name"])("reports that nobody has added %j", async (name) => {
    const { code, errors } = await operator(["domain", "confirm", name], { DATABASE_URL: test.url });
    expect([code, errors]).toEqual([1, expect.stringContaining(`No company has a domain "${name}"`)]);
  });
});

describe("operator sites, company list and status", () => {
  it("show the content of the installation", async () => {
    const settings = { DATABASE_URL: test.url, SITEWRIGHT_EDGE_PORT: "9081" };
    const { companyId } = await addCompany(test.database);
    const { name } = await addSite(test.database, companyId);
    const { output } = await operator(["sites"], settings);
    expect(output).toMatch(
      new RegExp(`${name} / Live +http://${name}\\.localhost:9081 +serving +none +8.3 +not measured +never`),
    );
    const companies = await operator(["company", "list", "--json"], settings);
    expect(JSON.parse(companies.output)).toContainEqual(expect.objectContaining({ id: companyId, sites: 1 }));
    const status = await operator(["status"], settings);
    expect(status.output).toMatch(/ {2}Content {5}\d+ sites?, \d+ environments?, /);
    expect(status.output).toContain("Edge        does not answer");
    expect(status.output).toContain("DNS         does not answer");
    expect(status.output).toMatch(/ {2}Backups {5}\d+ environments? not backed up yet\n/);
  });

  it("say what to do if Sitewright is not running", async () => {
    const { code, errors } = await operator(["status"], {});
    expect([code, errors]).toEqual([1, expect.stringContaining("Start it with: npm start")]);
  });
});

describe("operator logs", () => {
  const line = (level: number, time: number, msg: string, ids: object = {}) =>
    `${JSON.stringify({ level, time, msg, ...ids })}\n`;

  it("shows the newest lines of all processes in order, formatted or as JSON", async () => {
    const folder = join(data, "logs");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "control.log"), line(30, 1_000, "first") + line(40, 3_000, "third"));
    writeFileSync(join(folder, "edge.log"), line(50, 2_000, "second"));
    const { output } = await operator(["logs", "--lines", "2"], { TZ: "UTC" });
    expect(output).toBe("1970-01-01 00:00:02  edge      ERROR  second\n1970-01-01 00:00:03  control   WARN   third\n");
    expect((await operator(["logs", "control", "--json", "--lines=1"], {})).output).toBe(line(40, 3_000, "third"));
    expect(await operator(["logs", "kitchen"], {})).toMatchObject({
      code: 2,
      errors: expect.stringContaining("control"),
    });
  });

  it("shows the environment, operation and reference of a line", async () => {
    const folder = mkdtempSync(join(data, "ids-"));
    mkdirSync(join(folder, "logs"));
    const ids = { environment: "e1", operation: "o1", reference_id: "r1" };
    writeFileSync(join(folder, "logs", "control.log"), line(50, 1_000, "It failed", ids));
    const { output } = await operator(["logs"], { SITEWRIGHT_DATA: folder });
    expect(output).toMatch(/ERROR {2}It failed \(environment e1, operation o1, reference r1\)\n$/);
  });

  it("shows new lines with --follow, also of rotated and new files", async () => {
    const own = mkdtempSync(join(data, "follow-"));
    const file = (name: string) => join(own, "logs", `${name}.log`);
    mkdirSync(join(own, "logs"));
    writeFileSync(file("control"), line(30, 1_000, "first"));
    const env = { PATH: process.env.PATH, SITEWRIGHT_DATA: own };
    const child = spawn(process.execPath, [program, "logs", "--follow", "--json"], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const printed = createInterface(child.stdout)[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await printed.next()).value ?? "").msg;
    expect(await next()).toBe("first");
    appendFileSync(file("control"), line(30, 2_000, "second"));
    expect(await next()).toBe("second");
    renameSync(file("control"), `${file("control")}.1`);
    writeFileSync(file("control"), line(30, 3_000, "3rd"));
    expect(await next()).toBe("3rd");
    writeFileSync(file("edge"), line(30, 4_000, "of the edge"));
    expect(await next()).toBe("of the edge");
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([0, null]);
  });
});

describe("operator first-run", () => {
  it("names the file with the credentials without showing them, and deletes it on request", async () => {
    const folder = mkdtempSync(join(data, "first-run-"));
    const file = join(folder, "first-run.json");
    writeFileSync(file, JSON.stringify({ api_key: "sk_secret", admin_password: "hush" }));
    const settings = { SITEWRIGHT_DATA: folder };
    const shown = await operator(["first-run"], settings);
    expect(shown.output).toContain(file);
    expect(shown.output).not.toMatch(/sk_secret|hush/);
    expect(existsSync(file)).toBe(true);
    expect((await operator(["first-run", "--forget"], settings)).output).toContain(`${file} is deleted.`);
    expect(existsSync(file)).toBe(false);
    expect((await operator(["first-run", "--forget"], settings)).output).toContain(`There is no ${file}`);
  });
});

describe("operator doctor", () => {
  it("uses the settings of the running installation, and exits with 1 if there are problems", async () => {
    const folder = mkdtempSync(join(data, "doctor-"));
    writeFileSync(join(folder, "run.json"), JSON.stringify({ pid: 1, database_url: test.url, api_url: "" }));
    const settings = {
      SITEWRIGHT_WPORG_URL: "none",
      SITEWRIGHT_SMTP_URL: "smtp://mail.example:25",
      SITEWRIGHT_HOST: "0.0.0.0",
    };
    writeFileSync(join(folder, "last-start.json"), JSON.stringify(settings));
    const { code, output } = await operator(["doctor", "--json"], { SITEWRIGHT_DATA: folder });
    const findings: { level: string; text: string }[] = JSON.parse(output);
    expect(code).toBe(1);
    expect(findings.map(({ text }) => text)).toContain("Mail: sent by the mail server in SITEWRIGHT_SMTP_URL.");
    if (process.platform === "linux")
      expect(findings.map(({ text }) => text)).toContain("Sites' processes can't gain privileges.");
    expect(findings.filter(({ level }) => level === "problem").map(({ text }) => text)).toContain(
      "Names: sites are below localhost, which other machines can't open. Set SITEWRIGHT_SITE_SUFFIX.",
    );
  });

  it("checks the machine before the first start", async () => {
    const settings = { SITEWRIGHT_DATA: join(data, "not", "there"), SITEWRIGHT_WPORG_URL: "none" };
    const { code, output } = await operator(["doctor"], settings);
    expect(code).toBe(1);
    expect(output).toMatch(/Disk: .* free/);
    expect(output).toMatch(/Sitewright is not running on .* Start it with: npm start/);
  });

  it("says whether the native runtime can start, if a region has it", async () => {
    const root = await makeRoot();
    await root.php("8.9.1");
    await root.php("7.4.33");
    const settings = { SITEWRIGHT_DATA: mkdtempSync(join(data, "native-")), SITEWRIGHT_WPORG_URL: "none" };
    await operator(["php", "add", root.folder], settings);
    const { output } = await operator(["doctor"], { ...settings, SITEWRIGHT_REGIONS: "slow,fast=native" });
    expect(output).toMatch(/^ok {7}Native PHP: .*8\.9\.1 \(\/.*\), in sandboxes\.$/m);
    expect(output).toMatch(/^note {5}Native PHP: PHP 7\.4 in .* is older than 8\.1\. Install a newer one\.$/m);
    if (process.getuid?.() !== 0)
      expect(output).toMatch(/^note {5}Native PHP: PHP of native environments gets no network, because only root/m);
    expect((await operator(["doctor"], settings)).output).not.toContain("Native PHP");
  });

  it("reports less free disk space than sites must leave, in which they can write nothing", async () => {
    const settings = { SITEWRIGHT_DATA: join(data, "not", "there"), SITEWRIGHT_WPORG_URL: "none" };
    const { output } = await operator(["doctor"], { ...settings, SITEWRIGHT_DISK_RESERVE_MB: "1000000000" });
    expect(output).toMatch(
      /^PROBLEM {2}Disk: only .* free .* sites must leave 1000000 GB free, .* SITEWRIGHT_DISK_RESERVE_MB\.$/m,
    );
  });

  it("reports a package source that does not answer once", async () => {
    await noteSourceCheck(test.database, "The package source could not be reached.");
    const settings = { DATABASE_URL: test.url, SITEWRIGHT_WPORG_URL: "http://127.0.0.1:9" };
    const { output } = await operator(["doctor"], settings);
    expect(output.match(/^.*Updates: .*$/gm)).toEqual([
      expect.stringMatching(/^PROBLEM {2}Updates: http:\/\/127\.0\.0\.1:9 does not answer\./),
    ]);
    const off = await operator(["doctor"], { ...settings, SITEWRIGHT_WPORG_URL: "none" });
    expect(off.output.match(/^.*Updates: .*$/gm)).toEqual([expect.stringMatching(/^note {5}Updates: none,/)]);
  });

  it("prints problems and notes with advice, and fails if there is a problem", async () => {
    const settings = { DATABASE_URL: test.url, SITEWRIGHT_WPORG_URL: "none", SITEWRIGHT_HOST: "0.0.0.0" };
    const { code, output } = await operator(["doctor"], { ...settings, SITEWRIGHT_MAX_WORKERS: "512" });
    expect(code).toBe(1);
    expect(output).toMatch(/^PROBLEM {2}Memory: 512 PHP processes .* Lower SITEWRIGHT_MAX_WORKERS\.$/m);
    expect(output).toMatch(/^PROBLEM {2}Names: .* Set SITEWRIGHT_SITE_SUFFIX\.$/m);
    expect(output).toMatch(/^note {5}Mail: kept, not sent\. Set SITEWRIGHT_SMTP_URL/m);
    expect(output).toMatch(/\d+ problems found\.\n$/);
  });
});

describe("operator php", () => {
  const portOf = (server: Server) => {
    const address = server.address();
    return typeof address === "object" ? address?.port : 0;
  };

  it("lists the versions of this machine and of added folders, until they are removed", async () => {
    const root = await makeRoot();
    await root.php(
      "8.9.1",
      neededModules.filter((name) => name !== "intl"),
    );
    await root.php("7.4.33");
    expect(await operator(["php", "add", root.folder], {})).toMatchObject({
      code: 0,
      output: "Added PHP 8.9.1. A running installation offers it after a restart.\n",
    });
    const { output } = await operator(["php", "list"], {});
    expect(output).toMatch(/^PHP +FOLDER +REMARKS\n8\.\d\.\d+ +\/\n/);
    expect(output).toContain(`8.9.1   ${root.folder}  without intl, which is recommended\n`);
    expect(output).toContain(
      `\n\nPHP 7.4 in ${root.folder} is not offered: it is older than 8.1. Install a newer one.\n`,
    );
    const { offered, refused } = JSON.parse((await operator(["php", "list", "--json"], {})).output);
    expect(offered).toContainEqual(expect.objectContaining({ version: "8.9", root: root.folder }));
    expect(refused).toHaveLength(1);
    expect((await operator(["php", "remove", "8.9"], {})).output).toMatch(
      new RegExp(`^Removed ${root.folder}\\. \\d versions? left: 8\\.`),
    );
    expect((await operator(["php", "list"], {})).output).not.toContain("8.9");
  });

  it("says that an added version is not newer than what is offered", async () => {
    const [newer, older] = [await makeRoot(), await makeRoot()];
    await newer.php("8.9.2");
    await older.php("8.9.1");
    await operator(["php", "add", newer.folder], {});
    const { code, output } = await operator(["php", "add", older.folder], {});
    expect({ code, output }).toEqual({
      code: 0,
      output: "Added PHP 8.9.1, which is not newer than what is offered. See: php list\n",
    });
    for (const { folder } of [newer, older]) await operator(["php", "remove", folder], {});
  });

  it("removes no version that environments run on, unless it is forced to", async () => {
    const root = await makeRoot();
    await root.php("8.9.1");
    await operator(["php", "add", root.folder], {});
    const { companyId } = await addCompany(test.database);
    const sites = await Promise.all(
      ["Harbour", "Lighthouse"].map((displayName) => addSite(test.database, companyId, { displayName })),
    );
    const move = async (environmentId: string | undefined, runtime: string, php_version: string) => {
      const changes = { runtime, php_version };
      await test.database
        .updateTable("environments")
        .set(changes)
        .where("id", "=", environmentId ?? "")
        .execute();
    };
    await move(sites[0]?.environmentId, "native", "8.9");
    await move(sites[1]?.environmentId, "playground", "8.9");
    for (const what of ["8.9", root.folder]) {
      const { code, output, errors } = await operator(["php", "remove", what], { DATABASE_URL: test.url });
      expect([code, output]).toEqual([1, ""]);
      expect(errors).toContain(
        `${what} is not removed: 1 environment would lose PHP 8.9:\n  Test: Harbour / Live\nChange`,
      );
    }
    writeFileSync(join(data, "installation.json"), "{}");
    const stopped = await operator(["php", "remove", "8.9"], {});
    rmSync(join(data, "installation.json"));
    expect(stopped).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/is not running[\s\S]*--force removes it anyway\.\n$/),
    });
    expect((await operator(["php", "list"], {})).output).toContain("8.9.1");
    const forced = await operator(["php", "remove", "8.9", "--force"], { DATABASE_URL: test.url });
    expect(forced).toMatchObject({ code: 0, output: expect.stringContaining(`Removed ${root.folder}.`) });
    await operator(["php", "add", root.folder], {});
    await move(sites[0]?.environmentId, "native", "8.2");
    expect(await operator(["php", "remove", "8.9"], { DATABASE_URL: test.url })).toMatchObject({ code: 0 });
  });

  it.each([
    ["a relative path", ["./php"], 1, /^\.\/php is neither an absolute path nor the name of a release/],
    ["a folder without PHP", ["/etc"], 1, /^PHP in \/etc is not offered: it has no folder usr\./],
    [
      "a mirror that is no address",
      ["trixie", "--mirror", "near"],
      2,
      /^--mirror near is not an address\. Write it as http/,
    ],
    [
      "a mirror with a space",
      ["trixie", "--security-mirror", "http://a b/"],
      2,
      /^--security-mirror http:\/\/a b\/ is not/,
    ],
  ])("does not add %s", async (_, words, code, message) => {
    const outcome = await operator(["php", "add", ...words], {});
    expect(outcome).toEqual({ code, output: "", errors: expect.stringMatching(message) });
  });

  it("says which release a mirror does not have", async () => {
    const mirror = createHttpServer((_, answer) => answer.writeHead(404).end()).listen(0, "127.0.0.1");
    await once(mirror, "listening");
    const url = `http://127.0.0.1:${portOf(mirror)}/debian`;
    const { code, errors } = await operator(["php", "add", "nosuch", "--mirror", url, "--security-mirror", url], {});
    mirror.close();
    expect({ code, errors }).toEqual({
      code: 1,
      errors: `Extracting PHP from nosuch. This can take minutes.\n${url} has no release nosuch. Check the name, or name another mirror with --mirror.\n`,
    });
  });

  it("ends when it is interrupted, and leaves nothing", async () => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const mirror = `http://127.0.0.1:${portOf(silent)}/debian`;
    const words = ["php", "add", "trixie", "--mirror", mirror, "--security-mirror", mirror];
    const env = { PATH: process.env.PATH, SITEWRIGHT_DATA: data };
    const adding = spawn(process.execPath, [program, ...words], { env, stdio: ["ignore", "ignore", "pipe"] });
    const errors = text(adding.stderr);
    const [connection] = await once(silent, "connection");
    adding.kill("SIGINT");
    const [code] = await once(adding, "exit");
    connection.destroy();
    silent.close();
    expect(code).toBe(1);
    expect(await errors).toContain("Stopped. Nothing was added.");
    expect(readdirSync(join(data, "php/suites"))).toEqual([]);
  });
});

describe("operator audit", () => {
  const settings = () => ({ DATABASE_URL: test.url, SITEWRIGHT_DATA: data });
  const seal = () => sealActivity({ database: test.database, data });

  it("verifies the activity log, names the first broken entry, and accepts the log with a reason", async () => {
    const made = await operator(["company", "create", "Audited", "--json"], settings());
    const { company_id } = JSON.parse(made.output);
    await operator(["keys", "create", company_id], settings());
    await seal();
    const intact = await operator(["audit", "verify"], settings());
    expect(intact).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^OK: \d+ seals in \d+ chains verified\.\n$/),
    });

    await test.database
      .updateTable("activity")
      .set({ api_key_name: "Other" })
      .where("company_id", "=", company_id)
      .execute();
    const broken = await operator(["audit", "verify"], settings());
    expect(broken.code).toBe(1);
    expect(broken.output).toMatch(
      new RegExp(
        `^BROKEN: the log of company ${company_id}, at seal 1 \\(entry \\d+\\): the entry or its seal was changed\\.`,
      ),
    );
    const { output, code } = await operator(["audit", "verify", "--json"], settings());
    expect(code).toBe(1);
    expect(JSON.parse(output)).toContainEqual(
      expect.objectContaining({ companyId: company_id, broken: expect.objectContaining({ sequence: 1 }) }),
    );

    expect((await operator(["audit", "accept", "A test"], settings())).code).toBe(0);
    await seal();
    expect((await operator(["audit", "verify"], settings())).code).toBe(0);
    const accepted = await test.database
      .selectFrom("activity")
      .select(["company_id", "parameters", "user_full_name"])
      .where("type", "=", "acceptActivityLog")
      .executeTakeFirstOrThrow();
    expect(accepted).toEqual({
      company_id: null,
      parameters: { reason: "A test" },
      user_full_name: userInfo().username,
    });
  });

  it("exports the log of everyone or of one company into a new file", async () => {
    const made = await operator(["company", "create", "Exported", "--json"], settings());
    const { company_id } = JSON.parse(made.output);
    await operator(["keys", "create", company_id], settings());
    const file = join(data, "activity.jsonl");
    const { output } = await operator(["audit", "export", file, "--company", company_id], settings());
    expect(output).toBe(`Wrote 1 entry to ${file}.\n`);
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ company_id, type: "createApiKey" });
    const again = await operator(["audit", "export", file], settings());
    expect(again).toMatchObject({ code: 2, errors: `${file} already exists. Choose another file.\n` });
    const csv = join(data, "activity.csv");
    expect((await operator(["audit", "export", csv, "--csv", "--from", "2026-01-01"], settings())).code).toBe(0);
    expect(readFileSync(csv, "utf8")).toContain(",createCompany,");
    expect((await operator(["audit", "export", join(data, "x"), "--to", "noon"], settings())).code).toBe(2);
  });

  it("names the commands that change something, and who ran them", async () => {
    const made = await operator(["company", "create", "Recorded", "--json"], settings());
    const { company_id } = JSON.parse(made.output);
    await operator(["keys", "create", company_id, "Deploy"], settings());
    await operator(["company", "limits", company_id], settings());
    await operator(["company", "limits", company_id, "--sites", "3"], settings());
    const entries = await test.database
      .selectFrom("activity")
      .select(["type", "parameters", "user_full_name"])
      .where("company_id", "is", null)
      .where(({ ref }) => ref("parameters", "->>").key("companyId"), "=", company_id)
      .orderBy("id")
      .execute();
    expect(entries.map(({ type, parameters }) => [type, parameters])).toEqual([
      ["createCompany", { companyId: company_id, companyName: "Recorded" }],
      ["createApiKey", { companyId: company_id, keyName: "Deploy" }],
      ["changeCompanyLimits", { companyId: company_id, changes: '{"sites":3}' }],
    ]);
    for (const { user_full_name } of entries) expect(user_full_name).toContain(userInfo().username);
  });

  it("knows which chains belonged to deleted companies", async () => {
    const made = await operator(["company", "create", "Deleted", "--json"], settings());
    const { company_id } = JSON.parse(made.output);
    await operator(["keys", "create", company_id], settings());
    await seal();
    expect((await operator(["company", "delete", company_id], settings())).code).toBe(0);
    expect((await operator(["audit", "verify"], settings())).code).toBe(0);
    await seal();
    expect((await operator(["audit", "verify"], settings())).code).toBe(0);
  });
});
