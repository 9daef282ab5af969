import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test as it } from "vitest";
import type { Delivery, OutgoingMessage } from "../mail/deliver.ts";
import { openSpool, type Spool } from "../mail/spool.ts";
import { setCompanyLimits } from "../store/company/companyLimits.ts";
import { addCompany, addMail, addSite } from "../store/testing/rows.ts";
import { setMailDelivery } from "../store/traffic/mailDelivery.ts";
import { claimMail } from "../store/traffic/mailQueue.ts";
import { deleteOldMails, listMails } from "../store/traffic/mails.ts";
import { useTestDatabase } from "../testing/database.ts";
import { type DeliverMailsOptions, deliverMails, nextAttempt } from "./deliverMails.ts";
import { makeTakeMails, type TakeMailsOptions } from "./takeMails.ts";

const test = useTestDatabase();
let folder = "";
let spool: Spool;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "mails-"));
  spool = openSpool(folder);
  await test.database.deleteFrom("companies").execute();
});
afterEach(() => rm(folder, { recursive: true }));

async function addEnvironment(): Promise<string> {
  const { companyId } = await addCompany(test.database);
  return (await addSite(test.database, companyId)).environmentId;
}

async function addCompanyWithEnvironments(count: number) {
  const { companyId } = await addCompany(test.database);
  const environmentIds: string[] = [];
  for (let added = 0; added < count; added += 1) {
    environmentIds.push((await addSite(test.database, companyId)).environmentId);
  }
  return { companyId, environmentIds };
}

async function mailsOf(environmentId: string) {
  return (await listMails(test.database, { environmentId, state: null, limit: 100, offset: 0 })).items;
}

const content = {
  sender: null,
  recipients: ["ada@example.com"],
  message: Buffer.from(
    "To: ada@example.com\nFrom: =?UTF-8?Q?J=C3=BCrgen?= <j@example.com>\nSubject: =?UTF-8?B?R3LDvMOfZQ==?=\n\nText",
  ),
};

describe("collecting messages from the spool", () => {
  const take = (more: Partial<TakeMailsOptions> = {}) =>
    makeTakeMails({ database: test.database, spool, hasServer: true, onBroken: () => undefined, ...more })();

  it("stores each exactly once, even if several runs overlap", async () => {
    const environmentId = await addEnvironment();
    const ids = await Promise.all([1, 2, 3].map(() => spool.put(environmentId, content)));
    const keeping = { ...spool, remove: async () => undefined };
    await Promise.all([take({ spool: keeping }), take({ spool: keeping })]);
    expect(await spool.list()).toHaveLength(3);
    await take();
    expect(await spool.list()).toEqual([]);
    const mails = await mailsOf(environmentId);
    expect(mails.map(({ id }) => id).sort()).toEqual(ids.sort());
    expect(mails[0]).toMatchObject({
      from_field: "Jürgen <j@example.com>",
      subject: "Grüße",
      recipients: ["ada@example.com"],
      state: "queued",
    });
  });

  it("keeps messages of environments that are not live or have delivery off, and all if there is no mail server", async () => {
    const { database } = test;
    const [live, other, kept] = [await addEnvironment(), await addEnvironment(), await addEnvironment()];
    await database.updateTable("environments").set({ name: "staging" }).where("id", "=", other).execute();
    await database.transaction().execute((transaction) => setMailDelivery(transaction, kept, "keep"));
    for (const id of [live, other, kept]) await spool.put(id, content);
    await take();
    const states = async () =>
      Promise.all([live, other, kept].map(async (id) => (await mailsOf(id)).map(({ state }) => state)));
    expect(await states()).toEqual([["queued"], ["kept"], ["kept"]]);
    await database.transaction().execute((transaction) => setMailDelivery(transaction, other, "send"));
    await spool.put(other, content);
    await take();
    expect((await mailsOf(other)).map(({ state }) => state).sort()).toEqual(["kept", "queued"]);
    await spool.put(live, content);
    await take({ hasServer: false });
    expect((await mailsOf(live)).map(({ state }) => state).sort()).toEqual(["kept", "queued"]);
  });

  it("discards messages of removed environments", async () => {
    await spool.put(randomUUID(), content);
    await take();
    expect(await spool.list()).toEqual([]);
  });

  it("leaves messages of an environment that reached its limit in the spool, and collects those of others", async () => {
    const [busy, other] = [await addEnvironment(), await addEnvironment()];
    for (const id of [busy, busy, busy, other]) await spool.put(id, content);
    await take({ limits: { messages: 2, bytes: 1e6 } });
    expect([await mailsOf(busy), await mailsOf(other)].map((mails) => mails.length)).toEqual([2, 1]);
    await take({ limits: { messages: 10, bytes: 10 } });
    expect(await spool.list()).toHaveLength(1);
  });

  it("skips a message that can't be read, and reports it once", async () => {
    const environmentId = await addEnvironment();
    await spool.put(environmentId, { ...content, message: Buffer.from("no field\n\n") });
    await spool.put(environmentId, content);
    const reported: string[] = [];
    const taking = makeTakeMails({
      database: test.database,
      spool,
      hasServer: true,
      onBroken: ({ id }) => reported.push(id),
    });
    await taking();
    await taking();
    expect([await mailsOf(environmentId), await spool.list(), reported].map((list) => list.length)).toEqual([1, 1, 1]);
  });
});

/** A mail server that returns these verdicts in order, then accepts everything. */
function server(...verdicts: ((mail: OutgoingMessage) => Delivery)[]) {
  const handed: OutgoingMessage[] = [];
  const deliver = async (mail: OutgoingMessage): Promise<Delivery> => {
    handed.push(mail);
    return verdicts.shift()?.(mail) ?? { accepted: mail.recipients, rejected: [], deferred: [] };
  };
  return { handed, deliver };
}

const delay = ({ recipients }: OutgoingMessage): Delivery => ({
  accepted: [],
  rejected: [],
  deferred: recipients.map((recipient) => ({ recipient, message: "450 Later" })),
});

const refuse = ({ recipients }: OutgoingMessage): Delivery => ({
  accepted: [],
  deferred: [],
  rejected: recipients.map((recipient) => ({ recipient, message: "550 No" })),
});

function deliverAll({ deliver }: Pick<DeliverMailsOptions, "deliver">, more: Partial<DeliverMailsOptions> = {}) {
  return deliverMails({ database: test.database, deliver, from: null, recipientsPerHour: 1_000, ...more });
}

/** Makes all queued messages due. */
async function makeDue(): Promise<void> {
  await test.database
    .updateTable("mails")
    .set({ next_attempt_at: new Date(0) })
    .where("state", "=", "queued")
    .execute();
}

describe("delivering messages", () => {
  it("sends each once, with its own sender or the configured envelope sender", async () => {
    const environmentId = await addEnvironment();
    await addMail(test.database, environmentId, { hasServer: true, sender: "shop@example.com" });
    await addMail(test.database, environmentId, { hasServer: true });
    const first = server();
    await Promise.all([deliverAll(first), deliverAll(first), deliverAll(first)]);
    expect(first.handed.map(({ sender }) => sender).sort()).toEqual([
      "shop@example.com",
      expect.stringMatching(/^wordpress@.*\.localhost$/),
    ]);
    expect(first.handed[0]?.message.toString()).toMatch(/^Date: .*\r\nMessage-ID: <.*@s-.*\.localhost>\r\n/);
    expect((await mailsOf(environmentId)).map(({ state }) => state)).toEqual(["sent", "sent"]);
    await addMail(test.database, environmentId, { hasServer: true, sender: "shop@example.com" });
    const second = server();
    await deliverAll(second, { from: "bounces@host.example" });
    expect(second.handed).toMatchObject([{ sender: "bounces@host.example" }]);
  });

  it("retries later, only for recipients not yet reached, and ends as bounced if any recipient was refused", async () => {
    const environmentId = await addEnvironment();
    const recipients = ["a@example.com", "b@example.com", "c@example.com"];
    await addMail(test.database, environmentId, { hasServer: true, recipients });
    const { handed, deliver } = server(
      () => ({
        accepted: ["a@example.com"],
        rejected: [{ recipient: "b@example.com", message: "550 No such user" }],
        deferred: [{ recipient: "c@example.com", message: "450 Later" }],
      }),
      delay,
    );
    await deliverAll({ deliver });
    const [waiting] = await mailsOf(environmentId);
    expect(waiting).toMatchObject({ state: "queued", attempts: 1, last_error: "450 Later" });
    expect(waiting?.next_attempt_at?.getTime()).toBeGreaterThan(Date.now() + 30_000);
    await deliverAll({ deliver });
    expect(handed).toHaveLength(1);
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await makeDue();
      await deliverAll({ deliver });
    }
    expect(handed.map((mail) => mail.recipients)).toEqual([recipients, ["c@example.com"], ["c@example.com"]]);
    expect(new Set(handed.map(({ message }) => message.toString())).size).toBe(1);
    expect(await mailsOf(environmentId)).toMatchObject([
      {
        state: "bounced",
        refused: [{ recipient: "b@example.com", message: "550 No such user" }],
        next_attempt_at: null,
      },
    ]);
  });

  it("does not retry permanent refusals, and gives up after two days", async () => {
    const environmentId = await addEnvironment();
    await addMail(test.database, environmentId, { hasServer: true });
    await deliverAll(server(refuse));
    expect(await mailsOf(environmentId)).toMatchObject([{ state: "bounced", last_error: "550 No", sent_at: null }]);
    await test.database.deleteFrom("mails").execute();
    await addMail(test.database, environmentId, { hasServer: true });
    await test.database
      .updateTable("mails")
      .set({ queued_at: new Date(Date.now() - 49 * 3_600_000) })
      .execute();
    await deliverAll(server(delay));
    expect(await mailsOf(environmentId)).toMatchObject([
      { state: "failed", last_error: "450 Later", next_attempt_at: null },
    ]);
  });

  it("waits longer after each attempt, four hours at most", () => {
    const now = new Date();
    const pauses = Array.from({ length: 12 }, (_, at) => {
      const next = nextAttempt({ attempts: at + 1, queuedAt: now }, now);
      return ((next?.getTime() ?? 0) - now.getTime()) / 60_000;
    });
    expect(pauses).toEqual([1, 2, 5, 10, 20, 40, 60, 120, 240, 240, 240, 240]);
  });

  it("sends a message that a killed process had claimed, when the claim has expired and not before", async () => {
    const { database } = test;
    const environmentId = await addEnvironment();
    await addMail(database, environmentId, { hasServer: true });
    expect(await claimMail(database, { seconds: 60, recipientsPerHour: 100 })).not.toBeNull();
    const { handed, deliver } = server();
    await deliverAll({ deliver });
    expect(handed).toEqual([]);
    await database
      .updateTable("mails")
      .set({ claimed_until: new Date(Date.now() - 1_000) })
      .execute();
    await deliverAll({ deliver });
    expect(handed).toHaveLength(1);
    expect(await mailsOf(environmentId)).toMatchObject([{ state: "sent", attempts: 2 }]);
  });

  it("records nothing for a message that was deleted, or claimed by another process, in the meantime", async () => {
    const { database } = test;
    const environmentId = await addEnvironment();
    const during = (change: () => Promise<unknown>) => async (mail: OutgoingMessage) => {
      await change();
      return delay(mail);
    };
    await addMail(database, environmentId, { hasServer: true });
    await deliverAll({ deliver: during(() => database.deleteFrom("mails").execute()) });
    expect(await mailsOf(environmentId)).toEqual([]);
    await addMail(database, environmentId, { hasServer: true });
    const later = new Date(Date.now() + 600_000);
    await deliverAll({ deliver: during(() => database.updateTable("mails").set({ claimed_until: later }).execute()) });
    expect(await mailsOf(environmentId)).toMatchObject([{ state: "queued", last_error: null }]);
  });

  it("does not let an environment wait for another's long queue", async () => {
    const [noisy, quiet] = [await addEnvironment(), await addEnvironment()];
    for (let sent = 0; sent < 20; sent += 1) await addMail(test.database, noisy, { hasServer: true });
    await addMail(test.database, quiet, { hasServer: true, recipients: ["quiet@example.com"] });
    const { handed, deliver } = server();
    await deliverAll({ deliver });
    expect(handed.findIndex(({ recipients }) => recipients[0] === "quiet@example.com")).toBeLessThan(3);
  });

  it("limits the recipients per hour of each environment; the rest wait", async () => {
    const [noisy, other] = [await addEnvironment(), await addEnvironment()];
    const recipients = ["a@example.com", "b@example.com"];
    for (let sent = 0; sent < 5; sent += 1) await addMail(test.database, noisy, { hasServer: true, recipients });
    await addMail(test.database, other, {
      hasServer: true,
      recipients: ["1@example.com", "2@example.com", "3@example.com", "4@example.com", "5@example.com"],
    });
    const { handed, deliver } = server();
    await deliverAll({ deliver }, { recipientsPerHour: 4 });
    expect(handed).toHaveLength(3);
    expect((await mailsOf(noisy)).filter(({ state }) => state === "queued")).toHaveLength(3);
    await test.database
      .updateTable("mails")
      .set({ sent_at: new Date(Date.now() - 3_700_000) })
      .where("sent_at", "is not", null)
      .execute();
    await deliverAll({ deliver }, { recipientsPerHour: 4 });
    expect(handed).toHaveLength(5);
  });

  it("limits the recipients per hour of a company, whichever environments send", async () => {
    const { companyId, environmentIds } = await addCompanyWithEnvironments(2);
    for (const environmentId of [...environmentIds, ...environmentIds]) {
      await addMail(test.database, environmentId, { hasServer: true });
    }
    await test.database
      .transaction()
      .execute((open) => setCompanyLimits(open, companyId, { mail_recipients_per_hour: 3 }));
    const { handed, deliver } = server();
    await deliverAll({ deliver });
    expect(handed).toHaveLength(3);
    await test.database
      .transaction()
      .execute((open) => setCompanyLimits(open, companyId, { mail_recipients_per_hour: 4 }));
    await deliverAll({ deliver });
    expect(handed).toHaveLength(4);
  });

  it("does not let a company wait for another's many environments", async () => {
    const noisy = await addCompanyWithEnvironments(10);
    for (const environmentId of noisy.environmentIds) await addMail(test.database, environmentId, { hasServer: true });
    const quiet = await addCompanyWithEnvironments(1);
    for (let sent = 0; sent < 2; sent += 1) {
      const mail = { hasServer: true, recipients: [`quiet${sent}@example.com`] };
      await addMail(test.database, quiet.environmentIds[0] ?? "", mail);
    }
    const { handed, deliver } = server();
    await deliverAll({ deliver });
    expect(handed.findIndex(({ recipients }) => recipients[0] === "quiet1@example.com")).toBeLessThan(5);
  });

  it("stops when delivery is turned off: queued messages are kept, and so is the one being sent", async () => {
    const { database } = test;
    const environmentId = await addEnvironment();
    for (let sent = 0; sent < 3; sent += 1) await addMail(database, environmentId, { hasServer: true });
    const { handed, deliver } = server(delay);
    await deliverAll({
      deliver: async (mail) => {
        await database.transaction().execute((transaction) => setMailDelivery(transaction, environmentId, "keep"));
        return deliver(mail);
      },
    });
    expect(handed).toHaveLength(1);
    expect((await mailsOf(environmentId)).map(({ state, next_attempt_at }) => [state, next_attempt_at])).toEqual(
      Array(3).fill(["kept", null]),
    );
  });
});

describe("deleting old messages", () => {
  it("applies the limits in days, messages and bytes, oldest first, and keeps queued messages", async () => {
    const { database } = test;
    const [environmentId, other] = [await addEnvironment(), await addEnvironment()];
    const ids: string[] = [];
    for (let age = 0; age < 6; age += 1) {
      const id = await addMail(database, environmentId);
      await database
        .updateTable("mails")
        .set({ created_at: new Date(Date.now() - age * 86_400_000) })
        .where("id", "=", id)
        .execute();
      ids.push(id);
    }
    const queued = await addMail(database, environmentId, { hasServer: true });
    await database
      .updateTable("mails")
      .set({ created_at: new Date(0) })
      .where("id", "=", queued)
      .execute();
    await addMail(database, other);
    const left = async (limits: Partial<Parameters<typeof deleteOldMails>[1]>) => {
      await deleteOldMails(database, { days: 100, messages: 100, bytes: 1e6, ...limits });
      return (await mailsOf(environmentId)).map(({ id }) => id);
    };
    expect(await left({})).toEqual([...ids, queued]);
    expect(await left({ days: 5 })).toEqual([...ids.slice(0, 5), queued]);
    expect(await left({ messages: 4 })).toEqual([...ids.slice(0, 4), queued]);
    const [{ bytes = 0 } = {}] = await mailsOf(environmentId);
    expect(await left({ bytes: bytes * 2 })).toEqual([...ids.slice(0, 2), queued]);
    expect(await mailsOf(other)).toHaveLength(1);
  });
});
