import * as mails from "@sitewright/server/app/traffic/mails.ts";
import type { HandlersOf } from "../handling.ts";

export const mailHandlers: HandlersOf<
  "listMails" | "getMail" | "deliverMail" | "deleteMail" | "deleteMails" | "modifyMailDelivery"
> = {
  listMails: async (context, { params, query }) => ({
    status: 200,
    body: { environment: await mails.list(context, params.env_id, query) },
  }),
  getMail: async (context, { params }) => ({
    status: 200,
    body: { mail: await mails.get(context, params.env_id, params.mail_id) },
  }),
  deliverMail: async (context, { params }) => ({
    status: 200,
    body: { mail: await mails.deliver(context, params.env_id, params.mail_id) },
  }),
  deleteMail: async (context, { params }) => ({
    status: 200,
    body: { deleted: await mails.remove(context, params.env_id, params.mail_id) },
  }),
  deleteMails: async (context, { params }) => ({
    status: 200,
    body: { deleted: await mails.remove(context, params.env_id, null) },
  }),
  modifyMailDelivery: async (context, { params, body }) => ({
    status: 200,
    body: { environment: await mails.modifyDelivery(context, params.env_id, body.delivery) },
  }),
};
