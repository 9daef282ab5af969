/** What environments send: who may see it, and what becomes of it. Nothing of a message is in the activity log. */
import type { ActivityType } from "@sitewright/contract/company/activity.ts";
import { readMail } from "@sitewright/server/mail/readable.ts";
import type { DatabaseTransaction, MailDelivery, MailState } from "@sitewright/server/store/database.ts";
import { edgeGenerations } from "@sitewright/server/store/generations.ts";
import { environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import { findMailDelivery, setMailDelivery } from "@sitewright/server/store/traffic/mailDelivery.ts";
import { queueMail } from "@sitewright/server/store/traffic/mailQueue.ts";
import {
  deleteMails,
  findMail,
  findMailRecord,
  listMails,
  lockMail,
  type MailRecord,
} from "@sitewright/server/store/traffic/mails.ts";
import { mayWrite } from "../company/access.ts";
import { recordDone } from "../company/activityEntries.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";

const most = 100;

export interface MailQuery {
  readonly limit?: number;
  readonly offset?: number;
  readonly state?: MailState;
}

/** A page of the environment's mails, newest first, and what becomes of what it sends. */
export async function list(context: Context, environmentId: string, query: MailQuery) {
  const { database, hasMailServer } = context;
  const environment = await findMailDelivery(database, environmentId);
  if (!environment) throw new NotFound();
  const { items, total } = await listMails(database, {
    environmentId,
    state: query.state ?? null,
    limit: Math.min(query.limit ?? 10, most),
    offset: query.offset ?? 0,
  });
  return { ...environment, has_mail_server: hasMailServer, mails: { items: items.map(view), total } };
}

function view({ from_field, bytes, refused, created_at, next_attempt_at, sent_at, ...mail }: MailRecord) {
  return {
    ...mail,
    from: from_field,
    size_bytes: bytes,
    refused: [...refused],
    created_at: created_at.getTime(),
    next_attempt_at: next_attempt_at?.getTime() ?? null,
    sent_at: sent_at?.getTime() ?? null,
  };
}

export async function get(context: Context, environmentId: string, mailId: string) {
  const found = await findMail(context.database, environmentId, mailId);
  if (!found) throw new NotFound();
  const { message, ...mail } = found;
  const whole = { ...view(mail), ...(await readMail(message)) };
  // With the link to a new password one gets in: who may only read is not to.
  return mayWrite(context.caller) ? whole : { ...whole, text: null, html: null };
}

/** What was kept goes on its way now. */
export function deliver(context: Context, environmentId: string, mailId: string) {
  return context.inTransaction(async (transaction) => {
    const state = await lockMail(transaction, environmentId, mailId);
    if (state === null) throw new NotFound();
    if (!context.hasMailServer) {
      throw new Refused(
        "no_mail_server",
        "There is no mail server. The operator of the installation can set one with SITEWRIGHT_SMTP_URL.",
      );
    }
    if (state === "sent") throw new Refused("mail_is_sent", "The mail has been sent to all its recipients already.");
    if (state !== "queued") await queueMail(transaction, mailId);
    await record(context, transaction, environmentId, "deliverMail");
    const mail = await findMailRecord(transaction, environmentId, mailId);
    if (!mail) throw new NotFound();
    return view(mail);
  });
}

/** Removes one, or all where `mailId` is null. Returns how many there were. */
export function remove(context: Context, environmentId: string, mailId: string | null): Promise<number> {
  return context.inTransaction(async (transaction) => {
    const deleted = await deleteMails(transaction, environmentId, mailId);
    if (mailId !== null && deleted === 0) throw new NotFound();
    await record(context, transaction, environmentId, "deleteMails");
    return deleted;
  });
}

export function modifyDelivery(context: Context, environmentId: string, delivery: MailDelivery) {
  return context.inTransaction(async (transaction) => {
    // The edge's table says who may reach mail servers.
    await edgeGenerations.announce(transaction);
    await setMailDelivery(transaction, environmentId, delivery);
    await record(context, transaction, environmentId, "modifyMailDelivery", { delivery });
    const environment = await findMailDelivery(transaction, environmentId);
    if (!environment) throw new NotFound();
    return environment;
  });
}

/** Throws `NotFound` if the environment is gone since the caller was found to own it. */
async function record(
  context: Context,
  transaction: DatabaseTransaction,
  environmentId: string,
  type: ActivityType,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const environment = await environmentForOperation(transaction, environmentId);
  if (!environment) throw new NotFound();
  const { display_name: environmentName, site_display_name: siteName, site_id: siteId } = environment;
  const parameters = { environmentName, siteName, ...more };
  await recordDone(context, transaction, { type, category: "siteActions", siteId, parameters });
}
