import { createHash, randomUUID } from "node:crypto";
import { RuntimeFailure, type UserSearch } from "@sitewright/runtimes/runtime.ts";
import type { App } from "@sitewright/server/app/context.ts";
import { domainsOfEnvironment, setPrimaryDomain } from "@sitewright/server/store/domains/domains.ts";
import { addOwnDomain } from "@sitewright/server/store/testing/rows.ts";
import { sql } from "kysely";
import { beforeEach, describe, expect, it } from "vitest";
import { testSettings, useTestServer } from "../testing/server.ts";

type Tasks = App["siteTasks"];
type Offer = Parameters<Tasks["offerLogin"]>[0];
type Order = Parameters<Tasks["run"]>[0];

const administrator = { id: 1, login: "ada", isAdministrator: true };
const editor = { id: 2, login: "ed", isAdministrator: false };

/** What the fake site answers, and what it was asked. Reset for each test. */
let users: Record<string, UserSearch["user"]>;
let search: App["findUser"];
let runTask: (order: Order) => ReturnType<Tasks["run"]>;
let isServed: boolean;
let orders: Order[];
let offers: Offer[];
beforeEach(() => {
  users = { "ada@example.com": administrator, "ed@example.com": editor };
  search = async (_environment, email) => ({ user: users[email.toLowerCase()] ?? null });
  runTask = async () => ({ status: 200, body: '{"created":3}', errors: "", reason: null });
  isServed = true;
  orders = [];
  offers = [];
});

const test = useTestServer({
  findUser: (environment, email) => search(environment, email),
  siteTasks: {
    run: (order) => {
      orders.push(order);
      return runTask(order);
    },
    offerLogin: async (offer) => {
      offers.push(offer);
      return isServed;
    },
  },
});

type Extra = { readonly headers?: Readonly<Record<string, string>>; readonly key?: string };

const exists = (id: string, query: string) =>
  test.current.call("GET", `/v2/sites/environments/${id}/wpa-user-exists${query}`);
const create = (id: string, body: unknown, extra: Extra = {}) =>
  test.current.call("POST", `/v2/sites/environments/${id}/wpa-create-user`, { body, ...extra });
const link = (id: string, body: unknown, extra: Extra = {}) =>
  test.current.call("POST", `/v2/sites/environments/${id}/wpa-login-url`, { body, ...extra });

async function activityOf(type: string) {
  const { call, company } = test.current;
  const { body } = await call("GET", `/v2/company/${company.company_id}/activity-logs?limit=100`);
  return body.company.activity_logs.items.filter((item: { type: string }) => item.type === type);
}

const malformedAddresses = [undefined, null, 7, "", "ada", "ada@", "@example.com", "a b@example.com", "ada@localhost"];
const unsupportedAddresses = [
  "ada@exämple.com",
  "ädä@example.com",
  "ada@example.com\n",
  `${"a".repeat(100)}@example.com`,
  ["a@b.cc"],
];

describe("GET wpa-user-exists", () => {
  it.each([
    ["?email=ada@example.com", true],
    ["?email=ADA@Example.com", true],
    ["?email=ed@example.com", false],
    ["?email=nobody@example.com", false],
    ["?email=ada%2Bnews@example.com", false],
  ])("answers %s with %s", async (query, expected) => {
    const answer = await exists((await test.current.addSiteWithEnvironment()).id, query);
    expect([answer.status, answer.body]).toEqual([200, { has_wp_admin_user: expected }]);
  });

  it("accepts the address in a body too", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const path = `/v2/sites/environments/${id}/wpa-user-exists`;
    const answer = await test.current.call("GET", path, { body: { email: "ada@example.com" } });
    expect(answer.body).toEqual({ has_wp_admin_user: true });
  });

  it.each([
    "",
    "?email=",
    "?email=ada",
    "?email=ada@example.com&email=x",
    "?mail=ada@example.com",
    "?email=a+b@example.com",
  ])("is a 400 that names the field for %j", async (query) => {
    const answer = await exists((await test.current.addSiteWithEnvironment()).id, query);
    expect(answer.status).toBe(400);
    expect(answer.body.data.errors[0].path).toBe("/email");
  });

  it("is a 400 with a code if there is no WordPress, or if its database is not readable", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    search = async () => null;
    expect((await exists(id, "?email=ada@example.com")).body).toMatchObject({ data: { code: "no_wordpress" } });
    search = async () => {
      throw new RuntimeFailure("The site's database has no table wp_users as WordPress makes it.");
    };
    const answer = await exists(id, "?email=ada@example.com");
    expect(answer.body).toMatchObject({ status: 400, data: { code: "wordpress_unreadable" } });
    expect(answer.body.message).toContain("wp_users");
  });
});

describe("POST wpa-create-user", () => {
  it("lets WordPress create the user, at the environment's own address", async () => {
    const { liveId } = await test.current.addSiteWithEnvironment();
    const user = { email: "grace@example.com", first_name: `Grace "x" \\ 🦄`, last_name: "O'Hara" };
    const answer = await create(liveId, user);
    expect([answer.status, answer.body]).toEqual([200, { create_wp_admin_user: true }]);
    expect(orders).toEqual([
      {
        companyId: test.current.company.company_id,
        environmentId: liveId,
        host: expect.stringMatching(/^site-[0-9a-f]+\.localhost:8081$/),
        work: {
          task: "createUser",
          input: { email: "grace@example.com", firstName: `Grace "x" \\ 🦄`, lastName: "O'Hara" },
        },
        deadlineSeconds: 45,
      },
    ]);
  });

  it("writes one activity entry of that site", async () => {
    const { liveId } = await test.current.addSiteWithEnvironment();
    const email = `${randomUUID()}@example.com`;
    await create(liveId, { email });
    const entries = (await activityOf("createWpAdminUser")).filter(({ descriptions }: { descriptions: string[] }) =>
      descriptions[0]?.includes(email),
    );
    expect(entries).toMatchObject([{ is_done: true, has_failed: false, site_id: expect.any(String) }]);
  });

  it("needs no names", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    expect((await create(id, { email: "grace@example.com" })).status).toBe(200);
    expect(orders[0]?.work).toMatchObject({ input: { firstName: "", lastName: "" } });
  });

  it.each([...malformedAddresses, ...unsupportedAddresses])("is a 400 for the address %j", async (email) => {
    const answer = await create((await test.current.addSiteWithEnvironment()).id, { email });
    expect(answer.status).toBe(400);
    expect(answer.body.data.errors[0].path).toBe("/email");
    expect(orders).toEqual([]);
  });

  it.each([7, null, "two\nlines", "x".repeat(101), "<b>bold</b>", "\u0000", ["a"]])(
    "is a 400 for the name %j",
    async (name) => {
      const answer = await create((await test.current.addSiteWithEnvironment()).id, {
        email: "grace@example.com",
        last_name: name,
      });
      expect(answer.status).toBe(400);
      expect(orders).toEqual([]);
    },
  );

  it("says what to do if the user exists, as an administrator or not", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const existing = await create(id, { email: "Ada@example.com" });
    expect(existing.body).toMatchObject({ data: { code: "wordpress_user_exists", is_administrator: true } });
    expect(existing.body.message).toContain("wpa-login-url");
    const other = await create(id, { email: "ed@example.com" });
    expect(other.body).toMatchObject({ data: { code: "wordpress_user_exists", is_administrator: false } });
    expect(other.body.message).toContain("under Users");
    expect(orders).toEqual([]);
  });

  it.each([
    ['{"refused":"exists"}', null, "wordpress_user_exists"],
    ['{"failed":"Not enough data to create this user."}', null, "wordpress_failed"],
    ['{"created":"yes"}', null, "wordpress_failed"],
    ["[]", null, "wordpress_failed"],
    ["null", null, "wordpress_failed"],
    ["{broken", null, "wordpress_failed"],
    [null, null, "wordpress_failed"],
    [null, "crashed", "wordpress_failed"],
    [null, "frozen", "environment_busy"],
    [null, "busy", "environment_busy"],
    [null, "unavailable", "environment_busy"],
    [null, "deadline", "wordpress_unfinished"],
    [null, "unfinished", "wordpress_unfinished"],
  ])("is refused if WordPress returns %j and PHP ends with %j: %s", async (body, reason, code) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const before = (await activityOf("createWpAdminUser")).length;
    runTask = async () => ({ status: 500, body, errors: "PHP Fatal error: x", reason });
    const answer = await create(id, { email: "grace@example.com" });
    expect(answer.body).toMatchObject({ status: 400, data: { code } });
    if (body?.includes("Not enough")) expect(answer.body.message).toContain("Not enough data");
    if (body === null && code === "wordpress_failed") expect(answer.body.data.log).toBe("PHP Fatal error: x");
    expect((await activityOf("createWpAdminUser")).length).toBe(before);
  });

  it("is refused before WordPress is called while an operation works on the environment", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    await test.current.call("POST", "/v2/sites/tools/restart-php", { body: { environment_id: id } });
    const answer = await create(id, { email: "grace@example.com" });
    expect(answer.body).toMatchObject({ status: 400, data: { code: "environment_busy" } });
    expect(orders).toEqual([]);
  });

  it("is carried out once per Idempotency-Key, and blocks nothing while WordPress works", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const { call, database } = test.current;
    const finish = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    runTask = async () => {
      started.resolve();
      await finish.promise;
      return { status: 200, body: '{"created":3}', errors: "", reason: null };
    };
    const extra = { headers: { "idempotency-key": randomUUID() } };
    const first = create(id, { email: "grace@example.com" }, extra);
    await started.promise;
    const second = create(id, { email: "grace@example.com" }, extra);
    // Other requests for the environment, and with the same API key, are not blocked.
    const restarted = await call("POST", "/v2/sites/tools/restart-php", { body: { environment_id: id } });
    expect(restarted.status).toBe(202);
    await sql`update environments set php_run = php_run where id = ${id}`.execute(database);
    finish.resolve();
    expect([(await first).text, (await second).text]).toEqual([(await first).text, (await first).text]);
    expect((await second).headers["idempotency-replayed"]).toBe("true");
    expect(orders.length).toBe(1);
  });
});

describe("POST wpa-login-url", () => {
  it("returns a link with 256 random bits at the primary address; the edge gets only their hash", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await link(id, { email: "ADA@example.com" });
    expect(answer.status).toBe(200);
    const { login_link } = answer.body;
    const [, token = ""] =
      /^http:\/\/[a-z0-9-]+\.localhost:8081\/sitewright-login\?token=([\w-]{43})$/.exec(login_link) ?? [];
    const hash = createHash("sha256").update(token).digest("hex");
    expect(offers).toEqual([{ hash, environmentId: id, userId: 1, login: "ada", seconds: 60 }]);
    const again = await link(id, { email: "ada@example.com" });
    expect(again.body.login_link).not.toBe(login_link);
  });

  it("uses the temporary domain until the primary one points here", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const { database } = test.current;
    const temporary = (await domainsOfEnvironment(database, id))[0]?.name;
    const name = `${randomUUID()}.example`;
    const own = await addOwnDomain(database, id, { name });
    await setPrimaryDomain(database, id, { id: own, isHttps: false });
    const hostOfLink = async () => new URL((await link(id, { email: "ada@example.com" })).body.login_link).host;
    expect(await hostOfLink()).toBe(`${temporary}:8081`);
    await database
      .updateTable("domains")
      .set({ seen: JSON.stringify({ [`A ${name}.`]: testSettings.edgeAddresses.slice(0, 1) }) })
      .where("id", "=", own)
      .execute();
    expect(await hostOfLink()).toBe(`${name}:8081`);
  });

  it("writes one activity entry, without the link", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const before = (await activityOf("createWpLoginLink")).length;
    const { body } = await link(id, { email: "ada@example.com" });
    const entries = await activityOf("createWpLoginLink");
    expect(entries.length).toBe(before + 1);
    expect(JSON.stringify(entries)).toContain("ada@example.com");
    expect(JSON.stringify(entries)).not.toContain(body.login_link.split("=")[1]);
  });

  it("stores no link in the database, and repeats it under the same Idempotency-Key", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const { database } = test.current;
    const extra = { headers: { "idempotency-key": randomUUID() } };
    const first = await link(id, { email: "ada@example.com" }, extra);
    expect((await link(id, { email: "ada@example.com" }, extra)).body).toEqual(first.body);
    expect(offers.length).toBe(1);
    const token = first.body.login_link.split("=")[1];
    const tables = await sql<{ name: string }>`select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(database);
    expect(tables.rows.length).toBeGreaterThan(5);
    for (const { name } of tables.rows) {
      const { rows } = await sql`select t::text as row from ${sql.table(name)} as t`.execute(database);
      expect(JSON.stringify(rows)).not.toContain(token);
    }
  });

  it.each([
    ["ed@example.com", "wordpress_user_no_administrator", "under Users"],
    ["nobody@example.com", "wordpress_user_missing", "wpa-create-user"],
  ])("is refused for %s with advice", async (email, code, advice) => {
    const answer = await link((await test.current.addSiteWithEnvironment()).id, { email });
    expect(answer.body).toMatchObject({ status: 400, data: { code } });
    expect(answer.body.message).toContain(advice);
    expect(offers).toEqual([]);
  });

  it("is refused while the site is not served", async () => {
    isServed = false;
    const answer = await link((await test.current.addSiteWithEnvironment()).id, { email: "ada@example.com" });
    expect(answer.body).toMatchObject({ status: 400, data: { code: "site_unavailable" } });
  });

  it.each([...malformedAddresses, ...unsupportedAddresses])("is a 400 for the address %j", async (email) => {
    const answer = await link((await test.current.addSiteWithEnvironment()).id, { email });
    expect(answer.status).toBe(400);
    expect(answer.body.data.errors[0].path).toBe("/email");
  });

  it("is forbidden for non-live keys in the live environment", async () => {
    const { id, liveId } = await test.current.addSiteWithEnvironment();
    const { token } = await test.current.addKey({ scopes: ["non-live"] });
    for (const send of [link, create]) {
      const body = { email: send === link ? "ada@example.com" : "grace@example.com" };
      expect((await send(id, body, { key: token })).status).toBe(200);
      expect((await send(liveId, body, { key: token })).body).toMatchObject({ status: 403, data: { needs: "live" } });
    }
  });
});

it("all three calls are refused in an environment that is waiting to be restored", async () => {
  const { id } = await test.current.addSiteWithEnvironment();
  await test.current.database.updateTable("environments").set({ awaits_rebuild: true }).where("id", "=", id).execute();
  for (const answer of [
    await exists(id, "?email=ada@example.com"),
    await create(id, { email: "grace@example.com" }),
    await link(id, { email: "ada@example.com" }),
  ]) {
    expect(answer.body).toMatchObject({ status: 400, data: { code: "environment_away" } });
  }
});

describe("searching for users", () => {
  const searched: string[] = [];
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
  const slow = useTestServer({
    findUser: async ({ id }) => {
      searched.push(id);
      await isOver;
      return { user: null };
    },
  });

  it("takes turns, so that one company's many searches do not delay another's", async () => {
    const { addSiteWithEnvironment, call, otherCompany } = slow.current;
    const { liveId: busy } = await addSiteWithEnvironment();
    const { liveId: other } = await addSiteWithEnvironment(otherCompany.api_key);
    const search = (id: string, options: { readonly key?: string } = {}) =>
      call("GET", `/v2/sites/environments/${id}/wpa-user-exists?email=ada@example.com`, options);
    const searches = Array.from({ length: 12 }, () => search(busy));
    await expect.poll(() => searched).toHaveLength(4);
    searches.push(search(other, { key: otherCompany.api_key }));
    await expect.poll(() => searched).toEqual([busy, busy, busy, busy, other]);
    end();
    expect(new Set((await Promise.all(searches)).map(({ status }) => status))).toEqual(new Set([200]));
  });
});
