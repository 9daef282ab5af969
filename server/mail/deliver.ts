/** Makes one attempt at sending a message to the mail server, and reports the result for each recipient. */
import { fieldOf } from "@sitewright/runtimes/fields.ts";
import { isLocal, type SmtpServer } from "../settings/smtpUrl.ts";
import { readAddress } from "./addresses.ts";

export interface OutgoingMessage {
  readonly sender: string;
  readonly recipients: readonly string[];
  readonly message: Buffer;
}

export interface RecipientFailure {
  readonly recipient: string;
  /** The server's response, or the connection error. */
  readonly message: string;
}

/** Each recipient is in exactly one of the lists. */
export interface Delivery {
  readonly accepted: readonly string[];
  /** Permanent failures. */
  readonly rejected: readonly RecipientFailure[];
  /** To be retried. */
  readonly deferred: readonly RecipientFailure[];
}

/** Never rejects. */
export type Deliver = (mail: OutgoingMessage) => Promise<Delivery>;

export interface DeliverOptions {
  readonly server: SmtpServer;
  /** Our name in EHLO. */
  readonly name: string;
  /** Timeout for each response of the server. */
  readonly silenceSeconds?: number;
}

const connectMilliseconds = 15_000;
const defaultSilenceSeconds = 60;
const maxResponseLength = 500;

export function makeDeliver({ server, name, silenceSeconds = defaultSilenceSeconds }: DeliverOptions): Deliver {
  const { host, port, isSecure, login } = server;
  const options = {
    host,
    port,
    name,
    secure: isSecure,
    // The password must not cross a network unencrypted.
    requireTLS: login !== null && !isLocal(server),
    tls: { rejectUnauthorized: !isLocal(server) },
    ...(login === null ? {} : { auth: { user: login.user, pass: login.password } }),
    connectionTimeout: connectMilliseconds,
    greetingTimeout: connectMilliseconds,
    socketTimeout: silenceSeconds * 1000,
    logger: false,
  };
  // Loaded lazily: it takes an eighth of the control process's startup, and most installations have no mail server.
  const transporter = import("nodemailer").then(({ createTransport }) => createTransport(options));
  return async ({ sender, recipients, message }) => {
    try {
      const envelope = { from: sender, to: [...recipients] };
      const { rejectedErrors = [] } = await (await transporter).sendMail({ envelope, raw: message });
      return sort(recipients, rejectedErrors, null);
    } catch (error) {
      return sort(recipients, readList(error), error);
    }
  };
}

/** Sorts recipients by their own error, or by `failure` if they have none. Without either, the message was accepted. */
function sort(recipients: readonly string[], errors: readonly unknown[], failure: unknown): Delivery {
  const errorOf = new Map(errors.map((error) => [recipientOf(error), error]));
  const rejected: RecipientFailure[] = [];
  const deferred: RecipientFailure[] = [];
  const accepted: string[] = [];
  for (const recipient of recipients) {
    const error = errorOf.get(recipient) ?? failure;
    if (error === null) accepted.push(recipient);
    else (isPermanent(error) ? rejected : deferred).push({ recipient, message: responseOf(error) });
  }
  return { accepted, rejected, deferred };
}

/** Errors about the message, its sender or its recipients. */
const messageErrors = new Set(["EENVELOPE", "EMESSAGE"]);
/** The server requires TLS or another login: the message is not to blame. */
const loginErrors = new Set([530, 534, 535, 538]);

function isPermanent(error: unknown): boolean {
  const code = textOf(error, "code");
  const response = numberOf(error, "responseCode");
  return messageErrors.has(code) && response >= 500 && !loginErrors.has(response);
}

function responseOf(error: unknown): string {
  const response = textOf(error, "response") || (error instanceof Error ? error.message : "There was no connection.");
  return response.replaceAll(/\p{Cc}+/gu, " ").slice(0, maxResponseLength);
}

/** The address as in the envelope: the library changes the notation of domain names. */
function recipientOf(error: unknown): string {
  const recipient = textOf(error, "recipient");
  return readAddress(recipient) ?? recipient;
}

function readList(error: unknown): readonly unknown[] {
  const list = fieldOf(error, "rejectedErrors");
  return Array.isArray(list) ? list : [];
}

function textOf(error: unknown, name: string): string {
  const value = fieldOf(error, name);
  return typeof value === "string" ? value : "";
}

function numberOf(error: unknown, name: string): number {
  const value = fieldOf(error, name);
  return typeof value === "number" ? value : 0;
}
