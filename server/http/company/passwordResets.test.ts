/** Lost passwords: a link by mail, from a real mail server, and what it may be used for. */
import { randomUUID } from "node:crypto";
import { resetMinutes } from "@sitewright/server/app/company/passwordResets.ts";
import { countMailedInvitation } from "@sitewright/server/app/company/signInLock.ts";
import { makeSecret } from "@sitewright/server/control/accountMailWork.ts";
import { makeDeliver } from "@sitewright/server/mail/deliver.ts";
import {
  answerOf,
  type MailServer,
  type Received,
  startMailServer,
} from "@sitewright/server/mail/testing/mailServer.ts";
import { deliverAccountMails } from "@sitewright/server/reconcilers/deliverAccountMails.ts";
import { insertProviderAccount, listProviderAccounts } from "@sitewright/server/store/company/providerAccounts.ts";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makePasskey } from "../testing/authenticator.ts";
import { anotherAddress, chosen, ownPage, peopleOf } from "../testing/people.ts";
import { type Reply, useTestServer } from "../testing/server.ts";

const test = useTestServer();
const people = peopleOf(test);
const next = "green umbrella whispers loudly";
const consoleAddress = "https://api.sitewright.example:8443";

let mailServer: MailServer;
/** Decides about each message. Null: it is accepted. */
let verdict: (received: Received) => Error | null = () => null;

beforeAll(async () => {
  mailServer = await startMailServer({}, (received) => verdict(received));
});
afterAll(() => mailServer?.[Symbol.asyncDispose]());

/** Sends what is queued, as the control process does each second. */
async function sendMails(): Promise<void> {
  const { port } = mailServer;
  const deliver = makeDeliver({ server: { host: "127.0.0.1", port, isSecure: false, login: null }, name: "test" });
  const { database } = test.current;
  await deliverAccountMails({ database, deliver, from: "sitewright@example.com", makeSecret, resetMinutes });
}

function visit(path: string, body: unknown, { address = anotherAddress(), headers = {} } = {}): Promise<Reply> {
  const all = { ...ownPage, "x-forwarded-for": address, ...headers };
  return test.current.call("POST", `/v2${path}`, { body, key: null, headers: all });
}

const ask = (email: string, options?: { address?: string; headers?: Record<string, string> }) =>
  visit("/password-resets", { email }, options);

const mailsTo = (email: string) => mailServer.received.filter(({ to }) => to.includes(email));

/** The text of a mail, decoded. */
const textOf = ({ message }: Received): string =>
  message
    .replaceAll("=\r\n", "")
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

const linkIn = (mail: Received | undefined): string =>
  /https?:\/\/\S+#\S+/.exec(mail === undefined ? "" : textOf(mail))?.[0] ?? "";

/** Has a link mailed, and returns its secret. */
async function tokenFor(email: string): Promise<string> {
  expect((await ask(email)).status).toBe(200);
  await sendMails();
  return linkIn(mailsTo(email).at(-1)).split("#")[1] ?? "";
}

const complete = (token: string, new_password = next) => visit("/password-resets/complete", { token, new_password });
const refusalOf = ({ status, body }: Reply) => [status, body.data?.code];

describe("a lost password", () => {
  it("is replaced with a link in a mail, which ends all sessions and signs nobody in", async () => {
    const email = await people.add();
    const cookie = await people.signIn(email);
    expect((await ask(email.toUpperCase())).body).toEqual({ valid_minutes: 30 });
    await sendMails();
    const [mail] = mailsTo(email);
    expect(mail).toMatchObject({ from: "sitewright@example.com", to: [email] });
    expect(linkIn(mail)).toMatch(new RegExp(`^${consoleAddress}/password-reset#sr_[0-9a-f]{32}_[\\w-]{43}$`));
    const token = linkIn(mail).split("#")[1] ?? "";
    const checked = await visit("/password-resets/check", { token });
    expect(checked.body).toEqual({ password_reset: { email, expires_at: expect.any(String) } });
    const answer = await complete(token);
    expect([answer.status, answer.body]).toEqual([200, { user: { email } }]);
    expect(answer.headers["set-cookie"]).toBeUndefined();
    expect((await people.call(cookie, "GET", "/session")).status).toBe(401);
    expect((await people.trySignIn(email)).status).toBe(400);
    expect((await people.trySignIn(email, { password: next })).status).toBe(201);
    const entries = await people.activityOf(email);
    expect(entries).toContainEqual(expect.objectContaining({ type: "resetOwnPassword", has_failed: false }));
  });

  it("is replaced with the accounts at a provider unlinked: somebody else may have linked one with the old password", async () => {
    const email = await people.add();
    const { id } = (await people.call(await people.signIn(email), "GET", "/session")).body.user;
    const account = { id: randomUUID(), userId: String(id), issuer: "https://login.example.com", subject: "1", email };
    const { database } = test.current;
    await database.transaction().execute((transaction) => insertProviderAccount(transaction, account));
    expect((await complete(await tokenFor(email))).status).toBe(200);
    expect(await listProviderAccounts(database, String(id))).toEqual([]);
  });

  it("is replaced once for each link, also by two at once, and then no other link works", async () => {
    const email = await people.add();
    const [first, second] = [await tokenFor(email), await tokenFor(email)];
    const answers = await Promise.all([complete(second), complete(second)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    for (const token of [first, second])
      expect(refusalOf(await complete(token))).toEqual([400, "password_reset_unusable"]);
  });

  it("is replaced with one of two links that are used at the same moment", async () => {
    const email = await people.add();
    const [first, second] = [await tokenFor(email), await tokenFor(email)];
    const { database } = test.current;
    const isHeld = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    // Both wait here, so that whatever they have locked before is locked by both.
    const holding = database.transaction().execute(async (transaction) => {
      await transaction.selectFrom("users").select("id").where("email", "=", email).forUpdate().execute();
      isHeld.resolve();
      await release.promise;
    });
    await isHeld.promise;
    const answers = Promise.all([complete(first), complete(second)]);
    const waiting = sql<{ waiting: number }>`
      select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await waiting.execute(database)).rows[0]?.waiting).toBe(2);
    release.resolve();
    await holding;
    expect((await answers).map(({ status }) => status).toSorted()).toEqual([200, 400]);
    const deadlocks = sql<{ deadlocks: number }>`
      select deadlocks::int from pg_stat_database where datname = current_database()`;
    expect((await deadlocks.execute(database)).rows).toEqual([{ deadlocks: 0 }]);
  });

  it("can't be replaced with a link that has expired, is changed, or is for something else", async () => {
    const email = await people.add();
    const token = await tokenFor(email);
    const changed = `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`;
    const invited = await test.current.call("POST", `/v2/company/${test.current.company.company_id}/invitations`, {
      body: { email: "another@example.com", role: "viewer" },
    });
    const invitation = String(invited.body.url).split("#")[1] ?? "";
    for (const wrong of [changed, invitation, invitation.replace("si_", "sr_"), token.replace("sr_", "si_"), "x"]) {
      expect(refusalOf(await complete(wrong))).toEqual([400, "password_reset_unusable"]);
      expect(refusalOf(await visit("/password-resets/check", { token: wrong }))).toEqual([
        400,
        "password_reset_unusable",
      ]);
    }
    await test.current.database
      .updateTable("mailed_links")
      .set({ expires_at: new Date(0) })
      .execute();
    expect(refusalOf(await complete(token))).toEqual([400, "password_reset_unusable"]);
    expect((await people.trySignIn(email)).status).toBe(201);
  });

  it("can't be replaced with a link after it was changed in a session", async () => {
    const email = await people.add();
    const token = await tokenFor(email);
    const body = { current_password: chosen, new_password: next };
    expect((await people.call(await people.signIn(email), "PUT", "/session/password", { body })).status).toBe(200);
    expect(refusalOf(await complete(token))).toEqual([400, "password_reset_unusable"]);
  });

  it("can't be replaced with a weak one, and the link stays valid", async () => {
    const token = await tokenFor(await people.add());
    expect(refusalOf(await complete(token, "password1234"))).toEqual([400, "password_too_weak"]);
    expect((await complete(token)).status).toBe(200);
  });

  it("does not replace the second factor", async () => {
    const email = await people.add();
    const cookie = await people.signIn(email);
    const headers = { ...ownPage, host: "localhost:8080" };
    const body = { current_password: chosen };
    const { options } = (await people.call(cookie, "POST", "/session/passkeys/options", { body, headers })).body;
    const credential = makePasskey().create(options, "http://localhost:8080");
    await people.call(cookie, "POST", "/session/passkeys", { body: { name: "Phone", credential }, headers });
    expect((await complete(await tokenFor(email))).status).toBe(200);
    const answer = await people.trySignIn(email, { password: next });
    expect(refusalOf(answer)).toEqual([400, "second_factor_needed"]);
  });

  it("lets its owner in at once after wrong ones", async () => {
    const email = await people.add();
    const address = anotherAddress();
    for (let attempt = 0; attempt < 5; attempt += 1) await people.trySignIn(email, { password: "wrong", address });
    const token = await tokenFor(email);
    await visit("/password-resets/complete", { token, new_password: next }, { address });
    expect((await people.trySignIn(email, { password: next, address })).status).toBe(201);
  });
});

describe("asking for a link", () => {
  it("answers the same whether anybody has the address, and mails nobody else", async () => {
    const email = await people.add();
    await sendMails();
    const before = mailServer.received.length;
    const [known, unknown] = [await ask(email), await ask("nobody@example.com")];
    expect(unknown.text).toBe(known.text);
    expect(mailServer.received, "nothing is sent before the answer").toHaveLength(before);
    const queued = test.current.database.selectFrom("account_mails").select("email");
    expect((await queued.execute()).map((row) => row.email)).toEqual(
      expect.arrayContaining([email, "nobody@example.com"]),
    );
    await sendMails();
    expect(mailServer.received.slice(before).map(({ to }) => to)).toEqual([[email]]);
    expect(await queued.execute()).toEqual([]);
  });

  it("never mails a link to an address that the request has forged", async () => {
    const email = await people.add();
    await ask(email, { headers: { host: "evil.example", "x-forwarded-host": "evil.example" } });
    await sendMails();
    expect(linkIn(mailsTo(email)[0])).toContain(`${consoleAddress}/password-reset#`);
  });

  it("stores no link that could be used", async () => {
    const email = await people.add();
    const token = await tokenFor(email);
    const { database } = test.current;
    const rows = await database.selectFrom("mailed_links").selectAll().execute();
    const stored = JSON.stringify(rows) + rows.map(({ secret_hash }) => secret_hash.toString("latin1")).join("\n");
    expect(stored).not.toContain(token.slice(-43));
    expect(rows.length).toBeGreaterThan(0);
  });

  it("must wait after three for an address, known or not, and after twenty from a network", async () => {
    for (const email of [await people.add(), "nobody3@example.com"]) {
      for (let count = 0; count < 3; count += 1) expect((await ask(email)).status).toBe(200);
      const refused = await ask(email);
      expect([refused.status, refused.body.data]).toEqual([400, { code: "too_many_password_resets", seconds: 30 }]);
    }
    const address = anotherAddress();
    for (let count = 0; count < 20; count += 1) await ask(`n${count}@example.com`, { address });
    expect(refusalOf(await ask(await people.add(), { address }))).toEqual([400, "too_many_password_resets"]);
  });

  it("does not make anybody wait who knows the password", async () => {
    const email = await people.add();
    for (let count = 0; count < 4; count += 1) await ask(email);
    expect((await people.trySignIn(email)).status).toBe(201);
  });

  it.each([
    [{}, "/email"],
    [{ email: "" }, "/email"],
    [{ email: 1 }, "/email"],
    [{ email: "x".repeat(255) }, "/email"],
  ])("rejects %j at %s", async (body, field) => {
    const answer = await visit("/password-resets", body);
    expect(answer.status).toBe(400);
    expect(answer.body.data.errors.map((fault: { path: string }) => fault.path)).toEqual([field]);
  });

  it.each(["/password-resets", "/password-resets/check", "/password-resets/complete"])(
    "can't be done by a page of somebody else: %s",
    async (path) => {
      const answer = await visit(path, {}, { headers: { "sec-fetch-site": "same-site" } });
      expect([answer.status, answer.body.data]).toEqual([403, { code: "cross_site_request" }]);
    },
  );

  it("takes addresses that could break a mail as they are: nobody has them", async () => {
    await sendMails();
    const before = mailServer.received.length;
    for (const email of [
      "a@example.com, b@example.com",
      "a@example.com\r\nBcc: b@example.com",
      "<script>",
      "' or 1=1 --",
    ]) {
      await ask(email);
    }
    await sendMails();
    expect(mailServer.received).toHaveLength(before);
  });
});

describe("a mail server", () => {
  it("that refuses for now gets the mail again later, with a link that works", async () => {
    const email = await people.add();
    verdict = () => answerOf(451, "Try again later");
    await ask(email);
    await sendMails();
    expect(mailsTo(email)).toEqual([]);
    verdict = () => null;
    await test.current.database
      .updateTable("account_mails")
      .set({ next_attempt_at: new Date(0) })
      .execute();
    await sendMails();
    expect((await complete(linkIn(mailsTo(email)[0]).split("#")[1] ?? "")).status).toBe(200);
  });

  it("that refuses for ever is not asked again", async () => {
    verdict = () => answerOf(550, "No such mailbox");
    await ask(await people.add());
    await sendMails();
    verdict = () => null;
    expect(await test.current.database.selectFrom("account_mails").select("id").execute()).toEqual([]);
  });
});

describe("an invitation", () => {
  const invite = async (email: string, options: { readonly headers?: Record<string, string> } = {}) => {
    const path = `/v2/company/${test.current.company.company_id}/invitations`;
    return test.current.call("POST", path, { body: { email, role: "viewer" }, ...options });
  };
  const accept = (token: string) =>
    visit("/invitations/accept", { token, full_name: "Grace Hopper", password: chosen });

  it("is mailed, with a secret of its own: the mailed link and the shown one work, but only one of them", async () => {
    const { body } = await invite("mailed@example.com");
    expect(body.is_mailed).toBe(true);
    await sendMails();
    const mail = mailsTo("mailed@example.com")[0];
    expect(mail?.message).toContain("Subject: Ours invites you to Sitewright");
    const [shown, mailed] = [String(body.url).split("#")[1] ?? "", linkIn(mail).split("#")[1] ?? ""];
    expect(mailed).not.toBe(shown);
    for (const token of [shown, mailed]) {
      const checked = await visit("/invitations/check", { token });
      expect([checked.status, checked.body.invitation?.email]).toEqual([200, "mailed@example.com"]);
    }
    expect((await accept(mailed)).status).toBe(201);
    expect(refusalOf(await accept(shown))).toEqual([400, "invitation_unusable"]);
  });

  it("is never mailed with an address that the request has forged", async () => {
    const path = `/v2/company/${test.current.company.company_id}/invitations`;
    const headers = { host: "evil.example", "x-forwarded-host": "evil.example" };
    const body = { email: "forged@example.com", role: "viewer" };
    expect((await test.current.call("POST", path, { body, headers })).body.is_mailed).toBe(true);
    await sendMails();
    expect(linkIn(mailsTo("forged@example.com")[0])).toContain(`${consoleAddress}/invitation#`);
  });

  it("that is withdrawn before it could be mailed is not mailed, and one withdrawn later is refused", async () => {
    const company = `/v2/company/${test.current.company.company_id}/invitations`;
    const early = (await invite("early@example.com")).body.invitation.id;
    await test.current.call("DELETE", `${company}/${early}`);
    const late = (await invite("late@example.com")).body.invitation.id;
    await sendMails();
    expect(mailsTo("early@example.com")).toEqual([]);
    const token = linkIn(mailsTo("late@example.com")[0]).split("#")[1] ?? "";
    await test.current.call("DELETE", `${company}/${late}`);
    expect(refusalOf(await accept(token))).toEqual([400, "invitation_unusable"]);
  });

  it("waits longer each time after three to the same address, for its company and no other, and says until when", async () => {
    const email = "often@example.com";
    for (let count = 0; count < 3; count += 1) expect((await invite(email)).status).toBe(201);
    const refused = await invite(email.toUpperCase());
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "30"]);
    expect(refused.body.message).toContain("Try again in 30 seconds.");
    const keyed = () => invite(email, { headers: { "idempotency-key": "invite often" } });
    expect((await keyed()).headers["idempotency-replayed"]).toBeUndefined();
    expect((await keyed()).headers["idempotency-replayed"]).toBeUndefined();
    expect((await invite("seldom@example.com")).status).toBe(201);
    const { otherCompany } = test.current;
    const path = `/v2/company/${otherCompany.company_id}/invitations`;
    const body = { email, role: "viewer" };
    expect((await test.current.call("POST", path, { key: otherCompany.api_key, body })).status).toBe(201);
  });

  it("waits after two hundred of its company, and those of other companies do not", async () => {
    const { otherCompany, database } = test.current;
    await database.deleteFrom("sign_in_failures").execute();
    await database.transaction().execute(async (transaction) => {
      for (let count = 0; count < 200; count += 1) {
        const email = `person${count}@example.com`;
        await countMailedInvitation(transaction, { companyId: otherCompany.company_id, email });
      }
    });
    const path = `/v2/company/${otherCompany.company_id}/invitations`;
    const body = { email: "one-more@example.com", role: "viewer" };
    expect((await test.current.call("POST", path, { key: otherCompany.api_key, body })).status).toBe(429);
    expect((await invite("one-more@example.com")).status).toBe(201);
  });

  it("is mailed after links to choose a password, and after those of companies with fewer invitations", async () => {
    const { otherCompany } = test.current;
    await sendMails();
    const invited = ["a", "b", "c"].map((name) => `${name}.ours@example.com`);
    for (const email of invited) expect((await invite(email)).status).toBe(201);
    const path = `/v2/company/${otherCompany.company_id}/invitations`;
    await test.current.database.deleteFrom("sign_in_failures").execute();
    const body = { email: "theirs@example.com", role: "viewer" };
    expect((await test.current.call("POST", path, { key: otherCompany.api_key, body })).status).toBe(201);
    const email = await people.add();
    await ask(email);
    const before = mailServer.received.length;
    await sendMails();
    const recipients = mailServer.received.slice(before).flatMap(({ to }) => to);
    expect(recipients).toEqual([email, "theirs@example.com", ...invited]);
  });
});
