/** Outgoing mail of environments: the setting, the list, and single mails. */
import { Type } from "typebox";
import { moment } from "../backups/backups.ts";
import { endpoint, result } from "../endpoint.ts";
import { limit, nullable, offset, uuid } from "../schema.ts";

const environment = { env_id: uuid("Id of the environment.") };
const mail = { ...environment, mail_id: uuid("Id of the mail.", "0b0f3a52-6d2c-4b57-9a3a-7a5a4a0a2a53") };
const text = (example: string, description = "") =>
  Type.String({ examples: [example], ...(description && { description }) });

export const mailStates = ["kept", "queued", "sent", "bounced", "failed"] as const;

const state = Type.Enum(mailStates, {
  description:
    "`kept`: stored to be read, not sent. `queued`: waiting or being sent. `sent`: the mail server accepted it for every recipient. `bounced`: the mail server refused some or all recipients; `refused` says which and why. `failed`: it could not be delivered to the mail server for two days.",
});

const brief = {
  id: uuid("Id of the mail."),
  from: text("WordPress <wordpress@demo.localhost>", "As in the header."),
  recipients: Type.Array(text("ada@example.com"), { description: "To, Cc and Bcc together." }),
  subject: text("[My first site] Password Reset"),
  size_bytes: Type.Integer({ examples: [1432] }),
  state,
  attempts: Type.Integer({ description: "Number of delivery attempts.", examples: [1] }),
  last_error: nullable(text("450 Try again later", "The error of the last attempt.")),
  refused: Type.Array(
    Type.Object({
      recipient: text("ada@example.com"),
      message: text("550 No such user", "In the mail server's words."),
    }),
    { description: "Recipients that the mail server refused permanently." },
  ),
  created_at: moment("when the environment sent it."),
  next_attempt_at: nullable(moment("of the next attempt.")),
  sent_at: nullable(moment("when the mail server last accepted it for a recipient.")),
};

const Mail = Type.Object(brief, { title: "Mail" });

const WholeMail = Type.Object(
  {
    ...brief,
    headers: Type.Array(Type.Object({ name: text("Content-Type"), value: text("text/plain; charset=UTF-8") }), {
      description: "The first 200 header fields, in order.",
    }),
    text: nullable(text("Someone has requested a password reset.", "The text, or the text of the HTML part.")),
    html: nullable(
      text("<p>Thank you for your order.</p>", "As the site wrote it. Display it without running its scripts."),
    ),
    is_shortened: Type.Boolean({
      description: "Whether text or HTML was cut at 200,000 characters.",
    }),
    attachments: Type.Array(
      Type.Object({
        name: nullable(text("invoice.pdf")),
        type: text("application/pdf"),
        size_bytes: Type.Integer({ examples: [48213] }),
      }),
    ),
  },
  { title: "WholeMail" },
);

const delivery = Type.Enum(["send", "keep"], {
  description:
    "`send`: mail goes to the installation's mail server, if it has one. `keep`: mail is stored to be read, and plugins can't reach mail servers either. By default live environments send; all others and cloned sites keep.",
});

export const listMails = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/mails",
  tag: "Mail",
  summary: "List an environment's mail",
  description: "Newest first. `total` is the number of matches before paging.",
  params: Type.Object(environment),
  query: Type.Object({
    limit: limit("Maximum number of mails; values above 100 count as 100.", { default: 10 }),
    offset,
    state: Type.Optional(Type.Enum(mailStates, { description: "Only mails in this state." })),
  }),
  responses: {
    200: result(
      ["environment"],
      "The mails.",
      Type.Object({
        display_name: text("Live"),
        delivery,
        has_mail_server: Type.Boolean({ description: "Whether the installation has a mail server." }),
        mails: Type.Object({ items: Type.Array(Mail), total: Type.Integer({ minimum: 0 }) }),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

export const getMail = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/mails/{mail_id}",
  tag: "Mail",
  summary: "Read a mail",
  description:
    "Header, text, HTML and attachments. Because mails contain links to reset passwords, read-only keys get neither text nor HTML.",
  params: Type.Object(mail),
  responses: { 200: result(["mail"], "The mail.", WholeMail) },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

export const deliverMail = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/mails/{mail_id}/deliver",
  tag: "Mail",
  summary: "Send a kept mail",
  description:
    "Sends a kept, bounced or failed mail to the recipients that it has not reached, whatever the environment's setting. A queued mail stays queued.",
  params: Type.Object(mail),
  responses: { 200: result(["mail"], "It is queued.", Mail) },
  verb: "write",
  changesLive: true,
  resource: { kind: "environment", from: "params.env_id" },
});

export const deleteMail = endpoint({
  method: "DELETE",
  path: "/sites/environments/{env_id}/mails/{mail_id}",
  tag: "Mail",
  summary: "Delete a mail",
  description: "A queued mail is not sent any more, unless it is being delivered at that moment.",
  params: Type.Object(mail),
  responses: {
    200: result(["deleted"], "It is gone.", Type.Integer({ examples: [1] })),
  },
  verb: "delete",
  changesLive: true,
  resource: { kind: "environment", from: "params.env_id" },
});

export const deleteMails = endpoint({
  method: "DELETE",
  path: "/sites/environments/{env_id}/mails",
  tag: "Mail",
  summary: "Delete all mail of an environment",
  description: "Including queued mail.",
  params: Type.Object(environment),
  responses: {
    200: result(["deleted"], "They are gone.", Type.Integer({ examples: [12] })),
  },
  verb: "delete",
  changesLive: true,
  resource: { kind: "environment", from: "params.env_id" },
});

export const MailDeliveryWish = Type.Object({ delivery }, { title: "MailDeliveryWish" });

export const modifyMailDelivery = endpoint({
  method: "PUT",
  path: "/sites/environments/{env_id}/mail",
  tag: "Mail",
  summary: "Turn outgoing mail on or off",
  description:
    "`keep` also applies to queued mail; `send` does not send mail that was kept before. Clones and pushes do not copy the setting. Plugins that connect to mail servers themselves notice the change within seconds.",
  params: Type.Object(environment),
  body: MailDeliveryWish,
  responses: {
    200: result(["environment"], "The setting is in force.", Type.Object({ display_name: text("Staging"), delivery })),
  },
  verb: "write",
  changesLive: true,
  resource: { kind: "environment", from: "params.env_id" },
});
