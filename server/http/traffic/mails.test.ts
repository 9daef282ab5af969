import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { edgeGenerations } from "../../store/generations.ts";
import { addMail } from "../../store/testing/rows.ts";
import { listServed } from "../../store/traffic/routes.ts";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();
let live = "";
let staging = "";
beforeEach(async () => {
  ({ id: staging, liveId: live } = await test.current.addSiteWithEnvironment());
});

const mailsOf = (environmentId: string, query = "") =>
  test.current.call("GET", `/v2/sites/environments/${environmentId}/mails${query}`);
const add = (more: Parameters<typeof addMail>[2] = {}, environmentId = staging) =>
  addMail(test.current.database, environmentId, more);
const pathOf = (mailId: string, environmentId = staging) => `/v2/sites/environments/${environmentId}/mails/${mailId}`;

async function setState(id: string, changes: Record<string, unknown>): Promise<void> {
  await test.current.database.updateTable("mails").set(changes).where("id", "=", id).execute();
}

describe("the list of mails", () => {
  it("is sorted newest first, with paging, filter and total", async () => {
    const ids: string[] = [];
    for (let index = 0; index < 4; index += 1) {
      const id = await add({ subject: `Mail ${index}`, hasServer: index === 0 }, live);
      await setState(id, { created_at: new Date(1_000_000 * index) });
      ids.unshift(id);
    }
    const { body } = await mailsOf(live, "?limit=2&offset=1");
    expect(body.environment).toMatchObject({
      display_name: "Live",
      delivery: "send",
      effective_delivery: "send",
      has_mail_server: true,
    });
    expect(body.environment.mails.total).toBe(4);
    expect(body.environment.mails.items.map(({ id }: { id: string }) => id)).toEqual(ids.slice(1, 3));
    const queued = (await mailsOf(live, "?state=queued")).body.environment.mails;
    expect(queued).toMatchObject({ total: 1, items: [{ id: ids[3], state: "queued", subject: "Mail 0" }] });
  });

  it("has sender and recipients, but no content", async () => {
    const id = await add({ recipients: ["ada@example.com", "eve@example.com"] });
    const { body, text } = await mailsOf(staging);
    expect(body.environment).toMatchObject({ delivery: "keep", display_name: expect.any(String) });
    expect(body.environment.mails.items).toEqual([
      {
        id,
        from: "shop@example.com",
        recipients: ["ada@example.com", "eve@example.com"],
        subject: "Hello",
        size_bytes: expect.any(Number),
        state: "kept",
        attempts: 0,
        last_error: null,
        refused: [],
        created_at: expect.any(Number),
        next_attempt_at: null,
        sent_at: null,
      },
    ]);
    expect(text).not.toContain("Text");
  });

  it.each(["limit=-1", "limit=x", "offset=-1", "offset=9999999999", "state=lost", "state=kept&state=sent"])(
    "refuses %s",
    async (query) => {
      const answer = await mailsOf(staging, `?${query}`);
      expect([answer.status, answer.body.message]).toEqual([400, "Bad request format"]);
    },
  );
});

const multipartMessage = [
  "From: =?UTF-8?Q?J=C3=BCrgen?= <j@example.com>",
  "To: ada@example.com",
  "Subject: Invoice",
  'Content-Type: multipart/mixed; boundary="b"',
  "",
  "--b",
  'Content-Type: multipart/alternative; boundary="a"',
  "",
  "--a",
  "Content-Type: text/plain; charset=iso-8859-1",
  "Content-Transfer-Encoding: quoted-printable",
  "",
  "Gr=FC=DFe",
  "--a",
  "Content-Type: text/html; charset=utf-8",
  "Content-Transfer-Encoding: base64",
  "",
  Buffer.from("<p>Grüße</p>").toString("base64"),
  "--a--",
  "--b",
  'Content-Type: application/pdf; name="=?UTF-8?Q?Rechnung_=C3=BC.pdf?="',
  'Content-Disposition: attachment; filename="=?UTF-8?Q?Rechnung_=C3=BC.pdf?="',
  "Content-Transfer-Encoding: base64",
  "",
  Buffer.from("12345").toString("base64"),
  "--b--",
  "",
].join("\r\n");

describe("a mail", () => {
  it("is decoded, with a list of attachments", async () => {
    const id = await add({ message: Buffer.from(multipartMessage) });
    const { body } = await test.current.call("GET", pathOf(id));
    expect(body.mail).toMatchObject({
      id,
      text: expect.stringMatching(/^Grüße\s*$/),
      html: expect.stringContaining("<p>Grüße</p>"),
      is_shortened: false,
      attachments: [{ name: "Rechnung ü.pdf", type: "application/pdf", size_bytes: 5 }],
    });
    expect(body.mail.headers[2]).toEqual({ name: "Subject", value: "Invoice" });
  });

  it.each([
    ["nothing", ""],
    ["no parts", "To: a@example.com\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\nText"],
    [
      "deeply nested parts",
      Array.from({ length: 500 }, (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`).join(
        "",
      ),
    ],
    ["an unknown character set", "To: a@example.com\r\nContent-Type: text/plain; charset=klingon\r\n\r\n\xff\xfe"],
    ["NUL characters and invalid Unicode", "To: a@example.com\r\nSubject: \ud800\r\n\r\na\0b\ud800"],
    ["a very long text", `To: a@example.com\r\n\r\n${"word ".repeat(200_000)}`],
    ["very many fields", `${"X-A: b\r\n".repeat(10_000)}\r\nText`],
  ])("can be read even with unusual content: %s", async (_, message) => {
    const id = await add({ message: Buffer.from(message) });
    const { status, body, text } = await test.current.call("GET", pathOf(id));
    expect([status, body.mail.id]).toEqual([200, id]);
    expect(text.length).toBeLessThan(1_000_000);
  });

  it("hides its text from read-only keys, because mails contain password reset links", async () => {
    const { addKey, call } = test.current;
    const id = await add({ message: Buffer.from(multipartMessage) });
    const { token } = await addKey({ scopes: ["read"] });
    const { status, body, text } = await call("GET", pathOf(id), { key: token });
    expect([status, body.mail.subject, body.mail.text, body.mail.html]).toEqual([200, "Hello", null, null]);
    expect(text).not.toContain("Grüße");
  });

  it("is a 404 under another environment's id", async () => {
    const { call } = test.current;
    const id = await add();
    for (const [method, path] of [
      ["GET", pathOf(id, live)],
      ["DELETE", pathOf(id, live)],
      ["POST", `${pathOf(id, live)}/deliver`],
      ["GET", pathOf(randomUUID())],
    ] as const) {
      expect((await call(method, path)).status).toBe(404);
    }
    expect((await call("GET", pathOf(id))).status).toBe(200);
  });
});

describe("sending a kept mail", () => {
  const deliver = (id: string) => test.current.call("POST", `${pathOf(id)}/deliver`);

  it("queues it regardless of the environment's setting; repeating the call changes nothing", async () => {
    const id = await add();
    const { status, body } = await deliver(id);
    expect([status, body.mail.state, body.mail.attempts]).toEqual([200, "queued", 0]);
    await setState(id, { attempts: 3 });
    expect((await deliver(id)).body.mail).toMatchObject({ state: "queued", attempts: 3 });
  });

  it("sends it again only to recipients that it has not reached", async () => {
    const id = await add({ recipients: ["a@example.com", "b@example.com", "c@example.com"] });
    const refused = JSON.stringify([{ recipient: "b@example.com", message: "550 No" }]);
    await setState(id, { state: "failed", waiting: ["c@example.com"], refused, attempts: 9 });
    expect((await deliver(id)).body.mail).toMatchObject({ state: "queued", attempts: 0, refused: [] });
    const { waiting } = await test.current.database
      .selectFrom("mails")
      .select("waiting")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    expect(waiting).toEqual(["b@example.com", "c@example.com"]);
  });

  it("is refused for a sent mail", async () => {
    const id = await add();
    await setState(id, { state: "sent" });
    const { status, body } = await deliver(id);
    expect([status, body.data.code]).toEqual([400, "mail_is_sent"]);
  });
});

describe("deleting mail", () => {
  it("deletes one mail, or all of this environment", async () => {
    const { call } = test.current;
    const [first] = [await add(), await add(), await add(), await add({}, live)];
    expect((await call("DELETE", pathOf(first))).body).toEqual({ deleted: 1 });
    expect((await call("DELETE", pathOf(first))).status).toBe(404);
    expect((await call("DELETE", `/v2/sites/environments/${staging}/mails`)).body).toEqual({ deleted: 2 });
    expect((await call("DELETE", `/v2/sites/environments/${staging}/mails`)).body).toEqual({ deleted: 0 });
    expect((await mailsOf(live)).body.environment.mails.total).toBe(1);
  });
});

describe("the mail setting", () => {
  const set = (environmentId: string, body: unknown, options = {}) =>
    test.current.call("PUT", `/v2/sites/environments/${environmentId}/mail`, { body, ...options });

  it("is in force at once, and applies to queued mail", async () => {
    const queued = await add({ hasServer: true }, live);
    expect((await set(live, { delivery: "keep" })).body.environment).toEqual({
      display_name: "Live",
      delivery: "keep",
      effective_delivery: "keep",
    });
    expect((await mailsOf(live)).body.environment).toMatchObject({
      delivery: "keep",
      mails: { items: [{ id: queued, state: "kept" }] },
    });
    expect((await set(live, { delivery: "send" })).status).toBe(200);
    expect((await mailsOf(live, "?state=kept")).body.environment.mails.total).toBe(1);
    expect((await set(staging, { delivery: "send" })).body.environment.delivery).toBe("send");
  });

  it("is published to the edge", async () => {
    const { database } = test.current;
    await database.updateTable("environments").set({ state: "serving" }).execute();
    const before = await edgeGenerations.last(database);
    await set(staging, { delivery: "send" });
    expect(await edgeGenerations.last(database)).toBeGreaterThan(before);
    const flags = async () =>
      Object.fromEntries((await listServed(database, null)).map(({ id, maySendMail }) => [id, maySendMail]));
    expect(await flags()).toMatchObject({ [live]: true, [staging]: true });
    await set(live, { delivery: "keep" });
    expect(await flags()).toMatchObject({ [live]: false, [staging]: true });
  });

  it.each([
    {},
    { delivery: null },
    { delivery: "SEND" },
    { delivery: "send\n" },
    { delivery: ["send"] },
    { delivery: true },
  ])("can't be changed with %j", async (body) => {
    const answer = await set(staging, body);
    expect([answer.status, answer.body.message]).toEqual([400, "Bad request format"]);
    expect(answer.body.data.errors[0].path).toBe("/delivery");
  });

  it("can't be changed for the live environment by non-live keys", async () => {
    const { addKey } = test.current;
    const { token } = await addKey({ scopes: ["non-live"] });
    expect((await set(live, { delivery: "send" }, { key: token })).status).toBe(403);
    expect((await set(staging, { delivery: "send" }, { key: token })).status).toBe(200);
  });

  it("is `keep` for clones", async () => {
    const { call, company, database } = test.current;
    await set(live, { delivery: "send" });
    const clone = { company: company.company_id, display_name: `Copy ${randomUUID()}`, source_env_id: live };
    const { operation_id } = (await call("POST", "/v2/sites/clone", { body: clone })).body;
    const { environment_id } = await database
      .selectFrom("operations")
      .select("environment_id")
      .where("id", "=", operation_id)
      .executeTakeFirstOrThrow();
    const row = await database
      .selectFrom("environments")
      .select(["name", "mail_delivery"])
      .where("id", "=", environment_id ?? "")
      .executeTakeFirstOrThrow();
    expect(row).toEqual({ name: "live", mail_delivery: "keep" });
  });

  it("is kept when a deleted environment is restored", async () => {
    const { call, database, deleteEnvironment, addBackup } = test.current;
    await set(staging, { delivery: "send" });
    const { site_id } = await database
      .selectFrom("environments")
      .select("site_id")
      .where("id", "=", staging)
      .executeTakeFirstOrThrow();
    await addBackup(staging);
    await deleteEnvironment(staging);
    const path = `/v2/sites/${site_id}/deleted-environments/${staging}/restore`;
    expect((await call("POST", path, { body: {} })).status).toBe(202);
    const row = await database
      .selectFrom("environments")
      .select("mail_delivery")
      .where("id", "=", staging)
      .executeTakeFirst();
    expect(row).toEqual({ mail_delivery: "send" });
  });
});

it("changes are recorded in the activity log, without content of mails", async () => {
  const { call, company } = test.current;
  const id = await add();
  await call("POST", `${pathOf(id)}/deliver`);
  await call("PUT", `/v2/sites/environments/${staging}/mail`, { body: { delivery: "keep" } });
  await call("DELETE", pathOf(id));
  const { body, text } = await call("GET", `/v2/company/${company.company_id}/activity-logs?limit=3`);
  const entries = body.company.activity_logs.items;
  expect(entries.map(({ type }: { type: string }) => type)).toEqual([
    "deleteMails",
    "modifyMailDelivery",
    "deliverMail",
  ]);
  expect(entries[1]).toMatchObject({ is_done: true, has_failed: false, site_id: expect.any(String) });
  expect(entries[1].descriptions[0]).toMatch(/^Set outgoing mail of “.*” of “.*” to keep$/);
  expect(text).not.toContain("ada@example.com");
});
