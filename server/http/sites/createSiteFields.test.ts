/** `POST /sites`, field by field: errors name the field, and accepted values are stored exactly as sent. */
import { describe, expect, it } from "vitest";
import { siteFields, useTestServer } from "../testing/server.ts";

const test = useTestServer();

async function faultsOf(fields: Record<string, unknown>): Promise<Record<string, string>> {
  const { call, company } = test.current;
  const answer = await call("POST", "/v2/sites", { body: siteFields(company.company_id, fields) });
  expect(answer.status, answer.text).toBe(400);
  expect(answer.body.message).toBe("Bad request format");
  return Object.fromEntries(
    answer.body.data.errors.map(({ path, message }: { path: string; message: string }) => [path, message]),
  );
}

const required = [
  "company",
  "display_name",
  "region",
  "admin_email",
  "admin_password",
  "admin_user",
  "site_title",
  "wp_language",
];
const flags = ["is_multisite", "is_subdomain_multisite", "woocommerce", "wordpressseo", "wordpress_plugin_edd"];

describe("required fields", () => {
  it.each(required)("%s must not be omitted", async (field) => {
    expect(await faultsOf({ [field]: undefined })).toEqual({ [`/${field}`]: "is required" });
  });

  it.each(required)("%s must be a string, without type conversion", async (field) => {
    for (const value of [1, true, null, [], {}]) {
      expect(await faultsOf({ [field]: value })).toEqual({ [`/${field}`]: "must be a string" });
    }
  });

  it.each(required)("%s must not be empty, too long or invalid Unicode, or contain NUL", async (field) => {
    for (const value of ["", "x".repeat(100_000), "nul\0inside", "\0", "half \ud800 character"]) {
      expect(Object.keys(await faultsOf({ [field]: value }))).toEqual([`/${field}`]);
    }
  });

  const notLines = ["   ", "two\nlines", "tab\there", "bell\u0007", "escape\u001b[31m", "\u0085", "\u2028"];

  it("display_name must be one line and not only spaces", async () => {
    for (const value of notLines) {
      expect(await faultsOf({ display_name: value })).toEqual({
        "/display_name": "must be one line of text without control characters, and not only spaces",
      });
    }
  });

  it.each(["site_title", "admin_password"])("%s must be a line that WordPress accepts", async (field) => {
    for (const value of [...notLines, "0"]) {
      expect(await faultsOf({ [field]: value })).toEqual({
        [`/${field}`]: "must be one line of text without control characters, not only spaces, and not just 0",
      });
    }
  });

  it("are all reported at once", async () => {
    const { call } = test.current;
    const answer = await call("POST", "/v2/sites", { body: { is_multisite: "yes" } });
    const paths = answer.body.data.errors.map(({ path }: { path: string }) => path);
    expect(paths.sort()).toEqual([...required.map((field) => `/${field}`), "/is_multisite"].sort());
  });
});

describe("other fields", () => {
  it.each(flags)("%s must be a boolean", async (field) => {
    for (const value of ["true", 1, null, {}]) {
      expect(await faultsOf({ [field]: value })).toEqual({ [`/${field}`]: "must be a boolean" });
    }
  });

  it("install_mode must be one of three values", async () => {
    expect(await faultsOf({ install_mode: "blank" })).toEqual({ "/install_mode": "must be one of: new, plain, clone" });
  });

  it("company must be a UUID", async () => {
    for (const value of ["1", "urn:uuid:54fb80af-576c-4fdc-ba4f-b596c83f15a1", "'; DROP TABLE companies; --"]) {
      expect(await faultsOf({ company: value })).toEqual({ "/company": "must be a UUID" });
    }
  });

  it.each([
    "ada",
    "ada@",
    "@example.com",
    "ada@localhost",
    "a b@example.com",
    "ada@example..com",
    "ada@-example.com",
    ".ada@example.com",
    "ada@example.com\u0000",
    "<script>@example.com",
    "ädä@example.com",
    "ada@exämple.com",
    `${"a".repeat(95)}@example.com`,
  ])("admin_email: %j is refused", async (value) => {
    expect(Object.keys(await faultsOf({ admin_email: value }))).toEqual(["/admin_email"]);
  });

  it.each(["x", "a@b.c", "ada@localhost"])("admin_email: the message about %j has an example", async (value) => {
    expect(await faultsOf({ admin_email: value })).toEqual({
      "/admin_email": "must be an e-mail address such as ada@example.com",
    });
  });

  it.each([
    "ada<b>",
    "ädä",
    "a\tb",
    " ada",
    "ada ",
    "a  b",
    "a/b",
    "a'b",
    'a"b',
    "日本",
    "a".repeat(61),
    "a&b",
    "a;b",
    "0",
  ])("admin_user: %j is refused", async (value) => {
    expect(Object.keys(await faultsOf({ admin_user: value }))).toEqual(["/admin_user"]);
  });
});

const hostile = [
  `"><script>alert(1)</script>`,
  "'; DROP TABLE sites; --",
  "Robert'); DELETE FROM operations;--",
  "emoji 👩‍👩‍👧‍👦 🦄 𝕏",
  "مرحبا بالعالم \u202eكتابة",
  "quotes ' \" ` and $1 $& %s \\",
  "{{constructor.constructor('return 1')()}}",
  "a/../../etc/passwd",
  "ＦＵＬＬ　ＷＩＤＴＨ",
  "日本語のサイト",
  "null",
  "-1",
];

describe("texts", () => {
  it.each(hostile)("are stored exactly as sent: %s", async (text) => {
    const { addSite, call, company, database } = test.current;
    const id = await addSite({ display_name: text, site_title: text, admin_password: text });
    const { site } = (await call("GET", `/v2/sites/${id}`)).body;
    expect(site.display_name).toBe(text);
    expect(site.name).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,28}[a-z0-9])?$/);
    const { input } = await database
      .selectFrom("operations")
      .select("input")
      .where("site_id", "=", id)
      .executeTakeFirstOrThrow();
    expect(input).toMatchObject({ content: { title: text } });
    const log = await call("GET", `/v2/company/${company.company_id}/activity-logs?site_id=${id}`);
    expect(log.body.company.activity_logs.items[0].descriptions).toEqual([`Add the site “${text}”`]);
    const found = await call("GET", `/v2/sites?search=${encodeURIComponent(text)}`);
    expect(found.body.company.sites.map((one: { id: string }) => one.id)).toContain(id);
  });

  it.each(["ada.lovelace", "ada@example.com", "Ada King", "a", "_", "a-b_c.d@e", "1", "a".repeat(60)])(
    "admin_user: %j is accepted",
    async (value) => {
      await test.current.addSite({ admin_user: value });
    },
  );

  it.each(["a@b.co", "ada+tag@example.co.uk", "o'hara@example.com", "a.b-c_d@sub.example.museum"])(
    "admin_email: %j is accepted",
    async (value) => {
      await test.current.addSite({ admin_email: value });
    },
  );

  it("are measured in characters, not in bytes or UTF-16 units", async () => {
    await test.current.addSite({
      site_title: "🦄".repeat(200),
      display_name: "é".repeat(100),
      admin_password: "🔑".repeat(255),
    });
    expect(await faultsOf({ site_title: "🦄".repeat(201) })).toEqual({
      "/site_title": "must be at most 200 characters long",
    });
  });
});
