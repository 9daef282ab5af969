/** Outgoing mail of environments: the setting, and stored mail. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { limit, milliseconds, nullable, offset, uuid } from "../schema.ts";

const environment = { env_id: uuid("Id of the environment.") };
const mail = { ...environment, mail_id: uuid("Id of the mail.", "0b0f3a52-6d2c-4b57-9a3a-7a5a4a0a2a53") };
const text = (example: string, description = "") =>
  Type.String({ examples: [example], ...(description && { description }) });

const mailStates = ["kept", "queued", "sent", "bounced", "failed"] as const;

const state = Type.Enum(mailStates, {
  description:
    "`kept`: stored to be read, not sent. `queued`: waiting to be sent, or being sent. `sent`: the mail server accepted it for all recipients. `bounced`: the mail server refused some or all recipients; `refused` says which and why. `failed`: the mail server could not be reached, or did not accept it, for two days.",
});

const brief = {
  id: uuid("Id of the mail."),
  from: text("WordPress <wordpress@demo.localhost>", "Sender, as in the mail's header."),
  recipients: Type.Array(text("ada@example.com"), { description: "All recipients: To, Cc and Bcc." }),
  subject: text("[My first site] Password Reset", "Subject of the mail."),
  size_bytes: Type.Integer({ description: "Size of the mail, in bytes.", examples: [1432] }),
  state,
  attempts: Type.Integer({ description: "Number of delivery attempts.", examples: [1] }),
  last_error: nullable(
    Type.String({ description: "The error of the last attempt, or null.", examples: [null, "450 Try again later"] }),
  ),
  refused: Type.Array(
    Type.Object({
      recipient: text("ada@example.com", "Address of the recipient."),
      message: text("550 No such user", "The mail server's reason."),
    }),
    { description: "Recipients that the mail server refused permanently.", examples: [[]] },
  ),
  created_at: milliseconds("When the environment sent it."),
  next_attempt_at: nullable(milliseconds("When the next attempt is due; null if none is.", null)),
  sent_at: nullable(milliseconds("When the mail server last accepted it for a recipient; null if never.", null)),
};

const Mail = Type.Object(brief, { title: "Mail" });

const WholeMail = Type.Object(
  {
    ...brief,
    headers: Type.Array(
      Type.Object({
        name: text("Content-Type", "Name of the header field."),
        value: text("text/plain; charset=UTF-8", "Value of the header field."),
      }),
      { description: "The first 200 header fields, in order." },
    ),
    text: nullable(
      text("Someone has requested a password reset.", "The plain text, or text extracted from the HTML, or null."),
    ),
    html: nullable(
      text(
        "<p>Thank you for your order.</p>",
        "The HTML exactly as the site wrote it, or null. Do not run its scripts when you display it.",
      ),
    ),
    is_shortened: Type.Boolean({
      description: "Whether text or HTML was truncated at 200,000 characters.",
    }),
    attachments: Type.Array(
      Type.Object({
        name: nullable(text("invoice.pdf", "File name, or null.")),
        type: text("application/pdf", "Media type."),
        size_bytes: Type.Integer({ description: "Size of the attachment, in bytes.", examples: [48213] }),
      }),
      { description: "The attachments, without their content." },
    ),
  },
  { title: "WholeMail" },
);

const delivery = Type.Enum(["send", "keep"], {
  description:
    "The setting. `send`: mail goes to the installation's mail server; without one it is kept, too (`effective_delivery`). `keep`: mail is stored to be read and not sent, and plugins can't connect to mail servers. Default: `send` for live environments, `keep` for all others and for cloned sites.",
});

const effectiveDelivery = Type.Enum(["send", "keep"], {
  description:
    "What happens to new mail: the setting `delivery`, but always `keep` if the installation has no mail server (SITEWRIGHT_SMTP_URL).",
});

export const listMails = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/mails",
  tag: "Mail",
  summary: "List an environment's mail",
  description: "Lists sent and stored mail, newest first.",
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
        display_name: text("Live", "Display name of the environment."),
        delivery,
        effective_delivery: effectiveDelivery,
        has_mail_server: Type.Boolean({ description: "Whether the installation has a mail server.", examples: [true] }),
        mails: Type.Object({
          items: Type.Array(Mail),
          total: Type.Integer({ minimum: 0, description: "Number of matches before paging.", examples: [1] }),
        }),
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
    "Returns header fields, text, HTML and a list of attachments. Read-only keys get neither text nor HTML, because mails contain password reset links.",
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
    "Sends a kept, bounced or failed mail to the recipients that it has not reached yet, even if the environment's setting is `keep`. A queued mail stays queued.",
  params: Type.Object(mail),
  responses: { 200: result(["mail"], "The mail is queued.", Mail) },
  refusals: ["no_mail_server", "mail_is_sent"],
  verb: "write",
  changesLive: true,
  resource: { kind: "environment", from: "params.env_id" },
});

export const deleteMail = endpoint({
  method: "DELETE",
  path: "/sites/environments/{env_id}/mails/{mail_id}",
  tag: "Mail",
  summary: "Delete a mail",
  description: "Deletes the mail. If it was queued, it is no longer sent, unless it is being delivered at that moment.",
  params: Type.Object(mail),
  responses: {
    200: result(["deleted"], "The mail is deleted.", Type.Integer({ description: "Always 1.", examples: [1] })),
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
  description: "Deletes all stored mail. Queued mail is deleted too and no longer sent.",
  params: Type.Object(environment),
  responses: {
    200: result(
      ["deleted"],
      "The mails are deleted.",
      Type.Integer({ description: "Number of deleted mails.", examples: [12] }),
    ),
  },
  verb: "delete",
  changesLive: true,
  resource: { kind: "environment", from: "params.env_id" },
});

const MailDeliveryChange = Type.Object({ delivery }, { title: "MailDeliveryChange" });

export const modifyMailDelivery = endpoint({
  method: "PUT",
  path: "/sites/environments/{env_id}/mail",
  tag: "Mail",
  summary: "Turn outgoing mail on or off",
  description:
    "`keep` also applies to queued mail. `send` applies to new mail only: mail that was kept before stays kept. For plugins that connect to mail servers themselves, the change takes effect within seconds. Clones and pushes do not copy the setting.",
  params: Type.Object(environment),
  body: MailDeliveryChange,
  responses: {
    200: result(
      ["environment"],
      "The setting is in force.",
      Type.Object({
        display_name: text("Staging", "Display name of the environment."),
        delivery,
        effective_delivery: effectiveDelivery,
      }),
    ),
  },
  verb: "write",
  changesLive: true,
  resource: { kind: "environment", from: "params.env_id" },
});
