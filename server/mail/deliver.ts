/** One attempt at handing a message to the mail server, and what became of it for each recipient. */
import { isLocal, type SmtpPlace } from "../settings/smtpUrl.ts";
import { readAddress } from "./addresses.ts";

export interface Handed {
  readonly sender: string;
  readonly recipients: readonly string[];
  readonly message: Buffer;
}

export interface RefusedRecipient {
  readonly recipient: string;
  /** In the server's own words. */
  readonly message: string;
}

/** Every recipient is in one of them. */
export interface Delivery {
  readonly taken: readonly string[];
  /** For good. */
  readonly refused: readonly RefusedRecipient[];
  /** To be tried again. */
  readonly delayed: readonly RefusedRecipient[];
}

/** Never rejects. */
export type Deliver = (mail: Handed) => Promise<Delivery>;

export interface DeliverOptions {
  readonly place: SmtpPlace;
  /** How this server introduces itself. */
  readonly name: string;
  /** Maximum silence of the server. */
  readonly silenceSeconds?: number;
}

const connectMilliseconds = 15_000;
const usualSilenceSeconds = 60;
const wordsLength = 500;

export function makeDeliver({ place, name, silenceSeconds = usualSilenceSeconds }: DeliverOptions): Deliver {
  const { host, port, isSecure, login } = place;
  const options = {
    host,
    port,
    name,
    secure: isSecure,
    // A password is not sent over a connection that may be overheard.
    requireTLS: login !== null && !isLocal(place),
    tls: { rejectUnauthorized: !isLocal(place) },
    ...(login === null ? {} : { auth: { user: login.user, pass: login.password } }),
    connectionTimeout: connectMilliseconds,
    greetingTimeout: connectMilliseconds,
    socketTimeout: silenceSeconds * 1000,
    logger: false,
  };
  // Loading it takes an eighth of the control process's start, and most installations have no mail server.
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

/** `failure`: nobody has got it. Recipients that the server said nothing about share in that; or else have got it. */
function sort(recipients: readonly string[], errors: readonly unknown[], failure: unknown): Delivery {
  const said = new Map(errors.map((error) => [recipientOf(error), error]));
  const refused: RefusedRecipient[] = [];
  const delayed: RefusedRecipient[] = [];
  const taken: string[] = [];
  for (const recipient of recipients) {
    const error = said.get(recipient) ?? failure;
    if (error === null) taken.push(recipient);
    else (isForGood(error) ? refused : delayed).push({ recipient, message: wordsOf(error) });
  }
  return { taken, refused, delayed };
}

/** What the server says of the message or of whom it is from or to. */
const aboutTheMessage = new Set(["EENVELOPE", "EMESSAGE"]);
/** It wants a login, or another one, or TLS: that is not the message's fault. */
const aboutTheLogin = new Set([530, 534, 535, 538]);

function isForGood(error: unknown): boolean {
  const code = textOf(error, "code");
  const response = numberOf(error, "responseCode");
  return aboutTheMessage.has(code) && response >= 500 && !aboutTheLogin.has(response);
}

function wordsOf(error: unknown): string {
  const words = textOf(error, "response") || (error instanceof Error ? error.message : "There was no connection.");
  return words.replaceAll(/\p{Cc}+/gu, " ").slice(0, wordsLength);
}

/** As the envelope has it: the library writes names of domains in its own way. */
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

function fieldOf(error: unknown, name: string): unknown {
  return typeof error === "object" && error !== null ? Reflect.get(error, name) : undefined;
}
