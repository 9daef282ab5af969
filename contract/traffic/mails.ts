/** What environments send: whether it is sent, what was, and what is in it. */
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
    "`kept`: for you to read, sent to nobody. `queued`: it is being sent, or waits to be. `sent`: the mail server has taken it for every recipient. `bounced`: it has refused it for some or all of them; `refused` says for whom, and why. `failed`: it could not be handed over for two days.",
});

const brief = {
  id: uuid("Id of the mail."),
  from: text("WordPress <wordpress@demo.localhost>", "As its header has it."),
  recipients: Type.Array(text("ada@example.com"), { description: "To, Cc and Bcc together." }),
  subject: text("[My first site] Password Reset"),
  size_bytes: Type.Integer({ examples: [1432] }),
  state,
  attempts: Type.Integer({ description: "How often it was tried to hand it over.", examples: [1] }),
  last_error: nullable(text("450 Try again later", "What kept it from somebody at the last attempt.")),
  refused: Type.Array(
    Type.Object({
      recipient: text("ada@example.com"),
      message: text("550 No such user", "In the mail server's words."),
    }),
    { description: "Recipients for whom the mail server has refused it for good." },
  ),
  created_at: moment("when the environment sent it."),
  next_attempt_at: nullable(moment("when it is tried next.")),
  sent_at: nullable(moment("when the mail server last took it for somebody.")),
};

const Mail = Type.Object(brief, { title: "Mail" });

const WholeMail = Type.Object(
  {
    ...brief,
    headers: Type.Array(Type.Object({ name: text("Content-Type"), value: text("text/plain; charset=UTF-8") }), {
      description: "Every field of its header, in order; the first 200.",
    }),
    text: nullable(text("Someone has requested a password reset.", "Its text, or the text of its HTML.")),
    html: nullable(
      text("<p>Thank you for your order.</p>", "As the site wrote it: show it where no script of it runs."),
    ),
    is_shortened: Type.Boolean({
      description: "Whether text or HTML were longer than 200,000 characters, and are cut.",
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
    "`send`: what the environment sends is handed to the mail server, where the installation has one. `keep`: it is kept to be read, and plugins don't reach mail servers either. A live environment sends, any other keeps, and so does a site that was made as a copy.",
});

export const listMails = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/mails",
  tag: "Mail",
  summary: "List the mails of an environment",
  description:
    "What the environment has sent, or wanted to: the newest first. `total` counts what the filter matches, before paging.",
  params: Type.Object(environment),
  query: Type.Object({
    limit: limit("How many mails at most; above 100 counts as 100.", { default: 10 }),
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
        has_mail_server: Type.Boolean({ description: "Whether the installation has a mail server to hand mail to." }),
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
    "With its header, its text, its HTML, and what is attached to it. Links to set a password anew are in mails: keys that may only read get neither text nor HTML.",
  params: Type.Object(mail),
  responses: { 200: result(["mail"], "The mail.", WholeMail) },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

export const deliverMail = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/mails/{mail_id}/deliver",
  tag: "Mail",
  summary: "Send a mail that was kept",
  description:
    "Hands a mail to the mail server that was kept, has bounced or has failed, whatever its environment's setting is; to all its recipients that it has not reached. One that waits already goes on waiting.",
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
  description: "One that waits to be sent is then sent no more, unless it is being handed over at that moment.",
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
  summary: "Delete all mails of an environment",
  description: "Those too that wait to be sent.",
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
  summary: "Say whether what an environment sends is sent",
  description:
    "With `keep`, what waits to be sent is kept too. With `send`, what was kept stays so. Clones and pushes don't take the setting along. Plugins that speak to mail servers themselves notice within seconds.",
  params: Type.Object(environment),
  body: MailDeliveryWish,
  responses: {
    200: result(["environment"], "It is so.", Type.Object({ display_name: text("Staging"), delivery })),
  },
  verb: "write",
  changesLive: true,
  resource: { kind: "environment", from: "params.env_id" },
});
