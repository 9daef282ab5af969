/** Mail that environments send: lists, delivers and deletes it. The activity log contains nothing of a message. */
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
import { canWrite } from "../company/access.ts";
import { recordDone } from "../company/activityEntries.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";

const maxLimit = 100;

interface MailQuery {
  readonly limit?: number;
  readonly offset?: number;
  readonly state?: MailState;
}

/** Lists the environment's mails, newest first, with its mail delivery setting. */
export async function list(context: Context, environmentId: string, query: MailQuery) {
  const { database, hasMailServer } = context;
  const environment = await findMailDelivery(database, environmentId);
  if (!environment) throw new NotFound();
  const { items, total } = await listMails(database, {
    environmentId,
    state: query.state ?? null,
    limit: Math.min(query.limit ?? 10, maxLimit),
    offset: query.offset ?? 0,
  });
  const mails = { items: items.map(view), total };
  return { ...deliveryView(context, environment), has_mail_server: hasMailServer, mails };
}

/** The setting, and what happens to mail: without a mail server, all mail is kept. */
function deliveryView<E extends { readonly delivery: MailDelivery }>({ hasMailServer }: Context, environment: E) {
  const effective_delivery: MailDelivery = hasMailServer ? environment.delivery : "keep";
  return { ...environment, effective_delivery };
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
  const complete = { ...view(mail), ...(await readMail(message)) };
  // A password reset link gives access to the site, which read-only callers must not get.
  return canWrite(context.caller) ? complete : { ...complete, text: null, html: null };
}

/** Delivers a mail that was kept. */
export function deliver(context: Context, environmentId: string, mailId: string) {
  return context.inTransaction(async (transaction) => {
    const state = await lockMail(transaction, environmentId, mailId);
    if (state === null) throw new NotFound();
    if (!context.hasMailServer) {
      throw new Refused(
        "no_mail_server",
        "There is no mail server. The operator of the installation can configure one with SITEWRIGHT_SMTP_URL.",
      );
    }
    if (state === "sent") throw new Refused("mail_is_sent", "The mail has already been sent to all its recipients.");
    if (state !== "queued") await queueMail(transaction, mailId);
    await record(context, transaction, environmentId, "deliverMail");
    const mail = await findMailRecord(transaction, environmentId, mailId);
    if (!mail) throw new NotFound();
    return view(mail);
  });
}

/** Deletes one mail, or all if `mailId` is null. Returns how many. */
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
    // The edge's table says which environments can reach mail servers.
    await edgeGenerations.announce(transaction);
    await setMailDelivery(transaction, environmentId, delivery);
    await record(context, transaction, environmentId, "modifyMailDelivery", { delivery });
    const environment = await findMailDelivery(transaction, environmentId);
    if (!environment) throw new NotFound();
    return deliveryView(context, environment);
  });
}

/** Throws `NotFound` if the environment has been deleted since the caller was authorised. */
async function record(
  context: Context,
  transaction: DatabaseTransaction,
  environmentId: string,
  type: ActivityType,
  otherParameters: Readonly<Record<string, string>> = {},
): Promise<void> {
  const environment = await environmentForOperation(transaction, environmentId);
  if (!environment) throw new NotFound();
  const { display_name: environmentName, site_display_name: siteName, site_id: siteId } = environment;
  const parameters = { environmentName, siteName, ...otherParameters };
  await recordDone(context, transaction, { type, category: "siteActions", siteId, parameters });
}
