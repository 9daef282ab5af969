/** Logs and mails of environments. */
import type { Calls } from "@sitewright/contract/endpoints.ts";
import { record } from "../world/activity.ts";
import { found, Refusal } from "../world/failures.ts";
import { environmentOf, isoOf, pageOf, placeOf, primaryOf } from "../world/find.ts";
import { chanceOf } from "../world/ids.ts";
import type { DemoEnvironment, DemoMail, World } from "../world/world.ts";

/** Between two lines of the access log. Milliseconds. */
const between = 7_000;
const paths = ["/", "/about", "/shop", "/contact", "/feed", "/wp-login.php"];

function accessLine(environment: DemoEnvironment, time: number): string {
  const chance = chanceOf(`${environment.id} ${time}`);
  const path = paths[Math.floor(chance * paths.length)] ?? "/";
  const host = primaryOf(environment).name;
  const milliseconds = Math.round(2 + chance * 120);
  const bytes = 4_000 + Math.round(chance * 30_000);
  return `203.0.113.${1 + Math.floor(chance * 200)} - - [${isoOf(time)}] "GET ${path} HTTP/2.0" 200 ${bytes} "-" "-" ${milliseconds} ${host}`;
}

function linesOf(environment: DemoEnvironment, file: string, now: number): string[] {
  const latest = Math.floor(now / between);
  if (file === "access" && environment.visitsPerHour > 0) {
    return Array.from({ length: 200 }, (_, index) => accessLine(environment, (latest - 199 + index) * between));
  }
  if (file === "error" && environment.visitsPerHour > 0) {
    const line = "PHP Deprecated:  Function photo_wall_size() is deprecated in photo-wall/gallery.php on line 88";
    return [40, 25, 3].map((minutes) => `[${isoOf(now - minutes * 60_000)}] ${line}`);
  }
  return [];
}

const mailView = ({ id, from, recipients, subject, text, state, createdAt, sentAt, lastError }: DemoMail) => ({
  ...{ id, from, subject, state },
  recipients: [...recipients],
  size_bytes: text.length + 400,
  attempts: state === "kept" ? 0 : 1,
  last_error: lastError,
  refused: [],
  created_at: createdAt,
  next_attempt_at: null,
  sent_at: sentAt,
});

const deliveryOf = ({ displayName, settings: { delivery } }: DemoEnvironment) => ({
  display_name: displayName,
  delivery,
  effective_delivery: delivery,
});

const mailOf = ({ mails }: DemoEnvironment, wanted: string): DemoMail => found(mails.find(({ id }) => id === wanted));

export const trafficCalls = {
  readLogs: (world, { params, query: { file_name: file = "error", lines = 1_000, search = "" } }) => {
    const all = linesOf(environmentOf(world, params.env_id), file, world.clock.now());
    const matches = all.filter((line) => line.includes(search)).slice(-lines);
    return { container_info: { logs: matches.map((line) => `${line}\n`).join(""), is_complete: true } };
  },
  listRefusedStatements: (world, { params }) => {
    environmentOf(world, params.env_id);
    return { refused_statements: [], is_complete: true };
  },
  listMails: (world, { params, query: { state, limit = 50, offset } }) => {
    const environment = environmentOf(world, params.env_id);
    const matches = environment.mails.filter((mail) => state === undefined || mail.state === state);
    const items = pageOf(matches, { limit, offset }).map(mailView);
    return { ...deliveryOf(environment), has_mail_server: true, mails: { items, total: matches.length } };
  },
  getMail: (world, { params }) => {
    const mail = mailOf(environmentOf(world, params.env_id), params.mail_id);
    const headers = [
      { name: "From", value: mail.from },
      { name: "To", value: mail.recipients.join(", ") },
      { name: "Subject", value: mail.subject },
    ];
    return { ...mailView(mail), headers, text: mail.text, html: null, is_shortened: false, attachments: [] };
  },
  deliverMail: (world, { params }) => {
    const { site, environment } = placeOf(world, params.env_id);
    const mail = mailOf(environment, params.mail_id);
    if (mail.state === "sent") throw new Refusal("mail_is_sent", "The mail server has accepted this mail already.");
    Object.assign(mail, { state: "sent", sentAt: world.clock.now(), lastError: null });
    record(world, { type: "deliverMail", siteId: site.id, text: `Send a mail of ${site.displayName}` });
    return mailView(mail);
  },
  deleteMail: (world, { params }) => {
    const { site, environment } = placeOf(world, params.env_id);
    const mail = mailOf(environment, params.mail_id);
    environment.mails.splice(environment.mails.indexOf(mail), 1);
    record(world, { type: "deleteMails", siteId: site.id, text: `Delete a mail of ${site.displayName}` });
    return 1;
  },
  deleteMails: (world, { params }) => {
    const { site, environment } = placeOf(world, params.env_id);
    record(world, { type: "deleteMails", siteId: site.id, text: `Delete the mails of ${site.displayName}` });
    return environment.mails.splice(0).length;
  },
  modifyMailDelivery: (world, { params, body: { delivery } }) => {
    const { site, environment } = placeOf(world, params.env_id);
    environment.settings.delivery = delivery;
    record(world, { type: "modifyMailDelivery", siteId: site.id, text: `Change the mail of ${site.displayName}` });
    return deliveryOf(environment);
  },
} satisfies Partial<Calls<World>>;
